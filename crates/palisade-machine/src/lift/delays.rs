//! Steps that only pass time, left out: a processor spins for a while between two attempts, and
//! what it counts is dead behind the loop.
//!
//! Left out are strongly connected local steps that control leaves for one label, at which no
//! register that they write is live. A thread does the same to memory whether it goes through such
//! a loop or past it: what it loads and stores, and in which order, is the same, and so is every
//! register that somebody reads later. Only a loop that goes on for ever would be missed, and a
//! thread that does nothing for ever has no more behaviour than one that goes on.
//!
//! The same holds of a branch both of whose ways come to one label: whether a thread yields or
//! spins. What it asks about, such as how often it has tried, then matters to nobody. So does a
//! counter that only such branches ask about, once these are left out.

use super::faint;
use super::loops::drop_unreachable;
use palisade_model::program::{
    Action, BinaryOperator as Op, ByLabel, Expression, Instruction, LabelId, Liveness, RegisterId, Thread,
    UnaryOperator,
};
use palisade_syntax::x86::fold::not;
use std::collections::BTreeSet;

/// More local steps than this are not looked at from a branch.
const LONGEST: usize = 32;

/// Leaves out all that only passes time, and what is computed for that alone.
pub(crate) fn leave_out(thread: &mut Thread) {
    leave_out_loops(thread);
    while !leave_out_branches(thread, None).is_empty() {
        faint::leave_out(thread);
        drop_unreachable(thread);
        leave_out_loops(thread);
    }
    let counters: BTreeSet<RegisterId> = thread.instructions.iter().filter_map(counted).collect();
    for counter in counters {
        leave_out_counter(thread, counter);
    }
}

/// The register that an instruction counts up or down.
fn counted(instruction: &Instruction) -> Option<RegisterId> {
    let Action::Assign { register, value } = &instruction.action else { return None };
    let mut value = value;
    while let Expression::Unary(UnaryOperator::Truncate { .. }, inner) = value {
        value = inner;
    }
    let Expression::Binary(Op::Add | Op::Subtract, left, right) = value else { return None };
    (**left == Expression::Register(*register) && right.is_constant()).then_some(*register)
}

/// Leaves out branches that only matter for what a register counts, where nobody needs that when
/// they are left out.
fn leave_out_counter(thread: &mut Thread, counter: RegisterId) {
    let (mut without, mut exits) = (thread.clone(), Vec::new());
    loop {
        let more = leave_out_branches(&mut without, Some(counter));
        if more.is_empty() {
            break;
        }
        exits.extend(more);
        faint::leave_out(&mut without);
    }
    let liveness = Liveness::of(&without);
    if !exits.is_empty() && exits.iter().all(|exit| !liveness.is_live(*exit, counter)) {
        *thread = without;
        drop_unreachable(thread);
    }
}

/// Whether an expression reads a register.
pub(super) fn reads(expression: &Expression, register: RegisterId) -> bool {
    let mut reads = false;
    expression.for_each_register(&mut |read| reads |= read == register);
    reads
}

/// Leaves out branches both of whose ways come to one label, if nobody needs what a register counts
/// on them: these labels.
fn leave_out_branches(thread: &mut Thread, counter: Option<RegisterId>) -> Vec<LabelId> {
    let liveness = Liveness::of(thread);
    let search = Search::new(thread);
    let labels = (0..thread.labels.len()).map(LabelId::from_index);
    let replaced: Vec<(BTreeSet<LabelId>, LabelId)> = labels
        .filter_map(|label| Some((BTreeSet::from([label]), search.where_ways_meet(label, counter, &liveness)?)))
        .collect();
    for (label, exit) in &replaced {
        put(thread, label, *exit);
    }
    replaced.into_iter().map(|(_, exit)| exit).collect()
}

