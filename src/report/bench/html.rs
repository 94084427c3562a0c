//! The page of a benchmark: one file without anything outside it.

use super::super::counted;
use super::plots::{cactus, scatter};
use super::record::{Record, Setting};
use super::summary::Summary;
use minijinja::Environment;
use serde_json::json;

const TEMPLATE: &str = include_str!("page.html");

/// The page.
pub fn html(setting: &Setting, records: &[Record], summary: &Summary) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.add_filter("counted", |number: u64, noun: &str| counted(number, noun));
    environment.add_template("page.html", TEMPLATE)?;
    let scatters: Vec<String> = match setting.tools.split_first() {
        Some((first, others)) => others.iter().filter_map(|second| scatter(first, second, summary)).collect(),
        None => Vec::new(),
    };
    let nets: Vec<_> = summary
        .cells
        .iter()
        .map(|(file, tools)| {
            let cells: Vec<_> = setting
                .tools
                .iter()
                .map(|tool| match tools.get(tool) {
                    Some(cell) => json!({
                        "verdict": cell.verdict.word(),
                        "seconds": format!("{:.3}", cell.seconds),
                        "range": format!("{:.3} to {:.3} s", cell.range.0, cell.range.1),
                        "megabytes": cell.peak_bytes.map(|bytes| bytes >> 20),
                        "answered_by": cell.answered_by,
                        "message": cell.message,
                    }),
                    None => json!(null),
                })
                .collect();
            json!({ "file": file, "cells": cells })
        })
        .collect();
    let rows: Vec<_> = summary
        .rows
        .iter()
        .map(|row| {
            json!({
                "family": row.family, "tool": row.tool, "nets": row.nets,
                "uncoverable": row.uncoverable, "coverable": row.coverable, "unsolved": row.unsolved,
                "seconds": format!("{:.2}", row.solved_seconds),
                "median": row.median_seconds.map(|median| format!("{median:.3}")),
                "megabytes": row.peak_bytes.map(|bytes| bytes >> 20),
            })
        })
        .collect();
    let content = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "setting": setting,
        "runs": records.len(),
        "rows": rows,
        "nets": nets,
        "comparisons": summary.comparisons.iter().map(super::comparison_text).collect::<Vec<_>>(),
        "accepted": summary.accepted,
        "rejections": summary.rejections,
        "disagreements": summary.disagreements,
        "unanswered": summary.unanswered,
        "cactus": cactus(setting, summary),
        "scatters": scatters,
    });
    environment.get_template("page.html")?.render(minijinja::value::Serde(&content))
}
