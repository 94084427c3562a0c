//! What users of herd and diy expect: executions shown with `rf`, `co` and `fr`, cycles by the
//! names of diy.

use crate::documents;
use crate::environment::corpus;
use palisade::program::SourceText;
use palisade::report::relations::herd_name;
use palisade::semantics::{Bounds, Instance, Model, Quantifier, each_execution, shortest_cycle};
use palisade::syntax::litmus::{self, LitmusTest};
use rayon::prelude::*;
use std::path::Path;
use std::process::{Command, Output};

const SB: &str = "X86 SB\n{ }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

const EXCHANGE: &str = "X86 exchange\n{ }\n P0          | P1           ;\n MOV EBX,$2  | MOV [x],$1   ;\n XCHG [x],EBX | MOV EAX,[x] ;\nexists (0:EBX=1 /\\ 1:EAX=2)\n";

fn palisade(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(line.split(' ')).current_dir(folder).output().expect("it runs")
}

/// What is printed about a test.
fn printed(text: &str, line: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("test.litmus"), text).expect("it is written");
    String::from_utf8(palisade(folder.path(), line).stdout).expect("UTF-8")
}

#[test]
fn executions_stand_below_the_log() {
    let shown = printed(SB, "simulate test.litmus --show prop");
    let expected = "SB: execution 1 of 1, which satisfies the condition\n  \
                    P0    a: W[x]=1 (line 4), b: R[y]=0 (line 5)\n  \
                    P1    c: W[y]=1 (line 4), d: R[x]=0 (line 5)\n  \
                    po    a → b, c → d\n  \
                    fr    b → c, d → a\n  \
                    no interleaving does this: a → b → c → d → a (PodWR Fre PodWR Fre)\n";
    assert!(shown.starts_with("Test SB Allowed\n") && shown.ends_with(expected), "{shown}");
    // A locked instruction is one event with two accesses.
    let shown = printed(EXCHANGE, "simulate test.litmus --show prop");
    for words in ["R[x]=1 W[x]=2 (line 5)", "rf    a → c, b → a", "co    b → a", "an interleaving does this"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn each_kind_of_executions_is_counted() {
    let count = |line: &str| printed(SB, line).matches(": execution ").count();
    assert_eq!(count("simulate test.litmus --show prop"), 1);
    assert_eq!(count("simulate test.litmus --show neg"), 3);
    assert_eq!(count("simulate test.litmus --show all"), 4);
    assert_eq!(count("simulate test.litmus --show all --nshow 2"), 2);
    assert_eq!(count("simulate test.litmus --show prop --model sc"), 0);
}

#[test]
fn executions_are_drawn() {
    let dot = printed(SB, "simulate test.litmus --dot");
    for words in
        ["digraph \"SB: execution 1 of 1", "n0_0 -> n0_1 [label=\"po\"", "n0_1 -> n1_0 [label=\"fr\", color=red"]
    {
        assert!(dot.contains(words), "{words}: {dot}");
    }
    assert_eq!(dot.matches("penwidth=3").count(), 4, "the cycle is bold: {dot}");
    let svg = printed(SB, "simulate test.litmus --svg");
    let drawing = roxmltree::Document::parse(&svg).expect("it is XML");
    let paths = |class: &str| drawing.descendants().filter(|node| node.attribute("class") == Some(class)).count();
    assert_eq!((paths("po"), paths("fr"), paths("rf"), paths("co")), (2, 2, 0, 0), "{svg}");
    for words in ["a: W[x]=1", "d: R[x]=0", "PodWR Fre PodWR Fre", ">P0<", ">P1<"] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    let all = printed(EXCHANGE, "simulate test.litmus --svg --show all");
    assert!(all.matches("<g transform").count() > 2 && !all.contains("src="), "{all}");
}

#[test]
fn documents_have_the_executions() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("test.litmus"), SB).expect("it is written");
    let run = palisade(folder.path(), "simulate test.litmus --svg -o test.svg --json");
    let document = documents::read(&run.stdout);
    assert_eq!(document["executions"][0]["cycle"], serde_json::json!(["PodWR", "Fre", "PodWR", "Fre"]));
    assert_eq!(document["executions"][0]["events"][1]["access"], "R[y]=0");
    assert_eq!(document["executions"][0]["relations"].as_array().map(Vec::len), Some(4));
    assert_eq!((document["written"].as_str(), document["format"].as_str()), (Some("test.svg"), Some("svg")));
    assert!(std::fs::read_to_string(folder.path().join("test.svg")).expect("it is written").starts_with("<svg"));
    let run = palisade(folder.path(), "check test.litmus --json");
    assert_eq!(documents::read(&run.stdout)["answers"][1]["witness"]["cycle"][0]["herd"], "PodWR");
}

