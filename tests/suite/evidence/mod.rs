//! Evidence: its form, its subject, and what the checker rejects.

mod folders;
pub(crate) mod form;
mod net_evidence;
mod program_evidence;
mod subject;
mod witness_evidence;
mod written_whole;
