//! The computation as SVG in the manner of [ESOP13, Fig. 3]: the actions in order, a lane per
//! thread copy, an arc from the issue of each delayed store to the store itself. The attacker's
//! lane is the uppermost, so that arcs cross nothing. A long computation goes on in a further row,
//! arcs with it. Accesses of the cycle have a frame and a number; below the rows stands what the
//! cycle says, and what the signs mean.

use super::actions::{Action, actions};
use palisade_engine::robustness::Violation;
use palisade_model::program::Program;
use palisade_model::text::escaped;
use palisade_report::violation::edge_text;
use palisade_semantics::NodeId;
use std::fmt::Write;

/// Width of a character of the font.
const CHARACTER: usize = 8;
/// Height of a lane: an action and the label below it.
const LANE: usize = 56;
/// Height of a line of text.
const LINE: usize = 22;
/// Room for the lanes' names, and around the picture.
const MARGIN: usize = 16;
/// A row is broken before the action that would end beyond this.
const WIDTH: usize = 1180;
/// How far an arc rises above its lane, and each next one above it.
const RISE: usize = 18;
const STEP: usize = 10;

/// The picture.
pub fn svg(program: &Program, violation: &Violation) -> String {
    let mut copies = violation.acting.clone();
    copies.sort_by_key(|copy| *copy != violation.attacker);
    let names: Vec<String> = copies.iter().map(|copy| violation.instance.copy_name(program, *copy)).collect();
    let left = names.iter().map(|name| long(name)).max().unwrap_or(0) + 2 * MARGIN;
    let numbers = Numbers::of(violation);
    let drawing = Drawing::new(&actions(program, violation, &copies), &names, &numbers, left);
    let below = words_below(program, violation, &numbers);
    let title = title(program, violation);
    let texts = below.iter().map(|(text, _)| long(text) + 4 * MARGIN).chain([long(&title)]).max().unwrap_or(0);
    let (width, height) =
        (drawing.right.max(texts + 2 * MARGIN) + MARGIN, drawing.bottom + LINE * below.len() + 2 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"13\" role=\"img\">\n\
         <title>{0}</title>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#b00\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{MARGIN}\" y=\"{LINE}\" font-weight=\"bold\">{0}</text>\n",
        escaped(&title)
    );
    out.push_str(&drawing.text);
    for ((text, sign), line) in below.iter().zip(1..) {
        let y = drawing.bottom + LINE * line;
        out.push_str(&sign.drawn(y));
        let _ = writeln!(out, "<text x=\"{}\" y=\"{y}\">{}</text>", 5 * MARGIN, escaped(text));
    }
    out.push_str("</svg>\n");
    out
}

/// The width of a text.
fn long(text: &str) -> usize {
    text.chars().count() * CHARACTER
}

/// What the picture is about.
fn title(program: &Program, violation: &Violation) -> String {
    let attack = violation.attack;
    let (store, load) = (program.place(attack.thread, attack.store), program.place(attack.thread, attack.load));
    format!("{}: the store at {store} is delayed past the load at {load}", program.name)
}

/// The accesses of the cycle, numbered in its order.
struct Numbers(Vec<NodeId>);

impl Numbers {
    fn of(violation: &Violation) -> Self {
        let mut nodes = Vec::new();
        for id in violation.cycle.iter().flat_map(|edge| [edge.from, edge.to]) {
            if !nodes.contains(&id) {
                nodes.push(id);
            }
        }
        Self(nodes)
    }

    /// The number of an access of the cycle: `(1)`.
    fn of_node(&self, node: NodeId) -> Option<String> {
        let number = self.0.iter().position(|id| *id == node)? + 1;
        Some(format!("({number})"))
    }
}

/// A sign of the legend.
#[derive(Clone, Copy)]
enum Sign {
    None,
    Arc,
    Frame,
}

impl Sign {
    fn drawn(self, y: usize) -> String {
        let (x, end) = (MARGIN, 4 * MARGIN);
        match self {
            Self::None => String::new(),
            Self::Arc => format!(
                "<path d=\"M{x},{0} C{x},{1} {end},{1} {end},{0}\" fill=\"none\" stroke=\"#b00\" stroke-width=\"1.5\" class=\"sign\"/>",
                y,
                y - LINE / 2
            ),
            Self::Frame => format!(
                "<rect x=\"{x}\" y=\"{}\" width=\"{}\" height=\"14\" fill=\"#eef4ff\" stroke=\"#06c\" class=\"sign\"/>",
                y - 12,
                end - x
            ),
        }
    }
}

/// The cycle in words, and the legend.
fn words_below(program: &Program, violation: &Violation, numbers: &Numbers) -> Vec<(String, Sign)> {
    let front = |id| format!("{} ", numbers.of_node(id).unwrap_or_default());
    let edges = violation.cycle.iter();
    let mut lines: Vec<(String, Sign)> =
        edges.map(|edge| (edge_text(program, violation, edge, front), Sign::None)).collect();
    lines.push(("a store waits in the buffer, from its issue to where it reaches memory".to_owned(), Sign::Arc));
    lines.push(("an access of the happens-before cycle, which is read above".to_owned(), Sign::Frame));
    lines
}

