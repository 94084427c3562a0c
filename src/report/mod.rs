//! Reports: text, JSON and pictures of verdicts and witnesses.

pub mod bench;
pub mod check;
pub mod cover;
pub mod fences;
pub mod simulate;
pub mod picture;
pub mod smtlib;
pub mod violation;
