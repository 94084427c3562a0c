//! A happens-before cycle as a graph: a column for each copy, its accesses in program order, an
//! arrow for each edge.

use palisade_model::text::escaped;
use palisade_report::account::{Cycle, CycleEdge, CycleNode};
use std::fmt::Write;

/// Width of a column, and of the box in it.
const COLUMN: i64 = 300;
const BOX: i64 = 220;
/// Height of a row, and of the box in it.
const ROW: i64 = 124;
const HEIGHT: i64 = 60;
/// Room for the names of the columns.
const TOP: i64 = 50;
/// The least width of a column on a narrow screen.
const LEAST: i64 = 190;
/// What a line of a box can hold, and how many lines it has.
const CHARACTERS: usize = 26;
const LINES: usize = 3;
/// Between the lines of a box.
const LEADING: i64 = 17;
/// Between arrows that go the same way past boxes.
const APART: i64 = 12;

/// The graph, and below it what its edges mean.
pub(super) fn cycle(found: &Cycle) -> String {
    let nodes = &found.nodes;
    let mut columns: Vec<usize> = nodes.iter().map(|node| node.id.position).collect();
    columns.sort_unstable();
    columns.dedup();
    // Edges of program order go down in a column.
    let ids = || nodes.iter().map(|node| node.id);
    let place = |node: &CycleNode| {
        let id = node.id;
        let column = columns.iter().position(|position| *position == id.position).unwrap_or(0);
        let row = ids().filter(|other| other.position == id.position && other.index < id.index).count();
        Place { column: number(column), row: number(row) }
    };
    let rows = columns.iter().map(|column| ids().filter(|id| id.position == *column).count()).max();
    let count = number(columns.len());
    let (width, height, least) = (count * COLUMN, TOP + number(rows.unwrap_or(1)) * ROW, count * LEAST);
    let mut out = format!(
        "<div class=\"wide\"><svg class=\"cycle\" viewBox=\"0 0 {width} {height}\" style=\"min-width:{least}px;max-width:{width}px\" role=\"img\" aria-label=\"{}\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n",
        found.title
    );
    for (column, position) in columns.iter().enumerate() {
        let name = nodes.iter().find(|node| node.id.position == *position).map_or("", |node| &node.copy);
        let x = number(column) * COLUMN + COLUMN / 2;
        let _ = writeln!(out, "<text class=\"name\" x=\"{x}\" y=\"18\">{}</text>", escaped(name));
    }
    for node in nodes {
        out.push_str(&access(&node.text, place(node)));
    }
    let mut around = Vec::new();
    for (number, edge) in found.edges.iter().enumerate() {
        let (from, to) = (place(&nodes[edge.from]), place(&nodes[edge.to]));
        out.push_str(&arrow(edge, &Way::of(from, to, &mut around), number));
    }
    out.push_str("</svg></div>\n");
    out.push_str(&words(found));
    out
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(0)
}

/// Where a box stands.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    column: i64,
    row: i64,
}

impl Place {
    /// The middle of the box.
    fn middle(self) -> (i64, i64) {
        (self.column * COLUMN + COLUMN / 2, TOP + self.row * ROW + ROW / 2)
    }
}

/// A box with what an access does, its text in lines.
fn access(text: &str, place: Place) -> String {
    let (x, y) = place.middle();
    let lines = in_lines(text);
    let first = y + 5 - (number(lines.len()) - 1) * LEADING / 2;
    let line =
        |(line, at): (&String, i64)| format!("<text x=\"{x}\" y=\"{}\">{}</text>", first + at * LEADING, escaped(line));
    let texts: String = lines.iter().zip(0..).map(line).collect();
    format!(
        "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{BOX}\" height=\"{HEIGHT}\" rx=\"6\"/>{texts}</g>\n",
        escaped(text),
        x - BOX / 2,
        y - HEIGHT / 2,
    )
}

/// A text in lines between words, the last one cut where it is too long. A value stays beside what
/// holds it.
fn in_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.replace(" = ", "\u{a0}=\u{a0}").split(' ') {
        let last = lines.len() - 1;
        let is_room = lines[last].is_empty() || lines[last].chars().count() + 1 + word.chars().count() <= CHARACTERS;
        if !is_room && lines.len() < LINES {
            lines.push(word.to_owned());
            continue;
        }
        let blank = if lines[last].is_empty() { "" } else { " " };
        lines[last].push_str(&format!("{blank}{word}"));
    }
    for line in &mut lines {
        *line = line.replace('\u{a0}', " ");
        if line.chars().count() > CHARACTERS {
            *line = line.chars().take(CHARACTERS - 1).chain(['…']).collect();
        }
    }
    lines
}

/// The way of an arrow: the points that it goes through, and where its label stands.
struct Way {
    points: Vec<(i64, i64)>,
    label: (i64, i64),
}

