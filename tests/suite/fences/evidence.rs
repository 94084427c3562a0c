//! Evidence about repairs: every claim of `fences` on random programs has evidence that `verify`
//! accepts, and corrupted evidence is rejected.
//!
//! Corruptions are chosen so that they must be fatal, whatever the program:
//!
//! - *a set without one of its measures*: the sets are irreducible, so the program with the rest is
//!   not robust;
//! - *a row without one of its measures*: rows are minimal, so the program with all others is
//!   robust;
//! - *a weight raised*: of the rows of some measure none can weigh more;
//! - *a bound raised*: an optimum costs no more than the bound;
//! - *a case missing, or one more*: branches say how many there are;
//! - *a violation cut short*: stores stay buffered; where a property is violated, the last step
//!   does that.

use crate::documents;
use crate::environment::seeds;
use palisade::evidence::{Case, Evidence, ProgramSubject, RepairClaim, RepairEvidence, RowWitness};
use palisade::fences::{
    Cost, CostFunction, FenceOptions, Profile, Repair, RepairError, RepairOptions, Repaired, Shown, Silent,
    WithinLimits, repair,
};
use palisade::program::{Copies, Program, SourceText};
use palisade::semantics::random::{self, Randomness, Shape};
use palisade::syntax::{Format, print, read};
use palisade::verify::{RepairFacts, check_repair, check_repair_evidence, check_repaired_text};
use std::path::Path;
use std::process::Command;

/// What evidence shows; no limits are set here.
fn facts(shown: &Shown) -> &RepairFacts {
    shown.facts.as_ref().expect("it was checked")
}

/// A random program as its own text says it, sometimes with any number of copies.
fn random_program(seed: u64, shape: &Shape, random: &mut Randomness) -> Option<Program> {
    let program = random::program(seed, shape);
    let text = print(&program, Format::Native).ok()?.text;
    let mut program = read(SourceText::new("random.pal", text), Format::Native).expect("it is printed well").program;
    for thread in &mut program.threads {
        if random.percent(15) {
            thread.copies = Copies::Any;
        }
    }
    Some(program)
}

/// Random costs for all labels.
fn random_costs(program: &Program, random: &mut Randomness) -> CostFunction {
    let mut text = String::new();
    for thread in &program.threads {
        for label in &thread.labels {
            text += &format!("{},{},{}.{}\n", thread.name, label.name, 1 + random.below(4), random.below(100));
        }
    }
    CostFunction::Profile(Profile::read(&text, program).expect("the profile is well formed"))
}

