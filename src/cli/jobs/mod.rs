//! One question for many machines: `plan` writes jobs, `run` does them, `merge` makes one answer of
//! what came of them.
//!
//! A job is a command line with the digests of what it reads. A worker appends a whole line to a
//! file of results for each job that it has done, and does no job again that its file holds. So a
//! worker may be killed at any time and started again, and a job may be done twice: lines that are
//! cut off count as absent, and of two equal answers one is taken. Answers count only with
//! evidence, which `merge` checks where it runs; so it does not matter who has done a job.

mod asked;
mod attacks;
mod command;
mod evidence;
mod job;
mod merge;
mod plan;
mod results;
mod run;
mod shard;

pub(super) use merge::run as merge;
pub(super) use plan::run as plan;
pub(super) use run::run;
