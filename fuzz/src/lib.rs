//! What the fuzz targets ask of the readers: the same as the tests do.

#[path = "../../tests/suite/readers/mod.rs"]
mod readers;

/// Asks a reader about an input; panics when something that should hold does not.
pub fn check(reader: &str, input: &[u8]) {
    readers::check(reader, input);
}
