//! Violations by events and tasks as pictures: SVG and a Mermaid sequence diagram.

use super::mermaid::escaped as coded;
use palisade_report::scene::Scene;
use std::fmt::Write;

/// Width of a character of the font.
const CHARACTER: usize = 8;
/// Height of a row.
const ROW: usize = 30;
/// Room around the table and between columns.
const MARGIN: usize = 16;
/// Fillings for the occurrences of events, in turn: light, so that text on them is read.
const COLOURS: [&str; 8] = ["#cfe3ff", "#ffdcc2", "#d4f0cf", "#f0d0ee", "#fff0b3", "#cdeeee", "#e2dccb", "#ffd0d6"];

/// The steps from top to bottom, a column for each thread, the occurrences of events told apart by
/// colour; arrows for the order that cannot be.
pub fn scene_svg(scene: &Scene) -> String {
    let long = |text: &str| text.chars().count() * CHARACTER + MARGIN;
    let width = |(thread, name): (usize, &String)| {
        let own = scene.steps.iter().filter(|step| step.thread == thread).map(|step| long(&step.action));
        own.max().unwrap_or(0).max(long(name))
    };
    let widths: Vec<usize> = scene.threads.iter().enumerate().map(width).collect();
    // Arrows run in the margin on the left of the table.
    let left = 3 * MARGIN + 12 * scene.order.len();
    let starts: Vec<usize> = widths
        .iter()
        .scan(left, |x, width| {
            let start = *x;
            *x += width + MARGIN;
            Some(start)
        })
        .collect();
    let table = starts.last().copied().unwrap_or(left) + widths.last().copied().unwrap_or(0);
    let legend: usize = scene.events.iter().map(|event| long(event) + MARGIN).sum();
    let page = (table + MARGIN).max(left + legend).max(left + long(&scene.reason));
    let top = MARGIN + ROW;
    let height = top + ROW * (scene.steps.len() + 2) + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{page}\" height=\"{height}\" viewBox=\"0 0 {page} {height}\" \
         font-family=\"monospace\" font-size=\"13\">\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
         markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#b00\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for (name, x) in scene.threads.iter().zip(&starts) {
        let (line, bottom) = (x + MARGIN / 2, top + ROW * scene.steps.len());
        let _ = writeln!(
            out,
            "<line x1=\"{line}\" y1=\"{top}\" x2=\"{line}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{line}\" y=\"{}\" font-weight=\"bold\">{}</text>",
            top - 10,
            escaped(name)
        );
    }
    for (row, step) in scene.steps.iter().enumerate() {
        let (x, y) = (starts[step.thread], top + ROW * row);
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"#888\" text-anchor=\"end\">{}</text>\
             <rect x=\"{x}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\"><title>{}</title></rect>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            left - MARGIN / 2,
            y + 20,
            row + 1,
            y + 3,
            long(&step.action),
            ROW - 6,
            colour(step.event),
            escaped(&step.invocation),
            x + MARGIN / 2,
            y + 20,
            escaped(&step.action)
        );
    }
    let edge = left - 2 * MARGIN;
    for (number, (from, to)) in scene.order.iter().enumerate() {
        let (from, to) = (top + ROW * from + ROW / 2, top + ROW * to + ROW / 2);
        let peak = edge - 12 * (number + 1);
        let _ = writeln!(
            out,
            "<path d=\"M{edge},{from} C{peak},{from} {peak},{to} {edge},{to}\" fill=\"none\" stroke=\"#b00\" \
             stroke-width=\"1.5\" marker-end=\"url(#tip)\"/>"
        );
    }
    let (mut x, y) = (left, top + ROW * scene.steps.len() + 12);
    for (number, event) in scene.events.iter().enumerate() {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            long(event),
            ROW - 6,
            colour(number),
            x + MARGIN / 2,
            y + 17,
            escaped(event)
        );
        x += long(event) + MARGIN;
    }
    let _ = writeln!(out, "<text x=\"{left}\" y=\"{}\">{}</text>\n</svg>", y + ROW + 12, escaped(&scene.reason));
    out
}

fn colour(event: usize) -> &'static str {
    COLOURS[event % COLOURS.len()]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A participant for each thread; each step a note over its thread.
pub fn scene_mermaid(scene: &Scene) -> String {
    let mut out = String::from("sequenceDiagram\n");
    for (number, name) in scene.threads.iter().enumerate() {
        let _ = writeln!(out, "  participant T{number} as {}", coded(name));
    }
    for (number, step) in (1..).zip(&scene.steps) {
        let text = if step.action.starts_with(&step.invocation) || scene.threads[step.thread] == step.invocation {
            step.action.clone()
        } else {
            format!("{}: {}", step.invocation, step.action)
        };
        let _ = writeln!(out, "  Note over T{}: {number}. {}", step.thread, coded(&text));
    }
    let last = scene.threads.len() - 1;
    let over = if last == 0 { "T0".to_owned() } else { format!("T0,T{last}") };
    let _ = writeln!(out, "  Note over {over}: {}", coded(&scene.reason));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_report::scene::SceneStep;

    fn scene() -> Scene {
        let step = |thread, event, invocation: &str, action: &str| SceneStep {
            thread,
            event,
            invocation: invocation.to_owned(),
            line: None,
            action: action.to_owned(),
        };
        Scene {
            threads: vec!["main".to_owned(), "p of e#0".to_owned()],
            events: vec!["e#0".to_owned(), "f#0".to_owned()],
            steps: vec![step(0, 1, "f#0", "x < 1"), step(1, 0, "p of e#0", "y ← 1")],
            order: vec![(0, 1), (1, 0)],
            reason: "cycle: 1 → 2 → 1; so".to_owned(),
            is_out_of_order: None,
        }
    }

    #[test]
    fn pictures_have_all_steps_and_the_reason() {
        let svg = scene_svg(&scene());
        assert!(svg.contains("x &lt; 1") && svg.contains("y ← 1") && svg.contains("cycle: 1 → 2 → 1"), "{svg}");
        assert_eq!(svg.matches("marker-end").count(), 2, "{svg}");
        assert!(svg.contains(COLOURS[0]) && svg.contains(COLOURS[1]), "{svg}");
        let diagram = scene_mermaid(&scene());
        assert!(diagram.contains("participant T1 as p of e#35;0\n"), "{diagram}");
        assert!(diagram.contains("Note over T0: 1. f#35;0: x < 1\n"), "{diagram}");
        assert!(diagram.contains("Note over T0,T1: cycle: 1 → 2 → 1#59; so\n"), "{diagram}");
    }
}
