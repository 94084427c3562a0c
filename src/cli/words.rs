//! The words that several commands have for the same: what is asked, and against which memory
//! model.

use crate::questions::QueueOrder;
use crate::report::models::{MODELS, model_of, model_word};
use crate::semantics::Model;
use crate::semantics::graphs::Axioms;
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
    /// Whether somebody waits for ever: a state in which nobody goes on, and somebody waits who
    /// must not.
    Hangs,
    /// Whether somebody waits whom no way lets go on, while others may go on for ever; of fixed
    /// numbers.
    Hopeless,
    /// Whether a load after a store races with another thread's store: without such a triangular
    /// race a program of threads is robust.
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
            Self::Hopeless => "hopeless",
            Self::Races => "races",
        }
    }
}

/// What reads `--ask` where the command is about robustness alone: it says where to ask the other
/// questions.
pub(super) fn robustness_or_concurrency() -> impl TypedValueParser<Value = Ask> {
    let is_listed = |ask: &Ask| matches!(ask, Ask::Robustness | Ask::Concurrency);
    let value = |ask: &Ask| ask.to_possible_value().map(|value| value.hide(!is_listed(ask)));
    let values: Vec<PossibleValue> = Ask::value_variants().iter().filter_map(value).collect();
    PossibleValuesParser::new(values).map(|word| Ask::from_str(&word, false).expect("one of the words"))
}

/// What robustness is asked against: a memory model of machines, or a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Against {
    /// A memory model.
    Model(Model),
    /// A language, by its axioms.
    Language(Axioms),
}

impl Against {
    /// The memory model under which properties are asked: interleavings for a language, as a robust
    /// program has no other executions.
    pub(super) fn model(self) -> Model {
        match self {
            Self::Model(model) => model,
            Self::Language(_) => Model::Sc,
        }
    }

    /// The language.
    pub(super) fn language(self) -> Option<Axioms> {
        match self {
            Self::Model(_) => None,
            Self::Language(axioms) => Some(axioms),
        }
    }

    /// Its word on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Model(model) => model_word(model),
            Self::Language(axioms) => axioms.word(),
        }
    }
}

/// What reads `--model` where languages are models as well.
pub(super) fn models_and_languages() -> impl TypedValueParser<Value = Against> {
    models_listing(|_| true)
}

/// The same where the command refuses other models of machines than TSO: it says why, and the help
/// leaves them out.
pub(super) fn tso_and_languages() -> impl TypedValueParser<Value = Against> {
    models_listing(|model| model == Model::Tso)
}

fn models_listing(is_listed: impl Fn(Model) -> bool) -> impl TypedValueParser<Value = Against> {
    let what = |axioms| match axioms {
        Axioms::Ra => "Release/acquire: every atomic access acquires and releases",
        Axioms::C11 | Axioms::WeakC11 => "C11, C++ and Rust: the orderings of the text",
    };
    let models = MODELS.map(|(model, _, word, what)| PossibleValue::new(word).help(what).hide(!is_listed(model)));
    let languages = Axioms::LANGUAGES.map(|axioms| PossibleValue::new(axioms.word()).help(what(axioms)));
    let language_of = |word: &str| Axioms::LANGUAGES.into_iter().find(|axioms| axioms.word() == word);
    PossibleValuesParser::new(models.into_iter().chain(languages)).map(move |word| {
        let model = model_of(&word).map(Against::Model);
        model.or_else(|| language_of(&word).map(Against::Language)).expect("one of the words")
    })
}

/// In which order the main thread takes tasks: `--queue`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum QueueChoice {
    /// In any order, as delays, priorities and barriers have it.
    #[default]
    Bag,
    /// In the order of their posts: violations that need another order are none. A program that is
    /// robust for any order is robust for this one.
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