/// Leaves out all loops that only pass time.
fn leave_out_loops(thread: &mut Thread) {
    let liveness = Liveness::of(thread);
    let search = Search::new(thread);
    let mut replaced: Vec<(BTreeSet<LabelId>, LabelId)> = Vec::new();
    // A circle has a step that does not lead to a later label.
    let back = thread.instructions.iter().filter(|step| step.target <= step.source).map(|step| step.target);
    for head in back.collect::<BTreeSet<LabelId>>() {
        if replaced.iter().any(|(labels, _)| labels.contains(&head)) {
            continue;
        }
        let labels = search.circle(head);
        if let Some(exit) = search.exit(&labels, &liveness) {
            replaced.push((labels, exit));
        }
    }
    for (labels, exit) in &replaced {
        put(thread, labels, *exit);
    }
    if !replaced.is_empty() {
        drop_unreachable(thread);
    }
}

struct Search<'a> {
    thread: &'a Thread,
    by_label: ByLabel,
    /// The labels from which local steps lead to a label.
    before: Vec<Vec<LabelId>>,
}

impl<'a> Search<'a> {
    fn new(thread: &'a Thread) -> Self {
        let before = vec![Vec::new(); thread.labels.len()];
        let mut search = Self { thread, by_label: thread.instructions_by_label(), before };
        for step in &thread.instructions {
            if search.is_local(step.source) {
                search.before[step.target.index()].push(step.source);
            }
        }
        search
    }

    fn from(&self, label: LabelId) -> impl Iterator<Item = &Instruction> {
        self.by_label[label.index()].iter().map(|id| self.thread.instruction(*id))
    }

    /// Whether only local steps begin at a label, none of which says anything about the program.
    fn is_local(&self, label: LabelId) -> bool {
        let mut steps = self.from(label).peekable();
        steps.peek().is_some()
            && steps.all(|step| matches!(step.action, Action::Assign { .. } | Action::Assume(_) | Action::Nop))
    }

    /// The labels from which and to which local steps lead from a label and back; none where they
    /// do not lead back.
    fn circle(&self, head: LabelId) -> BTreeSet<LabelId> {
        let after = |label: LabelId| -> Vec<LabelId> {
            if self.is_local(label) { self.from(label).map(|step| step.target).collect() } else { Vec::new() }
        };
        let forth = closed(head, after);
        let back = closed(head, |label| self.before[label.index()].clone());
        forth.intersection(&back).copied().collect()
    }

    /// Where both ways of a branch come to, if they do nothing else but to count.
    fn where_ways_meet(&self, branch: LabelId, counter: Option<RegisterId>, liveness: &Liveness) -> Option<LabelId> {
        if self.from(branch).count() != 2 || !self.goes_on(branch) {
            return None;
        }
        let (mut near, mut open) = (vec![branch], 0);
        while let Some(label) = near.get(open).copied().filter(|_| near.len() < LONGEST) {
            if self.goes_on(label) {
                for step in self.from(label).filter(|step| !near.contains(&step.target)).collect::<Vec<_>>() {
                    near.push(step.target);
                }
            }
            open += 1;
        }
        let counts = |label: &LabelId| self.from(*label).any(|step| step.action.written_register() == counter);
        if counter.is_some() && !near.iter().any(counts) {
            return None;
        }
        near.iter().skip(1).copied().find(|exit| {
            let passed = closed(branch, |label| {
                let steps = self.from(label).filter(|_| self.goes_on(label));
                steps.map(|step| step.target).filter(|target| target != exit).collect()
            });
            let passed = || passed.iter().copied().chain([branch]);
            let is_dead = |step: &Instruction| {
                step.action.written_register().is_none_or(|own| Some(own) == counter || !liveness.is_live(*exit, own))
            };
            passed().all(|label| near.contains(&label) && self.goes_on(label) && self.from(label).all(is_dead))
        })
    }

