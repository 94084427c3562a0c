//! The labels that control does not reach, in words: what a verdict says nothing about.
//!
//! Those from which a thread only comes to fail are left out: that it does not come there is what was to be proved.

use super::place::label_words;
use palisade_engine::robustness::ThreadLabel;
use palisade_model::program::{Action, InstructionId, Program, Thread};
use std::collections::BTreeSet;

/// So many labels are named on one line, or one more.
const NAMED: usize = 3;

/// The line of a report where no exploration tells.
pub const NOT_DETERMINED: &str = "not determined";

/// The labels on one line, `t1: l3, l4; t2: l0 and 5 more`; nothing where there are none.
pub fn line(program: &Program, labels: &[ThreadLabel]) -> Option<String> {
    let labels = told(program, labels);
    let named = if labels.len() == NAMED + 1 { labels.len() } else { labels.len().min(NAMED) };
    let mut line = listed(program, &labels[..named])?;
    if labels.len() > named {
        line.push_str(&format!(" and {} more", labels.len() - named));
    }
    Some(line)
}

/// All labels, thread by thread; nothing where there are none.
pub fn words(program: &Program, labels: &[ThreadLabel]) -> Option<String> {
    listed(program, &told(program, labels))
}

/// Those of some labels that are told: not those from which every way fails, through registers alone.
pub(crate) fn told(program: &Program, labels: &[ThreadLabel]) -> Vec<ThreadLabel> {
    let mut failing: BTreeSet<ThreadLabel> = BTreeSet::new();
    let by_label: Vec<_> = program.threads.iter().map(Thread::instructions_by_label).collect();
    loop {
        let fails = |(id, label): &ThreadLabel| {
            let own = &by_label[id.index()][label.index()];
            let is_failing = |instruction: &InstructionId| {
                let own = program.thread(*id).instruction(*instruction);
                match own.action {
                    Action::Fail => true,
                    Action::Assign { .. } | Action::Nop => failing.contains(&(*id, own.target)),
                    _ => false,
                }
            };
            !own.is_empty() && own.iter().all(is_failing)
        };
        let more: Vec<ThreadLabel> =
            labels.iter().filter(|own| !failing.contains(own) && fails(own)).copied().collect();
        if more.is_empty() {
            return labels.iter().filter(|own| !failing.contains(own)).copied().collect();
        }
        failing.extend(more);
    }
}

fn listed(program: &Program, labels: &[ThreadLabel]) -> Option<String> {
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
