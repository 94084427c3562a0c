//! Executions as graphs, in the manner of herd's pictures: a column for each thread with its events
//! in program order, an arrow for each relation, and those of a cycle in bold.

use super::dot::{colour, quoted};
use palisade_model::text::escaped;
use palisade_report::execution::{Arrow, Event, Execution};
use palisade_semantics::{NodeId, Relation};
use std::fmt::Write;

/// A graph for Graphviz for each execution.
pub fn execution_dot(executions: &[Execution<'_>]) -> String {
    let mut out = String::new();
    for execution in executions {
        let id = |node: NodeId| format!("n{}_{}", node.position, node.index);
        let _ = writeln!(
            out,
            "digraph \"{0}\" {{\n  label=\"{0}\";\n  node [shape=box, fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];",
            quoted(&execution.title())
        );
        for (number, (name, events)) in execution.events().iter().enumerate() {
            let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label=\"{}\";", quoted(name));
            for event in events {
                let _ = writeln!(out, "    {} [label=\"{}: {}\"];", id(event.node), event.letter, quoted(&event.text));
            }
            out.push_str("  }\n");
        }
        for Arrow { edge, name, on_cycle } in execution.arrows() {
            let colour = colour(edge.relation);
            let width = if on_cycle { ", penwidth=3" } else { "" };
            // Only program order says which event stands above which.
            let constraint = if edge.relation == Relation::ProgramOrder { "" } else { ", constraint=false" };
            let _ = writeln!(
                out,
                "  {} -> {} [label=\"{name}\", color={colour}, fontcolor={colour}{width}{constraint}];",
                id(edge.from),
                id(edge.to)
            );
        }
        out.push_str("}\n");
    }
    out
}

/// The least width of the box of an event, and the room between two columns.
const BOX: usize = 140;
const BETWEEN: usize = 100;
/// Height of a row, and of the box in it.
const ROW: usize = 92;
const HEIGHT: usize = 34;
/// Room for the title and the names of the columns.
const TOP: usize = 64;
const MARGIN: usize = 24;
/// Width of a character of the font.
const CHARACTER: usize = 8;
/// Height of a line of text.
const LINE: usize = 22;

/// The executions below each other.
pub fn execution_svg(executions: &[Execution<'_>]) -> String {
    let (mut body, mut width, mut top) = (String::new(), 0, 0);
    for execution in executions {
        let graph = Graph::new(execution);
        width = width.max(graph.width);
        let _ = writeln!(body, "<g transform=\"translate(0,{top})\">\n{}</g>", graph.text);
        top += graph.height;
    }
    let marker = |relation: Relation| {
        let colour = colour(relation);
        format!(
            "<marker id=\"tip-{colour}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" markerWidth=\"10\" \
             markerHeight=\"10\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"{colour}\"/></marker>"
        )
    };
    let relations = [Relation::ProgramOrder, Relation::StoreOrder, Relation::Source, Relation::Conflict];
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{top}\" viewBox=\"0 0 {width} {top}\" \
         font-family=\"monospace\" font-size=\"13\" role=\"img\">\n<title>{}</title>\n<defs>{}</defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n",
        escaped(executions.first().map_or_else(String::new, Execution::title)),
        relations.map(marker).concat()
    )
}

/// One execution.
struct Graph {
    text: String,
    width: usize,
    height: usize,
}

impl Graph {
    fn new(execution: &Execution<'_>) -> Self {
        let columns = execution.events();
        let rows = columns.iter().map(|(_, events)| events.len()).max().unwrap_or(0);
        let (title, below) = (execution.title(), below(execution));
        let texts = [&title, &below].map(|text| text.chars().count() * CHARACTER + 2 * MARGIN);
        let events = columns.iter().flat_map(|(_, events)| events);
        let boxed = events.map(|event| shown(event).chars().count() * CHARACTER + 12).max().unwrap_or(0).max(BOX);
        let column_width = boxed + BETWEEN;
        let width = (columns.len() * column_width + 2 * MARGIN).max(texts[0]).max(texts[1]);
        let height = TOP + rows * ROW + 2 * LINE;
        let mut text = format!("<text x=\"{MARGIN}\" y=\"{LINE}\" font-weight=\"bold\">{}</text>\n", escaped(&title));
        let place = |node: NodeId| {
            let column = columns.iter().position(|(_, events)| events.iter().any(|event| event.node == node))?;
            let row = columns[column].1.iter().position(|event| event.node == node)?;
            Some((MARGIN + column * column_width + column_width / 2, TOP + row * ROW + ROW / 2))
        };
        for (column, (name, events)) in columns.iter().enumerate() {
            let x = MARGIN + column * column_width + column_width / 2;
            let _ = writeln!(
                text,
                "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>",
                TOP - MARGIN / 2,
                escaped(name)
            );
            events
                .iter()
                .filter_map(|event| Some((event, place(event.node)?)))
                .for_each(|it| draw_event(&mut text, it, boxed));
        }
        for (number, arrow) in execution.arrows().iter().enumerate() {
            if let (Some(from), Some(to)) = (place(arrow.edge.from), place(arrow.edge.to)) {
                draw_arrow(&mut text, arrow, (from, to), boxed, number);
            }
        }
        let _ = writeln!(text, "<text x=\"{MARGIN}\" y=\"{}\">{}</text>", height - LINE, escaped(&below));
        Self { text, width, height }
    }
}

