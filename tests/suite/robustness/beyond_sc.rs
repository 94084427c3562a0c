//! Steps without a value that TSO reaches and no interleaving: such a program is not robust, and
//! fences repair it.

use crate::checked::check;
use palisade::fences::{FenceOptions, Repair, Silent, place};
use palisade::limits::Limits;
use palisade::program::{
    Action, BinaryOperator, Copies, Expression, Instruction, Label, LabelId, Program, Register, RegisterId, SourceText,
    Span, Thread, Value,
};
use palisade::robustness::{AttackOutcome, CheckOptions, Verdict, attacks, is_pruned};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{Instance, LOOP_CAPACITY, Model, State, final_states};
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

/// A division, a value outside the domain, an overflow in an address and one in a condition, each
/// for any number of copies as well.
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
    // The value sets of nets reach the division, so that searches answer in their place.
    for nets in [&[][..], &["--nets"]] {
        let (output, text) = palisade(DIVISION, &[&["check"], nets].concat());
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("under TSO, not under SC: division by zero at t1 l4 (line"), "{text}");
        let (output, text) = palisade(DIVISION, &[&["fences"], nets].concat());
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains("1 fence optimal, cost 1") && text.contains("repaired robust"), "{text}");
    }
    let (output, text) = palisade(DIVISION, &["witness"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    // What an interleaving reaches is an error as before.
    let (output, _) = palisade(&DIVISION.replace("c = 1 && a = 0", "a = 0"), &["check"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Where the threads of a program can end: labels, and the registers there.
type Ends = Vec<(LabelId, Vec<Value>)>;

/// Where the threads end in the final states under a model.
fn ends(program: &Program, instance: &Instance, model: Model) -> BTreeSet<Ends> {
    let found = final_states(program, instance, model, LOOP_CAPACITY, &Limits::none()).expect("no value fails");
    let ends = |state: &State| -> Option<Ends> {
        state.threads().iter().map(|thread| Some((thread.label?, thread.registers.to_vec()))).collect()
    };
    // A thread that keeps the lock for ever keeps the others from memory.
    found.completed.iter().filter(|state| state.holder().is_none()).filter_map(ends).collect()
}

/// Adds instructions to a thread after a label where it ends.
fn append(thread: &mut Thread, label: LabelId, actions: impl IntoIterator<Item = Action>) {
    let mut source = label;
    for action in actions {
        let target = LabelId::from_index(thread.labels.len());
        thread.labels.push(Label::new(format!("after{}", target.index()), Span::default()));
        thread.instructions.push(Instruction::new(source, target, action, Span::default()));
        source = target;
    }
}

fn reads(index: usize) -> Expression {
    Expression::Register(RegisterId::from_index(index))
}

/// Cells that the program does not use.
const PUBLISHED: [Value; 3] = [100, 101, 102];

/// The program of two threads with two registers each in which one thread publishes its registers
/// at its end, and the other one reads them at its own, and divides by zero where both are as
/// given; with a guard it stops there instead.
fn dividing(program: &Program, divides: usize, ends: &Ends, guarded: bool) -> Program {
    let mut changed = program.clone();
    let cells = PUBLISHED.map(Expression::Constant);
    let values = [reads(0), reads(1), Expression::Constant(1)];
    let publish = cells.clone().into_iter().zip(values).map(|(address, value)| Action::Store { address, value });
    append(&mut changed.threads[1 - divides], ends[1 - divides].0, publish);

    let thread = &mut changed.threads[divides];
    for name in ["q1", "q2", "published"] {
        let span = Span::default();
        thread.registers.push(Register { name: name.into(), span, initial: 0, is_initialised: false });
    }
    let load = |register: usize| Action::Load {
        register: RegisterId::from_index(register),
        address: cells[register - 2].clone(),
    };
    let expected = [ends[divides].1.as_slice(), ends[1 - divides].1.as_slice()].concat();
    let differs = expected
        .iter()
        .enumerate()
        .map(|(index, value)| Expression::binary(BinaryOperator::NotEqual, reads(index), Expression::Constant(*value)))
        .reduce(|one, other| Expression::binary(BinaryOperator::Or, one, other))
        .expect("there are registers");
    let guard = if guarded { Action::Assume(differs.clone()) } else { Action::Nop };
    let value = Expression::binary(BinaryOperator::Divide, Expression::Constant(1), differs);
    let divide = Action::Assign { register: RegisterId::from_index(0), value };
    append(thread, ends[divides].0, [load(4), Action::Assume(reads(4)), load(2), load(3), guard, divide]);
    changed
}

fn outcomes(program: &Program) -> Vec<AttackOutcome> {
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

/// A step without a value changes nothing about attacks and fences when TSO alone reaches it: it
/// might as well block. When SC reaches it, it is an error.
#[test]
fn random_programs_that_divide_where_their_threads_end() {
    let (mut beyond, mut met, mut under_sc) = (0, 0, 0);
    let all = CheckOptions { all: true, ..CheckOptions::default() };
    for seed in 0..1500 {
        let program = random::program(seed, &Shape { fences: 2, copies: 2, total_labels: 8, ..Shape::default() });
        let instance = Instance::of(&program).expect("random programs fix their copies");
        if instance.counts() != [1, 1] {
            continue;
        }
        let (sc, tso) = (ends(&program, &instance, Model::Sc), ends(&program, &instance, Model::Tso));
        for divides in 0..2 {
            if let Some(ends) = tso.difference(&sc).next() {
                let (faulty, guarded) =
                    (dividing(&program, divides, ends, false), dividing(&program, divides, ends, true));
                assert_eq!(outcomes(&faulty), outcomes(&guarded), "seed {seed}");
                assert_eq!(cost(&faulty), cost(&guarded), "seed {seed}");
                met += usize::from(check(&faulty, &all).expect("checked above").only_under_tso.is_some());
                beyond += 1;
            }
            // Where control flow rules every attack out, nothing is explored.
            if let Some(ends) = sc.first().filter(|_| seed % 5 == 0) {
                let faulty = dividing(&program, divides, ends, false);
                if attacks(&faulty).iter().any(|attack| !is_pruned(&faulty, attack)) {
                    assert!(check(&faulty, &all).is_err(), "seed {seed}");
                    under_sc += 1;
                }
            }
        }
    }
    assert!(beyond >= 20 && met >= 10 && under_sc >= 50, "{beyond} programs, {met} met, {under_sc} under SC");
}
