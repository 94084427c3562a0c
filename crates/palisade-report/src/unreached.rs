//! The labels that control does not reach, in words: what a verdict says nothing about.

use super::place::label_words;
use palisade_engine::robustness::ThreadLabel;
use palisade_model::program::Program;

/// So many labels are named on one line, or one more.
const NAMED: usize = 3;

/// The line of a report where no exploration tells.
pub const NOT_DETERMINED: &str = "not determined";

/// The labels on one line, `t1: l3, l4; t2: l0 and 5 more`; nothing where there are none.
pub fn line(program: &Program, labels: &[ThreadLabel]) -> Option<String> {
    let named = if labels.len() == NAMED + 1 { labels.len() } else { labels.len().min(NAMED) };
    let mut line = words(program, &labels[..named])?;
    if labels.len() > named {
        line.push_str(&format!(" and {} more", labels.len() - named));
    }
    Some(line)
}

/// All labels, thread by thread; nothing where there are none.
pub fn words(program: &Program, labels: &[ThreadLabel]) -> Option<String> {
    let of_threads = labels.chunk_by(|(one, _), (other, _)| one == other).map(|chunk| {
        let thread = program.thread(chunk[0].0);
        let mut names: Vec<String> =
            chunk.iter().map(|(_, label)| label_words(program, thread.label(*label))).collect();
        names.dedup();
        format!("{}: {}", thread.name, names.join(", "))
    });
    let of_threads: Vec<String> = of_threads.collect();
    (!of_threads.is_empty()).then(|| of_threads.join("; "))
}
