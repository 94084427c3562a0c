//! The reader's x86 instructions against the processor of this machine.
//!
//! Every form that the reader knows is read from a litmus test, in both syntaxes, and its program
//! is run on random operands; a program of the same lines, built with the system's compiler, runs
//! them on the processor. Registers, memory and all flags that the manual defines must agree; flags
//! that it leaves undefined must be refused. By default each form gets 1,000 states, with
//! `PALISADE_FULL_TESTS=1` 100,000.

mod forms;
mod native;
mod reader;
mod states;
mod vectors;

use forms::{Form, Mode};
use native::{Left, Native};
use rayon::prelude::*;
use reader::Reader;
use states::{FLAGS, Random, State};
use std::collections::BTreeSet;
use std::ops::Range;

/// States whose outcome is computed by the machine of the semantics too.
const ON_THE_MACHINE: usize = 4;

fn shown(form: &Form, number: usize) -> String {
    let lines: Vec<String> = form.lines.iter().map(|line| line.att(number)).collect();
    format!("{:?}, {} bits: {}", form.mode, form.bits, lines.join("; "))
}

/// The first state for which a form is read wrongly, if there is one.
fn objection(form: &Form, number: usize, states: &[State], left: &[Left]) -> Option<String> {
    let read = match Reader::new(form, number) {
        Ok(read) => read,
        Err(why) => return Some(format!("{}: not read:\n{why}", shown(form, number))),
    };
    assert_eq!(states.len(), left.len(), "the processor answers for all states");
    let mut registers = Vec::new();
    for (index, (state, left)) in states.iter().zip(left).enumerate() {
        let state = state.for_mode(form.mode);
        if !read.agrees(state, left, &mut registers) {
            let (found, expected) = (read.run(state), read.expected(left.state, left.flags));
            let flags = &read.flags;
            let form = shown(form, number);
            return Some(format!(
                "{form}\n  from {state:x?}\n  read {found:x?}\n  is   {expected:x?}\n  flags {flags:?}"
            ));
        }
        if index < ON_THE_MACHINE && read.run_on_machine(state) != read.expected(left.state, left.flags) {
            return Some(format!("{}: the machine differs from {state:x?}", shown(form, number)));
        }
    }
    None
}

/// The numbers of the forms in batches of one mode each, so that the program is started a hundred
/// times.
fn batches(forms: &[Form]) -> Vec<Range<usize>> {
    const SIZE: usize = 32;
    let mut batches: Vec<Range<usize>> = Vec::new();
    for (number, form) in forms.iter().enumerate() {
        match batches.last_mut() {
            Some(batch) if batch.len() < SIZE && forms[batch.start].mode == form.mode => batch.end += 1,
            _ => batches.push(number..number + 1),
        }
    }
    batches
}

/// Compares all forms on so many random states.
fn compare(count: usize, seed: u64) {
    let forms = forms::all();
    let mut random = Random(seed);
    let states: Vec<State> = (0..count).map(|_| random.state()).collect();
    let Some(native) = Native::build(&forms, &states) else { return };
    let wrong = |batch: &Range<usize>| -> Vec<String> {
        let left = native.run(forms[batch.start].mode, batch.start, batch.end);
        let left = left.chunks_exact(count);
        assert_eq!(left.len(), batch.len(), "the processor answers for all forms");
        batch.clone().zip(left).filter_map(|(number, left)| objection(&forms[number], number, &states, left)).collect()
    };
    let objections: Vec<String> = batches(&forms).par_iter().flat_map_iter(wrong).collect();
    println!("{} forms, {count} states each", forms.len());
    let some = &objections[..objections.len().min(20)];
    assert!(objections.is_empty(), "{} of {} forms:\n{}", objections.len(), forms.len(), some.join("\n"));
}

#[needs::variable("PALISADE_FULL_TESTS")]
#[test]
fn every_form_is_the_processors() {
    compare(100_000, 20);
}

#[test]
fn every_form_on_few_states() {
    compare(150, 21);
}

/// The reader refuses a program that reads a flag which the manual leaves undefined.
#[test]
fn undefined_flags_are_refused() {
    let forms = forms::all();
    let mut refused = BTreeSet::new();
    for (number, form) in forms.iter().enumerate() {
        for (flag, instruction) in FLAGS.iter().filter(|(flag, _)| form.undefined.contains(flag)) {
            let why = reader::read(reader::text(form, number, &[*flag])).expect_err("the flag is undefined");
            assert!(why.contains("leaves undefined"), "{}: {why}", shown(form, number));
            refused.insert(*instruction);
        }
    }
    assert_eq!(refused, BTreeSet::from(["setb", "sete", "setl", "seto", "sets"]));
}

/// The list of forms leaves no mnemonic out that the reader names as understood.
#[test]
fn every_mnemonic_has_a_form() {
    let error = reader::read("X86_64 t\n{}\nP0;\nunknown;\nexists (true)".to_owned()).expect_err("no such instruction");
    let listed = error.split("understood are ").nth(1).expect("the message lists them");
    let listed = listed.split(", with lock").next().expect("the list ends there");
    let words = listed.split([',', ' ', '\n', '|', '│']).map(str::trim).filter(|word| !word.is_empty());
    let forms = forms::all();
    let first: BTreeSet<String> = forms
        .iter()
        .flat_map(|form| form.lines.iter().map(|line| line.att(0)))
        .filter_map(|line| line.trim_start_matches("lock ").split(' ').next().map(str::to_owned))
        .collect();
    let mut seen = 0;
    for word in words.filter(|word| !matches!(*word, "and" | "conditional" | "ret")) {
        let stem = if word == "jumps" { "j" } else { word };
        assert!(first.iter().any(|mnemonic| mnemonic.starts_with(stem)), "no form of `{word}`");
        seen += 1;
    }
    assert!(seen >= 20, "the list is whole: {listed}");
    assert!(forms.iter().any(|form| form.mode == Mode::Legacy));
}
