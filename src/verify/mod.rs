//! The trusted reader of evidence.