impl Way {
    /// The way from a box to another, past those between them. `around` has the ways past boxes
    /// that are taken: between which rows or beside which column.
    fn of(from: Place, to: Place, around: &mut Vec<(bool, i64)>) -> Self {
        let ((x1, y1), (x2, y2)) = (from.middle(), to.middle());
        let mut taken = |way: (bool, i64)| {
            let before = around.iter().filter(|own| **own == way).count();
            around.push(way);
            // In turn to either side.
            let steps = number(before).midpoint(1);
            if before % 2 == 0 { -steps * APART } else { steps * APART }
        };
        if from.column == to.column && to.row == from.row + 1 {
            let (start, end) = (y1 + HEIGHT / 2, y2 - HEIGHT / 2);
            return Self { points: vec![(x1, start), (x1, end)], label: (x1 + 20, start + LEADING) };
        }
        if from.column == to.column {
            let beside = x1 + BOX / 2 + (COLUMN - BOX) / 4 + taken((false, from.column));
            let side = x1 + BOX / 2;
            let label = (beside, y1.midpoint(y2));
            return Self { points: vec![(side, y1), (beside, y1), (beside, y2), (side, y2)], label };
        }
        let towards = (x2 - x1).signum();
        let (start, end) = ((x1 + towards * BOX / 2, y1), (x2 - towards * BOX / 2, y2));
        if (to.column - from.column).abs() == 1 {
            // Labels of arrows that cross stand near their beginnings, so that they keep apart.
            let label = (start.0 + (end.0 - start.0) / 4, start.1 + (end.1 - start.1) / 4 - 5);
            return Self { points: vec![start, end], label };
        }
        // Between the rows, and above the first one, nothing stands in the way.
        let between = from.row.max(to.row);
        let middle = TOP + between * ROW + if between == 0 { APART } else { 0 };
        let y = middle + taken((true, between));
        let gap = towards * (COLUMN - BOX) / 2;
        let label = (start.0 + gap + towards * BOX / 5, y - 4);
        Self { points: vec![start, (start.0 + gap, y), (end.0 - gap, y), end], label }
    }
}

/// An arrow with the name of its relation.
fn arrow(edge: &CycleEdge, way: &Way, number: usize) -> String {
    let points: Vec<String> = way.points.iter().map(|(x, y)| format!("{x} {y}")).collect();
    let (x, y) = way.label;
    format!(
        "<path class=\"edge {}\" data-edge=\"{number}\" d=\"M{}\" marker-end=\"url(#tip)\"/>\
         <text class=\"edge\" x=\"{x}\" y=\"{y}\">{}</text>\n",
        edge.relation.name(),
        points.join(" L"),
        escaped(&edge.name),
    )
}

/// What the edges mean.
fn words(found: &Cycle) -> String {
    let item = |edge: &CycleEdge| format!("<li>{}</li>\n", escaped(&edge.words));
    format!("<ol class=\"edges\">\n{}</ol>\n", found.edges.iter().map(item).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a line between two points meets a box.
    fn meets((x1, y1): (i64, i64), (x2, y2): (i64, i64), place: Place) -> bool {
        let (x, y) = place.middle();
        (0..=100).any(|part| {
            let at = (x1 + (x2 - x1) * part / 100, y1 + (y2 - y1) * part / 100);
            (at.0 - x).abs() < BOX / 2 && (at.1 - y).abs() < HEIGHT / 2
        })
    }

    #[test]
    fn no_arrow_goes_behind_a_box() {
        let places: Vec<Place> = (0..4).flat_map(|column| (0..3).map(move |row| Place { column, row })).collect();
        for from in &places {
            for to in places.iter().filter(|to| *to != from) {
                for before in 0..3 {
                    let mut around: Vec<(bool, i64)> =
                        (0..4).flat_map(|at| [(true, at), (false, at)]).flat_map(|way| vec![way; before]).collect();
                    let way = Way::of(*from, *to, &mut around);
                    for place in &places {
                        let meets = way.points.windows(2).any(|points| meets(points[0], points[1], *place));
                        assert!(!meets, "{:?} meets {:?}", way.points, place.middle());
                    }
                }
            }
        }
    }

    #[test]
    fn a_box_shows_the_value() {
        assert_eq!(in_lines("line 5: store wants[0] = 1"), ["line 5: store wants[0] = 1"]);
        assert_eq!(in_lines("eventcount.rs:18: store work = 1"), ["eventcount.rs:18: store", "work = 1"]);
        assert_eq!(
            in_lines("ring.c:29: load need_wakeup = 0, store need_wakeup = 1"),
            ["ring.c:29: load", "need_wakeup = 0, store", "need_wakeup = 1"]
        );
        let lines = in_lines("a_name_that_is_longer_than_a_box_is: store it_is_longer_as_well = 1");
        assert!(lines.len() == LINES && lines.iter().all(|line| line.chars().count() <= CHARACTERS), "{lines:?}");
    }
}
