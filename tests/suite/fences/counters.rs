//! `palisade fences` for programs with counters that grow without end, or have very many values:
//! the cheapest sets, with evidence for every claim.

use crate::documents;
use crate::environment::{is_long_run, sample};
use crate::fences::corpus::read_text;
use crate::robustness::far::DEQUE;
use palisade::fences::{
    Cost, FenceOptions, Measure, Placement, Repair, RepairOptions, Repaired, Silent, WithinLimits, repair,
};
use palisade::program::Program;
use palisade::syntax::Format;
use palisade::verify::check_repair;
use std::path::Path;
use std::process::Command;

/// The fence before a thread of the deque loads `top` to see whether there is room.
const ROOM: (&str, &str) = ("room: mfence;\n  oldest: t", "room: t");

/// The fence between the claim of the last element and the load that tells whether a thief has it.
const SETTLE: (&str, &str) = ("  settle: mfence;\n", "");

/// The deque without some of its fences.
fn deque(without: &[(&str, &str)]) -> Program {
    let unfenced = without.iter().fold(DEQUE.to_owned(), |text, (fence, nothing)| {
        assert!(text.contains(fence), "{fence}");
        text.replace(fence, nothing)
    });
    read_text("deque.pal", unfenced, Format::Native)
}

fn repaired(program: &Program, options: &FenceOptions) -> Repaired {
    let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".into(), redundant: true };
    repair(program, options, &wanted, &Silent, &WithinLimits).expect("the program has a meaning")
}

/// The placement, whose claims all have evidence that `verify` accepts, read from the program anew.
fn optimal<'f>(program: &Program, found: &'f Repaired) -> &'f Placement {
    let Repair::Valid(placement) = &found.repair else { panic!("{:?}", found.repair) };
    assert!(placement.confirmed && placement.proof.is_some(), "{placement:?}");
    let shown = found.shown.as_ref().expect("there is evidence");
    let text = |is_named: bool| is_named.then(|| found.repaired_text().expect("there is a text").program.clone());
    let texts: Vec<Option<Program>> = shown.evidence.valid.iter().map(|valid| text(valid.repaired.is_some())).collect();
    let facts = check_repair(program, None, &shown.evidence, &texts).expect("the evidence is accepted");
    assert!(shown.is_complete && facts.is_optimal());
    placement
}

fn names(program: &Program, placement: &Placement) -> Vec<String> {
    placement.measures.iter().map(|(measure, _)| measure.name(program)).collect()
}

#[test]
fn the_fences_of_a_deque_of_integers_for_any_number_of_thieves() {
    let cases: Vec<(&[(&str, &str)], usize, usize)> = vec![(&[ROOM, SETTLE], 2, 2), (&[ROOM], 1, 2), (&[SETTLE], 1, 1)];
    for (without, fences, optima) in sample(cases, 3) {
        let program = deque(without);
        let found = repaired(&program, &FenceOptions { alternatives: 100, ..FenceOptions::default() });
        let placement = optimal(&program, &found);
        assert_eq!(placement.measures.len(), fences, "{:?}", names(&program, placement));
        // A fence at `choose` cuts the control flow, whatever the values.
        let is_far = found.certificate.as_ref().is_some_and(|certificate| !certificate.far.is_empty());
        assert!(is_far || names(&program, placement)[0] == "owner.choose");
        assert!(placement.alternatives_complete);
        assert_eq!(placement.alternatives.len(), optima, "{:?}", placement.alternatives);
        assert_eq!(found.shown.as_ref().map(|shown| shown.optima), Some(optima));
        // What is there already is needed, before and after.
        let redundancy = found.redundancy.as_ref().expect("it was asked for").as_ref().expect("it was found out");
        assert_eq!(redundancy.fences.len(), 2 - without.len());
        assert!(redundancy.fences.iter().all(|(_, attack)| attack.is_some()));
        assert!(found.redundancy_shown.as_ref().is_none_or(|shown| shown.is_complete));
    }
}

