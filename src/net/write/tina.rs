//! Writer of TINA's textual nets. The format has no question.

use super::Written;
use super::names::one_line;
use crate::net::{Count, OmegaCount, PlaceId, Problem, Transition};
use std::fmt::Write;

pub(super) fn write(problem: &Problem) -> Written {
    let net = &problem.net;
    let places: Vec<String> = net.places.iter().map(|place| name(&place.name)).collect();
    // TINA adds up what it is told of transitions of one name: every name is used once.
    let mut used = rustc_hash::FxHashSet::default();
    let mut text = format!("net {}\n", name(&net.name));
    for (place, initial) in places.iter().zip(&net.initial) {
        match initial {
            OmegaCount::Finite(count) if !count.is_zero() => line(&mut text, format_args!("pl {place} ({count})")),
            _ => line(&mut text, format_args!("pl {place}")),
        }
    }
    for (id, transition) in net.transition_ids() {
        let mut own = transition.name.clone();
        while !used.insert(own.clone()) {
            own = format!("{own}#{id}");
        }
        let inputs = inputs(transition, &places);
        let outputs = outputs(transition, &places);
        line(&mut text, format_args!("tr {}{inputs} ->{outputs}", name(&own)));
    }
    let notes = match problem.query.targets.len() {
        0 => Vec::new(),
        _ => vec!["the format has no place for the question".to_owned()],
    };
    Written { net: text, query: None, notes }
}

/// What the transition takes. A place that gets as much as was taken from it is read.
fn inputs(transition: &Transition, places: &[String]) -> String {
    let arc = |arc: &(PlaceId, Count)| {
        let place = &places[arc.0.index()];
        match &arc.1 {
            count if is_read(transition, arc) => format!(" {place}?{count}"),
            count if *count == Count::ONE => format!(" {place}"),
            count => format!(" {place}*{count}"),
        }
    };
    transition.pre.iter().map(arc).collect()
}

fn outputs(transition: &Transition, places: &[String]) -> String {
    let arc = |(place, count): &(PlaceId, Count)| {
        let place = &places[place.index()];
        if *count == Count::ONE { format!(" {place}") } else { format!(" {place}*{count}") }
    };
    transition.post.iter().filter(|put| !is_read(transition, put)).map(arc).collect()
}

/// Whether the arc is both taken and put back.
fn is_read(transition: &Transition, arc: &(PlaceId, Count)) -> bool {
    transition.pre.contains(arc) && transition.post.contains(arc)
}

/// A name as it stands, or in braces.
fn name(text: &str) -> String {
    let plain = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_'".contains(&byte));
    if plain {
        return text.to_owned();
    }
    let mut quoted = String::from("{");
    for character in one_line(text).chars() {
        if matches!(character, '{' | '}' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('}');
    quoted
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("a string takes all that is written");
}
