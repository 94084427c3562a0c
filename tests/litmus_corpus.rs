//! The public litmus tests: all are read, and what they ask is understood.

use palisade::program::SourceText;
use palisade::syntax::litmus::{self, LitmusTest};
use std::path::{Path, PathBuf};

fn corpus() -> Option<PathBuf> {
    let root = std::env::var_os("PALISADE_CORPUS").map(|root| PathBuf::from(root).join("litmus"));
    if root.is_none() {
        println!("skipped: PALISADE_CORPUS is not set");
    }
    root
}

/// The tests with their expected verdicts: whether they are robust.
fn expected(root: &Path) -> Vec<(String, bool)> {
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("the corpus has a table");
    let rows = table.lines().skip(1).filter_map(|line| line.split_once('\t'));
    rows.map(|(name, verdict)| (name.to_owned(), verdict.trim() == "ROBUST")).collect()
}

fn read(root: &Path, name: &str) -> Result<LitmusTest, String> {
    let text = std::fs::read_to_string(root.join(name)).map_err(|error| error.to_string())?;
    let source = SourceText::new(name, text);
    litmus::read(source.clone()).map_err(|errors| errors.iter().map(|error| error.render(&source, false)).collect())
}

#[test]
fn every_test_is_read() {
    let Some(root) = corpus() else { return };
    let mut refused = Vec::new();
    let tests = expected(&root);
    for (name, _) in &tests {
        if let Err(why) = read(&root, name) {
            refused.push(format!("{name}: {why}"));
        }
    }
    assert!(tests.len() > 2800);
    assert!(refused.is_empty(), "{} of {} refused:\n{}", refused.len(), tests.len(), refused.join("\n"));
}