/// Exchanges, costs and restrictions.
#[test]
fn measures_on_offer_for_a_deque_of_integers() {
    let program = deque(&[ROOM, SETTLE]);
    let cheap = FenceOptions { exchange: Some("0.5".parse().expect("a cost")), ..FenceOptions::default() };
    let found = repaired(&program, &cheap);
    let placement = optimal(&program, &found);
    let is_exchange = |(measure, _): &(Measure, Cost)| matches!(measure, Measure::Exchange { .. });
    assert!(placement.measures.iter().any(is_exchange), "{:?}", names(&program, placement));
    assert!(placement.cost < "2".parse().expect("a cost"));

    let never =
        |pattern: &str| FenceOptions { never: vec![pattern.parse().expect("a pattern")], ..FenceOptions::default() };
    if is_long_run() {
        let found = repaired(&program, &never("owner.choose"));
        assert_eq!(names(&program, optimal(&program, &found)), ["owner.room", "owner.read_top"]);
    }
    let found = repaired(&program, &never("owner.read_top"));
    assert!(matches!(found.repair, Repair::Impossible(_)));
    let shown = found.shown.as_ref().expect("there is evidence");
    let facts = check_repair(&program, None, &shown.evidence, &[]).expect("the evidence is accepted");
    assert!(shown.is_complete && facts.is_impossible);
}

/// A thread whose store nobody looks at needs no fence, whatever control flow allows.
#[test]
fn what_control_flow_alone_asks_for_is_left_out() {
    let text = "program rounds
thread a regs r, s init l0 begin
  l0: mem[x] <- r + 1; goto l1;
  l1: s <- mem[y]; goto l2;
  l2: r <- mem[x]; goto l0;
end
thread b regs r, s init l0 begin
  l0: mem[y] <- r + 1; goto l1;
  l1: s <- mem[x]; goto l2;
  l2: r <- mem[y]; goto l0;
end
thread c [*] regs s init l0 begin
  l0: mem[z] <- 1; goto l1;
  l1: s <- mem[y]; goto l2;
end
";
    for text in [text.to_owned(), text.replace("thread a", "thread a [*]")] {
        let program = read_text("rounds.pal", text, Format::Native);
        let found = repaired(&program, &FenceOptions::default());
        assert_eq!(names(&program, optimal(&program, &found)), ["a.l1", "b.l1"]);
    }
}

/// Fences that can go, and fences that cannot.
#[test]
fn fences_of_a_deque_of_integers_that_can_go() {
    // A thief reads only until it steals, which drains its buffer.
    let text = DEQUE.replace(
        "read_top: t <- mem[top];\n  read_bottom",
        "read_top: t <- mem[top];\n  spare: mfence;\n  read_bottom",
    );
    assert_ne!(text, DEQUE);
    let program = read_text("deque.pal", text, Format::Native);
    let found = repaired(&program, &FenceOptions::default());
    assert!(found.is_robust_already());
    let redundancy = found.redundancy.as_ref().expect("it was asked for").as_ref().expect("it was found out");
    let can_go: Vec<String> = redundancy.removable.iter().map(|fence| fence.name(&program)).collect();
    assert_eq!((redundancy.fences.len(), can_go), (3, vec!["thief.spare".to_owned()]));
    let shown = found.redundancy_shown.as_ref().expect("there is evidence");
    assert!(shown.is_complete && shown.facts.as_ref().is_some_and(palisade::verify::RepairFacts::is_optimal));
}

fn palisade(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_command_names_what_its_proof_does_not_know() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("deque.pal"), deque(&[SETTLE]).source.text.as_bytes()).expect("a file");
    let line = ["fences", "deque.pal", "--report", "page.html", "--certificate", "evidence", "--json"];
    let (status, text) = palisade(folder.path(), &line);
    let document = documents::read(&text);
    assert_eq!(status, Some(0), "{document}");
    assert_eq!(document["optimal"], true);
    assert_eq!(document["evidence"], "accepted");
    assert_eq!(document["far"], serde_json::json!([{ "address": "top", "distance": 4 }]));
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("the page is there");
    assert!(page.contains("what is 4 and more behind <code>top</code> is one value"));
    for file in document["certificates"].as_array().expect("a list") {
        let (status, text) = palisade(folder.path(), &["verify", file.as_str().expect("a path")]);
        assert_eq!(status, Some(0), "{text}");
    }
    // The changed text needs nothing more.
    let (status, text) = palisade(folder.path(), &["fences", "deque.pal", "--apply"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("deque.pal: 1 fence optimal, cost 1"), "{text}");
    assert!(text.contains("  counters without end: what is 4 and more behind `top` is one value\n"), "{text}");
    let (status, text) = palisade(folder.path(), &["fences", "deque.pal"]);
    assert_eq!((status, text.contains("robust as it is")), (Some(0), true), "{text}");
}
