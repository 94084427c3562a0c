//! Writer of LoLA's nets.

use super::names::{accepted, note};
use super::{Written, formula};
use crate::read::{FORMULA_KEYWORDS, LOLA_KEYWORDS};
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem};
use std::fmt::Write;

pub(super) fn write(problem: &Problem) -> Written {
    let Problem { net, query } = problem;
    let (places, places_replaced) = accepted(net.places.iter().map(|place| place.name.as_str()), "p", accepts);
    let names = net.transitions.iter().map(|transition| transition.name.as_str());
    let (transitions, transitions_replaced) = accepted(names, "t", accepts);
    let mut text = String::from("PLACE\n");
    let declared: Vec<String> = places.chunks(16).map(|line| format!("  {}", line.join(", "))).collect();
    line(&mut text, format_args!("{};\n\nMARKING", declared.join(",\n")));
    let marked: Vec<String> = net
        .initial
        .iter()
        .zip(&places)
        .filter_map(|(count, place)| match count {
            OmegaCount::Finite(count) if !count.is_zero() => Some(format!("{place} : {count}")),
            _ => None,
        })
        .collect();
    line(&mut text, format_args!("  {};", marked.join(", ")));
    for (transition, name) in net.transitions.iter().zip(&transitions) {
        line(&mut text, format_args!("\nTRANSITION {name}"));
        line(&mut text, format_args!("  CONSUME {};", list(&transition.pre, &places)));
        line(&mut text, format_args!("  PRODUCE {};", list(&transition.post, &places)));
    }
    let formula = formula::write(&query.targets, &places);
    let notes = note(places_replaced, "place").into_iter().chain(note(transitions_replaced, "transition")).collect();
    Written { net: text, query: formula, notes }
}

fn list(arcs: &[(PlaceId, Count)], places: &[String]) -> String {
    let arcs: Vec<String> = arcs.iter().map(|(place, count)| format!("{} : {count}", places[place.index()])).collect();
    arcs.join(", ")
}

/// Letters, digits, `_` and a few signs without a meaning of their own; no number, no keyword.
fn accepts(name: &str) -> bool {
    name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
        && !LOLA_KEYWORDS.contains(&name)
        && !FORMULA_KEYWORDS.contains(&name)
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("a string takes all that is written");
}
