//! The one place where tests read what the command prints with `--json`: whatever is read fits the
//! schema of its kind.

mod every_kind;
mod json_schema;

use json_schema::Fit;
use palisade::report::schemas::schema;
use serde_json::Value;
use std::path::Path;

/// Reads a document, or an array of documents, and checks each against its schema.
pub(crate) fn read(text: impl AsRef<[u8]>) -> Value {
    let text = text.as_ref();
    let document: Value = serde_json::from_slice(text)
        .unwrap_or_else(|error| panic!("no JSON: {error}: {}", String::from_utf8_lossy(text)));
    match document.as_array() {
        Some(documents) => documents.iter().for_each(check),
        None => check(&document),
    }
    document
}

/// Reads a SARIF log, which fits what the standard says of the members that it has.
pub(crate) fn sarif(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the log was written");
    let log: Value = serde_json::from_str(&text).expect("it is JSON");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sarif-reduced.json");
    let schema = std::fs::read_to_string(schema).expect("the schema can be read");
    let schema = serde_json::from_str(&schema).expect("it is JSON");
    Fit::new(&schema).check(&log).unwrap_or_else(|misfit| panic!("{misfit}\n{text}"));
    log
}

/// Reads a file of evidence, whose form CERTIFICATE.md describes.
pub(crate) fn evidence<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("evidence is JSON")
}

/// Whether a text is JSON; lines of a benchmark's log are.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok()
}

/// The name in the kind of a document: `check` of `palisade/check/1`.
fn name(document: &Value) -> &str {
    let kind = document["schema"].as_str().unwrap_or_else(|| panic!("a document without `schema`: {document}"));
    let (name, _) = kind.strip_prefix("palisade/").and_then(|rest| rest.split_once('/')).expect("a kind has a version");
    assert_eq!(palisade::report::schemas::kind(name), kind);
    name
}

fn check(document: &Value) {
    let name = name(document);
    let text = schema(name).unwrap_or_else(|| panic!("there is no schema of `{name}`"));
    let schema = serde_json::from_str(text).expect("schemas are JSON");
    if let Err(misfit) = Fit::new(&schema).check(document) {
        panic!("the document does not fit crates/palisade-report/schemas/{name}.json: {misfit}\n{document}");
    }
}
