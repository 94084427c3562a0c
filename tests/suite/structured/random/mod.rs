//! Random programs in braces, and the same programs as automata by a translation written for this
//! test alone: both have the same verdict, the same final memories and the same violated
//! properties.
//!
//! The translation gives every step a label and every load a register of its own, and jumps where
//! it likes; it shares nothing with the reader but the language.

mod automata;
mod generator;
mod text;

use self::generator::Program as Structured;
use super::program;
use crate::checked::check;
use crate::environment::is_long_run;
use crate::readers;
use palisade::fences::{CostFunction, FenceOptions, Measure, Repair, RepairedText, Silent, place};
use palisade::limits::Limits;
use palisade::program::{Program, Value};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::{Instance, Model, final_states};
use palisade::syntax::Format;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// The verdict, confirmed by the evidence for it.
fn verdict(program: &Program, text: &str) -> Verdict {
    check(program, &CheckOptions::default())
        .unwrap_or_else(|fault| panic!("{}\n{text}", fault.describe(program)))
        .verdict
}

/// The cells that are not 0 at the end, with their values.
type FinalMemory = Vec<(Value, Value)>;

/// What can be seen of a program without looking at labels and registers: whether a property fails,
/// and the memories at the end. Nothing where there are too many states.
fn seen(program: &Program, model: Model) -> Option<(bool, BTreeSet<FinalMemory>)> {
    let instance = Instance::of(program).expect("the copies are fixed");
    let limits = Limits::none().with_timeout(Duration::from_secs(2));
    let found = final_states(program, &instance, model, 2, &limits).ok()?;
    let memories = found.completed.iter().map(|state| state.nonzero_memory().to_vec()).collect();
    Some((found.violations.is_empty(), memories))
}

/// Compares a program with its translation; what class it is of.
fn compare(seed: u64) -> &'static str {
    let structured = Structured::random(seed);
    let text = text::of(&structured);
    let translated = automata::of(&structured);
    let shown = || format!("seed {seed}\n{text}\n{translated}");
    let (own, other) = (program(&text), program(&translated));
    let found = verdict(&own, &text);
    assert_eq!(found, verdict(&other, &translated), "{}", shown());
    for model in [Model::Sc, Model::Tso] {
        if let (Some(own), Some(other)) = (seen(&own, model), seen(&other, model)) {
            assert_eq!(own, other, "{model:?}: {}", shown());
        }
    }
    readers::check("native", text.as_bytes());
    if found == Verdict::Robust {
        return "robust";
    }
    // The text with the cheapest fences is robust when it is read again.
    let options = FenceOptions { cost: CostFunction::Uniform, ..FenceOptions::default() };
    let Ok(Repair::Valid(placement)) = place(&own, &options, &Silent) else { panic!("no fences: {}", shown()) };
    let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
    match RepairedText::new(&own, &Format::Native, &measures, "repaired.pal") {
        Ok(repaired) => {
            assert_eq!(
                verdict(&repaired.program, repaired.text()),
                Verdict::Robust,
                "{}\n{}",
                repaired.text(),
                shown()
            );
            "repaired"
        }
        Err(_) => "not repaired",
    }
}

#[test]
fn programs_mean_their_automata() {
    let amount = if is_long_run() { 5_000 } else { 40 };
    let classes: Vec<&str> = (0..amount).into_par_iter().map(compare).collect();
    let count = |class: &str| classes.iter().filter(|found| **found == class).count();
    assert!(count("robust") > classes.len() / 5, "{} robust", count("robust"));
    assert!(count("repaired") > classes.len() / 20, "{} repaired", count("repaired"));
    assert!(count("not repaired") * 20 < classes.len(), "{} not repaired", count("not repaired"));
}
