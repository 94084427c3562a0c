//! What a program that is not robust does to its properties: a look at these behind `palisade check`.

use super::Loaded;
use super::confirm::Confirmation;
use super::prove::{confirmation, write_evidence};
use crate::limits::Limits;
use crate::program::Program;
use crate::properties::{Proof, ProveOptions, prove, targets};
use crate::report::breaks::Breaks;
use crate::report::context::Context;
use crate::report::prove;
use crate::semantics::{Model, Question, Target};
use crate::syntax::InputError;
use std::path::Path;

/// The configurations that an exploration may have: who asks for robustness has not asked for a long search.
const CONFIGURATIONS: u64 = 200_000;

/// What was found out about the properties of a program.
pub(super) struct AskedProperties {
    /// The program, in which threads of their own watch joint control states.
    watched: Program,
    /// The answers; none where a step of the program has no meaning.
    proof: Option<Proof>,
    /// Why properties were not asked about.
    unasked: Option<String>,
    /// How the evidence fared, where it was checked.
    confirmation: Option<Confirmation>,
}

/// Asks which properties of a program hold under TSO, within what is left of the limits; nothing where it has none.
pub(super) fn ask(
    file: &str,
    loaded: &Loaded,
    verify: bool,
    values: usize,
    limits: &Limits,
) -> Option<AskedProperties> {
    let question = loaded.question.as_ref();
    let (watched, mut unasked) = match loaded.program.monitored() {
        Ok(watched) => (watched, None),
        Err(error) => (loaded.program.clone(), Some(error.to_string())),
    };
    let mut only = targets(&watched, question);
    // Final states need fixed numbers of copies.
    only.retain(|target| *target != Target::FinalStates || !watched.is_parameterized());
    if only.is_empty() && unasked.is_none() {
        return None;
    }
    let mut proof = None;
    if !only.is_empty() {
        let most = CONFIGURATIONS;
        let options = ProveOptions {
            only,
            values,
            most,
            shorten: false,
            limits: limits.clone(),
            ..ProveOptions::new(Model::Tso)
        };
        match prove(&watched, question, &options) {
            Ok(found) => proof = Some(found),
            Err(fault) => unasked = Some(fault.describe(&watched)),
        }
    }
    let confirmation = proof.as_mut().and_then(|proof| confirmation(file, verify, limits, (&watched, question), proof));
    Some(AskedProperties { watched, proof, unasked, confirmation })
}

impl AskedProperties {
    /// How the evidence fared, where it was checked.
    pub(super) fn confirmation(&self) -> Option<&Confirmation> {
        self.confirmation.as_ref()
    }

    /// What to say about it.
    pub(super) fn breaks<'a>(&'a self, context: &Context<'a>, question: Option<&'a Question>) -> Breaks<'a> {
        let context = prove::Context {
            file: context.file,
            program: &self.watched,
            written: context.program,
            queued: None,
            question,
            warnings: context.warnings,
            seconds: context.seconds,
            certificates: context.certificates,
            changed: context.changed,
        };
        Breaks { context, proof: self.proof.as_ref(), unasked: self.unasked.as_deref() }
    }

    /// Writes the evidence, as `palisade prove` does; the paths.
    pub(super) fn write_evidence(&self, folder: &Path, file: &str, loaded: &Loaded) -> Result<Vec<String>, InputError> {
        match &self.proof {
            Some(proof) => write_evidence(folder, file, &loaded.subject_of(&self.watched), proof),
            None => Ok(Vec::new()),
        }
    }
}
