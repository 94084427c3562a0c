//! The JSON Schemas of the documents, as `schemas/` has them.
//!
//! A test derives them from the types and compares; with `PALISADE_WRITE_SCHEMAS=1` it writes them.

/// Names with their schemas.
macro_rules! schemas {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../schemas/", $name, ".json")))),*]
    };
}

/// The schemas by the names of their documents, in the order of the alphabet.
const SCHEMAS: [(&str, &str); 25] = schemas![
    "bench",
    "check",
    "completions",
    "contest",
    "convert",
    "cover",
    "error",
    "fences",
    "fmt",
    "job",
    "man",
    "merge",
    "methods",
    "net",
    "orderings",
    "plan",
    "race-fences",
    "result",
    "run",
    "schema",
    "simulate",
    "simulate-models",
    "unread",
    "verify",
    "witness",
];

/// The names of all documents: `check` for those of the kind `palisade/check/1`.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(name, _)| *name)
}

/// The kind of the documents of a name, with the version of their form: `palisade/check/2`.
pub fn kind(name: &str) -> String {
    format!("palisade/{name}/{}", if name == "check" { 2 } else { 1 })
}

/// The JSON Schema of the documents of that name.
pub fn schema(name: &str) -> Option<&'static str> {
    SCHEMAS.iter().find(|(found, _)| *found == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests;
