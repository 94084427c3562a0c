//! `palisade fences` where values grow without a declared domain: sets that control flow shows
//! valid, and nothing claimed beyond them.

use crate::checked::check;
use crate::documents;
use crate::environment::seeds;
use crate::fences::corpus::is_irreducible;
use crate::support::{instruction, register, thread};
use palisade::fences::{FenceOptions, Measure, Placement, Repair, Silent, Unfinished, place, with_measures};
use palisade::program::{Action, BinaryOperator, Expression, Program, SourceText, Thread};
use palisade::robustness::{AttackOutcome, CheckOptions, Verdict};
use palisade::semantics::random::{self, Shape};
use palisade::syntax::{Format, read};
use std::process::{Command, Output};

/// Store buffering over numbers that are drawn anew in each round.
const ROUNDS: &str = "program rounds
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
";

/// The same over numbers that are compared with one, so that they are no counters: checks of
/// changed programs have no answer either.
fn compared() -> String {
    ROUNDS.replace("r + 1", "r + (r >= 0)")
}

/// A thread whose store nobody looks at: no attack of it is feasible, but only a search would tell.
const BYSTANDER: &str = "thread c regs s init l0 begin
  l0: mem[z] <- 1; goto l1;
  l1: s <- mem[y]; goto l2;
end
";

fn program(text: &str) -> Program {
    read(SourceText::new("growing.pal", text), Format::Native).expect("the text is a program").program
}

fn placed(program: &Program, options: &FenceOptions) -> Placement {
    match place(program, options, &Silent) {
        Ok(Repair::Valid(placement)) => *placement,
        other => panic!("{other:?}"),
    }
}

fn verdict(program: &Program) -> Verdict {
    check(program, &CheckOptions::default()).expect("control flow decides it").verdict
}

fn names(program: &Program, measures: &[Measure]) -> Vec<String> {
    measures.iter().map(|measure| measure.name(program)).collect()
}

fn fences(text: &str, arguments: &[&str]) -> (Output, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("growing.pal"), text).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .current_dir(folder.path())
        .args(["fences", "growing.pal"])
        .args(arguments)
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

#[test]
fn violations_among_the_first_values_prove_a_set_optimal() {
    for (text, any) in [(ROUNDS.to_owned(), false), (ROUNDS.replace("thread a", "thread a [*]"), true)] {
        let program = program(&text);
        assert_eq!(program.is_parameterized(), any);
        let options = FenceOptions { alternatives: 10, ..FenceOptions::default() };
        let placement = placed(&program, &options);
        assert!(matches!(placement.stop, Some(Unfinished::Growth(_))));
        let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
        assert_eq!(names(&program, &measures), ["a.l1", "b.l1"]);
        assert!(placement.alternatives_complete);
        assert_eq!(placement.alternatives, [measures]);
        assert!(
            placement.attacks.iter().all(|(_, outcome)| *outcome != AttackOutcome::Infeasible),
            "nothing shows that"
        );
        if !any {
            is_irreducible(&program, &placement);
        }
    }
}

#[test]
fn what_only_control_flow_asks_for_is_not_called_optimal() {
    let compared = compared();
    let program = program(&format!("{compared}{BYSTANDER}"));
    let placement = placed(&program, &FenceOptions::default());
    let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
    assert_eq!(names(&program, &measures), ["a.l1", "b.l1", "c.l1"]);
    assert!(placement.proof.is_none() && placement.confirmed);
    assert_eq!(verdict(&with_measures(&program, &measures)), Verdict::Robust);
    let (output, text) = fences(&format!("{compared}{BYSTANDER}"), &[]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("3 fences valid, not known to be optimal, cost 3"), "{text}");
    assert!(text.contains("grows: it takes more than 64 values"), "{text}");
    assert!(text.contains("help     declare the values it may take"), "{text}");
    let (_, text) = fences(&format!("{compared}{BYSTANDER}"), &["--all"]);
    assert!(text.contains("optima   none known: the set found is valid, but may not be optimal"), "{text}");
    // Where the bound shows the set optimal, it is listed at least.
    let (_, text) = fences(ROUNDS, &["--all"]);
    assert!(text.contains("optima   1\n           a l1, b l1\n"), "{text}");
}

/// The cheapest set for the violations may leave control flow open, although another one does not.
#[test]
fn the_cheapest_cut_is_taken_among_the_optima() {
    // The store and the load of each thread are two labels apart; a load that no attack needs is on
    // one of two ways.
    let text = ROUNDS
        .replace("l0: mem[x] <- r + 1; goto l1;", "l0: mem[x] <- r + 1; goto k;\n  k: nop; goto l1;")
        .replace("thread b", "thread d regs s init l0 begin\n  l0: s <- mem[x]; goto l1;\nend\nthread b");
    let program = program(&text);
    let placement = placed(&program, &FenceOptions { alternatives: 10, ..FenceOptions::default() });
    assert!(placement.proof.is_some());
    assert_eq!(placement.alternatives.len(), 2, "{:?}", placement.alternatives);
    for set in &placement.alternatives {
        assert_eq!(verdict(&with_measures(&program, set)), Verdict::Robust);
    }
}

