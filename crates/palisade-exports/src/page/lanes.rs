//! A computation as lanes, a column for each copy that acts, with buffers and memory step by step.

use super::{data, line_link};
use palisade_model::text::escaped;
use palisade_report::computation::{ComputationReport, Marks, address_text};
use palisade_semantics::{Effect, State};
use serde::Serialize;

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
    let acting = computation.acting_copies();
    let name = |copy| computation.instance.copy_name(computation.program, copy);
    let buffered: Vec<usize> = (0..computation.copies.len())
        .filter(|position| (0..=computation.events.len()).any(|steps| !computation.buffer(steps, *position).is_empty()))
        .collect();
    let names: Vec<String> = buffered.iter().map(|position| name(computation.copies[*position])).collect();
    let mut head: String = acting.iter().map(|copy| format!("<th>{}</th>", escaped(name(*copy)))).collect();
    head.push_str(&names.iter().map(|name| format!("<th>buffer of {}</th>", escaped(name))).collect::<String>());
    let row = |index: usize| {
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
        format!("<tr{own} data-step=\"{0}\"><td class=\"number\">{0}</td>{cells}{buffers}</tr>\n", index + 1)
    };
    let shown: Vec<usize> = (0..computation.events.len()).filter(|index| computation.is_of_the_text(*index)).collect();
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
    let has_own = shown.iter().any(|index| computation.is_folded(*index));
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
    let label = computation.name(index).map(|name| format!("<i>{}</i> ", escaped(name))).unwrap_or_default();
    let line = line(computation, index).map(|line| format!(" <small>{}</small>", line_link(line))).unwrap_or_default();
    let class = match computation.events[index].effect {
        _ if computation.is_delayed(index) => "step delayed",
        Effect::Violation | Effect::Failure => "step violated",
        _ if computation.kind(index) == "flush" => "step flush",
        _ => "step",
    };
    let delayed = if computation.marks == Marks::Delayed && computation.is_delayed(index) { " (delayed)" } else { "" };
    format!(
        "<td class=\"{class}\" data-lane=\"{}\" style=\"--lane:{lane}\">{label}{}{delayed}{line}</td>",
        escaped(name),
        escaped(computation.text(index))
    )
}

/// The line of the instruction that a step executes.
fn line(computation: &ComputationReport<'_>, index: usize) -> Option<usize> {
    let step = computation.events[index].step;
    let instruction = step.kind.instruction()?;
    let found = computation.program.thread(step.copy.thread).instruction(instruction);
    Some(computation.program.source.position(found.span.start).line)
}

/// All states, the initial one first, as JSON.
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
            let what = computation.text(index);
            let reaches = if computation.kind(index) == "flush" { " reaches memory" } else { "" };
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
    let mut states: Vec<Shown<'_>> = Vec::new();
    computation.each_state(|state| states.push(shown(states.len(), state)));
    serde_json::to_string(&states).expect("states are plain data")
}
