//! Every kind of document is printed, says what it is about, and fits its schema.

use super::{name, read};
use palisade::report::schemas::{names, schema};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

const BROKEN: &str = "program Broken
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
end
thread b [2] regs r init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: r <- mem[x]; goto l2;
end
";

const STATED: &str = "program Stated
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
  l2: mem[done] <- r + 1; goto l3;
end
thread b regs r, s init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: r <- mem[x]; goto l2;
  l2: s <- mem[done]; goto l3;
  l3: ensure s = 0 || r + s > 1; goto l4;
end
";

const GROWING: &str = "program Growing
thread a [*] regs r init l0 begin
  l0: mem[x] <- r; goto l1;
  l1: r <- mem[y]; goto l2;
  l2: mem[y] <- r + 1; goto l0;
end
";

const ORDERED: &str = "program Ordered
address x, y
thread a { store(x, 1, release); let r = load(y, acquire); }
thread b { store(y, 1, release); let r = load(x, acquire); }
";

/// Six copies of this have far more final states than can be listed at once.
fn large() -> String {
    let step = |number: usize| {
        let next = number + 1;
        format!(
            "  l{number}: mem[{next}] <- r + {number}; goto m{number};\n  m{number}: r <- mem[{next} + 1]; goto l{next};\n"
        )
    };
    format!("program Large\nthread a [6] regs r init l0 begin\n{}end\n", (0..8).map(step).collect::<String>())
}

const NET: &str = "vars\n p q\nrules\n p >= 1 -> p' = p - 1, q' = q + 1;\ninit\n p = 1, q = 0\ntarget\n q >= TOKENS\n";

const RING: &str = "<pnml><net id=\"r\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\"><place id=\"p\"/><place id=\"q\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"/><arc id=\"b\" source=\"t\" target=\"q\"/></page></net></pnml>";

const ONE_PROPERTY: &str = "<property-set><property><id>only</id><formula><exists-path><finally><integer-le><integer-constant>1</integer-constant><tokens-count><place>q</place></tokens-count></integer-le></finally></exists-path></formula></property></property-set>";

/// A folder with inputs of all kinds.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let fenced = BROKEN.replace("l0: mem[x] <- 1; goto l1;", "l0: mem[x] <- 1; goto f;\n  f: mfence; goto l1;");
    let fenced = fenced.replace("l0: mem[y] <- 1; goto l1;", "l0: mem[y] <- 1; goto f;\n  f: mfence; goto l1;");
    for (name, text) in [
        ("broken.pal", BROKEN),
        ("fenced.pal", &fenced),
        ("stated.pal", STATED),
        ("stated-1.pal", STATED),
        ("growing.pal", GROWING),
        ("ordered.pal", ORDERED),
        ("strong.pal", &ORDERED.replace("release", "seq_cst").replace("acquire", "seq_cst")),
        ("large.pal", &large()),
        ("bad.pal", "program bad\nthraed t\n"),
        ("long.pal", &" ".repeat(1 << 20)),
        ("one/only.pal", &fenced),
        ("empty/readme.txt", ""),
        ("covered.spec", &NET.replace("TOKENS", "1")),
        ("safe.spec", &NET.replace("TOKENS", "2")),
        ("ring.pnml", RING),
        ("ring.xml", ONE_PROPERTY),
        ("rejected.json", "{}"),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        std::fs::write(path, text).expect("it is written");
    }
    folder
}

fn palisade(folder: &Path, line: &str) -> Output {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(line.split(' ')).arg("--json").current_dir(folder).output().expect("it runs")
}

