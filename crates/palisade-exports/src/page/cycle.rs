//! A happens-before cycle as a graph: a column for each copy, its accesses in program order, an
//! arrow for each edge.

use palisade_model::text::escaped;
use palisade_report::account::{Cycle, CycleEdge, CycleNode};
use palisade_semantics::Relation;
use std::fmt::Write;

/// Width of a column, and of the box in it.
const COLUMN: usize = 300;
const BOX: usize = 210;
/// Height of a row, and of the box in it.
const ROW: usize = 90;
const HEIGHT: usize = 36;
/// Room for the names of the columns.
const TOP: usize = 40;
/// What a line of a box can hold.
const CHARACTERS: usize = 25;

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
        (column * COLUMN + COLUMN / 2, TOP + row * ROW + ROW / 2)
    };
    let rows = columns.iter().map(|column| ids().filter(|id| id.position == *column).count()).max();
    let (width, height) = (columns.len() * COLUMN, TOP + rows.unwrap_or(1) * ROW);
    let mut out = format!(
        "<div class=\"wide\"><svg class=\"cycle\" viewBox=\"0 0 {width} {height}\" style=\"max-width:{width}px\" role=\"img\" aria-label=\"{}\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n",
        found.title
    );
    for (column, position) in columns.iter().enumerate() {
        let name = nodes.iter().find(|node| node.id.position == *position).map_or("", |node| &node.copy);
        let x = column * COLUMN + COLUMN / 2;
        let _ = writeln!(out, "<text class=\"name\" x=\"{x}\" y=\"22\">{}</text>", escaped(name));
    }
    for (number, edge) in found.edges.iter().enumerate() {
        arrow(&mut out, place(&nodes[edge.from]), place(&nodes[edge.to]), (edge.relation, &edge.name), number);
    }
    for node in nodes {
        let (x, y) = place(node);
        let full = &node.text;
        let short: String = if full.chars().count() > CHARACTERS {
            full.chars().take(CHARACTERS - 1).chain(['…']).collect()
        } else {
            full.clone()
        };
        let _ = writeln!(
            out,
            "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{BOX}\" height=\"{HEIGHT}\" rx=\"6\"/><text x=\"{x}\" y=\"{}\">{}</text></g>",
            escaped(full),
            x - BOX / 2,
            y - HEIGHT / 2,
            y + 5,
            escaped(short)
        );
    }
    out.push_str("</svg></div>\n");
    out.push_str(&words(found));
    out
}

/// An arrow with its relation and the name of that.
fn arrow(
    out: &mut String,
    from: (usize, usize),
    to: (usize, usize),
    (relation, label): (Relation, &str),
    number: usize,
) {
    let signed = |(x, y): (usize, usize)| (i64::try_from(x).unwrap_or(0), i64::try_from(y).unwrap_or(0));
    let ((x1, y1), (x2, y2)) = (signed(from), signed(to));
    let (half_width, half_height) = (105, 18);
    let (start, end) = match x1.cmp(&x2) {
        std::cmp::Ordering::Equal if y1 < y2 => ((x1, y1 + half_height), (x2, y2 - half_height)),
        std::cmp::Ordering::Equal => ((x1, y1 - half_height), (x2, y2 + half_height)),
        std::cmp::Ordering::Less => ((x1 + half_width, y1), (x2 - half_width, y2)),
        std::cmp::Ordering::Greater => ((x1 - half_width, y1), (x2 + half_width, y2)),
    };
    // Labels of arrows that cross stand nearer to their beginnings, so that they keep apart.
    let (at_x, at_y) = if x1 == x2 {
        (x1 + 18, i64::midpoint(start.1, end.1) + 10)
    } else {
        (start.0 + (end.0 - start.0) / 4, start.1 + (end.1 - start.1) / 4)
    };
    let class = relation.name();
    let _ = writeln!(
        out,
        "<path class=\"edge {class}\" data-edge=\"{number}\" d=\"M{} {} L{} {}\" marker-end=\"url(#tip)\"/>\
         <text class=\"edge\" x=\"{at_x}\" y=\"{}\">{label}</text>",
        start.0,
        start.1,
        end.0,
        end.1,
        at_y - 6
    );
}

/// What the edges mean.
fn words(found: &Cycle) -> String {
    let item = |edge: &CycleEdge| format!("<li>{}</li>\n", escaped(&edge.words));
    format!("<ol class=\"edges\">\n{}</ol>\n", found.edges.iter().map(item).collect::<String>())
}
