//! What commands write for other tools – SARIF, JUnit XML – says what they print, fits its form,
//! and its fixes do what they promise.

use crate::documents::{self, sarif};
use crate::environment::{is_long_run, sample};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

fn palisade(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(line.split(' ')).current_dir(folder).output().expect("it runs")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn results(log: &Value) -> &[Value] {
    log["runs"][0]["results"].as_array().expect("results")
}

fn of_kind<'a>(log: &'a Value, rule: &str, kind: &str) -> Vec<&'a Value> {
    results(log).iter().filter(|result| result["ruleId"] == rule && result["kind"] == kind).collect()
}

/// A number in an attribute.
fn attribute(node: roxmltree::Node<'_, '_>, name: &str) -> usize {
    node.attribute(name).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no number {name}: {node:?}"))
}

#[test]
fn a_folder_has_the_same_verdicts_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, cases) = (folder.path().join("log.sarif"), folder.path().join("cases.xml"));
    let entries = std::fs::read_dir(root().join("models")).expect("the models");
    let mut models: Vec<String> =
        entries.map(|entry| entry.expect("a model").file_name()).filter_map(|name| name.into_string().ok()).collect();
    // Its values take many seconds.
    models.retain(|name| name.ends_with(".pal") && (is_long_run() || name != "array-queue.pal"));
    models.sort();
    std::fs::create_dir(folder.path().join("models")).expect("a folder");
    for model in sample(models, 7) {
        let to = folder.path().join("models").join(&model);
        std::fs::copy(root().join("models").join(model), to).expect("it is copied");
    }
    let line = format!("check models --json --sarif {} --junit {}", log.display(), cases.display());
    let run = palisade(folder.path(), &line);
    let documents = documents::read(&run.stdout);
    let all = documents.as_array().expect("a folder has an array");
    let robustness = |document: &Value| -> Value {
        let answers = document["answers"].as_array().unwrap_or_else(|| panic!("no answers: {document}"));
        answers.iter().find(|answer| answer["ask"] == "robustness").cloned().expect("it is asked")
    };
    let documents: Vec<(&Value, Value)> = all.iter().map(|document| (document, robustness(document))).collect();
    let count = |verdict: &str| documents.iter().filter(|(_, answer)| answer["verdict"] == verdict).count();
    let log = sarif(&log);
    assert_eq!(of_kind(&log, "not-robust", "fail").len(), count("violated"));
    assert_eq!(of_kind(&log, "not-robust", "pass").len(), count("holds"));
    assert!(count("holds") > 2 && count("violated") > 2, "{}", documents.len());
    assert_eq!(log["runs"][0]["artifacts"].as_array().map(Vec::len), Some(all.len()));
    let mut attacked = 0;
    for result in of_kind(&log, "not-robust", "fail") {
        let place = &result["locations"][0]["physicalLocation"];
        let file = place["artifactLocation"]["uri"].as_str().expect("a path");
        let (_, answer) = documents.iter().find(|(document, _)| document["file"] == file).expect("a document");
        // Programs of events have no attacks.
        let Some(attacks) = answer["attacks"].as_array() else { continue };
        attacked += 1;
        let attacks = attacks.iter();
        let mut feasible = attacks.filter(|attack| attack["outcome"] == "feasible");
        assert!(feasible.any(|attack| attack["store"]["line"] == place["region"]["startLine"]), "{result}");
        let steps = answer["witness"]["steps"].as_array().map(Vec::len);
        assert_eq!(result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().map(Vec::len), steps);
    }
    assert_eq!(
        attacked,
        documents.iter().filter(|(_, answer)| answer["verdict"] == "violated" && answer["attacks"].is_array()).count()
    );
    let text = std::fs::read_to_string(&cases).expect("the cases were written");
    let document = roxmltree::Document::parse(&text).expect("it is XML");
    let suites = document.root_element();
    assert!(attribute(suites, "failures") >= count("violated"), "properties that break fail as well");
    let with = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!(attribute(suites, "tests"), with("testcase"));
    assert_eq!(attribute(suites, "failures"), with("failure"));
    assert_eq!(attribute(suites, "errors"), with("error"));
    assert_eq!(with("testsuite"), all.len());
    has_the_form_of_junit(&document);
}