/// What stands below: the cycle, by the names of its edges.
fn below(execution: &Execution<'_>) -> String {
    match execution.cycle() {
        Some(cycle) => format!("no interleaving does this: {}", execution.cycle_names(&cycle).join(" ")),
        None => "an interleaving does this".to_owned(),
    }
}

/// What stands in the box of an event.
fn shown(event: &Event) -> String {
    format!("{}: {}", event.letter, event.text)
}

fn draw_event(out: &mut String, (event, (x, y)): (&Event, (usize, usize)), width: usize) {
    let _ = writeln!(
        out,
        "<g><title>line {}</title><rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"5\" fill=\"#f4f6fa\" stroke=\"#556\"/>\
         <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
        event.line,
        x - width / 2,
        y - HEIGHT / 2,
        y + 5,
        escaped(shown(event))
    );
}

/// An arrow: down a column for program order, beside it for other relations of one thread, across
/// for the rest.
fn draw_arrow(
    out: &mut String,
    arrow: &Arrow,
    (from, to): ((usize, usize), (usize, usize)),
    boxed: usize,
    number: usize,
) {
    let signed = |(x, y): (usize, usize)| (i64::try_from(x).unwrap_or(0), i64::try_from(y).unwrap_or(0));
    let ((x1, y1), (x2, y2)) = (signed(from), signed(to));
    let (half_width, half_height) = (i64::try_from(boxed / 2).unwrap_or(0), 17);
    let relation = arrow.edge.relation;
    let (path, label_x, label_y) = if x1 == x2 && relation == Relation::ProgramOrder && (y2 - y1).abs() <= 92 {
        let (start, end) =
            if y1 < y2 { (y1 + half_height, y2 - half_height) } else { (y1 - half_height, y2 + half_height) };
        (format!("M{x1} {start} L{x2} {end}"), x1 + 8, i64::midpoint(start, end) + 4)
    } else if x1 == x2 {
        // Beside the column, each relation at a distance of its own.
        let side = if relation == Relation::ProgramOrder { -1 } else { 1 };
        let out_to = x1 + side * (half_width + 34 + 12 * i64::from(relation == Relation::StoreOrder));
        let edge = x1 + side * half_width;
        (
            format!("M{edge} {y1} C{out_to} {y1} {out_to} {y2} {edge} {y2}"),
            out_to - 10 * side,
            i64::midpoint(y1, y2) + 4,
        )
    } else {
        let side = if x1 < x2 { 1 } else { -1 };
        let (start, end) = (x1 + side * half_width, x2 - side * half_width);
        if (end - start).abs() > i64::try_from(BETWEEN).unwrap_or(0) {
            // Over the columns between, through the room above a row.
            let (middle, above) = (i64::midpoint(start, end), i64::midpoint(y1, y2) - 62);
            (
                format!("M{start} {y1} Q{middle} {above} {end} {y2}"),
                middle,
                i64::midpoint(above, i64::midpoint(y1, y2)) - 4,
            )
        } else {
            // Labels of arrows that cross stand nearer to their beginnings, so that they keep
            // apart.
            let part = 4 + i64::try_from(number % 2).unwrap_or(0);
            (format!("M{start} {y1} L{end} {y2}"), start + (end - start) / part, y1 + (y2 - y1) / part - 6)
        }
    };
    let (colour, width) = (colour(relation), if arrow.on_cycle { "2.5" } else { "1.2" });
    let _ = writeln!(
        out,
        "<path class=\"{name}\" d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" marker-end=\"url(#tip-{colour})\"/>\
         <text x=\"{label_x}\" y=\"{label_y}\" fill=\"{colour}\" font-size=\"12\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">{name}</text>",
        name = arrow.name
    );
}
