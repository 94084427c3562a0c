//! Input languages: readers, printers and edits.

mod edit;
mod memorax;
mod memorax_corpus;
mod memorax_properties;
mod native_language;
mod orderings;
mod reader_seeds;
mod round_trip;
mod tpl;
mod trencher_corpus;
mod trencher_verdicts;
mod waiting;
