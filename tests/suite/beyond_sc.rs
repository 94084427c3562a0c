//! Steps without a value that TSO reaches and no interleaving: such a program is not robust, and fences repair it.

use crate::checked::check;
use palisade::fences::{FenceOptions, Repair, Silent, place};
use palisade::limits::Limits;
use palisade::program::{
    Action, BinaryOperator, Copies, Expression, Instruction, Label, LabelId, Program, RegisterId, SourceText, Span,
    ThreadId, Value,
};
use palisade::robustness::{CheckOptions, Outcome, Verdict, attacks, is_pruned};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{Instance, LOOP_CAPACITY, Model, final_states};
use palisade::syntax::{Format, read};
use std::collections::BTreeSet;
use std::process::{Command, Output};

/// `t1` has seen that its store is delayed past its load when it divides.
const DIVISION: &str = "program only_under_tso
domain 0..3
thread t1 regs a, c init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: a <- mem[y]; goto l2;
  l2: c <- mem[z]; goto l3;
  l3: assume c = 1 && a = 0; goto l4;
  l4: c <- 1 / a; goto l5;
  l5: mem[u] <- c; goto l6;
end
thread t2 regs b init m0 begin
  m0: mem[y] <- 1; goto m1;
  m1: mfence; goto m2;
  m2: b <- mem[x]; goto m3;
  m3: assume b = 0; goto m4;
  m4: mem[z] <- 1; goto m5;
end
";

fn program(text: &str) -> Program {
    read(SourceText::new("division.pal", text), Format::Native).expect("a program").program
}

fn palisade(text: &str, arguments: &[&str]) -> (Output, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("division.pal"), text).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.current_dir(folder.path()).args(arguments).arg("division.pal").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

/// A division, a value outside the domain, an overflow in an address and one in a condition, each for any number of
/// copies as well.
#[test]
fn a_violation_shows_the_program_not_robust() {
    for step in ["c <- 1 / a", "c <- c + 3", "assume 1 / a = 1", "c <- mem[x + 1 / a]", "mem[x + 1 / a] <- 1"] {
        for any in [false, true] {
            let mut program = program(&DIVISION.replace("c <- 1 / a", step));
            if any {
                program.threads.iter_mut().for_each(|thread| thread.copies = Copies::Any);
            }
            let options = CheckOptions { all: true, ..CheckOptions::default() };
            let checked = check(&program, &options).expect("no step under SC is without a value");
            assert_eq!(checked.verdict, Verdict::NotRobust, "{step}");
            assert!(any || checked.only_under_tso.is_some(), "{step}");
            let Ok(Repair::Valid(placement)) = place(&program, &FenceOptions::default(), &Silent) else {
                panic!("{step}: fences repair it");
            };
            assert!(placement.confirmed && placement.proof.is_some(), "{step}");
        }
    }
}

