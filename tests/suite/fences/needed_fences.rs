//! Fences for properties beside fences for robustness: which of these the properties need, evidence
//! for both, joint control states.

use crate::documents;
use std::path::Path;
use std::process::{Command, Output};

fn palisade(folder: &Path, line: &str) -> Output {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(line.split(' ')).current_dir(folder).output().expect("it runs")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// A folder with some of the models and with a program about a joint control state.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    for model in ["dekker", "peterson", "spsc-ring-buffer", "nbw-exchange", "chase-lev"] {
        let file = format!("{model}.pal");
        std::fs::copy(models.join(&file), folder.path().join(&file)).expect("it is copied");
    }
    let entering = |name: &str, own: &str, other: &str| {
        format!(
            "thread {name} regs r init a begin a: mem[{own}] <- 1; b: r <- mem[{other}]; c: assert r = 0; cs: nop; end\n"
        )
    };
    let never = format!(
        "program Never address x, y\n{}{}never t1 at cs, t2 at cs\n",
        entering("t1", "x", "y"),
        entering("t2", "y", "x")
    );
    std::fs::write(folder.path().join("never.pal"), &never).expect("it is written");
    let racy = never.replace("assert r = 0", "nop");
    std::fs::write(folder.path().join("racy.pal"), racy).expect("it is written");
    folder
}

/// `verify` accepts all evidence in a folder; what it says.
fn accepted(folder: &Path, files: &[&str]) -> String {
    let written: Vec<String> = std::fs::read_dir(folder.join("evidence"))
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "json"))
        .collect();
    for file in files {
        assert!(written.iter().any(|name| name == file), "{file} is not among {written:?}");
    }
    let mut all: Vec<String> = written.iter().map(|name| format!("evidence/{name}")).collect();
    all.sort();
    let output = palisade(folder, &format!("verify {}", all.join(" ")));
    assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    out(&output)
}

#[test]
fn each_fence_of_a_robust_set_says_whether_a_property_needs_it() {
    let folder = folder();
    let text = out(&palisade(folder.path(), "fences dekker.pal --certificate evidence"));
    assert_eq!(text.matches("`ensure others = 0` (line ").count(), 2, "{text}");
    assert_eq!(text.matches("           no property needs it\n").count(), 2, "{text}");
    let summary = "  needed   by properties: 2 of 4; `--ask properties` looks for the cheapest for them alone\n";
    assert!(text.contains(summary), "{text}");
    let said = accepted(folder.path(), &["dekker.pal.needed.json", "dekker.pal.repair.json"]);
    assert!(
        said.contains("keeps 2 properties under TSO with the changes in the evidence, and with none cheaper"),
        "{said}"
    );
    let text = out(&palisade(folder.path(), "fences spsc-ring-buffer.pal"));
    assert!(text.contains("  needed   by no property: proved under TSO\n"), "{text}");
    let text = out(&palisade(folder.path(), "fences nbw-exchange.pal"));
    assert!(text.contains("  needed   by properties: none helps: `ensure "), "{text}");
    let document = documents::read(out(&palisade(folder.path(), "fences dekker.pal --json")));
    let needed: Vec<bool> = document["fences"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|fence| fence["needed"].as_bool().expect("it is known"))
        .collect();
    assert_eq!(needed.iter().filter(|needed| **needed).count(), 2);
    assert_eq!(
        (&document["properties_need"]["cost"], &document["properties_need"]["evidence"]),
        (&"2".into(), &"accepted".into())
    );
}

/// One name for each of two ways to think of it.
#[test]
fn only_properties_is_for_property() {
    let folder = folder();
    let one = out(&palisade(folder.path(), "fences --ask properties dekker.pal"));
    assert_eq!(one, out(&palisade(folder.path(), "fences --ask properties dekker.pal")));
    assert!(one.starts_with("dekker.pal: 2 fences optimal, cost 2\n"), "{one}");
}

#[test]
fn placements_for_properties_have_evidence() {
    let folder = folder();
    palisade(folder.path(), "fences --ask properties peterson.pal --all --redundant --certificate evidence");
    let said =
        accepted(folder.path(), &["peterson.pal.property-repair.json", "evidence_peterson.repaired.pal.property.json"]);
    assert!(
        said.contains(
            "peterson.pal keeps 2 properties under TSO with the changes in the evidence, and with none cheaper"
        ),
        "{said}"
    );
    // What is written back is what the evidence speaks of; the text as it was stays with it.
    let output = palisade(folder.path(), "fences --ask properties dekker.pal --apply --certificate evidence");
    assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    accepted(folder.path(), &["dekker.pal.property-repair.json", "dekker.pal.property.json"]);
    let text = out(&palisade(folder.path(), "prove dekker.pal"));
    assert!(text.starts_with("dekker.pal: holds under TSO\n"), "{text}");
}

#[test]
fn no_set_helps_and_there_is_evidence_for_that() {
    let folder = folder();
    palisade(folder.path(), "fences --ask properties nbw-exchange.pal --certificate evidence");
    palisade(folder.path(), "fences --ask properties dekker.pal --never look --certificate evidence");
    let said = accepted(folder.path(), &["nbw-exchange.pal.property-witness.json", "dekker.pal.property-repair.json"]);
    assert!(
        said.contains("dekker.pal cannot be kept from violating 2 properties under TSO by the changes on offer"),
        "{said}"
    );
    assert!(said.contains("nbw-exchange.pal violates `ensure` at "), "{said}");
}

#[test]
fn joint_control_states() {
    let folder = folder();
    let output = palisade(folder.path(), "fences --ask properties never.pal --certificate evidence --redundant");
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with("never.pal: 2 fences optimal, cost 2\n"), "{text}");
    assert!(text.contains("           without it, never t1 at cs, t2 at cs (line 4) is violated\n"), "{text}");
    assert!(text.contains("  proved   never t1 at cs, t2 at cs (line 4): buffers of "), "{text}");
    assert!(text.contains("+thread t1 regs r init a begin a: mem[x] <- 1; b: mfence; goto b_f;\n"), "{text}");
    let said =
        accepted(folder.path(), &["never.pal.property-repair.json", "evidence_never.repaired.pal.property.json"]);
    assert!(
        said.contains("never.pal keeps its property under TSO with the changes in the evidence, and with none cheaper"),
        "{said}"
    );
    // The proof of `prove` speaks of the joint state, too.
    palisade(folder.path(), "prove evidence/never.repaired.pal --certificate evidence");
    palisade(folder.path(), "prove never.pal --certificate evidence");
    let said =
        accepted(folder.path(), &["never.pal.property-witness-1.json", "evidence_never.repaired.pal.property.json"]);
    assert!(
        said.contains(
            "the only property of evidence/never.repaired.pal, `never t1 at cs, t2 at cs` (line 6), holds under TSO"
        ),
        "{said}"
    );
    assert!(said.contains("never.pal violates `never t1 at cs, t2 at cs` (line 4) under TSO"), "{said}");
    let text = out(&palisade(folder.path(), "fences --ask properties racy.pal"));
    assert!(
        text.contains("no fence helps: violated under SC")
            && text.contains("  violated never t1 at cs, t2 at cs (line 4)"),
        "{text}"
    );
    let document = documents::read(out(&palisade(folder.path(), "fences --ask properties never.pal --json")));
    assert_eq!(document["rows"][0]["property"]["property"], "never t1 at cs, t2 at cs");
    let refused = palisade(folder.path(), "fences --ask properties --objective pairs never.pal");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no pairs of statements can be found for `never`"));
}
