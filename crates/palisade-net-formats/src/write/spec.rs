//! Writer of mist's `.spec`.

use super::Written;
use super::names::{accepted, note, one_line};
use crate::read::is_spec_keyword;
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem, Transition};
use std::fmt::Write;

pub(super) fn write(problem: &Problem) -> Result<Written, String> {
    let Problem { net, query } = problem;
    if query.targets.is_empty() {
        return Err("the format needs a target".to_owned());
    }
    if net.places.is_empty() {
        return Err("the format needs a place".to_owned());
    }
    let (names, replaced) = accepted(net.places.iter().map(|place| place.name.as_str()), "p", accepts);
    let mut text = format!("# {}\nvars\n", one_line(&net.name));
    for line in names.chunks(16) {
        writeln!(text, "    {}", line.join(" ")).expect("a string takes all that is written");
    }
    text.push_str("\nrules\n");
    for (id, transition) in net.transition_ids() {
        if transition.name != id.to_string() {
            writeln!(text, "# {}", one_line(&transition.name)).expect("a string takes all that is written");
        }
        rule(&mut text, transition, &names);
    }
    text.push_str("\ninit\n");
    let initial: Vec<String> = net
        .initial
        .iter()
        .zip(&names)
        .map(|(count, name)| match count {
            OmegaCount::Finite(count) => format!("{name} = {count}"),
            OmegaCount::Omega => format!("{name} >= 0"),
        })
        .collect();
    let lines: Vec<String> = initial.chunks(8).map(|line| line.join(", ")).collect();
    writeln!(text, "    {}", lines.join(",\n    ")).expect("a string takes all that is written");
    text.push_str("\ntarget\n");
    for target in &query.targets {
        let mut demands = constraints(&target.demands, &names);
        if demands.is_empty() {
            demands.push(format!("{} >= 0", names[0]));
        }
        writeln!(text, "    {}", demands.join(", ")).expect("a string takes all that is written");
    }
    if !net.units.is_empty() {
        text.push_str("\ninvariants\n");
        for unit in &net.units {
            let places: Vec<String> = unit.iter().map(|place| format!("{} = 1", names[place.index()])).collect();
            writeln!(text, "    {}", places.join(", ")).expect("a string takes all that is written");
        }
    }
    Ok(Written { net: text, query: None, notes: note(replaced, "place").into_iter().collect() })
}

fn rule(text: &mut String, transition: &Transition, names: &[String]) {
    let guards = constraints(&transition.pre, names);
    let guard = if guards.is_empty() { "true".to_owned() } else { guards.join(", ") };
    let mut updates = Vec::new();
    for (place, taken, put) in transition.effects() {
        let name = &names[place.index()];
        if let Some(more) = put.minus(taken) {
            if !more.is_zero() {
                updates.push(format!("{name}' = {name} + {more}"));
            }
        } else {
            updates.push(format!("{name}' = {name} - {}", taken.saturating_minus(put)));
        }
    }
    writeln!(text, "    {guard} ->\n        {};\n", updates.join(",\n        "))
        .expect("a string takes all that is written");
}

fn constraints(demands: &[(PlaceId, Count)], names: &[String]) -> Vec<String> {
    demands.iter().map(|(place, count)| format!("{} >= {count}", names[place.index()])).collect()
}

fn accepts(name: &str) -> bool {
    name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !is_spec_keyword(name)
}