/// Commands with their exit status and the kind of document that they print.
const COMMANDS: &[(&str, i32, &str)] = &[
    ("check fenced.pal --certificate evidence --verify", 0, "check"),
    ("check broken.pal --certificate evidence --all", 1, "check"),
    ("check broken.pal --threads b=*", 1, "check"),
    ("check fenced.pal --domain 0..3 --wrap", 0, "check"),
    ("check broken.pal --timeout 0s", 3, "check"),
    ("check broken.pal --ask races --verify", 1, "check"),
    ("check fenced.pal --ask races --certificate evidence", 0, "check"),
    ("verify evidence/fenced.pal.race-free.json", 0, "verify"),
    ("check broken.pal --ask races --timeout 0s", 3, "check"),
    ("check ordered.pal --model c11 --certificate evidence", 1, "check"),
    ("verify evidence/ordered.pal.c11-violation.json", 0, "verify"),
    ("check ordered.pal --model ra --timeout 0s", 3, "check"),
    ("check long.pal --timeout 0s", 3, "unread"),
    ("check bad.pal", 2, "error"),
    ("check missing.pal", 2, "error"),
    ("cover ring.pnml --all", 0, "contest"),
    ("fences broken.pal --all --with xchg", 0, "fences"),
    ("fences broken.pal --ask races", 0, "race-fences"),
    ("fences ordered.pal --model c11", 0, "fences"),
    ("orderings ordered.pal", 1, "orderings"),
    ("orderings strong.pal --certificate evidence", 0, "orderings"),
    ("verify evidence/strong.pal.orderings.json", 0, "verify"),
    ("witness ordered.pal --model c11 --litmus", 1, "witness"),
    ("fences broken.pal --never a.*", 1, "fences"),
    ("fences broken.pal --timeout 0s", 0, "fences"),
    ("fences broken.pal --only a.* --timeout 0s", 3, "fences"),
    ("fences broken.pal --only z", 2, "error"),
    ("fences fenced.pal --redundant", 0, "fences"),
    ("fences fenced.pal --redundant --timeout 0s", 0, "fences"),
    ("witness broken.pal", 1, "witness"),
    ("witness broken.pal --svg", 1, "witness"),
    ("witness broken.pal --litmus -o broken.litmus", 1, "witness"),
    ("witness fenced.pal", 0, "witness"),
    ("witness broken.pal --timeout 0s", 3, "witness"),
    ("simulate broken.pal", 0, "simulate"),
    ("simulate broken.pal --traces", 0, "simulate"),
    ("simulate broken.pal --model sc,tso", 0, "simulate-models"),
    ("simulate large.pal --timeout 50ms", 3, "simulate"),
    ("simulate growing.pal", 2, "error"),
    ("prove stated.pal", 1, "check"),
    ("prove stated.pal --model sc --certificate evidence --verify", 0, "check"),
    ("prove stated.pal --timeout 0s", 3, "check"),
    ("prove broken.pal", 0, "check"),
    ("verify evidence/stated.pal.property.json", 0, "verify"),
    ("net broken.pal", 0, "net"),
    ("net broken.pal --format spec", 0, "net"),
    ("net broken.pal --query", 0, "net"),
    ("net broken.pal -o net.pnml", 0, "net"),
    ("net broken.pal --timeout 0s", 3, "net"),
    ("net broken.pal --attack 9", 2, "error"),
    ("cover covered.spec --certificate run.json --verify", 1, "cover"),
    ("cover safe.spec --certificate safe.json", 0, "cover"),
    ("cover safe.spec --timeout 0s", 3, "cover"),
    ("cover safe.spec --write safe.lola", 0, "cover"),
    ("cover fenced.pal", 2, "error"),
    ("verify evidence/fenced.pal.robust.json", 0, "verify"),
    ("verify run.json", 0, "verify"),
    ("verify rejected.json", 4, "verify"),
    ("verify missing.json", 2, "error"),
    ("convert broken.pal --to trencher", 0, "convert"),
    ("fmt fenced.pal --check", 0, "fmt"),
    ("bench covered.spec safe.spec --timeout 20s", 0, "bench"),
    ("bench stated-1.pal --methods fi --timeout 60s", 0, "methods"),
    ("plan check fenced.pal", 0, "job"),
    ("plan check broken.pal fenced.pal -o jobs.jsonl", 0, "plan"),
    ("run jobs.jsonl", 0, "run"),
    ("merge jobs.jsonl", 1, "merge"),
    ("completions bash", 0, "completions"),
    ("man check", 0, "man"),
    ("schema", 0, "schema"),
];

#[test]
fn every_kind_of_document_is_printed() {
    let folder = folder();
    let mut printed = BTreeSet::new();
    for (line, status, kind) in COMMANDS {
        let output = palisade(folder.path(), line);
        assert_eq!(output.status.code(), Some(*status), "palisade {line}: {output:?}");
        let document = read(&output.stdout);
        assert_eq!(name(&document), *kind, "palisade {line}: {document}");
        assert_eq!((&document["tool"], &document["version"]), (&json!("palisade"), &json!(env!("CARGO_PKG_VERSION"))));
        let is_about_a_file =
            |word: &&str| word.contains('.') && !["bench", "run", "merge"].iter().any(|it| line.starts_with(it));
        let file = line.split(' ').nth(1).filter(is_about_a_file);
        assert_eq!(document["file"].as_str(), file, "palisade {line}");
        printed.insert(*kind);
    }
    // Results are lines of a file.
    let results = std::fs::read_to_string(folder.path().join("jobs.results.jsonl")).expect("results");
    assert!(results.lines().all(|line| name(&read(line)) == "result") && !results.is_empty(), "{results}");
    printed.insert("result");
    assert_eq!(printed.into_iter().collect::<Vec<_>>(), names().collect::<Vec<_>>(), "all kinds");
}

