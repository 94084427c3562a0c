//! Writer of pictures for Graphviz: places are circles, transitions boxes, units are framed,
//! targets are red.

use super::names::one_line;
use palisade_model::net::{Count, Net, OmegaCount, PlaceId, Problem};
use std::fmt::Write;

pub(super) fn write(problem: &Problem) -> String {
    let net = &problem.net;
    let mut text = format!("digraph {} {{\n  rankdir=LR;\n  node [fontsize=10];\n", quoted(&net.name));
    let mut framed = vec![false; net.places.len()];
    let mut targeted = vec![false; net.places.len()];
    for (place, _) in problem.query.targets.iter().flat_map(|target| &target.demands) {
        targeted[place.index()] = true;
    }
    for (index, unit) in net.units.iter().enumerate() {
        line(&mut text, format_args!("  subgraph cluster_{index} {{\n    color=gray;"));
        for id in unit {
            framed[id.index()] = true;
            place(&mut text, net, *id, targeted[id.index()], "    ");
        }
        text.push_str("  }\n");
    }
    for id in net.place_ids().filter(|id| !framed[id.index()]) {
        place(&mut text, net, id, targeted[id.index()], "  ");
    }
    for (id, transition) in net.transition_ids() {
        let name = quoted(&transition.name);
        line(&mut text, format_args!("  {id} [shape=box, label={name}, height=0.2];"));
        for (place, count) in &transition.pre {
            let arc = (*place, count.clone());
            if transition.post.contains(&arc) {
                line(&mut text, format_args!("  {place} -> {id} [dir=both{}];", weight(count)));
            } else {
                line(&mut text, format_args!("  {place} -> {id} [dir=forward{}];", weight(count)));
            }
        }
        for (place, count) in &transition.post {
            let arc = (*place, count.clone());
            if !transition.pre.contains(&arc) {
                line(&mut text, format_args!("  {id} -> {place} [dir=forward{}];", weight(count)));
            }
        }
    }
    text.push_str("}\n");
    text
}

fn place(text: &mut String, net: &Net, id: PlaceId, targeted: bool, indent: &str) {
    let label = label(net, id);
    let colour = if targeted { ", color=red" } else { "" };
    line(text, format_args!("{indent}{id} [shape=circle, label={label}{colour}];"));
}

fn label(net: &Net, id: PlaceId) -> String {
    let name = &net.places[id.index()].name;
    match &net.initial[id.index()] {
        OmegaCount::Finite(count) if count.is_zero() => quoted(name),
        count => quoted(&format!("{name}: {count}")),
    }
}

fn weight(count: &Count) -> String {
    if *count == Count::ONE { String::new() } else { format!(", label=\"{count}\"") }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("a string takes all that is written");
}
