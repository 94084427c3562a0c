//! A violation by events and tasks as a table: a column for each thread, the occurrences of events
//! told apart by colour.

use super::paragraph;
use palisade_model::text::escaped;
use palisade_report::scene::{Scene, SceneStep};

/// So many colours there are for occurrences of events, in turn.
const COLOURS: usize = 6;

/// The steps, those that the reason is about marked, and the reason below.
pub(super) fn scene_table(scene: &Scene) -> String {
    let head: String = scene.threads.iter().map(|thread| format!("<th>{}</th>", escaped(thread))).collect();
    let row = |(number, step): (usize, &SceneStep)| {
        let cell = |thread: usize| {
            if thread != step.thread {
                return "<td></td>".to_owned();
            }
            let (colour, who) = (step.event % COLOURS, escaped(&step.invocation));
            format!("<td><span class=\"step event{colour}\" title=\"{who}\">{}</span></td>", escaped(&step.action))
        };
        let cells: String = (0..scene.threads.len()).map(cell).collect();
        let is_named = scene.order.iter().any(|(first, second)| [*first, *second].contains(&number));
        let class = if is_named { " class=\"named\"" } else { "" };
        format!("<tr{class}><td class=\"at\">{}</td>{cells}</tr>\n", number + 1)
    };
    let rows: String = scene.steps.iter().enumerate().map(row).collect();
    let event = |(number, event): (usize, &String)| {
        format!("<span class=\"step event{}\">{}</span> ", number % COLOURS, escaped(event))
    };
    let legend: String = scene.events.iter().enumerate().map(event).collect();
    let reason = if scene.reason.is_empty() { String::new() } else { paragraph(&scene.reason) };
    format!(
        "<div class=\"wide\"><table class=\"scene\">\n<thead><tr><th></th>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n\
         <p class=\"legend\">Colours: {legend}</p>\n{reason}"
    )
}
