//! Checks that an event-driven program is robust against TSO, from its text and a certificate
//! alone.
//!
//! The program is robust when no attack is feasible (THEORY.md, "Events as threads", says for which
//! programs this is proved), and an attack is feasible exactly when the instrumented program
//! reaches success. The checker follows the instrumented semantics itself ([`steps`], [`attacker`])
//! and asks of the certificate's set that it contains the initial configurations, is closed under
//! all steps, and contains no success.

mod attacker;
mod configuration;
mod hopeful;
mod steps;

use super::closed::{Followed, check_closed};
use super::model::Model;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{in_order, initial_tokens};
use configuration::{Configuration, Control, Main, Phase, Token};
use hopeful::Hopeful;
use palisade_evidence::{LocalState, TaskCertificate, Tokens};
use palisade_model::program::{Copies, Posts, Program, ThreadId, Value};
use std::rc::Rc;

/// The program as this checker sees it.
struct Tasks<'a> {
    model: Model<'a>,
    hopeful: Hopeful,
}

/// Checks that `certificate` shows the event-driven `program` (with its copies and domain) to be
/// robust against TSO.
pub fn check_task_certificate(program: &Program, certificate: &TaskCertificate) -> Result<(), CheckFailure> {
    let TaskCertificate { live, locals, memories, configurations } = certificate;
    let model = Model::with_tables(program, live, locals, memories)?;
    let mut tasks = Tasks { model, hopeful: Hopeful::of(program) };
    let decoded = configurations.iter().map(|it| tasks.decode(it)).collect::<Result<_, _>>()?;
    check_closed(&mut tasks, decoded)
}

impl Followed for Tasks<'_> {
    type Control = Control;
    type Token = Token;

    /// Every initial configuration: the main thread is idle, the copies of threads have settled,
    /// and events may occur as often as they have copies.
    fn initial_configurations(&mut self) -> Result<Vec<Configuration>, CheckFailure> {
        let memory = self.model.memories.number(super::configuration::Memory::new());
        let control = Control { memory, locked: false, main: Main::Idle, main_joined: false, phase: Phase::Sc };
        let mut threads_alone = self.program().clone();
        let others = threads_alone.threads.iter_mut().filter(|thread| !thread.is_thread());
        others.for_each(|thread| thread.copies = Copies::Exactly(0));
        let choices = initial_tokens(&threads_alone, |id| {
            let states = self.first_states(id, &[])?;
            let going_on = states.iter().filter(|state| !self.is_at_end(**state));
            Ok(going_on.map(|state| Token::Own(*state, false)).collect())
        })?;
        let starts = |(event, copies)| match copies {
            Copies::Exactly(copies @ 1..) => Some((Token::Start(event), Tokens::Finite(copies))),
            _ => None,
        };
        let starts: Vec<_> = self.program().events().map(|(id, it)| (id, it.copies)).filter_map(starts).collect();
        let with_starts = |tokens: Vec<(Token, Tokens)>| {
            let mut tokens = tokens;
            tokens.extend(&starts);
            in_order(&mut tokens);
            Configuration { control: control.clone(), tokens }
        };
        Ok(choices.into_iter().map(with_starts).collect())
    }

    fn successors(&mut self, from: &Configuration) -> Result<Vec<Configuration>, CheckFailure> {
        self.steps(from)
    }

    fn is_success(&self, control: &Control) -> bool {
        matches!(&control.phase, Phase::Helped(path) if path.levels.contains_key(&path.store_address) && !control.locked)
    }

    fn in_words(&self, configuration: &Configuration) -> String {
        self.describe(configuration)
    }
}

impl Tasks<'_> {
    fn program(&self) -> &Program {
        self.model.program
    }

    fn posts_are_plain(&self) -> bool {
        self.program().posts == Posts::Plain
    }

    /// Whether a local state has no instructions: an invocation there has come to its end.
    fn is_at_end(&self, local: u32) -> bool {
        let LocalState { thread, label, .. } = self.model.local(local);
        self.model.instructions_at(*thread, *label).is_empty()
    }

    /// Whether an invocation in a local state returns: it has come to its end, and does not hold
    /// the lock.
    fn returns(&self, local: u32) -> bool {
        self.is_at_end(local) && !self.model.local(local).holding
    }

    /// The states, by number, to which an invocation settles first when its parameters have these
    /// values.
    fn first_states(&mut self, template: ThreadId, arguments: &[Value]) -> Result<Rc<[u32]>, CheckFailure> {
        let thread = self.model.program.thread(template);
        let mut registers = thread.initial_registers();
        let Some(parameters) = registers.get_mut(..arguments.len()) else {
            reject!(Form, "`{}` has fewer parameters than arguments", thread.name);
        };
        parameters.copy_from_slice(arguments);
        self.model.settle_as(LocalState { thread: template, label: thread.initial, registers, holding: false }, true)
    }
}
