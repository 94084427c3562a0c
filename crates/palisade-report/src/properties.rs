//! The properties of a program, as people read them.

use super::place::condition;
use palisade_model::program::{Action, JointState, MemoryFault, Program};
use palisade_model::text::Span;
use palisade_semantics::{Quantifier, Question, Target};
use palisade_syntax::joint_state_text;

/// The properties of a program. Those of its joint control states are targets in threads behind its
/// own, which watch them ([`Program::monitored`]).
#[derive(Clone, Copy, Debug)]
pub struct Properties<'a> {
    /// The program as it is written.
    pub program: &'a Program,
    /// What a litmus test asks of its final states.
    pub question: Option<&'a Question>,
}

impl<'a> Properties<'a> {
    /// The joint control state that a target stands for.
    pub fn joint_state(&self, target: Target) -> Option<&'a JointState> {
        let Target::Instruction { thread, .. } = target else { return None };
        self.program.never.get(thread.index().checked_sub(self.program.threads.len())?)
    }

    /// What a property is: `ensure`, `fail`, `never`, or the quantifier of the question.
    pub fn kind(&self, target: Target) -> &'static str {
        match target {
            _ if self.joint_state(target).is_some() => "never",
            Target::Instruction { thread, instruction } => {
                let own = self.program.thread(thread).instruction(instruction);
                match own.action {
                    Action::Fail => {
                        let fault = self.program.listed(own).and_then(|listed| listed.fault);
                        fault.map_or("fail", MemoryFault::words)
                    }
                    _ => "ensure",
                }
            }
            Target::FinalStates => match self.question.map(|question| question.condition().quantifier) {
                Some(Quantifier::Exists) => "exists",
                Some(Quantifier::NotExists) => "~exists",
                Some(Quantifier::ForAll) | None => "forall",
            },
        }
    }

    /// A property as the language writes it, or the condition of the question.
    pub fn text(&self, target: Target) -> String {
        match (self.joint_state(target), target) {
            (Some(joint), _) => joint_state_text(self.program, joint),
            (None, Target::Instruction { thread, instruction }) => {
                let condition = condition(self.program, thread, instruction);
                condition.map_or_else(|| self.kind(target).to_owned(), |condition| format!("ensure {condition}"))
            }
            (None, Target::FinalStates) => match self.question {
                Some(question) => question.condition().to_string(),
                None => "the question".to_owned(),
            },
        }
    }

    /// A property by its place: `t1 alone (line 41)`; a joint control state by its places and its
    /// line; the question by its condition, without the quantifier.
    pub fn place(&self, target: Target) -> String {
        match (self.joint_state(target), target) {
            (None, Target::Instruction { thread, instruction }) => self.program.place(thread, instruction),
            _ => {
                let text = self.text(target);
                let behind = text.split_once(' ').map_or(text.as_str(), |(_, behind)| behind);
                self.line(target).map_or(behind.to_owned(), |line| format!("{behind} (line {line})"))
            }
        }
    }

    /// The line on which a property stands; nothing for the question.
    pub fn line(&self, target: Target) -> Option<usize> {
        self.span(target).map(|span| self.program.source.position(span.start).line)
    }

    /// Where a property stands; nothing for the question.
    pub fn span(&self, target: Target) -> Option<Span> {
        match (self.joint_state(target), target) {
            (Some(joint), _) => Some(joint.span),
            (None, Target::Instruction { thread, instruction }) => {
                Some(self.program.thread(thread).instruction(instruction).span)
            }
            (None, Target::FinalStates) => None,
        }
    }

    /// A joint control state as the language writes it, and without its first word.
    pub fn joint_words(&self, joint: &JointState) -> (String, String) {
        let text = joint_state_text(self.program, joint);
        let behind = text.split_once(' ').map_or(text.as_str(), |(_, behind)| behind);
        let line = self.program.source.position(joint.span.start).line;
        let place = format!("{behind} (line {line})");
        (text, place)
    }

    /// A property with its line: `` `ensure others = 0` (line 41) ``; one of machine code with its
    /// place.
    pub fn quoted(&self, target: Target) -> String {
        if self.program.source.is_listing && self.span(target).is_some() {
            return format!("`{}` at {}", self.text(target), self.place(target));
        }
        let line = self.line(target).map_or(String::new(), |line| format!(" (line {line})"));
        format!("`{}`{line}", self.text(target))
    }

    /// The thread and the label of an `ensure` or `fail`; nothing for other properties.
    pub fn label(&self, target: Target) -> Option<(&'a str, &'a str)> {
        match (self.joint_state(target), target) {
            (None, Target::Instruction { thread, instruction }) => {
                let thread = self.program.thread(thread);
                Some((&thread.name, &thread.label(thread.instruction(instruction).source).name))
            }
            _ => None,
        }
    }
}