/// Whether elements stand where `junit-10.xsd` of Jenkins' xUnit plugin admits them, with
/// attributes that it knows.
fn has_the_form_of_junit(document: &roxmltree::Document<'_>) {
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let parent = node.parent_element().map_or("", |parent| parent.tag_name().name());
        let (required, optional): (&[&str], &[&str]) = match (parent, node.tag_name().name()) {
            ("", "testsuites") => (&[], &["name", "time", "tests", "failures", "errors", "disabled"]),
            ("testsuites", "testsuite") => (&["name", "tests", "failures", "errors"], &["skipped", "time"]),
            ("testsuite", "testcase") => (&["name", "classname"], &["time"]),
            ("testcase", "failure" | "error") => (&[], &["message", "type"]),
            other => panic!("{other:?}"),
        };
        let names: Vec<&str> = node.attributes().map(|attribute| attribute.name()).collect();
        assert!(required.iter().all(|name| names.contains(name)), "{node:?}");
        assert!(names.iter().all(|name| required.contains(name) || optional.contains(name)), "{node:?}: {names:?}");
    }
}

#[test]
fn a_refused_program_is_an_error_and_a_proof_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it is written");
    write("bad.pal", "program bad\nthraed t\n");
    let peterson = std::fs::read_to_string(root().join("models/peterson.pal")).expect("a model");
    write("peterson.pal", &peterson);
    let run = palisade(folder.path(), "prove . --model sc --sarif log.sarif --junit cases.xml");
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    let log = sarif(&folder.path().join("log.sarif"));
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
    let refused = of_kind(&log, "refused", "fail");
    assert_eq!(refused[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
    assert_eq!(of_kind(&log, "property-violated", "pass").len(), 2, "{log}");
    let text = std::fs::read_to_string(folder.path().join("cases.xml")).expect("the cases were written");
    let document = roxmltree::Document::parse(&text).expect("it is XML");
    let suites = document.root_element();
    assert_eq!(["tests", "failures", "errors"].map(|name| attribute(suites, name)), [3, 0, 1]);
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_the_work() {
    let run = palisade(root(), "check models/peterson.pal --sarif no/such/folder/log.sarif");
    assert_eq!(run.status.code(), Some(2));
    assert!(run.stdout.is_empty() && String::from_utf8_lossy(&run.stderr).contains("cannot be written"), "{run:?}");
}

/// A text with the fixes of all results of a rule made, from the last place to the first.
fn with_fixes(text: &str, results: &[&Value]) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let mut changes: Vec<(usize, usize, String)> = results
        .iter()
        .map(|result| {
            let replacement = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
            let region = &replacement["deletedRegion"];
            let line = |name: &str| usize::try_from(region[name].as_u64().expect("a line")).expect("a small number");
            assert_eq!((&region["startColumn"], &region["endColumn"]), (&1.into(), &1.into()), "whole lines: {region}");
            let inserted = replacement["insertedContent"]["text"].as_str().expect("a text").to_owned();
            (line("startLine") - 1, line("endLine") - 1, inserted)
        })
        .collect();
    changes.sort();
    for (start, end, inserted) in changes.into_iter().rev() {
        lines.splice(start..end, [inserted]);
    }
    lines.concat()
}

#[test]
fn all_fixes_of_missing_fences_together_make_a_program_robust() {
    let folder = tempfile::tempdir().expect("a folder");
    for model in ["peterson.pal", "dekker.pal", "chase-lev.pal", "events/pause-request.pal"] {
        let path = root().join("models").join(model);
        let text = std::fs::read_to_string(&path).expect("a model");
        let name = path.file_name().and_then(OsStr::to_str).expect("a name");
        std::fs::write(folder.path().join(name), &text).expect("it is written");
        let run = palisade(folder.path(), &format!("fences {name} --sarif log.sarif"));
        assert_eq!(run.status.code(), Some(0), "{run:?}");
        let log = sarif(&folder.path().join("log.sarif"));
        let missing = of_kind(&log, "missing-fence", "fail");
        assert!(!missing.is_empty(), "{name} needs fences");
        std::fs::write(folder.path().join(name), with_fixes(&text, &missing)).expect("it is written");
        let against = if model.starts_with("events/") { " --ask robustness" } else { "" };
        let run = palisade(folder.path(), &format!("check {name}{against}"));
        assert_eq!(run.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&run.stdout));
        // With the fences, the run is green and says so.
        palisade(folder.path(), &format!("fences {name} --sarif log.sarif"));
        let log = sarif(&folder.path().join("log.sarif"));
        assert_eq!(of_kind(&log, "missing-fence", "pass").len(), 1, "{log}");
    }
}

