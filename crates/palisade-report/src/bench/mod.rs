//! Reports of benchmark runs: records, summary, table, CSV, plots and one self-contained HTML page.

#[cfg(feature = "plots")]
mod html;
#[cfg(feature = "plots")]
pub mod methods;
#[cfg(feature = "plots")]
mod plots;
mod record;
mod summary;

#[cfg(feature = "plots")]
pub use html::html;
pub use record::{Record, Setting, Verdict};
pub use summary::{Cell, Comparison, Row, Summary, Times};

use super::counted;
use super::wording::WIDEST;
use std::fmt::Write;

/// A column's title, and what it says of a row.
type Column<'a> = (&'a str, &'a dyn Fn(&Row) -> String);

/// The summary as text for people.
pub fn text(setting: &Setting, summary: &Summary) -> String {
    let mut out = String::new();
    let width = |column: &dyn Fn(&Row) -> String, title: &str| {
        summary.rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0).max(title.len())
    };
    let [no, yes] = [Verdict::Uncoverable, Verdict::Coverable].map(|verdict| setting.word(verdict));
    let columns: [Column<'_>; 9] = [
        ("family", &|row| row.family.clone()),
        ("tool", &|row| row.tool.clone()),
        ("nets", &|row| row.nets.to_string()),
        (no, &|row| row.uncoverable.to_string()),
        (yes, &|row| row.coverable.to_string()),
        ("unsolved", &|row| row.unsolved.to_string()),
        ("seconds", &|row| format!("{:.2}", row.solved_seconds)),
        ("median", &|row| row.median_seconds.map_or("–".to_owned(), |median| format!("{median:.3}"))),
        ("peak MB", &|row| row.peak_bytes.map_or("–".to_owned(), |bytes| (bytes >> 20).to_string())),
    ];
    let widths: Vec<usize> = columns.iter().map(|(title, column)| width(*column, title).min(WIDEST)).collect();
    let mut line = |cells: Vec<String>| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(index, (cell, width))| if index < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") })
            .collect();
        writeln!(out, "{}", padded.join("  ").trim_end()).expect("a string takes all that is written");
    };
    line(columns.iter().map(|(title, _)| (*title).to_owned()).collect());
    for row in &summary.rows {
        line(columns.iter().map(|(_, column)| column(row)).collect());
    }
    for comparison in &summary.comparisons {
        writeln!(out, "{}", comparison_text(comparison)).expect("a string takes all that is written");
    }
    for sentence in &summary.unanswered {
        writeln!(out, "{sentence}").expect("a string takes all that is written");
    }
    if summary.accepted > 0 {
        writeln!(out, "evidence: {} checked and accepted", counted(summary.accepted, "answer"))
            .expect("a string takes all that is written");
    }
    for rejection in &summary.rejections {
        writeln!(out, "REJECTED EVIDENCE: {rejection}").expect("a string takes all that is written");
    }
    for disagreement in &summary.disagreements {
        writeln!(out, "disagreement: {disagreement}").expect("a string takes all that is written");
    }
    out
}

/// How two tools compare, in one line.
fn comparison_text(comparison: &Comparison) -> String {
    let Comparison { first, second, common, faster, slower, processor, overall } = comparison;
    let sums = |times: &Times| format!("{:.2} s against {:.2} s in sum", times.first_seconds, times.second_seconds);
    let mut line = match common {
        Some(times) => format!(
            "{first} against {second}: {:.2} times as fast on {} that both answer ({}; faster on {faster}, slower on \
             {slower})",
            times.ratio,
            counted(times.nets, "net"),
            sums(times)
        ),
        None => format!("{first} against {second}: no net that both answer"),
    };
    if let Some(times) = processor {
        write!(line, ", {:.2} times in processor time ({})", times.ratio, sums(times))
            .expect("a string takes all that is written");
    }
    if let Some(times) = overall {
        let nets = counted(times.nets, "net");
        write!(
            line,
            "; {:.2} times on {nets} that either answers, unanswered at the limit ({})",
            times.ratio,
            sums(times)
        )
        .expect("a string takes all that is written");
    }
    line
}

/// One line per run.
pub fn csv(records: &[Record]) -> String {
    let mut out = String::from(
        "file,tool,repetition,verdict,answered_by,seconds,cpu_seconds,peak_bytes,evidence_seconds,message\n",
    );
    let quoted = |text: &str| {
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    for record in records {
        writeln!(
            out,
            "{},{},{},{},{},{:.6},{},{},{},{}",
            quoted(&record.file),
            quoted(&record.tool),
            record.repetition,
            record.verdict.word(),
            quoted(record.answered_by.as_deref().unwrap_or("")),
            record.seconds,
            record.cpu_seconds.map_or(String::new(), |seconds| format!("{seconds:.6}")),
            record.peak_bytes.map_or(String::new(), |bytes| bytes.to_string()),
            record.evidence_seconds.map_or(String::new(), |seconds| format!("{seconds:.6}")),
            quoted(record.message.as_deref().unwrap_or("")),
        )
        .expect("a string takes all that is written");
    }
    out
}

#[cfg(test)]
mod tests;