/// A thread apart from all others that counts without end. What is compared with a number is no
/// counter.
fn counting(is_compared: bool) -> Thread {
    let (own, count) = (Expression::Constant(1000), Expression::Register(register(0)));
    let is_positive = Expression::binary(BinaryOperator::GreaterOrEqual, count.clone(), Expression::Constant(0));
    let more = if is_compared { is_positive } else { Expression::Constant(1) };
    let next = Expression::binary(BinaryOperator::Add, count, more);
    thread([
        instruction(0, Action::Load { register: register(0), address: own.clone() }, 1),
        instruction(1, Action::Store { address: own, value: next }, 2),
        instruction(2, Action::Fence, 0),
    ])
}

/// Random programs beside a thread that counts: what is called optimal is so without that thread,
/// too, and no set is cheaper than what is optimal there. Where what grows is a counter, checks
/// decide what control flow does not.
#[test]
fn random_programs_beside_a_counter() {
    let (mut checked, mut optimal, mut not_proved) = (0, 0, 0);
    for seed in seeds(300, 600) {
        let program = random::program(seed, &Shape { domains: 0, ..Shape::default() });
        let mut growing = program.clone();
        growing.threads.push(counting(seed.is_multiple_of(2)));
        let options = FenceOptions { values: 10, ..FenceOptions::default() };
        let (Ok(Repair::Valid(alone)), Ok(Repair::Valid(placement))) =
            (place(&program, &options, &Silent), place(&growing, &options, &Silent))
        else {
            continue;
        };
        if placement.stop.is_none() {
            assert_eq!(
                placement.cost, alone.cost,
                "control flow rules all attacks out, or checks decide: {growing:#?}"
            );
            checked += usize::from(!placement.measures.is_empty());
            continue;
        }
        let chosen: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
        assert!(placement.confirmed, "{growing:#?}");
        assert_eq!(verdict(&with_measures(&program, &chosen)), Verdict::Robust, "{growing:#?}");
        if placement.proof.is_some() {
            assert_eq!(placement.cost, alone.cost, "{growing:#?}");
            optimal += 1;
        } else {
            assert!(placement.cost >= alone.cost, "{growing:#?}");
            not_proved += 1;
        }
    }
    assert!(
        checked > 0 && optimal > 5 && not_proved > 5,
        "{checked} decided by checks, {optimal} optimal, {not_proved} not proved so"
    );
}

#[test]
fn an_optimal_set_is_reported_with_the_reason() {
    let (output, text) = fences(ROUNDS, &["--json"]);
    let document = documents::read(text);
    assert_eq!(output.status.code(), Some(0), "{document}");
    assert_eq!(document["verdict"], "not-robust");
    assert_eq!(document["optimal"], true);
    assert_eq!(document["repaired"], "robust");
    assert!(document["reason"].as_str().is_some_and(|reason| reason.contains("grows")), "{document}");
}

#[test]
fn without_a_valid_set_the_violations_are_shown() {
    let text = format!("{}{BYSTANDER}", compared());
    let (output, report) = fences(&text, &["--never", "c.*"]);
    assert_eq!(output.status.code(), Some(3), "{report}");
    assert!(report.contains("no valid set is known: "), "{report}");
    assert!(report.contains("grows: it takes more than 64 values"), "{report}");
    assert!(report.contains("feasible the store at a l0 (line 3) past the load at a l1 (line 4)"), "{report}");
    assert!(report.contains("help     declare the values it may take"), "{report}");
    let (_, document) = fences(&text, &["--never", "c.*", "--json"]);
    let document = documents::read(document);
    assert_eq!(document["feasible"].as_array().map(Vec::len), Some(2), "{document}");
    let (output, report) = fences(&text, &["--never", "c.*", "--domain", "0..3", "--wrap"]);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("2 fences optimal"), "{report}");
}

#[test]
fn what_no_fence_prevents_is_impossible_whatever_the_values() {
    let (output, report) = fences(ROUNDS, &["--never", "a.l1"]);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("no valid set under the restrictions"), "{report}");
}

#[test]
fn where_nothing_is_known_growth_leaves_the_question_open() {
    let apart = ROUNDS.replace("mem[y]", "mem[w]").replace("s <- mem[x]", "s <- mem[v]");
    // What is compared with a number is no counter.
    let (output, report) = fences(&apart.replace("r + 1", "r + (r >= 0)"), &["--never", "*"]);
    assert_eq!(output.status.code(), Some(3), "{report}");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("grows: it takes more than 64 values"), "{message}");
    // What only counts is known modulo few values.
    let (output, report) = fences(&apart, &["--never", "*"]);
    assert_eq!((output.status.code(), report.contains("robust as it is")), (Some(0), true), "{report}");
}

#[test]
fn fences_there_already_are_judged_where_counters_grow() {
    let fenced = |text: &str| text.replace("goto l1;\n  l1: s", "goto f;\n  f: mfence; goto l1;\n  l1: s");
    let (output, report) = fences(&fenced(&compared()), &["--redundant"]);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("robust as it is"), "{report}");
    assert!(report.contains("fences there already: not judged (register `r` of thread `b` grows"), "{report}");
    let (output, report) = fences(&fenced(ROUNDS), &["--redundant"]);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("fences there already: 2\n"), "{report}");
    assert_eq!(report.matches(" needed: without it, ").count(), 2, "{report}");
}
