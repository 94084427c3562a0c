//! The schemas in `schemas/` are those of the types.

use super::{kind, names};
use crate::account::{CheckDocument, EventWitnessDocument};
use crate::documents::*;
use crate::orderings::OrderingsDocument;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};
use std::path::Path;

/// One of two documents, told apart by their members.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it stands for its schema")]
enum Either<A, B> {
    First(A),
    Second(B),
}

/// The schema of a document of a name.
fn derived(name: &str) -> Schema {
    let generator = || SchemaSettings::draft2020_12().for_serialize().into_generator();
    match name {
        "bench" => generator().into_root_schema_for::<BenchDocument<'_>>(),
        "check" => generator().into_root_schema_for::<CheckDocument<'_>>(),
        "completions" => generator().into_root_schema_for::<CompletionsDocument<'_>>(),
        "contest" => generator().into_root_schema_for::<ContestDocument<'_>>(),
        "convert" => generator().into_root_schema_for::<ConvertDocument<'_>>(),
        "cover" => generator().into_root_schema_for::<Either<CoverDocument<'_>, WrittenDocument<'_>>>(),
        "error" => generator().into_root_schema_for::<ErrorDocument<'_>>(),
        "fences" => generator().into_root_schema_for::<FencesDocument<'_>>(),
        "fmt" => generator().into_root_schema_for::<FmtDocument<'_>>(),
        "job" => generator().into_root_schema_for::<JobDocument>(),
        "man" => generator().into_root_schema_for::<ManDocument<'_>>(),
        "merge" => generator().into_root_schema_for::<MergeDocument<'_>>(),
        "methods" => generator().into_root_schema_for::<MethodsDocument<'_>>(),
        "net" => generator().into_root_schema_for::<NetDocument<'_>>(),
        "orderings" => generator().into_root_schema_for::<OrderingsDocument<'_>>(),
        "plan" => generator().into_root_schema_for::<PlanDocument<'_>>(),
        "race-fences" => generator().into_root_schema_for::<RaceFencesDocument<'_>>(),
        "result" => generator().into_root_schema_for::<ResultDocument>(),
        "run" => generator().into_root_schema_for::<RunDocument<'_>>(),
        "schema" => generator().into_root_schema_for::<SchemaDocument>(),
        "simulate-models" => generator().into_root_schema_for::<SimulateModelsDocument<'_>>(),
        "simulate" => generator().into_root_schema_for::<Either<Either<SimulateDocument<'_>, EventSimulateDocument<'_>>, StoppedDocument<'_>>>(),
        "unread" => generator().into_root_schema_for::<UnreadDocument<'_>>(),
        "verify" => generator().into_root_schema_for::<VerifyDocument<'_>>(),
        "witness" => generator().into_root_schema_for::<Either<WitnessDocument<'_>, EventWitnessDocument<'_>>>(),
        _ => panic!("no document is called `{name}`"),
    }
}

/// Says of a document's header what is the same in all documents of its name.
fn name_kind(value: &mut Value, name: &str) {
    match value {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get_mut("properties")
                && ["schema", "tool", "version"].iter().all(|key| properties.contains_key(*key))
            {
                properties["schema"]["const"] = json!(kind(name));
                properties["tool"]["const"] = json!("palisade");
            }
            members.values_mut().for_each(|member| name_kind(member, name));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| name_kind(element, name)),
        _ => {}
    }
}

/// The text of a schema as it is committed.
fn text_of(name: &str) -> String {
    let mut schema = derived(name).to_value();
    name_kind(&mut schema, name);
    schema["title"] = json!(kind(name));
    serde_json::to_string_pretty(&schema).expect("schemas are plain data") + "\n"
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let write = std::env::var_os("PALISADE_WRITE_SCHEMAS").is_some();
    for name in names() {
        let (path, derived) = (folder.join(format!("{name}.json")), text_of(name));
        if write {
            std::fs::write(path, derived).expect("the schema can be written");
        } else {
            let committed = std::fs::read_to_string(path).expect("the schema can be read");
            let remedy = "PALISADE_WRITE_SCHEMAS=1 cargo test -p palisade-report schemas";
            assert!(committed == derived, "schemas/{name}.json is not the schema of the type: {remedy}");
        }
    }
}

#[test]
fn every_file_is_a_schema_of_a_document() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the schemas can be listed")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .map(|name| name.strip_suffix(".json").expect("all are JSON").to_owned())
        .collect();
    files.sort();
    assert_eq!(files, names().collect::<Vec<_>>());
}
