//! Checks that a program is robust against PSO, from its text and a certificate alone.
//!
//! A program of threads without `sfence`, sections and accepted delays is robust against PSO when no computation that delays a single store has a cyclic trace, and
//! there is such a computation exactly when the instrumented program reaches success (THEORY.md, "Attacks under PSO"). The checker follows the instrumented semantics itself
//! ([`steps`]) and asks of the certificate's set that it contains the initial configurations, is closed under all steps, and contains no success.

mod configuration;
mod steps;

use super::model::Model;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::initial_tokens;
use configuration::{Configuration, Control, DownSet, Token};
use palisade_evidence::PsoCertificate;
use palisade_model::program::{Action, Copies, Program};

/// The program as this checker sees it.
struct Delays<'a> {
    model: Model<'a>,
}

/// Checks that `certificate` shows `program` (with its copies and domain) to be robust against PSO.
pub fn check_pso_certificate(program: &Program, certificate: &PsoCertificate) -> Result<(), CheckFailure> {
    check_scope(program)?;
    let PsoCertificate { live, locals, memories, configurations } = certificate;
    let mut delays = Delays { model: Model::with_tables(program, live, locals, memories)? };
    let decoded = configurations.iter().map(|it| delays.decode(it)).collect::<Result<_, _>>()?;
    let set = DownSet::new(decoded);
    for initial in delays.initial_configurations()? {
        if !set.contains(&initial) {
            reject!(Initial, "no configuration covers the initial {}", delays.in_words(&initial));
        }
    }
    for configuration in set.configurations() {
        if configuration.control.attack.as_ref().is_some_and(|it| it.levels.contains_key(&it.store_address)) {
            reject!(Safe, "the set contains the success {}", delays.in_words(configuration));
        }
        for successor in delays.successors(configuration)? {
            if !set.contains(&successor) {
                let (after, before) = (delays.in_words(&successor), delays.in_words(configuration));
                reject!(Inductive, "the set does not cover {after}, where a step leads from {before}");
            }
        }
    }
    Ok(())
}

/// A single delayed store need not show that other programs are not robust.
fn check_scope(program: &Program) -> Result<(), CheckFailure> {
    if program.is_event_driven() || !program.accepted.is_empty() {
        reject!(Form, "a program with events, tasks or accepted delays has no certificate of robustness against PSO");
    }
    for thread in program.threads.iter().filter(|thread| thread.copies != Copies::Exactly(0)) {
        let stands_in_the_way = |action: &Action| matches!(action, Action::StoreFence | Action::Lock | Action::Unlock);
        if thread.instructions.iter().any(|instruction| stands_in_the_way(&instruction.action)) {
            reject!(
                Form,
                "thread `{}` has `sfence` or a section, for which one delayed store does not suffice",
                thread.name
            );
        }
    }
    Ok(())
}

impl Delays<'_> {
    /// Every initial configuration: no attack is under way, and the copies of threads have settled.
    fn initial_configurations(&mut self) -> Result<Vec<Configuration>, CheckFailure> {
        let memory = self.model.memories.number(super::configuration::Memory::new());
        let control = Control { memory, attack: None };
        let program = self.model.program;
        let token = |local| Token { local, joined: false };
        let choices =
            initial_tokens(program, |id| Ok(self.model.initial_states(id)?.iter().copied().map(token).collect()))?;
        Ok(choices.into_iter().map(|tokens| Configuration { control: control.clone(), tokens }).collect())
    }
}
