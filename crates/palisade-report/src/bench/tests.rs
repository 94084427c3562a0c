//! Summaries count what was run, and pages hold together.

use super::*;
use std::collections::BTreeMap;

fn record(file: &str, tool: &str, repetition: u32, verdict: Verdict, seconds: f64) -> Record {
    Record {
        id: String::new(),
        file: file.to_owned(),
        tool: tool.to_owned(),
        repetition,
        verdict,
        answered_by: None,
        seconds,
        cpu_seconds: Some(if tool == "auto" { seconds / 3.0 } else { seconds / 2.0 }),
        peak_bytes: Some(5 << 20),
        message: Some("said \"so\", <b>".to_owned()),
        evidence_seconds: (tool == "auto").then_some(0.01),
    }
}

fn setting() -> Setting {
    let tools = vec!["auto".to_owned(), "other".to_owned()];
    Setting { tools, timeout_seconds: Some(1.0), memory_bytes: None, repeat: 3, asks_reachability: false }
}

fn records() -> Vec<Record> {
    vec![
        record("x/a.spec", "auto", 1, Verdict::Uncoverable, 0.1),
        record("x/a.spec", "auto", 2, Verdict::Uncoverable, 0.3),
        record("x/a.spec", "auto", 3, Verdict::Timeout, 1.0),
        record("x/a.spec", "other", 1, Verdict::Uncoverable, 0.6),
        record("y/b.spec", "auto", 1, Verdict::Coverable, 0.2),
        record("y/b.spec", "other", 1, Verdict::Error, 0.1),
    ]
}

#[test]
fn families_medians_and_ratios() {
    let summary = Summary::of(&setting(), &records(), &BTreeMap::new());
    assert_eq!(summary.rows.len(), 6);
    let all = &summary.rows[4];
    assert_eq!((all.family.as_str(), all.nets, all.uncoverable, all.coverable, all.unsolved), ("all", 2, 1, 1, 0));
    assert!((all.solved_seconds - 0.5).abs() < 1e-9);
    let common = summary.comparisons[0].common.unwrap();
    assert_eq!(common.nets, 1);
    assert!((common.ratio - 2.0).abs() < 1e-9);
    // Net b takes 0.2 s of the first and, unanswered, the limit of 1 s of the other.
    let overall = summary.comparisons[0].overall.unwrap();
    assert_eq!(overall.nets, 2);
    assert!((overall.ratio - 10_f64.sqrt()).abs() < 1e-9);
    assert!((overall.first_seconds - 0.5).abs() < 1e-9 && (overall.second_seconds - 1.6).abs() < 1e-9);
    assert!(summary.disagreements.is_empty());
    assert!(text(&setting(), &summary).contains(
        "auto against other: 2.00 times as fast on 1 net that both answer (0.30 s against 0.60 s in sum; \
             faster on 1, slower on 0), 3.00 times in processor time (0.10 s against 0.30 s in sum); "
    ));
    assert!(
        text(&setting(), &summary).contains(
            "3.16 times on 2 nets that either answers, unanswered at the limit (0.50 s against 1.60 s in sum)"
        )
    );
}

#[test]
fn what_a_tool_says_in_place_of_an_answer_is_shown() {
    let mut records = records();
    let mut other = |file: &str, verdict, message: Option<&str>| {
        let message = message.map(str::to_owned);
        records.push(Record { message, ..record(file, "other", 1, verdict, 0.1) });
    };
    other("x/b.spec", Verdict::Unknown, None);
    other("x/c.spec", Verdict::Timeout, Some("too slow"));
    let summary = Summary::of(&setting(), &records, &BTreeMap::new());
    let expected = "other has no answer for 2 nets; of y/b.spec it says: said \"so\", <b>";
    assert_eq!(summary.unanswered, [expected]);
    assert!(text(&setting(), &summary).contains(expected));
    assert!(html(&setting(), &records, &summary).contains("other has no answer for 2 nets"));
}

#[test]
fn differing_answers_are_named() {
    let mut records = records();
    records.push(record("y/b.spec", "other", 2, Verdict::Uncoverable, 0.1));
    let expected = BTreeMap::from([("x/a.spec".to_owned(), Verdict::Coverable)]);
    let summary = Summary::of(&setting(), &records, &expected);
    assert_eq!(summary.disagreements.len(), 2);
    assert_eq!(summary.disagreements[0], "x/a.spec: uncoverable (auto, other) or coverable (expected)");
}

#[test]
fn rejected_evidence_is_no_answer_and_is_named() {
    let mut records = records();
    records.push(record("y/c.spec", "auto", 1, Verdict::Rejected, 0.1));
    let summary = Summary::of(&setting(), &records, &BTreeMap::new());
    assert_eq!((summary.accepted, summary.rejections.len()), (3, 1));
    assert_eq!(summary.rows.last().map(|row| row.nets), Some(2));
    assert_eq!(summary.rows[summary.rows.len() - 2].unsolved, 1);
    assert!(text(&setting(), &summary).contains("REJECTED EVIDENCE: y/c.spec by auto"));
    assert!(html(&setting(), &records, &summary).contains("Rejected evidence"));
}

#[test]
fn the_page_is_self_contained_and_escaped() {
    let summary = Summary::of(&setting(), &records(), &BTreeMap::new());
    let page = html(&setting(), &records(), &summary);
    assert_eq!(page.matches("<svg").count(), 2);
    assert!(!page.contains("<b>") && !page.contains("src=") && !page.contains("href="));
    for element in ["html", "head", "body", "table", "thead", "tbody", "tr", "td", "th", "h2", "p", "div", "small"] {
        let opened = page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
        assert!(opened > 0 && opened == page.matches(&format!("</{element}>")).count(), "{element}");
    }
    // Where narrow screens show no heads, each cell but the first of a row says what it is.
    for row in page.split("<tr>").filter(|row| row.starts_with("<td>")) {
        let cells = row.matches("<td").count();
        assert!(cells > 1 && cells == row.matches(" data-title=\"").count() + 1, "{row}");
    }
    let table = csv(&records());
    assert_eq!(table.lines().count(), 7);
    assert!(table.contains(",0.100000,0.033333,"));
    assert!(table.contains("\"said \"\"so\"\", <b>\""));
}

#[test]
fn questions_of_reachability_have_its_words() {
    let setting = Setting { asks_reachability: true, ..setting() };
    let mut records = records();
    records.push(record("y/b.spec", "other", 2, Verdict::Uncoverable, 0.1));
    let summary = Summary::of(&setting, &records, &BTreeMap::new());
    let said = text(&setting, &summary);
    assert!(said.contains("  unreachable  reachable  "), "{said}");
    assert!(said.contains("y/b.spec: unreachable (other) or reachable (auto)"), "{said}");
    assert!(!said.contains("coverable"), "{said}");
    #[cfg(feature = "plots")]
    {
        // The classes of cells are names for colours.
        let page = html(&setting, &records, &summary).replace("class=\"coverable\"", "");
        let page = page.replace("class=\"uncoverable\"", "");
        let (_, body) = page.split_once("<body>").expect("it has one");
        assert!(!body.contains("coverable"), "{body}");
    }
}
