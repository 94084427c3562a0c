//! The labels that control does not reach, in words: what a verdict says nothing about.
//!
//! Those from which a thread only comes to fail are left out: that it does not come there is what
//! was to be proved. Machine code comes to a place of its sources by several instructions, and the
//! same ones stand in the program once for each way there: a place is told where control reaches
//! none of them.

use super::place::label_words;
use palisade_engine::robustness::ThreadLabel;
use palisade_model::program::{Action, ByLabel, InstructionId, LabelId, Program, Thread, ThreadId};
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

/// Those of some labels that are told: not those from which every way fails, through registers
/// alone; of machine code one for each place in its sources, and none that no instruction stands
/// for.
pub(crate) fn told(program: &Program, labels: &[ThreadLabel]) -> Vec<ThreadLabel> {
    let mut told = not_failing(program, labels);
    if !program.source.is_listing {
        return told;
    }
    let unreached: BTreeSet<&ThreadLabel> = labels.iter().collect();
    let mut known = BTreeSet::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let (id, by_label) = (ThreadId::from_index(number), thread.instructions_by_label());
        let all = (0..thread.labels.len()).map(LabelId::from_index);
        let reached = all.filter(|label| !unreached.contains(&(id, *label)));
        known.extend(reached.filter_map(|label| Some((id, place(program, id, label, &by_label)?))));
    }
    let by_label: Vec<_> = program.threads.iter().map(Thread::instructions_by_label).collect();
    told.retain(|(id, label)| {
        let Some(first) = by_label[id.index()][label.index()].first() else { return false };
        let is_made = program.source.origin(program.thread(*id).instruction(*first).span).is_none();
        let place = place(program, *id, *label, &by_label[id.index()]);
        !is_made && place.is_none_or(|place| known.insert((*id, place)))
    });
    told
}

/// The place in the sources of machine code that the instructions at a label have: file, line and
/// column.
fn place<'p>(
    program: &'p Program,
    id: ThreadId,
    label: LabelId,
    by_label: &ByLabel,
) -> Option<(&'p str, usize, usize)> {
    let instruction = by_label[label.index()].first()?;
    let origin = program.source.origin(program.thread(id).instruction(*instruction).span)?;
    origin.position.as_ref().map(|(file, at)| (file.as_str(), at.line, at.column))
}

/// Those of some labels from which some way does not fail.
fn not_failing(program: &Program, labels: &[ThreadLabel]) -> Vec<ThreadLabel> {
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
        let (id, thread) = (chunk[0].0, program.thread(chunk[0].0));
        let by_label = thread.instructions_by_label();
        let words = |(_, label): &ThreadLabel| match place(program, id, *label, &by_label) {
            Some((file, line, column)) => format!("{}:{line}:{column}", file.rsplit('/').next().unwrap_or(file)),
            None => label_words(program, thread.label(*label)),
        };
        let mut names: Vec<String> = chunk.iter().map(words).collect();
        names.dedup();
        format!("{}: {}", thread.name, names.join(", "))
    });
    let of_threads: Vec<String> = of_threads.collect();
    (!of_threads.is_empty()).then(|| of_threads.join("; "))
}
