//! The words that several commands have for the same: what is asked, and against which memory model.

use crate::questions::QueueOrder;
use crate::report::models::{MODELS, model_of};
use crate::semantics::Model;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// What is asked about a program: `--ask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Ask {
    /// Each `ensure`, `fail` and `never`, and the question of a litmus test.
    Properties,
    /// Whether events can be seen as atomic, and their tasks as run one after the other.
    Concurrency,
    /// Whether store buffers show what no interleaving does.
    Robustness,
    /// Whether somebody waits for ever: a state in which nobody goes on, and somebody waits who must not.
    Hangs,
    /// Whether a load after a store races with another thread's store: without such a triangular race a program of threads is robust.
    Races,
}

impl Ask {
    /// Its name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Properties => "properties",
            Self::Concurrency => "concurrency",
            Self::Robustness => "robustness",
            Self::Hangs => "hangs",
            Self::Races => "races",
        }
    }
}

/// What reads `--model`: the memory models by their words.
pub(super) fn memory_models() -> impl TypedValueParser<Value = Model> {
    let listed = MODELS.map(|(_, _, word, what)| PossibleValue::new(word).help(what));
    PossibleValuesParser::new(listed).map(|word| model_of(&word).expect("one of the words"))
}

/// In which order the main thread takes tasks: `--queue`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum QueueChoice {
    /// In any order, as delays, priorities and barriers have it.
    #[default]
    Bag,
    /// In the order of their posts: violations that need another order are none. A program that is robust for any order is robust for this one.
    Fifo,
}

impl From<QueueChoice> for QueueOrder {
    fn from(choice: QueueChoice) -> Self {
        match choice {
            QueueChoice::Bag => Self::Bag,
            QueueChoice::Fifo => Self::Fifo,
        }
    }
}

/// A number of stores that a buffer can hold.
pub(super) fn capacity(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|capacity| *capacity > 0).ok_or_else(|| "a buffer holds 1 store or more".to_owned())
}