#[test]
fn all_fixes_for_properties_together_let_these_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(root().join("models/dekker.pal")).expect("a model");
    std::fs::write(folder.path().join("dekker.pal"), &text).expect("it is written");
    for model in ["tso", "pso"] {
        std::fs::write(folder.path().join("dekker.pal"), &text).expect("it is written");
        let line = format!("fences --ask properties --model {model} dekker.pal --sarif log.sarif");
        assert_eq!(palisade(folder.path(), &line).status.code(), Some(0));
        let log = sarif(&folder.path().join("log.sarif"));
        let missing = of_kind(&log, "missing-fence", "fail");
        assert!(missing.len() >= 2, "{log}");
        std::fs::write(folder.path().join("dekker.pal"), with_fixes(&text, &missing)).expect("it is written");
        assert_eq!(palisade(folder.path(), &format!("prove --model {model} dekker.pal")).status.code(), Some(0));
        assert_eq!(palisade(folder.path(), &line).status.code(), Some(0));
        assert_eq!(of_kind(&sarif(&folder.path().join("log.sarif")), "missing-fence", "pass").len(), 1);
    }
}

/// Store buffering with one fence too many in the first thread, in each form that has fences.
const TOO_MANY: [(&str, &str); 3] = [
    (
        "old.pal",
        "program Old\nthread a regs r init l0 begin\n  l0: mem[x] <- 1; goto l1;\n  l1: mfence; goto l2;\n  l2: mfence; goto l3;\n  l3: r <- mem[y]; goto l4;\nend\nthread b regs r init l0 begin\n  l0: mem[y] <- 1; goto l1;\n  l1: mfence; goto l2;\n  l2: r <- mem[x]; goto l3;\nend\n",
    ),
    (
        "braces.pal",
        "program Braces\naddress x, y\nthread a {\n  x = 1;\n  mfence;\n  mfence;\n  let r = y;\n}\nthread b {\n  y = 1;\n  mfence;\n  let r = x;\n}\n",
    ),
    (
        "table.litmus",
        "X86 table\n{ }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n MFENCE      | MFENCE      ;\n MFENCE      | MOV EAX,[x] ;\n MOV EAX,[y] |             ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n",
    ),
];

#[test]
fn a_fence_too_many_goes_by_its_fix() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in TOO_MANY {
        std::fs::write(folder.path().join(name), text).expect("it is written");
        let run = palisade(folder.path(), &format!("fences {name} --redundant --sarif log.sarif"));
        assert_eq!(run.status.code(), Some(0), "{run:?}");
        let log = sarif(&folder.path().join("log.sarif"));
        let redundant = of_kind(&log, "redundant-fence", "fail");
        assert_eq!(redundant.len(), 1, "{name}: {log}");
        let changed = with_fixes(text, &redundant);
        assert_eq!(changed.to_lowercase().matches("mfence").count(), 2, "{changed}");
        std::fs::write(folder.path().join(name), &changed).expect("it is written");
        let run = palisade(folder.path(), &format!("fences {name} --redundant --sarif log.sarif"));
        assert_eq!(run.status.code(), Some(0), "{changed}\n{run:?}");
        let log = sarif(&folder.path().join("log.sarif"));
        assert_eq!(of_kind(&log, "redundant-fence", "fail").len(), 0, "{changed}");
        assert_eq!(of_kind(&log, "missing-fence", "pass").len(), 1, "{changed}");
    }
}

#[test]
fn events_and_races_have_findings() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program E\ndomain 0..1\naddress q\nevent e [*] regs r begin\n  a: r <- *;\n  b: mem[q] <- r;\n  c: post any t();\nend\ntask t() regs s begin\n  a: s <- mem[q];\nend\n";
    std::fs::write(folder.path().join("e.pal"), text).expect("it is written");
    palisade(folder.path(), "check e.pal --sarif log.sarif --junit cases.xml");
    let log = sarif(&folder.path().join("log.sarif"));
    assert_eq!(of_kind(&log, "not-atomic", "fail").len(), 1, "{log}");
    assert_eq!(of_kind(&log, "not-robust", "pass").len(), 1, "{log}");
    let path = folder.path().join("log.sarif");
    let line = format!("check models/peterson.pal --ask races --sarif {}", path.display());
    assert_eq!(palisade(root(), &line).status.code(), Some(1));
    let log = sarif(&path);
    assert_eq!(of_kind(&log, "triangular-race", "fail").len(), 1, "{log}");
}