/// An action at its place.
struct Placed<'a> {
    action: &'a Action,
    /// What stands below it: its number in the cycle, its label, its line.
    below: String,
    row: usize,
    x: usize,
    width: usize,
}

impl Placed<'_> {
    fn centre(&self) -> usize {
        self.x + self.width / 2
    }
}

/// The rows of a picture.
struct Drawing {
    text: String,
    right: usize,
    bottom: usize,
}

impl Drawing {
    fn new(actions: &[Action], names: &[String], numbers: &Numbers, left: usize) -> Self {
        let placed = placed(actions, numbers, left);
        let arcs: Vec<(usize, usize)> = arcs(actions);
        let right = placed.iter().map(|it| it.x + it.width).max().unwrap_or(left) + CHARACTER;
        let rows = placed.last().map_or(1, |last| last.row + 1);
        let (mut text, mut top) = (String::new(), LINE + MARGIN);
        for row in 0..rows {
            // Arcs of a row, the first of which rises highest.
            let crosses = |arc: &&(usize, usize)| placed[arc.0].row <= row && row <= placed[arc.1].row;
            let here: Vec<&(usize, usize)> = arcs.iter().filter(crosses).collect();
            let lanes = top + here.len() * STEP + RISE + MARGIN;
            let middle = |lane: usize| lanes + LANE * lane + LANE / 3;
            for (lane, name) in names.iter().enumerate() {
                let y = middle(lane);
                let _ = writeln!(
                    text,
                    "<line x1=\"{left}\" y1=\"{y}\" x2=\"{right}\" y2=\"{y}\" stroke=\"#ddd\"/>\
                     <text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{}</text>",
                    y + 4,
                    escaped(name)
                );
            }
            for it in placed.iter().filter(|it| it.row == row) {
                draw_action(&mut text, it, middle(it.action.lane));
            }
            for (rank, arc) in here.iter().enumerate() {
                let (from, to) = (&placed[arc.0], &placed[arc.1]);
                let start = (from.row == row).then(|| from.centre());
                let end = (to.row == row).then(|| to.centre());
                let y = middle(from.action.lane) - 11;
                draw_arc(&mut text, (start, end), (left, right), y, y - RISE - STEP * (here.len() - rank));
            }
            top = lanes + LANE * names.len();
        }
        Self { text, right, bottom: top }
    }
}

/// The places of actions, in rows.
fn placed<'a>(actions: &'a [Action], numbers: &Numbers, left: usize) -> Vec<Placed<'a>> {
    let (mut row, mut x) = (0, left);
    let place = |action: &'a Action| {
        let number = action.node.and_then(|node| numbers.of_node(node));
        let below = number.into_iter().chain([action.label.clone()]).collect::<Vec<_>>().join(" ");
        let width = long(&action.text).max(long(&below));
        if x + width > WIDTH && x > left {
            (row, x) = (row + 1, left);
        }
        let placed = Placed { action, below, row, x, width };
        x += width + 2 * CHARACTER;
        placed
    };
    actions.iter().map(place).collect()
}

/// Issues of the attacker with the stores that end their wait, by the positions of the actions.
fn arcs(actions: &[Action]) -> Vec<(usize, usize)> {
    let mut waiting = std::collections::VecDeque::new();
    let mut arcs = Vec::new();
    for (index, action) in actions.iter().enumerate() {
        if action.is_issue {
            waiting.push_back(index);
        } else if action.is_delayed_store {
            arcs.extend(waiting.pop_front().map(|issue| (issue, index)));
        }
    }
    arcs
}

fn draw_action(out: &mut String, it: &Placed<'_>, y: usize) {
    let is_in_cycle = it.below.starts_with('(');
    let frame = if is_in_cycle { "fill=\"#eef4ff\" stroke=\"#06c\" rx=\"3\"" } else { "fill=\"#fff\"" };
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"20\" {frame}/>\
         <text x=\"{}\" y=\"{}\">{}</text><text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#666\">{}</text>",
        it.x - 3,
        y - 10,
        it.width + 6,
        it.x,
        y + 4,
        escaped(&it.action.text),
        it.x,
        y + 25,
        escaped(&it.below)
    );
}

/// The part of an arc in a row, from one place or the row's beginning to another or the row's end.
fn draw_arc(
    out: &mut String,
    (start, end): (Option<usize>, Option<usize>),
    (left, right): (usize, usize),
    y: usize,
    level: usize,
) {
    let path = match (start, end) {
        (Some(from), Some(to)) => {
            // The curve comes three quarters of the way to its control points.
            let peak = y - (y - level) * 4 / 3;
            format!("M{from},{y} C{from},{peak} {to},{peak} {to},{y}")
        }
        (Some(from), None) => {
            format!("M{from},{y} C{from},{level} {from},{level} {},{level} L{right},{level}", from + 24)
        }
        (None, Some(to)) => format!("M{left},{level} L{},{level} C{to},{level} {to},{level} {to},{y}", to.max(24) - 24),
        (None, None) => format!("M{left},{level} L{right},{level}"),
    };
    let tip = if end.is_some() { " marker-end=\"url(#tip)\"" } else { "" };
    let _ = writeln!(out, "<path class=\"arc\" d=\"{path}\" fill=\"none\" stroke=\"#b00\" stroke-width=\"1.5\"{tip}/>");
}
