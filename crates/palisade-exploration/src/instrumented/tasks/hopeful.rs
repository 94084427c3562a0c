//! From where a thread that delays stores may come to the load, or the plain post, that an attack
//! needs.

use palisade_model::program::{Action, LabelId, Posts, Program, Thread, ThreadId};

/// For each template and label, whether a delaying attacker there may come to an end of its attack.
#[derive(Clone, Debug)]
pub(super) struct Hopeful {
    /// On a thread of its own.
    own: Vec<Vec<bool>>,
    /// On the main thread.
    main: Vec<Vec<bool>>,
}

impl Hopeful {
    pub(super) fn of(program: &Program) -> Self {
        let table = |on_main: bool| program.threads.iter().map(|it| labels(it, program.posts, on_main)).collect();
        Self { own: table(false), main: table(true) }
    }

    /// Whether there is hope at a label.
    pub(super) fn is_hopeful(&self, thread: ThreadId, label: LabelId, on_main: bool) -> bool {
        let table = if on_main { &self.main } else { &self.own };
        table[thread.index()].get(label.index()).is_some_and(|hopeful| *hopeful)
    }
}

fn labels(thread: &Thread, posts: Posts, on_main: bool) -> Vec<bool> {
    let is_plain = posts == Posts::Plain;
    let mut hopeful = vec![false; thread.labels.len()];
    if is_plain && on_main {
        // The main thread goes on with the next invocation, and keeps its buffer.
        let by_label = thread.instructions_by_label();
        hopeful.iter_mut().zip(by_label.iter()).for_each(|(hopeful, here)| *hopeful = here.is_empty());
    }
    let mut grew = true;
    while grew {
        grew = false;
        for instruction in &thread.instructions {
            let is_hopeful = match &instruction.action {
                Action::Load { .. } => true,
                Action::Post { .. } => is_plain,
                Action::Fail => false,
                action => !action.drains_buffer() && hopeful[instruction.target.index()],
            };
            grew |= is_hopeful && !std::mem::replace(&mut hopeful[instruction.source.index()], true);
        }
    }
    hopeful
}