    /// Whether control goes on from a label, by local steps that have a value whatever registers
    /// hold.
    fn goes_on(&self, label: LabelId) -> bool {
        let mut divides = false;
        self.from(label).flat_map(|step| step.action.expressions()).for_each(|own| divides |= own.divides());
        !divides
            && match self.from(label).map(|step| &step.action).collect::<Vec<_>>()[..] {
                [Action::Assign { .. } | Action::Nop] | [Action::Nop, Action::Nop] => true,
                [Action::Assume(one), Action::Assume(other)] => are_opposite(one, other),
                _ => false,
            }
    }

    /// Where control goes behind a circle that only passes time.
    fn exit(&self, labels: &BTreeSet<LabelId>, liveness: &Liveness) -> Option<LabelId> {
        let steps = || labels.iter().flat_map(|label| self.from(*label));
        let exits: BTreeSet<LabelId> = steps().map(|step| step.target).filter(|to| !labels.contains(to)).collect();
        let exit = *exits.first().filter(|_| exits.len() == 1)?;
        let is_dead = |step: &Instruction| step.action.written_register().is_none_or(|it| !liveness.is_live(exit, it));
        steps().all(is_dead).then_some(exit)
    }
}

/// Whether one of two conditions holds, and never both.
fn are_opposite(one: &Expression, other: &Expression) -> bool {
    *one == not(other.clone()) || *other == not(one.clone())
}

/// The labels that one or more steps lead to.
fn closed(start: LabelId, next: impl Fn(LabelId) -> Vec<LabelId>) -> BTreeSet<LabelId> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(label) = open.pop() {
        open.extend(next(label).into_iter().filter(|label| reached.insert(*label)));
    }
    reached
}

/// Lets control go from each label of a circle to its exit at once.
fn put(thread: &mut Thread, labels: &BTreeSet<LabelId>, exit: LabelId) {
    let mut seen = BTreeSet::new();
    thread.instructions.retain_mut(|step| {
        if !labels.contains(&step.source) {
            return true;
        }
        (step.action, step.target) = (Action::Nop, exit);
        seen.insert(step.source)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_model::text::SourceText;
    use palisade_syntax::Format;

    fn thread(body: &str) -> Thread {
        let text = format!("program p\naddress x, y\nthread t {{\n{body}\n}}\n");
        let parsed = palisade_syntax::parse(SourceText::new("p.pal", text), Format::Native).expect("a program");
        parsed.program.threads.into_iter().next().expect("a thread")
    }

    fn is_left_out(body: &str) -> bool {
        let mut thread = thread(body);
        let before = thread.instructions.len();
        leave_out(&mut thread);
        thread.instructions.len() < before
    }

    #[test]
    fn only_loops_that_pass_time_are_left_out() {
        assert!(is_left_out("x = 1; let i = 0; while (i < 64) { i = i + 1; } y = 1;"));
        assert!(!is_left_out("x = 1; let i = 0; while (i < 64) { i = i + 1; } y = i;"), "what it counts is stored");
        assert!(!is_left_out("x = 1; let i = 0; while (i < 64) { i = i + x; } y = 1;"), "memory is read");
        assert!(!is_left_out("x = 1; loop { }"), "there is no way out");
        let pacing = "let i = 0; while (x == 0) { if (i < 6) { let j = 0; while (j < i) { j = j + 1; } } i = i + 1; }";
        assert!(is_left_out(pacing));
        let mut thread = thread(pacing);
        leave_out(&mut thread);
        let counts = |own: &Instruction| matches!(own.action, Action::Assign { value: Expression::Binary(..), .. });
        assert!(!thread.instructions.iter().any(counts), "it only paces");
        let mut peeled = self::thread(
            "let i = 0; while (x == 0) { if (i == 0) { i = 1; } else { let j = 0; while (j < i) { j = j + 1; } i = i + 1; } }",
        );
        leave_out(&mut peeled);
        assert!(!peeled.instructions.iter().any(counts), "it only paces, and begins in its own way");
        assert!(!is_left_out("let i = x; if (i < 6) { y = 1; } x = 2;"), "one way stores");
        assert!(!is_left_out("let i = x; let j = 0; if (i < 6) { j = 1; } y = j;"), "the ways differ by a register");
    }
}