#[test]
fn violations_of_litmus_tests_speak_of_rf_co_and_fr() {
    let text = printed(SB, "witness test.litmus");
    assert!(text.contains("(PodWR)") && text.contains("(Fre)") && !text.contains("(cf)"), "{text}");
    let dot = printed(SB, "witness test.litmus --dot");
    assert!(dot.contains("label=\"Fre\"") && !dot.contains("label=\"cf\""), "{dot}");
    assert!(printed(SB, "witness test.litmus --svg").contains("(Fre)"));
    // Elsewhere the relations have their plain names.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = String::from_utf8(palisade(root, "witness models/simple-dekker.pal").stdout).expect("UTF-8");
    assert!(text.contains("flag2 = 0 before t2") && text.contains("(fr)") && !text.contains("Fre"), "{text}");
}

#[test]
fn what_cannot_be_shown_is_refused() {
    for (line, words) in [
        ("simulate test.litmus --show all --model sc,tso", "executions are shown under one model"),
        ("simulate test.litmus -o x.svg", "`-o` is for `--dot` and `--svg`"),
        ("simulate test.litmus test.litmus --svg -o x.svg", "one picture is of one program"),
        ("simulate test.litmus --steps 3", "required"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("test.litmus"), SB).expect("it is written");
        let run = palisade(folder.path(), line);
        assert_eq!(run.status.code(), Some(2), "{line}");
        assert!(String::from_utf8_lossy(&run.stderr).contains(words), "{line}: {run:?}");
    }
}

/// The edges that a test of diy was made from. Fences are no relations here: `MFencedWR` is `PodWR`
/// behind a fence.
fn origin(test: &LitmusTest) -> Option<Vec<String>> {
    let (_, cycle) = test.information.iter().find(|(key, _)| key == "Cycle")?;
    let name = |word: &str| word.replace("MFenced", "Pod").replace("MFences", "Pos").replace("Ws", "Co");
    Some(cycle.split_whitespace().map(name).collect())
}

/// A cycle has no beginning.
fn is_rotation(one: &[String], other: &[String]) -> bool {
    one.len() == other.len() && (0..one.len().max(1)).any(|start| one[start..].iter().chain(&one[..start]).eq(other))
}

/// diy says from which cycle it has made a test, and the executions that the test is about have
/// that cycle. The one shown is a shortest one: never longer than that of diy, and often the same.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn cycles_have_the_names_of_diy() {
    let root = corpus().join("litmus");
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("the corpus has a table");
    let names: Vec<&str> = table.lines().skip(1).filter_map(|line| Some(line.split_once('\t')?.0)).collect();
    let compared = |name: &&str| -> Option<bool> {
        let text = std::fs::read_to_string(root.join(name)).expect("the table names files");
        let test = litmus::read(SourceText::new(*name, text)).expect("it is read");
        let origin = origin(&test)?;
        if test.question.condition.as_ref()?.quantifier != Quantifier::Exists {
            return None;
        }
        let instance = Instance::of(&test.program).expect("one copy each");
        let mut cycles: Vec<Vec<String>> = Vec::new();
        each_execution(&test.program, &instance, Model::Tso, &Bounds::default(), &mut |state, trace| {
            if test.question.is_satisfied(&test.program, &instance, state) == Some(true)
                && let Some(cycle) = shortest_cycle(trace)
            {
                cycles.push(cycle.iter().map(|edge| herd_name(trace, edge)).collect());
            }
        })
        .expect("no loops");
        if cycles.is_empty() {
            return None;
        }
        assert!(cycles.iter().all(|cycle| cycle.len() <= origin.len()), "{name}: {origin:?} {cycles:?}");
        Some(cycles.iter().any(|cycle| is_rotation(cycle, &origin)))
    };
    let compared: Vec<bool> = names.par_iter().filter_map(compared).collect();
    let same = compared.iter().filter(|is_same| **is_same).count();
    println!("{} tests compared, {same} with the cycle of diy", compared.len());
    assert!(compared.len() > 500 && same > 100, "{same} of {}", compared.len());
}
