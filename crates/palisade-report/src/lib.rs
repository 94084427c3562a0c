//! Reports: text and JSON documents of verdicts and witnesses.

pub mod account;
pub mod bench;
pub mod claim;
pub mod computation;
pub mod contest;
pub mod context;
pub mod cover;
pub mod documents;
pub mod event_fences;
pub mod event_simulate;
pub mod execution;
pub mod fences;
pub mod interleaving;
pub mod missing;
pub mod needed;
pub mod net;
pub mod open;
pub mod pairs;
pub mod properties;
pub mod property_fences;
pub mod proposal;
pub mod races;
pub mod relations;
pub mod scene;
pub mod simulate;
pub mod source_place;
pub mod subject;
pub mod targets;
pub mod tso;
pub mod unreached;
pub mod verdict;
pub mod violation;
pub mod widths;
mod wording;

pub use wording::counted;
