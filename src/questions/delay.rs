//! What questions about store buffers have in common: a store that is delayed past a later access,
//! and the cycle that shows it.

use super::About;
use crate::program::{Action, InstructionId, Program, ThreadId};
use crate::report::account::{Account, Answer, Cycle, Mark, Run, Shown};
use crate::report::context::instance_words;
use crate::report::violation::computation;
use crate::robustness::Violation;

/// The line of an instruction, from 1.
pub(super) fn line(program: &Program, thread: ThreadId, instruction: InstructionId) -> usize {
    program.source.position(program.thread(thread).instruction(instruction).span.start).line
}

/// What happens: `the store at … is delayed past the load at …`.
fn words(program: &Program, found: &Violation) -> String {
    let attack = found.attack;
    let access = match program.thread(attack.thread).instruction(attack.load).action {
        Action::Store { .. } => "store",
        _ => "load",
    };
    let (store, past) = (program.place(attack.thread, attack.store), program.place(attack.thread, attack.load));
    format!("the store at {store} is delayed past the {access} at {past}")
}

/// Tells a violation: what is delayed past what, the computation, and the cycle.
pub(super) fn tell<'a>(about: &About<'a>, account: &mut Account<'a>, found: &'a Violation) {
    let program = about.program;
    let attack = found.attack;
    let span = |instruction: InstructionId| program.thread(attack.thread).instruction(instruction).span;
    let words = words(program, found);
    let (store, access) = (line(program, attack.thread, attack.store), line(program, attack.thread, attack.load));
    account.marks.push((store, Mark::Delayed, format!("delayed past line {access}")));
    account.marks.push((access, Mark::Overtaking, format!("overtakes line {store}")));
    account.place = Some(span(attack.store));
    account.phrase = format!("violated, {words}");
    account.message = format!("{words}, and no interleaving explains what the threads then read");
    let mut below = Vec::new();
    if !found.shortest {
        below.push("  (the search for a shorter computation was cut off)".to_owned());
    }
    let copies = program.threads.iter().zip(found.instance.counts());
    account.answer = Answer::Violated(Shown {
        headline: format!("violation: {words}"),
        above: instance_words(program, &found.instance, found.instance_minimal)
            .map(|words| format!("instance: {words}"))
            .into_iter()
            .collect(),
        run: Run::Threads(computation(program, found)),
        below,
        cycle: Some(Cycle::of(program, found)),
        instance: copies.map(|(thread, count)| (thread.name.as_str(), *count)).collect(),
        instance_minimal: Some(found.instance_minimal),
        shortest: found.shortest,
        attacker: Some(found.instance.copy_name(program, found.attacker)),
        related: vec![(span(attack.load), "the access that overtakes the store")],
    });
}
