//! The memory models by their names: the one place that lists them.

use palisade_semantics::Model;
use palisade_semantics::graphs::Axioms;
use serde::Serialize;

/// The models, the strongest first: what people call each, its word on command lines and in
/// documents, and what it is.
pub const MODELS: [(Model, &str, &str, &str); 3] = [
    (Model::Sc, "SC", "sc", "Sequential consistency: interleavings"),
    (Model::Tso, "TSO", "tso", "Total store ordering, as on x86"),
    (Model::Pso, "PSO", "pso", "Partial store ordering: a buffer for each address"),
];

/// What people call a model.
pub fn model_name(model: Model) -> &'static str {
    listed(model).1
}

/// The word for a model on command lines and in documents.
pub fn model_word(model: Model) -> &'static str {
    listed(model).2
}

/// The model of a word.
pub fn model_of(word: &str) -> Option<Model> {
    MODELS.iter().find(|(_, _, own, _)| *own == word).map(|(model, ..)| *model)
}

fn listed(model: Model) -> &'static (Model, &'static str, &'static str, &'static str) {
    MODELS.iter().find(|(own, ..)| *own == model).expect("all models are listed")
}

/// A memory model in a document, of machines or of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ModelWord {
    /// Sequential consistency.
    Sc,
    /// Total store ordering, as on x86.
    Tso,
    /// Partial store ordering: a buffer for each address.
    Pso,
    /// C11, C++ and Rust, by the orderings of the text.
    C11,
    /// Release/acquire.
    Ra,
}

impl ModelWord {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => model_name(Model::Sc),
            Self::Tso => model_name(Model::Tso),
            Self::Pso => model_name(Model::Pso),
            Self::C11 => Axioms::C11.name(),
            Self::Ra => Axioms::Ra.name(),
        }
    }

    /// The model of machines; nothing for a language.
    pub fn of_machines(self) -> Option<Model> {
        match self {
            Self::Sc => Some(Model::Sc),
            Self::Tso => Some(Model::Tso),
            Self::Pso => Some(Model::Pso),
            Self::C11 | Self::Ra => None,
        }
    }
}

impl From<Axioms> for ModelWord {
    fn from(axioms: Axioms) -> Self {
        match axioms {
            Axioms::C11 | Axioms::WeakC11 => Self::C11,
            Axioms::Ra => Self::Ra,
        }
    }
}

impl From<Model> for ModelWord {
    fn from(model: Model) -> Self {
        match model {
            Model::Sc => Self::Sc,
            Model::Tso => Self::Tso,
            Model::Pso => Self::Pso,
        }
    }
}
