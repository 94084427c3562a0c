//! Hangs: whether there is a stuck state is what a plain enumeration of the machine's states says, and all evidence is accepted.

mod oracle;
mod texts;

use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::hangs;
use oracle::is_stuck_somewhere;
use palisade::hangs::{HangOptions, Hangs, Verdict, Why};
use palisade::program::{Copies, Program};
use palisade::semantics::{Instance, Model};

/// States that the enumeration visits at most.
const MOST_STATES: usize = 10_000;

/// The engine's answer, with evidence that is accepted.
fn answered(program: &Program, model: Model) -> Result<Option<Hangs>, String> {
    match hangs(program, &HangOptions { most: Some(20_000), ..HangOptions::new(model) }) {
        Err(_) => Ok(None),
        Ok(Ok(found)) => Ok(Some(found)),
        Ok(Err(failure)) => Err(format!("under {model:?} the evidence is rejected: {failure}")),
    }
}

fn compare_fixed(program: &Program) -> Compared {
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let mut class = "free";
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let said = is_stuck_somewhere(program, &instance, model, MOST_STATES);
        let Some(found) = answered(program, model)? else { return Ok("no meaning") };
        match (&found.verdict, said) {
            (_, None) | (Verdict::Unknown(Why::Stopped(_) | Why::BuffersLonger(_)), _) => return Ok("too large"),
            (Verdict::Stuck(_), Some(true)) if class == "free" => {
                class = if model == Model::Sc { "stuck under SC" } else { "stuck under buffers alone" };
            }
            (Verdict::Stuck(_), Some(true)) | (Verdict::Free(_), Some(false)) => {}
            (verdict, said) => return Err(format!("under {model:?}: {verdict:?}, but the enumeration says {said:?}")),
        }
    }
    Ok(class)
}

#[test]
fn stuck_states_are_those_of_an_enumeration() {
    let amount = Amount { default: 200, long: 20_000 };
    let counts = compare_generated("hangs", 3_000_000, amount, texts::fixed, compare_fixed);
    let classes = ["stuck under SC", "stuck under buffers alone", "free"];
    assert!(classes.iter().all(|class| of_class(&counts, class) > 3), "{counts:?}");
}

/// All instances with at most so many copies of each replicated thread, each number by itself.
fn instances(program: &Program, most: u64) -> Vec<Instance> {
    let mut counts: Vec<Vec<u64>> = vec![Vec::new()];
    for thread in &program.threads {
        let range = match thread.copies {
            Copies::Exactly(count) => count..=count,
            Copies::Any => 0..=most,
        };
        let longer = |before: &Vec<u64>| range.clone().map(|count| [before.as_slice(), &[count]].concat()).collect();
        counts = counts.iter().flat_map(|before| -> Vec<Vec<u64>> { longer(before) }).collect();
    }
    counts.into_iter().map(Instance::new).collect()
}

fn compare_any(program: &Program) -> Compared {
    if !program.is_parameterized() {
        return Ok("fixed");
    }
    for model in [Model::Sc, Model::Tso] {
        let Some(found) = answered(program, model)? else { return Ok("no meaning") };
        let stuck = |instance: &Instance| is_stuck_somewhere(program, instance, model, MOST_STATES) == Some(true);
        match &found.verdict {
            Verdict::Stuck(_) => return Ok("stuck"),
            Verdict::Free(_) => {
                if let Some(instance) = instances(program, 4).into_iter().find(stuck) {
                    return Err(format!("free under {model:?}, but {:?} is stuck", instance.counts()));
                }
            }
            Verdict::Unknown(_) => {
                return Ok(if instances(program, 3).iter().any(stuck) { "stuck, not found" } else { "open" });
            }
        }
    }
    Ok("free")
}

#[test]
fn any_number_of_copies_hangs_as_its_instances_do() {
    let amount = Amount { default: 60, long: 6_000 };
    let counts = compare_generated("hangs, any number", 3_100_000, amount, texts::any_number, compare_any);
    let (free, open) = (of_class(&counts, "free"), of_class(&counts, "open"));
    assert!(free > 3 && of_class(&counts, "stuck") > 3, "{counts:?}");
    assert!(of_class(&counts, "stuck, not found") == 0 && open * 10 <= free + open, "{counts:?}");
}
