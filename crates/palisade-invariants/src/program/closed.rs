//! Sets of configurations that are closed under the steps of a program instrumented for a memory
//! model: what all proofs by one exploration have in common.

use super::model::Model;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{Configuration, DownSet, in_order};
use palisade_evidence::{LocalIndex, MemoryIndex, Tokens};
use std::hash::Hash;

/// A program as it is followed under a memory model.
pub(super) trait Followed {
    /// Everything but the threads.
    type Control: Clone + Eq + Hash;
    /// A thread in some state.
    type Token: Copy + Ord + Hash;

    /// Every initial configuration.
    fn initial_configurations(&mut self) -> Result<Vec<Configuration<Self::Control, Self::Token>>, CheckFailure>;

    /// Where one step leads from a configuration.
    fn successors(
        &mut self,
        from: &Configuration<Self::Control, Self::Token>,
    ) -> Result<Vec<Configuration<Self::Control, Self::Token>>, CheckFailure>;

    /// Whether an attack has succeeded.
    fn is_success(&self, control: &Self::Control) -> bool;

    /// A configuration in words.
    fn in_words(&self, configuration: &Configuration<Self::Control, Self::Token>) -> String;
}

/// Checks that a set covers the initial configurations, holds no success, and is closed under all
/// steps.
pub(super) fn check_closed<F: Followed>(
    program: &mut F,
    configurations: Vec<Configuration<F::Control, F::Token>>,
) -> Result<(), CheckFailure> {
    let set = DownSet::new(configurations);
    for initial in program.initial_configurations()? {
        if !set.contains(&initial) {
            reject!(Initial, "no configuration covers the initial {}", program.in_words(&initial));
        }
    }
    for configuration in set.configurations() {
        if program.is_success(&configuration.control) {
            reject!(Safe, "the set contains the success {}", program.in_words(configuration));
        }
        for successor in program.successors(configuration)? {
            if !set.contains(&successor) {
                let (after, before) = (program.in_words(&successor), program.in_words(configuration));
                reject!(Inductive, "the set does not cover {after}, where a step leads from {before}");
            }
        }
    }
    Ok(())
}

/// The tokens of a configuration, in order: each with a count above 0, and none twice.
pub(super) fn counted<T: Copy + Ord>(
    given: impl Iterator<Item = Result<(T, Tokens), CheckFailure>>,
) -> Result<Vec<(T, Tokens)>, CheckFailure> {
    let mut tokens = given.collect::<Result<Vec<_>, _>>()?;
    if tokens.iter().any(|(_, count)| *count == Tokens::Finite(0)) {
        reject!(Form, "a configuration counts 0 of something");
    }
    in_order(&mut tokens);
    if tokens.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        reject!(Form, "a configuration counts something twice");
    }
    Ok(tokens)
}

/// A count in words.
pub(super) fn count_in_words(count: Tokens) -> String {
    if let Tokens::Finite(count) = count { count.to_string() } else { "ω".to_owned() }
}

impl Model<'_> {
    /// The number of a local state, by its position in the certificate's table.
    pub(super) fn local_at(&self, index: LocalIndex) -> Result<u32, CheckFailure> {
        match self.local_numbers.get(index as usize) {
            Some(number) => Ok(*number),
            None => reject!(Form, "there is no local state {index} in the table"),
        }
    }

    /// The number of a memory, by its position in the certificate's table.
    pub(super) fn memory_at(&self, index: MemoryIndex) -> Result<u32, CheckFailure> {
        match self.memory_numbers.get(index as usize) {
            Some(number) => Ok(*number),
            None => reject!(Form, "there is no memory {index} in the table"),
        }
    }
}
