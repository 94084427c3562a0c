//! `palisade convert` as a command.

use crate::documents;
use crate::piped::palisade_reading as palisade;

const DEKKER: &str =
    "program Dekker\nthread t1 regs r1 init l0 begin\n l0: mem[x] <- 1; goto l1;\n l1: r1 <- mem[y]; goto l2;\nend\n";

#[test]
fn there_and_back() {
    let trencher = palisade(&["convert", "-", "--from", "native", "--to", "trencher"], DEKKER);
    assert_eq!(trencher.status.code(), Some(0));
    let text = String::from_utf8(trencher.stdout).expect("text");
    assert_eq!(text, "thread t1\ninitial l0\ntransition l0 l1 write 1 1\ntransition l1 l2 read r1 2\nend\n");
    let native = palisade(&["convert", "-", "--from", "trencher", "--to", "native"], &text);
    let text = String::from_utf8(native.stdout).expect("text");
    assert!(
        text.ends_with(
            "thread t1 regs r1 init l0 begin\n  l0: mem[1] <- 1; goto l1;\n  l1: r1 <- mem[2]; goto l2;\nend\n"
        ),
        "{text}"
    );
}

#[test]
fn one_document_on_standard_output() {
    let output = palisade(&["convert", "-", "--from", "native", "--to", "native", "--json"], DEKKER);
    let document = documents::read(&output.stdout);
    assert_eq!((&document["schema"], &document["from"]), (&"palisade/convert/1".into(), &"native".into()));
    assert!(document["text"].as_str().is_some_and(|text| text.contains("address x, y\n")));
    assert!(output.stderr.is_empty());
}

#[test]
fn bad_input_is_a_diagnostic() {
    let text = DEKKER.replace("goto l1", "gto l1");
    let output = palisade(&["convert", "-", "--from", "native", "--to", "trencher"], &text);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.contains("<stdin>:3:23") && said.contains("is `gto` meant to be `goto`?"), "{said}");
    let output = palisade(&["convert", "-", "--from", "native", "--to", "trencher", "--json"], &text);
    assert_eq!(output.status.code(), Some(2));
    let document = documents::read(&output.stdout);
    assert_eq!((&document["error"]["line"], &document["error"]["column"]), (&3.into(), &23.into()));
    assert_eq!(document["error"]["expected"][0], "`:`");
    let output = palisade(&["convert", "-", "--to", "trencher"], DEKKER);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn to_a_file() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("out.txt");
    let path = path.to_str().expect("the path is UTF-8");
    let output = palisade(&["convert", "-", "--from", "native", "--to", "trencher", "-o", path], DEKKER);
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(0), true));
    assert!(std::fs::read_to_string(path).expect("written").starts_with("thread t1\n"));
    let missing = folder.path().join("missing/out.txt");
    let missing = missing.to_str().expect("the path is UTF-8");
    let output = palisade(&["convert", "-", "--from", "native", "--to", "trencher", "-o", missing], DEKKER);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_question_of_a_litmus_test_is_not_dropped_in_silence() {
    let test = "X86 t\n{ }\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n";
    let output = palisade(&["convert", "-", "--from", "litmus", "--to", "native"], test);
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.contains("<stdin>:5:1") && said.contains("final states is left out"), "{said}");
    let output = palisade(&["convert", "-", "--from", "litmus", "--to", "native", "-q"], test);
    assert!(output.stderr.is_empty());
}

/// Formats for x86 have no orderings, and the writers say so; the native language keeps them.
#[test]
fn orderings_are_not_dropped_in_silence() {
    let program =
        "program P\naddress x\nthread t { store(x, 1, release); fence(acquire); let r = load(x, acquire); }\n";
    for format in ["litmus", "trencher"] {
        let output = palisade(&["convert", "-", "--from", "native", "--to", format], program);
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("<stdin>:3:12") && said.contains("orderings are left out"), "{format}: {said}");
    }
    let output = palisade(&["convert", "-", "--from", "native", "--to", "native"], program);
    assert!(output.stderr.is_empty(), "{output:?}");
    assert!(String::from_utf8(output.stdout).expect("text").contains("store(mem[x], 1, release)"));
}
