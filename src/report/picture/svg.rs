//! The computation as SVG in the manner of [ESOP13, Fig. 3]: the actions in order, a lane per thread copy, an arc from
//! the issue of each delayed store to the store itself. The attacker's lane is the uppermost, so that arcs cross nothing.

use crate::program::Program;
use crate::report::computation::address_text;
use crate::robustness::Violation;
use crate::semantics::Effect;
use std::fmt::Write;

/// Width of a character of the font.
const CHARACTER: usize = 8;
/// Height of a lane.
const LANE: usize = 44;
/// Room for the lanes' names.
const MARGIN: usize = 16;

/// The picture.
pub fn svg(program: &Program, violation: &Violation) -> String {
    let mut copies = violation.acting.clone();
    copies.sort_by_key(|copy| *copy != violation.attacker);
    let names: Vec<String> = copies.iter().map(|copy| violation.instance.copy_name(program, *copy)).collect();
    let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) * CHARACTER + 2 * MARGIN;
    let mut x = name_width;
    // Each action with its lane, position and width.
    let mut actions: Vec<(usize, usize, usize, String)> = Vec::new();
    // Issues of the attacker that wait for their store, as indices of actions; and finished arcs.
    let mut waiting = std::collections::VecDeque::new();
    let mut arcs = Vec::new();
    for (index, event) in violation.replay.events.iter().enumerate() {
        let lane = copies.iter().position(|copy| *copy == event.step.copy).expect("the copy acts");
        let delays = event.step.copy == violation.attacker && index >= violation.issue;
        let Some(text) = action(program, &event.effect, delays) else { continue };
        let width = text.chars().count() * CHARACTER;
        match event.effect {
            Effect::Issue { .. } if delays => waiting.push_back(actions.len()),
            Effect::Store { .. } if delays => {
                if let Some(issue) = waiting.pop_front() {
                    arcs.push((issue, actions.len()));
                }
            }
            _ => {}
        }
        actions.push((lane, x, width, text));
        x += width + CHARACTER;
    }
    // Arcs rise with the number of actions they span, up to a point, and each above the next.
    let rise = |index: usize| (14 + 5 * (arcs[index].1 - arcs[index].0)).min(64) + 10 * (arcs.len() - 1 - index);
    let top = (0..arcs.len()).map(rise).max().unwrap_or(0) + MARGIN;
    let (width, height) = (x + MARGIN, top + LANE * copies.len() + MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"13\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#b00\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let middle = |lane: usize| top + LANE * lane + LANE / 2;
    for (lane, name) in names.iter().enumerate() {
        let y = middle(lane);
        let _ = writeln!(
            out,
            "<line x1=\"{name_width}\" y1=\"{y}\" x2=\"{x}\" y2=\"{y}\" stroke=\"#ddd\"/>\
             <text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{}</text>",
            y + 4,
            escaped(name)
        );
    }
    for (lane, x, width, text) in &actions {
        let y = middle(*lane);
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"20\" fill=\"#fff\"/>\
             <text x=\"{x}\" y=\"{}\" textLength=\"{width}\">{}</text>",
            y - 10,
            y + 4,
            escaped(text)
        );
    }
    for (index, arc) in arcs.iter().enumerate() {
        let centre = |index: usize| actions[index].1 + actions[index].2 / 2;
        let (from, to) = (centre(arc.0), centre(arc.1));
        let y = middle(actions[arc.0].0) - 11;
        // The curve comes three quarters of the way to its control points.
        let peak = i64::try_from(y).unwrap_or(i64::MAX) - i64::try_from(rise(index) * 4 / 3).unwrap_or(0);
        let _ = writeln!(
            out,
            "<path d=\"M{from},{y} C{from},{peak} {to},{peak} {to},{y}\" fill=\"none\" stroke=\"#b00\" \
             stroke-width=\"1.5\" marker-end=\"url(#tip)\"/>"
        );
    }
    out.push_str("</svg>\n");
    out
}

/// An action as the paper writes it, without the thread, which the lane tells. Local actions and issues of stores
/// that are not delayed are left out.
fn action(program: &Program, effect: &Effect, delays: bool) -> Option<String> {
    let at = |address| address_text(program, address);
    Some(match *effect {
        Effect::Load { address, value, .. } => format!("(ld, {}, {value})", at(address)),
        Effect::Issue { .. } if delays => "(isu)".into(),
        Effect::Store { address, value } => format!("(st, {}, {value})", at(address)),
        Effect::Rmw { address, old, new: Some(new), .. } => format!("(rmw, {}, {old}, {new})", at(address)),
        Effect::Rmw { address, old, .. } => format!("(ld, {}, {old})", at(address)),
        Effect::Lock => "(lock)".into(),
        Effect::Unlock => "(unlock)".into(),
        Effect::Fence => "(mfence)".into(),
        Effect::StoreFence => "(sfence)".into(),
        Effect::Issue { .. } | Effect::Local { .. } | Effect::Violation | Effect::Failure => return None,
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
