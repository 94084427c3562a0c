//! Reports: text, JSON documents and pictures of verdicts and witnesses.

pub mod bench;
pub mod breaks;
pub mod check;
pub mod computation;
pub mod concurrency;
pub mod contest;
pub mod context;
pub mod cover;
pub mod documents;
pub mod fences;
pub mod findings;
pub mod interleaving;
pub mod junit;
mod markup;
pub mod needed;
pub mod open;
pub mod page;
pub mod pairs;
pub mod picture;
pub mod properties;
pub mod property_fences;
pub mod prove;
pub mod races;
pub mod sarif;
pub mod simulate;
pub mod smtlib;
pub mod subject;
pub mod targets;
pub mod tso;
pub mod unreached;
pub mod verdict;
pub mod violation;
mod wording;

pub use wording::counted;
