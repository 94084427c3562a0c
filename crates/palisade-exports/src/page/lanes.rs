//! A computation as lanes, a column for each copy that acts, with buffers and memory step by step.

use super::{data, line_link, paragraph, worded};
use palisade_model::text::escaped;
use palisade_report::computation::{ComputationReport, Marks, NO_STEP, address_text};
use palisade_semantics::{Effect, State};
use serde::Serialize;
use std::collections::BTreeSet;

/// Longer computations fold in the middle.
const LONG: usize = 60;

/// So many steps are shown at either end of a long one.
const ENDS: usize = 20;

/// Shows what threads do in their registers as well.
const OWN_STEPS: &str = "<label><input type=\"checkbox\" class=\"own-steps\"> steps in registers</label>";

/// What a browser shows of a state, beside the step that leads to it.
#[derive(Serialize)]
struct Shown<'a> {
    /// For each copy with a buffer its entries, oldest first.
    buffers: Vec<&'a [String]>,
    /// The addresses that are used, with their values.
    memory: Vec<(String, i64)>,
    /// The line of the instruction that was executed.
    line: Option<usize>,
    /// Who did what.
    text: String,
}

/// The lanes of a computation.
pub(super) fn lanes(computation: &ComputationReport<'_>) -> String {
    if computation.events.is_empty() {
        return paragraph(NO_STEP);
    }
    let acting = computation.acting_copies();
    let name = |copy| computation.instance.copy_name(computation.program, copy);
    let numbered = computation.numbered();
    let is_used =
        |position: &usize| numbered.iter().any(|(index, _)| !computation.buffer(index + 1, *position).is_empty());
    let buffered: Vec<usize> = (0..computation.copies.len()).filter(is_used).collect();
    let names: Vec<String> = buffered.iter().map(|position| name(computation.copies[*position])).collect();
    let mut head: String = acting.iter().map(|copy| format!("<th>{}</th>", escaped(name(*copy)))).collect();
    head.push_str(&names.iter().map(|name| format!("<th>buffer of {}</th>", escaped(name))).collect::<String>());
    let row = |(index, number): (usize, usize)| {
        let event = &computation.events[index];
        let cells: String =
            acting
                .iter()
                .enumerate()
                .map(|(lane, copy)| {
                    if *copy == event.step.copy { step_cell(computation, index, lane) } else { "<td></td>".to_owned() }
                })
                .collect();
        let buffers: String = buffered
            .iter()
            .zip(&names)
            .map(|(position, name)| {
                let entries = computation.buffer(index + 1, *position);
                let entries: String = entries.iter().map(|entry| format!("<b>{}</b> ", escaped(entry))).collect();
                format!("<td class=\"buffer\" data-lane=\"buffer of {}\">{entries}</td>", escaped(name))
            })
            .collect();
        let own = if computation.is_folded(index) { " class=\"own\"" } else { "" };
        format!("<tr{own} data-step=\"{number}\"><td class=\"number\">{number}</td>{cells}{buffers}</tr>\n")
    };
    let shown: Vec<(usize, usize)> =
        numbered.iter().copied().filter(|(index, _)| computation.is_of_the_text(*index)).collect();
    let steps = shown.len();
    let rows = |range: std::ops::Range<usize>| shown[range].iter().copied().map(row).collect::<String>();
    let body = if steps > LONG {
        let (first, last) = (ENDS, steps - ENDS);
        let columns = 1 + acting.len() + buffered.len();
        format!(
            "<tbody>\n{}</tbody>\n<tbody class=\"fold\"><tr><td colspan=\"{columns}\"><button type=\"button\">show {} more steps</button></td></tr></tbody>\n\
             <tbody class=\"middle\" hidden>\n{}</tbody>\n<tbody>\n{}</tbody>\n",
            rows(0..first),
            last - first,
            rows(first..last),
            rows(last..steps)
        )
    } else {
        format!("<tbody>\n{}</tbody>\n", rows(0..steps))
    };
    let buffers: String = names
        .iter()
        .map(|name| {
            format!("<div class=\"box\"><h4>buffer of {}</h4><div class=\"entries\"></div></div>", escaped(name))
        })
        .collect();
    let has_own = shown.iter().any(|(index, _)| computation.is_folded(*index));
    let own = if has_own { OWN_STEPS } else { "" };
    format!(
        "<div class=\"computation\" tabindex=\"0\">\n\
         <div class=\"stepper\"><button type=\"button\" data-go=\"first\" aria-label=\"to the beginning\">|◀</button>\
         <button type=\"button\" data-go=\"back\" aria-label=\"one step back\">◀</button>\
         <output>{steps} steps</output>\
         <button type=\"button\" data-go=\"on\" aria-label=\"one step on\">▶</button>\
         <button type=\"button\" data-go=\"last\" aria-label=\"to the end\">▶|</button>\
         <small>or the arrow keys ← →</small>{own}</div>\n\
         <div class=\"now\"><p class=\"what\"></p><p class=\"text\"><code></code></p><div class=\"boxes\">{buffers}<div class=\"box memory\"><h4>memory</h4><div class=\"entries\"></div></div></div></div>\n\
         <div class=\"wide\"><table class=\"lanes\">\n<thead><tr><th></th>{head}</tr></thead>\n{body}</table></div>\n\
         <script type=\"application/json\" class=\"states\">{}</script>\n</div>\n",
        data(&states(computation, &buffered))
    )
}