#[test]
fn texts_and_pictures_are_in_the_document() {
    let folder = folder();
    let run = |line: &str| read(palisade(folder.path(), line).stdout);
    let plain = |line: &str| {
        let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = command.args(line.split(' ')).current_dir(folder.path()).output().expect("it runs");
        String::from_utf8(output.stdout).expect("text")
    };
    for form in ["svg", "dot", "mermaid", "litmus"] {
        let line = format!("witness broken.pal --{form}");
        let document = run(&line);
        assert_eq!((&document["format"], &document["text"]), (&json!(form), &json!(plain(&line))), "{document}");
        assert!(document["steps"].is_array(), "the violation itself as well: {document}");
    }
    // The name of the file says the form.
    for (name, begins) in [("a.svg", "<svg"), ("a.dot", "digraph"), ("a.mmd", "sequenceDiagram"), ("a.litmus", "X86")] {
        run(&format!("witness broken.pal -o {name}"));
        let text = std::fs::read_to_string(folder.path().join(name)).expect("it was written");
        assert!(text.starts_with(begins), "{name}: {text}");
    }
    let written = run("witness broken.pal --svg -o picture.svg");
    assert_eq!((&written["written"], &written["text"]), (&json!("picture.svg"), &Value::Null));
    let picture = std::fs::read_to_string(folder.path().join("picture.svg")).expect("it was written");
    assert_eq!(picture, plain("witness broken.pal --svg"));
    for format in ["pnml", "spec", "lola", "net", "dot"] {
        let line = format!("net broken.pal --attack 2 --format {format}");
        let document = run(&line);
        assert_eq!((&document["format"], &document["text"]), (&json!(format), &json!(plain(&line))), "{document}");
        if document["query"].is_string() {
            assert_eq!(document["query"], plain(&format!("{line} --query")));
        }
        assert_eq!((&document["attack"]["id"], &document["attack"]["thread"]), (&json!(2), &json!("b")));
    }
    let written = run("net broken.pal -o net.pnml");
    assert_eq!((&written["written"], &written["text"]), (&json!(["net.pnml", "net.xml"]), &Value::Null));
}

/// An array where a folder, a list or several files are named, whatever is found there; else the
/// document itself.
#[test]
fn the_shape_follows_from_what_is_named() {
    let folder = folder();
    std::fs::write(folder.path().join("list"), "fenced.pal\n").expect("a list");
    std::fs::write(folder.path().join("none"), "").expect("a list");
    assert_eq!(palisade(folder.path(), "cover safe.spec --certificate safe.json").status.code(), Some(0));
    for (line, length) in [
        ("check fenced.pal", None),
        ("check missing.pal", None),
        ("check fenced.pal bad.pal", Some(2)),
        ("check one", Some(1)),
        ("check empty", Some(1)),
        ("check @list", Some(1)),
        ("check @none", Some(0)),
        ("check @missing", Some(1)),
        ("simulate fenced.pal", None),
        ("simulate bad.pal", None),
        ("simulate fenced.pal bad.pal", Some(2)),
        ("verify safe.json", None),
        ("verify missing.json", None),
        ("verify safe.json missing.json rejected.json", Some(3)),
    ] {
        let document = read(palisade(folder.path(), line).stdout);
        assert_eq!(document.as_array().map(Vec::len), length, "palisade {line}: {document}");
    }
}

#[test]
fn schemas_are_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = |arguments: &[&str]| {
        let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = command.args(arguments).current_dir(folder.path()).output().expect("it runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let listed = plain(&["schema"]);
    assert_eq!(listed.lines().collect::<Vec<_>>(), names().collect::<Vec<_>>());
    for name in names() {
        let committed =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("crates/palisade-report/schemas/{name}.json"));
        assert_eq!(plain(&["schema", name]), std::fs::read_to_string(committed).expect("the schema is there"));
        let schema: Value = serde_json::from_str(&plain(&["schema", name, "--json"])).expect("a schema is JSON");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["title"], palisade::report::schemas::kind(name));
    }
    assert_eq!(palisade(folder.path(), "schema nonsense").status.code(), Some(2));
}

/// Reads pairs of a schema and a document and complains like the standard's reference does.
const SCRIPT: &str = "
import json, sys
from jsonschema import Draft202012Validator
for schema, document in json.load(sys.stdin):
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
";

/// What the tests' own reading of schemas accepts, another one accepts too.
#[test]
fn another_validator_agrees() {
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).output();
    if !python(&["-c", "import jsonschema"]).is_ok_and(|output| output.status.success()) {
        println!("skipped: Python's jsonschema is not installed");
        return;
    }
    let folder = folder();
    let pairs: Vec<Value> = COMMANDS
        .iter()
        .map(|(line, _, kind)| {
            let schema: Value = serde_json::from_str(schema(kind).expect("a schema")).expect("JSON");
            json!([schema, read(palisade(folder.path(), line).stdout)])
        })
        .collect();
    let path = folder.path().join("pairs.json");
    std::fs::write(&path, Value::Array(pairs).to_string()).expect("they are written");
    let input = std::fs::File::open(&path).expect("they are there");
    let output = Command::new("python3").args(["-c", SCRIPT]).stdin(input).output().expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
