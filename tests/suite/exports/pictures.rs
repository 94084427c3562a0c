//! Pictures of violations: complete, well formed, nothing on top of anything else.

use crate::checked::check;
use palisade::cli::ProgramOptions;
use palisade::program::Program;
use palisade::report::picture::{dot, mermaid, svg};
use palisade::robustness::{CheckOptions, Violation};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Models with two to four acting threads, several of one kind, and several delayed stores.
const MODELS: [&str; 6] =
    ["simple-dekker", "peterson", "ticket-lock", "linux-spinlock", "treiber-stack-reuse", "chase-lev"];

fn for_each_violation(look: impl Fn(&str, &Program, &Violation)) {
    for name in MODELS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/{name}.pal"));
        let loaded = ProgramOptions::default().read(path.to_str().expect("a plain path"));
        let program = loaded.unwrap_or_else(|error| panic!("{}", error.render(false))).program;
        let checked = check(&program, &CheckOptions::default()).expect("models have no faults");
        let violation = checked.violation.expect("these models are not robust");
        look(name, &program, &violation);
    }
}

fn number(node: &roxmltree::Node<'_, '_>, name: &str) -> f64 {
    let text = node.attribute(name).unwrap_or_else(|| panic!("{name} of {node:?}"));
    text.parse().unwrap_or_else(|_| panic!("{name}=\"{text}\""))
}

#[test]
fn svg_labels_and_arcs_keep_apart() {
    for_each_violation(|name, program, violation| {
        let text = svg(program, violation);
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (width, height) = (number(&document.root_element(), "width"), number(&document.root_element(), "height"));
        let texts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("text")).collect();
        let mut boxes: Vec<(f64, f64, f64)> = Vec::new();
        for label in &texts {
            let characters = label.text().unwrap_or_default().chars().count();
            let length = f64::from(u32::try_from(characters).expect("labels are short")) * 8.0;
            let (x, y) = (number(label, "x"), number(label, "y"));
            assert!(x >= 0.0 && x + length <= width && y >= 13.0 && y <= height, "{name}: {label:?} is cut off");
            boxes.push((x, x + length, y));
        }
        for (index, one) in boxes.iter().enumerate() {
            for other in &boxes[..index] {
                let apart = one.1 <= other.0 || other.1 <= one.0 || (one.2 - other.2).abs() >= 20.0;
                assert!(apart, "{name}: labels overlap: {one:?} {other:?}");
            }
        }
        // Arcs stay off all labels and inside the picture.
        let arcs: Vec<_> = document.descendants().filter(|node| node.attribute("class") == Some("arc")).collect();
        let issues = text.matches(">(issue)</text>").count();
        assert_eq!(arcs.iter().filter(|arc| arc.attribute("marker-end").is_some()).count(), issues, "{name}");
        for arc in arcs {
            let path = arc.attribute("d").expect("arcs have a path");
            let (left, right, top, bottom) = extent(path);
            assert!(top >= 0.0 && left >= 0.0 && right <= width, "{name}: {path} is cut off");
            for (start, end, y) in &boxes {
                let apart = right <= *start || *end <= left || bottom <= y - 12.0 || *y <= top;
                assert!(apart, "{name}: {path} runs through the label at {start}, {y}");
            }
        }
        // Every access of the cycle has its number where it stands, and where the cycle is read.
        let nodes: std::collections::BTreeSet<_> = violation.cycle.iter().map(|edge| edge.from).collect();
        for number in 1..=nodes.len() {
            let is_numbered =
                |label: &roxmltree::Node<'_, '_>| label.text().unwrap_or_default().starts_with(&format!("({number}) "));
            assert!(texts.iter().filter(|label| is_numbered(label)).count() >= 2, "{name}: ({number})\n{text}");
        }
        let names = violation.instance.copies().map(|copy| violation.instance.copy_name(program, copy));
        let acting: Vec<String> = names.filter(|name| text.contains(&format!(">{name}</text>"))).collect();
        assert!(acting.len() >= 2, "{name}: {acting:?}");
    });
}

/// Where a path lies, from left to right and from top to bottom: a curve comes three quarters of
/// the way to control points above both its ends.
fn extent(path: &str) -> (f64, f64, f64, f64) {
    let numbers = path.split(|c: char| !c.is_ascii_digit() && c != '-').filter(|part| !part.is_empty());
    let numbers: Vec<f64> = numbers.map(|part| part.parse().expect("a number")).collect();
    let (xs, ys): (Vec<f64>, Vec<f64>) = numbers.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    let least = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |all: &[f64]| all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (top, bottom) = (least(&ys), most(&ys));
    let is_whole = ys.first() == ys.last() && ys.first() == Some(&bottom) && top < bottom;
    (least(&xs), most(&xs), if is_whole { bottom - (bottom - top) * 0.75 } else { top }, bottom)
}

/// A computation that is too long for a row goes on in the next one.
#[test]
fn long_computations_have_rows() {
    let most = std::cell::Cell::new(0);
    for_each_violation(|name, program, violation| {
        let text = svg(program, violation);
        let attacker = violation.instance.copy_name(program, violation.attacker);
        let count = text.matches(&format!(" font-weight=\"bold\">{attacker}</text>")).count();
        assert!(count >= 1, "{name}");
        // Labels end where a row has to end, unless one alone is longer.
        let document = roxmltree::Document::parse(&text).expect("it was read before");
        for label in document.descendants().filter(|node| node.attribute("font-size") == Some("11")) {
            assert!(number(&label, "x") < 1180.0, "{name}: {label:?}");
        }
        most.set(most.get().max(count));
    });
    assert!(most.get() >= 2, "no picture has two rows");
}

#[test]
fn mermaid_names_what_it_uses() {
    for_each_violation(|name, program, violation| {
        let text = mermaid(program, violation);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("sequenceDiagram"));
        let mut declared = Vec::new();
        for line in lines.map(str::trim) {
            if let Some(rest) = line.strip_prefix("participant ") {
                let (id, shown) = rest.split_once(" as ").expect("participants have names");
                declared.push(id.to_owned());
                let plain = shown.replace("#35;", "#").replace("#59;", ";");
                let thread = plain.strip_prefix("buffer of ").unwrap_or(&plain);
                let known =
                    violation.instance.copies().any(|copy| violation.instance.copy_name(program, copy) == thread);
                assert!(known || thread == "memory", "{name}: `{shown}` is nobody");
                continue;
            }
            let (ends, words) = line.split_once(": ").expect("messages have texts");
            let ends = ends.strip_prefix("Note over ").unwrap_or(ends);
            for end in ends.split("-->>").flat_map(|end| end.split("->>")) {
                assert!(declared.iter().any(|id| id == end), "{name}: {line}");
            }
            assert!(!words.replace("#35;", "").replace("#59;", "").contains([';', '#']), "{name}: {line}");
        }
    });
}

#[test]
fn the_trace_shows_its_cycle() {
    for_each_violation(|name, program, violation| {
        assert!(dot(program, violation).matches("penwidth").count() >= 2, "{name}: no cycle is shown");
    });
}

#[needs::command("dot -V")]
#[test]
fn graphviz_reads_the_trace() {
    for_each_violation(|name, program, violation| {
        let text = dot(program, violation);
        let mut child = Command::new("dot")
            .arg("-Tcanon")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it is installed");
        child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads its input");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success() && output.stderr.is_empty(), "{name}: {output:?}");
    });
}
