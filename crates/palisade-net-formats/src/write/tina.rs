//! Writer of TINA's textual nets.
//!
//! TINA keeps questions apart from nets, and its tools take them in languages of their own: the
//! question is written as the formula that is read with such a net.

use super::names::{distinct, in_braces, one_line};
use super::{Written, formula};
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem, Transition};
use std::fmt::Write;

pub(super) fn write(problem: &Problem) -> Written {
    let net = &problem.net;
    // TINA adds up all that a text says of nodes of one name: the writer uses every name once.
    let place_names = distinct(net.places.iter().map(|place| place.name.as_str()), "p");
    let transitions = distinct(net.transitions.iter().map(|transition| transition.name.as_str()), "t");
    let places: Vec<String> = place_names.iter().map(|place| name(place)).collect();
    let mut text = format!("net {}\n", name(&one_line(&net.name)));
    for (place, initial) in places.iter().zip(&net.initial) {
        match initial {
            OmegaCount::Finite(count) if !count.is_zero() => line(&mut text, format_args!("pl {place} ({count})")),
            _ => line(&mut text, format_args!("pl {place}")),
        }
    }
    for (transition, own) in net.transitions.iter().zip(&transitions) {
        let inputs = inputs(transition, &places);
        let outputs = outputs(transition, &places);
        line(&mut text, format_args!("tr {}{inputs} ->{outputs}", name(own)));
    }
    Written { net: text, query: formula::write(&problem.query.targets, &place_names), notes: Vec::new() }
}

/// The arcs by which the transition takes. It reads a place to which it returns as much as it
/// takes.
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
    if plain { text.to_owned() } else { in_braces(text) }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("a string takes all that is written");
}
