//! The page of a benchmark: one file without anything outside it.

use super::super::counted;
use super::comparison_text;
use super::plots::{cactus, scatter};
use super::record::{Record, Setting, Verdict};
use super::summary::{Cell, Row, Summary};
use palisade_model::text::escaped;
use std::fmt::Display;

const STYLE: &str = include_str!("page.css");

/// The page.
pub fn html(setting: &Setting, records: &[Record], summary: &Summary) -> String {
    let parts = [
        introduction(setting, records, summary),
        section("Rejected evidence", "", &items(&summary.rejections)),
        section("Answers differ", " class=\"wrong\"", &items(&summary.disagreements)),
        if summary.disagreements.is_empty() {
            paragraph("No two answers to the same question differ.")
        } else {
            String::new()
        },
        section("Summary", "", &rows(setting, &summary.rows)),
        summary.comparisons.iter().map(|comparison| paragraph(format!("{}.", comparison_text(comparison)))).collect(),
        summary.unanswered.iter().map(paragraph).collect(),
        section("Plots", "", &plots(setting, summary)),
        section("Nets", "", &nets(setting, summary)),
    ];
    page("Palisade benchmark", &parts.concat())
}

/// A page of its own with a title and a body.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

fn paragraph(text: impl Display) -> String {
    format!("<p>{}</p>\n", escaped(text))
}

/// A heading with what stands below it; nothing where nothing does.
fn section(title: &str, attributes: &str, content: &str) -> String {
    if content.is_empty() { String::new() } else { format!("<h2{attributes}>{title}</h2>\n{content}") }
}

/// Lines that need attention.
fn items(lines: &[String]) -> String {
    let items: String = lines.iter().map(|line| format!("<li class=\"wrong\">{}</li>\n", escaped(line))).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}

/// A cell of a table, its text escaped.
fn cell(text: impl Display) -> String {
    format!("<td>{}</td>", escaped(text))
}

/// What names a cell below its row's first one where a narrow screen shows no heads of columns.
fn titled(title: &str) -> String {
    format!(" data-title=\"{}\"", escaped(title))
}

/// A table whose rows a narrow screen shows as blocks of titled cells.
fn table(head: &str, body: &str) -> String {
    let head = format!("<thead><tr>{head}</tr></thead>");
    format!("<div class=\"wide\"><table>\n{head}\n<tbody>\n{body}</tbody>\n</table></div>\n")
}

fn introduction(setting: &Setting, records: &[Record], summary: &Summary) -> String {
    let (runs, nets) = (counted(records.len(), "run"), counted(summary.cells.len(), "net"));
    let mut text = format!("{runs} of {nets}, each in a fresh process. ");
    if let Some(seconds) = setting.timeout_seconds {
        text.push_str(&format!("Time limit {seconds} s. "));
    }
    if let Some(bytes) = setting.memory_bytes {
        text.push_str(&format!("Memory limit {} MiB. ", bytes >> 20));
    }
    text.push_str(&counted(setting.repeat, "repetition"));
    text.push_str(if setting.repeat == 1 { ". " } else { ", medians shown. " });
    text.push_str(concat!("Palisade ", env!("CARGO_PKG_VERSION"), "."));
    let mut introduction = paragraph(text);
    if summary.accepted > 0 {
        let answers = counted(summary.accepted, "answer");
        let checked = format!("The evidence of {answers} was checked and accepted; times are without that.");
        introduction.push_str(&paragraph(checked));
    }
    introduction
}

/// The table of families and tools.
fn rows(setting: &Setting, rows: &[Row]) -> String {
    let [no, yes] = [Verdict::Uncoverable, Verdict::Coverable].map(|verdict| setting.word(verdict));
    let columns = ["nets", no, yes, "unsolved", "seconds, answered", "median", "peak MB"];
    let titles: String = columns.iter().map(|title| format!("<th>{title}</th>")).collect();
    let line = |row: &Row| {
        let cells = [
            row.nets.to_string(),
            row.uncoverable.to_string(),
            row.coverable.to_string(),
            row.unsolved.to_string(),
            format!("{:.2}", row.solved_seconds),
            row.median_seconds.map_or("–".to_owned(), |median| format!("{median:.3}")),
            row.peak_bytes.map_or("–".to_owned(), |bytes| (bytes >> 20).to_string()),
        ];
        let cells = cells.into_iter().zip(columns);
        let cells: String = cells.map(|(text, title)| format!("<td{}>{text}</td>", titled(title))).collect();
        let tool = format!("<td class=\"text\"{}>{}</td>", titled("tool"), escaped(&row.tool));
        format!("<tr>{}{tool}{cells}</tr>\n", cell(&row.family))
    };
    let body: String = rows.iter().map(line).collect();
    table(&format!("<th>family</th><th class=\"text\">tool</th>{titles}"), &body)
}

/// The plots, which are markup as they are.
fn plots(setting: &Setting, summary: &Summary) -> String {
    let cactus = cactus(setting, summary).into_iter();
    let pairs = setting.tools.iter().skip(1).filter_map(|second| scatter(setting, second, summary));
    let plots: String = cactus.chain(pairs).map(|plot| plot + "\n").collect();
    let note = "In the scatter plots, nets without an answer lie on the outer border; a dashed line is the time limit.";
    format!("<div class=\"plots\">\n{plots}</div>\n<p><small>{note}</small></p>\n")
}

/// The table of nets, a column for each tool.
fn nets(setting: &Setting, summary: &Summary) -> String {
    let titles: String = setting.tools.iter().map(|tool| format!("<th>{}</th>", escaped(tool))).collect();
    let line = |(file, tools): (&String, &std::collections::BTreeMap<String, Cell>)| {
        let none = |tool: &String| format!("<td{}>–</td>", titled(tool));
        let cells = setting.tools.iter();
        let cells = cells.map(|tool| tools.get(tool).map_or_else(|| none(tool), |cell| answer(setting, tool, cell)));
        format!("<tr>{}{}</tr>\n", cell(file), cells.collect::<String>())
    };
    let body: String = summary.cells.iter().map(line).collect();
    table(&format!("<th>net</th>{titles}"), &body)
}

/// What a tool did with a net.
fn answer(setting: &Setting, asked: &str, answer: &Cell) -> String {
    let (kind, verdict) = (answer.verdict.word(), setting.word(answer.verdict));
    let message = answer.message.as_ref().map_or(String::new(), |message| format!("; {message}"));
    let range = escaped(format!("{:.3} to {:.3} s{message}", answer.range.0, answer.range.1));
    let tool = answer.answered_by.as_deref().unwrap_or("");
    let memory = answer.peak_bytes.map_or(String::new(), |bytes| format!("{} MB", bytes >> 20));
    let small = escaped(format!("{tool} {memory}").trim());
    format!(
        "<td class=\"{kind}\" title=\"{range}\"{}>{verdict} {:.3}&nbsp;s<br><small>{small}</small></td>",
        titled(asked),
        answer.seconds
    )
}