/// The repair of a program under random costs, now and then with exchanges, with restrictions, and
/// with its own fences judged.
fn repaired(program: &Program, random: &mut Randomness) -> Option<Repaired> {
    let half: Cost = "0.5".parse().expect("a cost");
    let cost = if random.percent(50) { CostFunction::Uniform } else { random_costs(program, random) };
    let never = if random.percent(15) { vec![format!("{}.*", program.threads[0].name)] } else { Vec::new() };
    let options = FenceOptions {
        cost,
        exchange: random.percent(40).then_some(half),
        never: never.iter().map(|pattern| pattern.parse().expect("a pattern")).collect(),
        values: 12,
        ..FenceOptions::default()
    };
    let wanted =
        RepairOptions { language: &Format::Native, path: "repaired.pal".into(), redundant: random.percent(50) };
    match repair(program, &options, &wanted, &Silent, &WithinLimits) {
        Ok(found) => Some(found),
        // A program with a fault under SC is none to repair.
        Err(RepairError::Fences(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

/// The repaired texts that evidence names.
fn texts(found: &Repaired, evidence: &RepairEvidence) -> Vec<Option<Program>> {
    let text = |is_named: bool| is_named.then(|| found.repaired_text().expect("there is a text").program.clone());
    evidence.valid.iter().map(|valid| text(valid.repaired.is_some())).collect()
}

/// What must be rejected, with its name.
pub(crate) fn corrupted(evidence: &RepairEvidence, random: &mut Randomness) -> Vec<(&'static str, RepairEvidence)> {
    let mut all = Vec::new();
    let mut add = |name, change: &dyn Fn(&mut RepairEvidence)| {
        let mut changed = evidence.clone();
        change(&mut changed);
        all.push((name, changed));
    };
    if let Some(valid) = evidence.valid.first().filter(|valid| !valid.set.is_empty()) {
        let gone = random.below(valid.set.len());
        add("a set without one of its measures", &|it| {
            it.valid[0].set.remove(gone);
            it.valid[0].repaired = None;
        });
        add("a repaired text with a measure more than the set", &|it| {
            it.valid[0].set.remove(gone);
        });
    }
    for (number, row) in evidence.rows.iter().enumerate() {
        if !row.measures.is_empty() {
            let gone = random.below(row.measures.len());
            add("a row without one of its measures", &|it| {
                it.rows[number].measures.remove(gone);
            });
        }
        add("a violation cut short", &|it| match &mut it.rows[number].witness {
            RowWitness::NotRobust(witness) => drop(witness.steps.pop()),
            RowWitness::Tasks(witness) => drop(witness.steps.pop()),
            RowWitness::Graph(witness) => drop(witness.steps.pop()),
            RowWitness::Violated(witness) => drop(witness.steps.pop()),
            RowWitness::Stuck(witness) => drop(witness.steps.pop()),
        });
    }
    for (number, block) in evidence.bound.iter().enumerate() {
        add("a bound raised", &|it| {
            it.bound[number].least = (it.bound[number].least.to_big() + 1u8).into();
        });
        add("a case missing", &|it| {
            it.bound[number].cases.pop();
        });
        add("a case more", &|it| it.bound[number].cases.push(Case::Leaf(Vec::new())));
        if let [Case::Leaf(weights)] = &block.cases[..] {
            let raised = random.below(weights.len());
            add("a weight raised", &|it| {
                if let Case::Leaf(weights) = &mut it.bound[number].cases[0] {
                    weights[raised].1 = (weights[raised].1.to_big() + 1u8).into();
                }
            });
        }
    }
    all
}

/// Evidence is accepted as it is and as text, and rejected with any corruption; how many
/// corruptions there were.
fn assert_evidence(program: &Program, found: &Repaired, shown: &Shown, random: &mut Randomness) -> usize {
    let texts = texts(found, &shown.evidence);
    let subject = ProgramSubject::of(program, "native", &[]);
    let written = Evidence::Repair(subject, shown.evidence.clone());
    let read_again = Evidence::read(written.to_text().as_bytes()).expect("what is written is read");
    assert_eq!(read_again.to_text(), written.to_text());
    assert_eq!(check_repair_evidence(program, None, &read_again, &texts), Ok(facts(shown).clone()), "{program:#?}");
    let corrupted = corrupted(&shown.evidence, random);
    for (name, evidence) in &corrupted {
        assert!(check_repair(program, None, evidence, &texts).is_err(), "{name}: {program:#?}");
    }
    corrupted.len()
}

#[test]
fn every_claim_on_random_programs_has_its_evidence() {
    let (mut optimal, mut branched, mut exchanged, mut impossible, mut robust) = (0, 0, 0, 0, 0);
    let (mut needed, mut removable, mut corruptions, mut rows, mut sought) = (0, 0, 0, 0, 0);
    for seed in seeds(100, 1200) {
        let mut random = Randomness::new(seed ^ 0xe51d);
        let shape = if seed % 3 == 0 {
            Shape { fences: 25, total_labels: 8, ..Shape::default() }
        } else {
            Shape { total_labels: 8, fences: 3, branches: 25, ..Shape::default() }
        };
        let Some(program) = random_program(seed, &shape, &mut random) else { continue };
        let Some(found) = repaired(&program, &mut random) else { continue };
        if let Some(shown) = &found.shown {
            corruptions += assert_evidence(&program, &found, shown, &mut random);
            let branches = shown.evidence.bound.iter().filter(|block| block.cases.len() > 1);
            branched += branches.count();
        }
        match (&found.repair, &found.shown) {
            (Repair::Valid(placement), Some(shown)) if placement.stop.is_none() => {
                assert!(placement.confirmed && shown.is_complete && facts(shown).is_optimal(), "{program:#?}");
                let is_row_of = |measure: usize| {
                    let others = |row: &[usize]| row.iter().any(|it| *it != measure && is_chosen(shown, *it));
                    shown.evidence.rows.iter().any(|row| row.measures.contains(&measure) && !others(&row.measures))
                };
                assert!(shown.evidence.valid[0].set.iter().all(|measure| is_row_of(*measure)), "what comes back");
                // The search for a row of fixed copies leaves its violation behind.
                assert!(shown.sought == 0 || program.is_parameterized(), "{program:#?}");
                sought += shown.sought;
                rows += shown.evidence.rows.len();
                optimal += usize::from(!placement.measures.is_empty());
                robust += usize::from(placement.measures.is_empty());
                exchanged += usize::from(shown.evidence.valid[0].set.iter().any(|measure| {
                    matches!(shown.evidence.measures[*measure].0, palisade::fences::Measure::Exchange { .. })
                }));
            }
            (Repair::Impossible(_), Some(shown)) => {
                assert!(shown.is_complete && facts(shown).is_impossible, "{program:#?}");
                impossible += 1;
            }
            _ => {}
        }
        corruptions += assert_judged(&program, &found, &mut random, &mut removable, &mut needed);
        // The fences just placed are judged as well.
        if let Some(text) = found.repaired_text() {
            let wanted = RepairOptions { language: &Format::Native, path: "again.pal".into(), redundant: true };
            let again =
                repair(&text.program, &FenceOptions::default(), &wanted, &Silent, &WithinLimits).expect("it is robust");
            assert!(again.is_robust_already());
            corruptions += assert_judged(&text.program, &again, &mut random, &mut removable, &mut needed);
        }
    }
    let counts = [optimal, exchanged, impossible, robust, needed, removable, corruptions];
    assert!(counts.iter().zip([5, 2, 0, 60, 2, 12, 80]).all(|(count, least)| *count >= least), "{counts:?}");
    assert!(sought * 20 <= rows, "{sought} of {rows} violations were sought anew");
    println!("{counts:?}, {branched} blocks with branches, {sought} of {rows} violations sought anew");
}

/// What was found about a program's own fences has its evidence; how many corruptions of it there
/// were.
fn assert_judged(
    program: &Program,
    found: &Repaired,
    random: &mut Randomness,
    removable: &mut usize,
    needed: &mut usize,
) -> usize {
    let (Some(Ok(redundancy)), Some(shown)) = (&found.redundancy, &found.redundancy_shown) else { return 0 };
    assert!(shown.is_complete && facts(shown).is_optimal(), "{program:#?}");
    assert_eq!(shown.evidence.valid[0].set.len() + redundancy.removable.len(), redundancy.fences.len());
    *removable += usize::from(!redundancy.removable.is_empty());
    *needed += usize::from(!redundancy.needed.is_empty());
    assert_evidence(program, found, shown, random)
}

fn is_chosen(shown: &Shown, measure: usize) -> bool {
    shown.evidence.valid[0].set.contains(&measure)
}

/// Three rows of two measures each, any two of which share one: what all weigh is 1 in whole
/// numbers, a set costs 2, so there are cases.
#[test]
fn cases_prove_what_weights_do_not() {
    // On its way from the store to the load the thread passes two of `a`, `b` and `c`, whichever it
    // likes.
    let text = "program triangle
        domain 0..3
        thread t1 regs r, k init s begin
          s: mem[x] <- 1; goto p;
          p: nop; goto a;
          p: nop; goto b;
          p: nop; goto c;
          a: k <- k + 1; goto a1;
          a1: assume k = 1; goto b;
          a1: assume k = 2; goto l;
          b: k <- k + 1; goto b1;
          b1: assume k = 1; goto c;
          b1: assume k = 2; goto l;
          c: k <- k + 1; goto c1;
          c1: assume k = 1; goto a;
          c1: assume k = 2; goto l;
          l: r <- mem[y]; goto end;
        end
        thread t2 regs r init m0 begin
          m0: mem[y] <- 1; goto m1;
          m1: mfence; goto m2;
          m2: r <- mem[x]; goto end;
        end";
    let program = read(SourceText::new("triangle.pal", text), Format::Native).expect("a program").program;
    let only = ["t1.a", "t1.b", "t1.c"].map(|pattern| pattern.parse().expect("a pattern"));
    let options = FenceOptions { only: only.to_vec(), ..FenceOptions::default() };
    let wanted = RepairOptions { language: &Format::Native, path: "triangle.pal".into(), redundant: false };
    let found = repair(&program, &options, &wanted, &Silent, &WithinLimits).expect("it has a meaning");
    let shown = found.shown.as_ref().expect("there is evidence");
    assert!(shown.is_complete && facts(shown).is_optimal());
    assert_eq!(facts(shown).bound, 2u8.into());
    assert_eq!((shown.evidence.rows.len(), shown.evidence.bound.len()), (3, 1));
    assert!(shown.evidence.bound[0].cases.len() > 1);
    assert_evidence(&program, &found, shown, &mut Randomness::new(1));
    // Half of the cases, or one that forgets what is chosen, will not do.
    let texts = texts(&found, &shown.evidence);
    let with_cases = |cases: Vec<Case>| {
        let mut changed = shown.evidence.clone();
        changed.bound[0].cases = cases;
        check_repair(&program, None, &changed, &texts)
    };
    assert!(with_cases(vec![Case::Leaf((0..3).map(|row| (row, 1u64.into())).collect())]).is_err(), "too heavy");
    assert!(with_cases(vec![Case::Leaf(vec![(0, 1u64.into())])]).is_err(), "too light");
    let again = vec![Case::Branch(0), Case::Branch(0), Case::Leaf(Vec::new()), Case::Leaf(Vec::new())];
    assert!(with_cases(again).is_err(), "a measure is counted twice");
}

/// Tries that fail are events of a loop, and none of an `await`: a text that waits says less than a
/// program that tries again and again.
#[test]
fn a_text_that_waits_is_not_the_program_that_tries_again() {
    let text =
        "program waits\naddress x, y\nthread a { x = 1; await (y == 1); }\nthread b { y = 1; await (x == 1); }\n";
    let waiting = read(SourceText::new("waits.pal", text), Format::Native).expect("it is read").program;
    let mut trying = waiting.clone();
    trying.threads.iter_mut().flat_map(|thread| &mut thread.instructions).for_each(|own| own.stated = None);
    let evidence = RepairEvidence {
        claim: RepairClaim::Robust,
        taken: Vec::new(),
        measures: Vec::new(),
        valid: Vec::new(),
        rows: Vec::new(),
        bound: Vec::new(),
    };
    let says = |program: &Program, text: &Program| check_repaired_text(program, &evidence, &[], text);
    assert_eq!(says(&waiting, &waiting), Ok(()));
    assert_eq!(says(&waiting, &trying), Ok(()));
    assert!(says(&trying, &waiting).is_err());
}

fn palisade(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn copy(folder: &Path, model: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(model);
    std::fs::copy(from, folder.join(model)).expect("the model can be copied");
}

#[test]
fn the_command_writes_evidence_for_every_claim() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(folder.path(), "peterson.pal");
    for (arguments, files, words) in [
        (&["--with", "xchg"][..], 3, "and with none cheaper"),
        (&["--threads", "t1=*,t2=*"], 2, "and with none cheaper"),
        (&["--never", "t1.*"], 1, "cannot be made robust by the changes on offer"),
        (&["--apply"], 3, "and with none cheaper"),
        // By now it is robust.
        (&["--redundant"], 2, "robust with the changes in the evidence, and with none cheaper"),
    ] {
        let all = [&["fences", "peterson.pal", "--json", "--certificate", "evidence"], arguments].concat();
        let (_, text) = palisade(folder.path(), &all);
        let document = documents::read(&text);
        assert_eq!(document["evidence"], "accepted", "{text}");
        let written: Vec<&str> =
            document["certificates"].as_array().expect("a list").iter().filter_map(|path| path.as_str()).collect();
        assert_eq!(written.len(), files, "{written:?}");
        let mut said = String::new();
        for file in written {
            let (status, text) = palisade(folder.path(), &["verify", file]);
            assert_eq!(status, Some(0), "{arguments:?}: {text}");
            said += &text;
        }
        assert!(said.contains(words), "{arguments:?}: {said}");
        std::fs::remove_dir_all(folder.path().join("evidence")).expect("it was there");
    }
}

/// The confirmation of what `--redundant` finds is a check of its own: when that ends early, the
/// report says nothing of the verdict.
#[test]
fn a_verdict_that_is_not_known_is_not_made_up() {
    use palisade::fences::Redundancy;
    use palisade::limits::StopReason;
    use palisade::report::documents::FencesDocument;
    use palisade::robustness::Verdict;
    let program = read(
        SourceText::new(
            "p.pal",
            "program p thread t regs r init a begin a: mem[x] <- 1; goto b; b: mfence; goto c; c: r <- mem[y]; end",
        ),
        Format::Native,
    )
    .expect("a program")
    .program;
    let wanted = RepairOptions { language: &Format::Native, path: "p.pal".into(), redundant: true };
    let mut found =
        repair(&program, &FenceOptions::default(), &wanted, &Silent, &WithinLimits).expect("it has a meaning");
    let Some(Ok(redundancy)) = found.redundancy.take() else { panic!("the fence is judged") };
    assert_eq!(redundancy.without_largest, Verdict::Robust);
    let without_largest = Verdict::Unknown(StopReason::Timeout);
    found.redundancy = Some(Ok(Redundancy { without_largest, certificate: None, ..redundancy }));
    found.redundancy_shown = None;
    let result = palisade::report::fences::Result {
        found: &found,
        all: false,
        proposal: None,
        no_diff: None,
        written: None,
        needed: None,
    };
    let context = palisade::report::context::Context {
        file: "p.pal",
        program: &program,
        warnings: &[],
        seconds: 0.0,
        certificates: &[],
        changed: &[],
        compilations: None,
    };
    let document = serde_json::to_value(FencesDocument::new(&result, &context)).expect("documents are JSON");
    assert_eq!(document["redundant"]["without_largest"], "unknown");
    let text = palisade::report::fences::text(&result, &context, 0);
    assert!(text.contains("not re-checked to the end: the time limit was reached"), "{text}");
}
