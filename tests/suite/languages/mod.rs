//! Input languages: readers, printers and edits.

mod edit;
mod memorax;
mod memorax_corpus;
mod memorax_properties;
mod native_language;
mod reader_seeds;
mod round_trip;
mod trencher_corpus;
mod trencher_verdicts;