/// Prints what a problem matcher finds in a text, a line for each finding.
const MATCHER: &str = r"
import json, re, sys
lines = open(sys.argv[2]).read().splitlines()
for matcher in json.load(open(sys.argv[1]))['problemMatcher']:
    for start in range(len(lines)):
        found = {}
        for line, pattern in zip(lines[start:], matcher['pattern']):
            match = re.search(pattern['regexp'], line)
            if not match:
                break
            found.update({key: match.group(group) for key, group in pattern.items() if key != 'regexp'})
        else:
            print(matcher['severity'], found['file'], found['line'], found['message'])
";

#[needs::command("python3 --version")]
#[test]
fn the_problem_matcher_finds_what_the_command_prints() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("bad.pal"), "program bad\nthraed t\n").expect("it is written");
    let broken = "program B\nthread a regs r init l0 begin\n  l0: mem[x] <- 1; goto l1;\n  l1: r <- mem[y]; goto l2;\nend\nthread b regs r init l0 begin\n  l0: mem[y] <- 1; goto l1;\n  l1: r <- mem[x]; goto l2;\nend\n";
    for number in 0..9 {
        std::fs::write(folder.path().join(format!("p{number}.pal")), broken).expect("it is written");
    }
    let run = palisade(folder.path(), "check . --color never");
    let printed = [run.stderr, run.stdout].concat();
    std::fs::write(folder.path().join("log"), &printed).expect("it is written");
    let mut python = Command::new("python3");
    python.args(["-c", MATCHER]).arg(root().join("contrib/github/problem-matcher.json")).arg(folder.path().join("log"));
    let found = python.output().expect("it runs");
    let found = String::from_utf8(found.stdout).expect("UTF-8");
    assert_eq!(found.lines().count(), 10, "{found}\n{}", String::from_utf8_lossy(&printed));
    assert!(found.lines().any(|line| line.starts_with("error ./bad.pal 2 ")), "{found}");
    assert!(found.lines().any(|line| line.starts_with("error ./p3.pal 3 ")), "{found}");
}

/// Runs a benchmark definition of BenchExec and prints each task with what BenchExec makes of it.
const BENCHEXEC: &str = r"
import glob, subprocess, sys, xml.etree.ElementTree as xml
command = [sys.executable, '-m', 'benchexec.benchexec', 'small.xml', '--no-container', '--no-compress-results', '-o', 'out/',
    '--tool-directory', sys.argv[1]]
run = subprocess.run(command, capture_output=True, text=True)
for path in glob.glob('out/*.xml'):
    for task in xml.parse(path).getroot().iter('run'):
        columns = {column.get('title'): column.get('value') for column in task.iter('column')}
        print(task.get('name').split('/')[-1], columns.get('status'), columns.get('configurations'))
print(run.stderr, file=sys.stderr)
";

#[needs::command("python3 -c 'import benchexec'")]
#[test]
fn benchexec_runs_a_small_set() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["peterson.pal", "mcs-lock.pal"] {
        std::fs::copy(root().join("models").join(name), folder.path().join(name)).expect("a model");
    }
    std::fs::write(folder.path().join("bad.pal"), "program bad\nthraed t\n").expect("it is written");
    let definition =
        std::fs::read_to_string(root().join("contrib/palisade_benchexec/palisade.xml")).expect("the definition");
    // Limits of processor time and memory need cgroups, which not every machine has.
    let (head, tail) = definition.split_once("<benchmark ").expect("a benchmark");
    let body = tail.split_once('>').expect("its attributes end").1.replace("../../models/*.pal", "*.pal");
    let own = format!("{head}<benchmark tool=\"palisade_benchexec.tool\">{body}");
    std::fs::write(folder.path().join("small.xml"), own).expect("it is written");
    let command = Path::new(env!("CARGO_BIN_EXE_palisade")).parent().expect("a folder");
    let mut python = Command::new("python3");
    python.args(["-c", BENCHEXEC]).arg(command).current_dir(folder.path());
    let run = python.env("PYTHONPATH", root().join("contrib")).output().expect("it runs");
    let printed = String::from_utf8(run.stdout).expect("UTF-8");
    let status = |name: &str| printed.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let complaint = String::from_utf8_lossy(&run.stderr);
    assert!(status("peterson.pal").is_some_and(|status| status.starts_with("false ")), "{printed}{complaint}");
    assert!(status("mcs-lock.pal").is_some_and(|status| status.starts_with("true ")), "{printed}{complaint}");
    assert!(status("bad.pal").is_some_and(|status| status.starts_with("ERROR (bad input)")), "{printed}{complaint}");
}
