//! What the net of an attack abstracts, in words.

use super::subject::program_words;
use palisade_engine::robustness::Fault;
use palisade_model::program::{Counters, Program, ThreadId};

/// The sentences that stand in front of the net of a program, the copies of some threads of which
/// an option changed.
pub fn abstraction(program: &Program, changed: &[ThreadId]) -> Vec<String> {
    let what = format!(
        "abstracts {}: copies of a thread in the same local state are counted, not told apart",
        program_words(program, changed)
    );
    std::iter::once(what).chain(all_values(program)).collect()
}

/// The names of the addresses of each class of counters.
pub fn counters(program: &Program) -> Vec<Vec<String>> {
    let names = |cells: &[_]| cells.iter().map(|cell| program.address_name(*cell)).collect();
    Counters::of(program).classes().iter().map(|class| names(&class.cells)).collect()
}

/// Why there is no net, or none of this size: counters whose values grow.
pub fn why_grown(program: &Program, fault: &Fault) -> Option<String> {
    let reason = fault.describe_counter(program)?;
    Some(all_values(program).filter(|_| fault.is_growth()).unwrap_or(reason))
}

/// That counters keep all their values, and why.
fn all_values(program: &Program) -> Option<String> {
    let counters = counters(program).concat();
    let names: Vec<String> = counters.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "all values of {} are places of their own: were facts relative to one of these counters, a step that moves it would have to move any \
             number of tokens at once, which no transition of a net does",
            names.join(", ")
        )
    })
}