#[test]
fn the_commands_say_so() {
    let (output, text) = palisade(DIVISION, &["check"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("under TSO, not under SC: division by zero (thread `t1` at `l4`)"), "{text}");
    let (output, text) = palisade(DIVISION, &["fences"]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("1 fence optimal, cost 1") && text.contains("repaired robust"), "{text}");
    let (output, text) = palisade(DIVISION, &["witness"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    // What an interleaving reaches is an error as before.
    let (output, _) = palisade(&DIVISION.replace("c = 1 && a = 0", "a = 0"), &["check"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Where copies of a thread can end: a label, and the registers there.
type End = (LabelId, Vec<Value>);

/// The ends of a thread's copies in the final states under a model.
fn ends(program: &Program, instance: &Instance, model: Model, thread: ThreadId) -> BTreeSet<End> {
    let found = final_states(program, instance, model, LOOP_CAPACITY, &Limits::none()).expect("no value fails");
    let states = found.completed.iter().chain(&found.stuck);
    let copies: Vec<usize> =
        instance.copies().enumerate().filter(|(_, copy)| copy.thread == thread).map(|(index, _)| index).collect();
    let at = |state: &palisade::semantics::State, index: &usize| {
        let thread = &state.threads()[*index];
        Some((thread.label?, thread.registers.to_vec()))
    };
    states.flat_map(|state| copies.iter().filter_map(|index| at(state, index)).collect::<Vec<_>>()).collect()
}

/// The program that, where a thread ends so, divides by zero; with a guard it stops there instead.
fn dividing(program: &Program, thread: ThreadId, (label, registers): &End, guarded: bool) -> Program {
    let mut changed = program.clone();
    let thread = &mut changed.threads[thread.index()];
    let differs = registers
        .iter()
        .enumerate()
        .map(|(index, value)| {
            let register = Expression::Register(RegisterId::from_index(index));
            Expression::binary(BinaryOperator::NotEqual, register, Expression::Constant(*value))
        })
        .reduce(|one, other| Expression::binary(BinaryOperator::Or, one, other))
        .expect("random threads have registers");
    let first = thread.labels.len();
    for number in first..first + 2 {
        thread.labels.push(Label { name: format!("after{number}"), span: Span::default(), fence_cost: None });
    }
    let guard = if guarded { Action::Assume(differs.clone()) } else { Action::Nop };
    let value = Expression::binary(BinaryOperator::Divide, Expression::Constant(1), differs);
    let divide = Action::Assign { register: RegisterId::from_index(0), value };
    let labels = [*label, LabelId::from_index(first), LabelId::from_index(first + 1)];
    for (pair, action) in labels.windows(2).zip([guard, divide]) {
        thread.instructions.push(Instruction { source: pair[0], target: pair[1], action, span: Span::default() });
    }
    changed
}

fn outcomes(program: &Program) -> Vec<Outcome> {
    let options = CheckOptions { all: true, ..CheckOptions::default() };
    let checked = check(program, &options).expect("no step under SC is without a value");
    checked.attacks.iter().map(|report| report.outcome).collect()
}

fn cost(program: &Program) -> String {
    match place(program, &FenceOptions::default(), &Silent) {
        Ok(Repair::Valid(placement)) if placement.confirmed && placement.proof.is_some() => placement.cost.to_string(),
        other => panic!("{other:?} of {program:#?}"),
    }
}

/// A step without a value changes nothing about attacks and fences when TSO alone reaches it: it might as well block. When
/// SC reaches it, it is an error.
#[test]
fn random_programs_that_divide_where_a_thread_ends() {
    let (mut beyond, mut met, mut under_sc) = (0, 0, 0);
    for seed in 0..1500 {
        let program = random::program(seed, &Shape { fences: 2, ..Shape::default() });
        let instance = Instance::of(&program).expect("random programs fix their copies");
        for (thread, template) in program.thread_ids() {
            let sc = ends(&program, &instance, Model::Sc, thread);
            let tso = ends(&program, &instance, Model::Tso, thread);
            let has_ended = |(label, _): &&End| template.instructions.iter().all(|line| line.source != *label);
            if let Some(end) = tso.difference(&sc).find(has_ended) {
                let (faulty, guarded) = (dividing(&program, thread, end, false), dividing(&program, thread, end, true));
                assert_eq!(outcomes(&faulty), outcomes(&guarded), "seed {seed}");
                assert_eq!(cost(&faulty), cost(&guarded), "seed {seed}");
                let all = CheckOptions { all: true, ..CheckOptions::default() };
                met += usize::from(check(&faulty, &all).expect("checked above").only_under_tso.is_some());
                beyond += 1;
            }
            // Where control flow rules every attack out, nothing is explored.
            let is_explored = attacks(&program).iter().any(|attack| !is_pruned(&program, attack));
            if let Some(end) = sc.iter().find(has_ended).filter(|_| seed % 5 == 0 && is_explored) {
                assert!(check(&dividing(&program, thread, end, false), &CheckOptions::default()).is_err());
                under_sc += 1;
            }
        }
    }
    assert!(beyond >= 20 && met >= 5 && under_sc >= 100, "{beyond} programs, {met} met, {under_sc} under SC");
}
