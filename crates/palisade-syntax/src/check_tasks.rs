//! Checks of events, tasks and posts: what is refused, and what is odd.

use crate::Diagnostic;
use palisade_model::program::{
    Action, Executor, Expression, Guard, Instruction, LabelId, Program, Thread, Value, lock_states,
};

/// Errors and warnings about the events and tasks of a program whose domain and copies are final.
pub(crate) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    if !program.is_event_driven() {
        return;
    }
    for thread in &program.threads {
        posts_in_sections(program, thread, found);
        if let Some(guard) = thread.guard() {
            self::guard(program, thread, guard, found);
        }
    }
    let on_main = runs_on_main(program);
    for (index, (thread, runnable)) in program.threads.iter().zip(program.runnable()).enumerate() {
        if !runnable && thread.is_task() {
            let message = format!("the task `{}` is never posted", thread.name);
            found.push(Diagnostic::warning(message, thread.span).with_label("never runs"));
        } else if runnable {
            ends_in_section(thread, found);
            if on_main[index] {
                posts_that_wait(thread, found);
            }
        }
    }
}

/// A section is one access, and a post is none.
fn posts_in_sections(program: &Program, thread: &Thread, found: &mut Vec<Diagnostic>) {
    let states = lock_states(thread);
    for instruction in &thread.instructions {
        let Action::Post { task, .. } = &instruction.action else { continue };
        if states[instruction.source.index()][1] {
            let task = &program.thread(*task).name;
            let message = format!("`{task}` is posted inside a locked section");
            let error =
                Diagnostic::error(message, instruction.span).with_note("a locked section is one access to memory");
            found.push(error.with_help("post it before `lock` or after `unlock`"));
        }
    }
}

/// What ends inside a section keeps the lock for ever.
fn ends_in_section(thread: &Thread, found: &mut Vec<Diagnostic>) {
    let (by_label, states) = (thread.instructions_by_label(), lock_states(thread));
    let last = |instruction: &&Instruction| {
        let ends = by_label[instruction.target.index()].is_empty() && states[instruction.target.index()][1];
        ends && (instruction.action == Action::Lock
            || states[instruction.source.index()][1] && instruction.action != Action::Unlock)
    };
    for instruction in thread.instructions.iter().filter(last) {
        let message = format!("`{}` can end here while it holds the lock, and keeps it for ever", thread.name);
        let warning = Diagnostic::warning(message, instruction.span);
        found.push(warning.with_help("`unlock` before the end"));
    }
}

fn guard(program: &Program, event: &Thread, guard: &Guard, found: &mut Vec<Diagnostic>) {
    let address = match guard.read_address() {
        Ok(address) => address,
        Err(error) => {
            found.push(Diagnostic::error(format!("this address does not exist: {error}"), guard.span));
            return;
        }
    };
    if let Err(error) = guard.value.evaluate(&[], program.domain) {
        found.push(Diagnostic::error(format!("this guard has no value: {error}"), guard.span));
        return;
    }
    let Some(values) = values_at(program, address) else { return };
    if !event.is_left_out() && !values.iter().any(|value| guard.admits(*value, program.domain).unwrap_or(true)) {
        let name = program.address_name(address);
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        let message = format!("the event `{}` never occurs: its guard cannot hold", event.name);
        let note = format!("`{name}` only ever holds {}", values.join(", "));
        found.push(Diagnostic::warning(message, guard.span).with_note(note));
    }
}

/// The values that an address ever has, if they are constants in the text.
fn values_at(program: &Program, address: Value) -> Option<Vec<Value>> {
    let mut values = vec![program.initial_value(address)];
    let runnable = program.runnable();
    let running = program.threads.iter().zip(runnable).filter(|(_, runnable)| *runnable).map(|(thread, _)| thread);
    for instruction in running.flat_map(Thread::reachable_instructions) {
        let (place, stored) = match &instruction.action {
            Action::Store { address, value } => (address, value),
            Action::Cas { address, new, .. } | Action::Rmw { address, new, .. } => (address, new),
            _ => continue,
        };
        if constant(place)? == address {
            let value = stored.is_constant().then(|| stored.evaluate(&[], program.domain).ok()).flatten()?;
            values.push(value);
        }
    }
    values.sort_unstable();
    values.dedup();
    Some(values)
}

/// The value of a constant address; none for one that is computed.
fn constant(address: &Expression) -> Option<Value> {
    address.is_constant().then(|| address.evaluate_address(&[]).ok()).flatten()
}

/// For each template, whether it ever runs on the main thread: a handler, or a task that is posted
/// there.
fn runs_on_main(program: &Program) -> Vec<bool> {
    let mut on_main: Vec<bool> = program.threads.iter().map(Thread::is_event).collect();
    for instruction in program.threads.iter().flat_map(|thread| &thread.instructions) {
        if let Action::Post { executor: Executor::Main, task, .. } = instruction.action {
            on_main[task.index()] = true;
        }
    }
    on_main
}

/// Posts to the main thread by what runs there and never returns.
fn posts_that_wait(thread: &Thread, found: &mut Vec<Diagnostic>) {
    let returns = labels_that_return(thread);
    let waits = |instruction: &&Instruction| {
        let is_post = matches!(instruction.action, Action::Post { executor: Executor::Main, .. });
        is_post && !returns[instruction.target.index()]
    };
    for instruction in thread.reachable_instructions().filter(waits) {
        let message =
            format!("nothing posted here can run: `{}` never returns, so the main thread stays busy", thread.name);
        found.push(Diagnostic::warning(message, instruction.span));
    }
}

/// For each label, whether some path from it leads to a label without instructions.
fn labels_that_return(thread: &Thread) -> Vec<bool> {
    let by_label = thread.instructions_by_label();
    let mut returns: Vec<bool> = by_label.iter().map(<[_]>::is_empty).collect();
    let mut entering: Vec<Vec<LabelId>> = vec![Vec::new(); by_label.len()];
    for instruction in &thread.instructions {
        if instruction.action != Action::Fail {
            entering[instruction.target.index()].push(instruction.source);
        }
    }
    let mut open: Vec<usize> = (0..returns.len()).filter(|label| returns[*label]).collect();
    while let Some(label) = open.pop() {
        for source in &entering[label] {
            if !std::mem::replace(&mut returns[source.index()], true) {
                open.push(source.index());
            }
        }
    }
    returns
}
