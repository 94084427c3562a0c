//! What holds of every compilation, against compilations: where engine and checker say that
//! orderings suffice and that plain data has no races, whatever random steps of a compiler make of
//! a program has, on TSO, results of its interleavings alone.
//!
//! * `source`: threads with orderings and plain data, and what the listing of a build without
//!   optimisation says of them;
//! * `steps`: what compilers do to them.

mod source;
mod steps;

use super::dice::Dice;
use super::{Amount, Counts, note, of_class};
use crate::checked::check;
use crate::environment::seeds;
use crate::fences::corpus::read_text;
use palisade::compilations::every_compilation;
use palisade::limits::Limits;
use palisade::program::Program;
use palisade::robustness::{CheckOptions, Verdict, certificate};
use palisade::semantics::{Instance, Model, final_states};
use palisade::syntax::Format;
use palisade::text::{SourceText, Span};
use palisade::verify::check_every_compilation;
use rayon::prelude::*;
use source::{Source, lower};
use std::collections::BTreeSet;
use std::sync::Mutex;
use steps::compiled;

/// So many compilations of each program.
const COMPILATIONS: u64 = 12;

/// The values of registers, thread by thread and by name, and memory.
type Outcome = (Vec<Vec<(String, i64)>>, Vec<(i64, i64)>);

/// The program in source order, as if it had been read from an image.
fn listed(source: &Source) -> Program {
    let (text, words) = lower(source);
    let mut program = read_text("source.pal", text, Format::Native);
    let mut listing =
        "orderings read in the sources of a build without optimisation\nplain data is accessed\n\n".to_owned();
    for (number, words) in words.iter().enumerate() {
        for (index, word) in words.iter().enumerate() {
            let start = listing.len();
            listing += &format!("{:x} instruction {word} t{number}.rs:{}:1", 4096 + index, index + 1);
            program.threads[number].instructions[index].span = Span { start, end: listing.len() };
            listing.push('\n');
        }
    }
    program.source = SourceText::listing("source", listing, []);
    program
}

/// All results under a model, of the registers that the source has and uses.
fn results(source: &Source, model: Model) -> BTreeSet<Outcome> {
    let (text, _) = lower(source);
    let program = read_text("compiled.pal", text, Format::Native);
    let instance = Instance::of(&program).expect("the copies are fixed");
    let found = final_states(&program, &instance, model, 4, &Limits::none()).expect("it is small");
    assert!(found.stuck.is_empty(), "nothing waits");
    let of_state = |state: &palisade::semantics::State| {
        let registers = state.threads().iter().zip(&program.threads).map(|(own, thread)| {
            let named = thread.registers.iter().zip(own.registers.iter());
            let named = named.filter(|(register, value)| register.name.starts_with('r') && **value != 0);
            let mut named: Vec<(String, i64)> =
                named.map(|(register, value)| (register.name.clone(), *value)).collect();
            named.sort();
            named
        });
        (registers.collect(), state.nonzero_memory().to_vec())
    };
    found.completed.iter().map(of_state).collect()
}

/// The class of a program; how a compilation disagrees, otherwise.
fn compare(seed: u64) -> Result<&'static str, String> {
    let source = Source::random(seed);
    let program = listed(&source);
    let checked = check(&program, &CheckOptions::default()).map_err(|fault| fault.describe(&program))?;
    if checked.verdict != Verdict::Robust {
        return Ok("not robust");
    }
    let certificate = certificate(&program, &checked).ok_or("there is no certificate")?;
    let judged = every_compilation(&program, &certificate).ok_or("it is no listing")?;
    let checked = check_every_compilation(&program, &certificate);
    if judged.is_ok() != checked.is_ok() {
        return Err(format!("{judged:?}, and the checker: {checked:?}"));
    }
    let interleavings = results(&source, Model::Sc);
    let mut dice = Dice(seed ^ 0x5eed);
    let mut changed = None;
    for _ in 0..COMPILATIONS {
        let steps = 1 + dice.below(12);
        let compiled = compiled(&source, &mut dice, steps);
        if !results(&compiled, Model::Tso).is_subset(&interleavings) {
            changed = Some(compiled);
            break;
        }
    }
    match (judged, changed) {
        (Ok(()), None) if program.source.text.contains(":plain ") => Ok("every compilation, with data"),
        (Ok(()), None) => Ok("every compilation"),
        (Ok(()), Some(compiled)) => Err(format!("it is said of this one:\n{}", lower(&compiled).0)),
        (Err(_), Some(_)) => Ok("refused, and rightly"),
        (Err(_), None) => Ok("refused"),
    }
}

#[test]
fn compilations_have_the_results_of_interleavings() {
    let amount = Amount { default: 160, long: 400_000 };
    let counts = Mutex::new(Counts::new());
    let failure = seeds(amount.default, amount.long).into_par_iter().find_map_first(|seed| match compare(seed) {
        Ok(class) => {
            note("compilations", class, &counts);
            None
        }
        Err(message) => Some((seed, message)),
    });
    if let Some((seed, message)) = failure {
        panic!(
            "seed {seed}: {message}\nof\n{}",
            listed(&Source::random(seed)).source.text.clone() + &lower(&Source::random(seed)).0
        );
    }
    let counts = counts.into_inner().expect("no comparison panicked");
    println!("compilations: {counts:?}");
    assert!(of_class(&counts, "every compilation, with data") > 7, "{counts:?}");
    assert!(of_class(&counts, "refused, and rightly") > 3, "{counts:?}");
}