/// A step in its lane. Where a window is narrow, lanes stand below each other, each with its name
/// and further to the right than the one before it.
fn step_cell(computation: &ComputationReport<'_>, index: usize, lane: usize) -> String {
    let name = computation.instance.copy_name(computation.program, computation.events[index].step.copy);
    let (label, line) = match (computation.name(index), line(computation, index)) {
        // The place in the sources says more than a line of the listing, to which it leads.
        (Some(name), Some(line)) if computation.program.source.is_listing => {
            (format!("<a href=\"#L{line}\">{}</a> ", escaped(name)), String::new())
        }
        (name, line) => (
            name.map(|name| format!("<i>{}</i> ", escaped(name))).unwrap_or_default(),
            line.map(|line| format!(" <small>{}</small>", line_link(line))).unwrap_or_default(),
        ),
    };
    let class = match computation.events[index].effect {
        _ if computation.is_delayed(index) => "step delayed",
        Effect::Violation | Effect::Failure => "step violated",
        _ if reaches_memory(computation, index) => "step flush",
        _ => "step",
    };
    let delayed = if computation.marks == Marks::Delayed && computation.is_delayed(index) { " (delayed)" } else { "" };
    format!(
        "<td class=\"{class}\" data-lane=\"{}\" style=\"--lane:{lane}\">{label}{}{delayed}{line}</td>",
        escaped(name),
        worded(computation.text(index))
    )
}

/// Whether a step is that a store which has waited reaches memory.
fn reaches_memory(computation: &ComputationReport<'_>, index: usize) -> bool {
    computation.issue_of(index).1.kind.instruction().is_none()
}

/// The line of the instruction that a step executes.
fn line(computation: &ComputationReport<'_>, index: usize) -> Option<usize> {
    let (_, step) = computation.issue_of(index);
    let instruction = step.kind.instruction()?;
    let found = computation.program.thread(step.copy.thread).instruction(instruction);
    Some(computation.program.source.position(found.span.start).line)
}

/// The state behind each step that has a number, the initial one first, as JSON.
fn states(computation: &ComputationReport<'_>, buffered: &[usize]) -> String {
    let mut addresses: Vec<i64> = Vec::new();
    for event in computation.events {
        match event.effect {
            Effect::Load { address, .. }
            | Effect::Issue { address, .. }
            | Effect::Store { address, .. }
            | Effect::Rmw { address, .. } => addresses.push(address),
            _ => {}
        }
    }
    addresses.sort_unstable();
    addresses.dedup();
    addresses.retain(|address| !computation.is_watched(*address));
    let shown = |index: usize, state: &State| {
        let before = index.checked_sub(1);
        let who = |index: usize| {
            let copy = computation.events[index].step.copy;
            let what = computation.text(index).replace('`', "");
            let reaches = if reaches_memory(computation, index) { " reaches memory" } else { "" };
            format!("{}: {what}{reaches}", computation.instance.copy_name(computation.program, copy))
        };
        Shown {
            buffers: buffered.iter().map(|position| computation.buffer(index, *position)).collect(),
            memory: addresses
                .iter()
                .map(|address| (address_text(computation.program, *address), state.memory(*address)))
                .collect(),
            line: before.and_then(|index| line(computation, index)),
            text: before.map_or("the beginning".to_owned(), who),
        }
    };
    let behind: BTreeSet<usize> = computation.numbered().iter().map(|(index, _)| index + 1).chain([0]).collect();
    let (mut states, mut steps): (Vec<Shown<'_>>, usize) = (Vec::new(), 0);
    computation.each_state(|state| {
        if behind.contains(&steps) {
            states.push(shown(steps, state));
        }
        steps += 1;
    });
    serde_json::to_string(&states).expect("states are plain data")
}
