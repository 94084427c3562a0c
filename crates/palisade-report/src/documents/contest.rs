//! `palisade/contest/1`: the answers to all properties of a net.

use super::FileHeader;
use super::cover::QuantifierWord;
use crate::contest::{AnsweredProperty, AskedQuestion};
use palisade_coverability::AskedNet;
use palisade_model::limits::{peak_resident_bytes, processor_time};
use palisade_model::net::{AskedOf, Count, Quantifier};
use serde::Serialize;

/// What `palisade cover --all` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContestDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The file of the properties.
    pub query: &'a str,
    /// The properties, in order.
    pub properties: Vec<ContestProperty<'a>>,
    /// What it took.
    pub statistics: ContestStatistics,
}

/// A property with its answer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContestProperty<'a> {
    /// Its id.
    pub id: &'a str,
    /// Whether it holds; null where that is not known, or the property asks for a bound.
    pub holds: Option<bool>,
    /// What is known of the bound that it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<ContestBound<'a>>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The contest's words for what answered.
    pub techniques: Vec<&'static str>,
    /// Its questions, in order. Evidence and `--property` call the second one `ID#2`.
    pub questions: Vec<ContestQuestion<'a>>,
}

/// How large a sum of tokens gets: where the two sides are the same, as large as that.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContestBound<'a> {
    /// The bound, where it is known.
    pub tokens: Option<u64>,
    /// Where there is no bound, a number that is reached by a run whose end can be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<ContestSide<'a>>,
    /// The largest number that is known to be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<ContestSide<'a>>,
    /// The smallest that is known not to be passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<ContestSide<'a>>,
}

/// One side of a bound. Evidence and `--property` call its question `ID>=N`: a run for the least
/// bound and for none, and a proof for one above the most.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContestSide<'a> {
    /// The number.
    pub tokens: Option<u64>,
    /// The question that shows it.
    pub question: ContestQuestion<'a>,
}

impl<'a> ContestSide<'a> {
    fn new((tokens, question): &'a (Count, AskedQuestion)) -> Self {
        let question = ContestQuestion::new(QuantifierWord::Ef, AskedWord::Reachability, question);
        Self { tokens: tokens.to_u64(), question }
    }
}

/// A question of coverability or reachability.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContestQuestion<'a> {
    /// How it is put.
    pub quantifier: QuantifierWord,
    /// What it asks.
    pub asks: AskedWord,
    /// Whether a target can be covered, or a marking reached that satisfies the condition; null
    /// where that is not known.
    pub reached: Option<bool>,
    /// Why it is not known, or has no evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The strategy that answered.
    pub strategy: &'static str,
    /// Seconds from the beginning to its answer.
    pub seconds: f64,
    /// The file that the evidence was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<&'a str>,
    /// Whether the evidence was accepted, where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<bool>,
    /// The transition or the marking that the answer is about, where the question has no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'a str>,
}

/// What a question asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum AskedWord {
    /// Whether a target can be covered.
    Coverability,
    /// Whether a marking can be reached that satisfies a condition.
    Reachability,
}

/// What all answers took.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContestStatistics {
    /// Places of the net.
    pub places: usize,
    /// Transitions of the net.
    pub transitions: usize,
    /// Places of the net on which the questions were asked.
    pub reduced_places: usize,
    /// Transitions of that net.
    pub reduced_transitions: usize,
    /// Seconds to read the net and the properties.
    pub read_seconds: f64,
    /// Seconds to reduce the net.
    pub reduce_seconds: f64,
    /// Seconds from reading to the last answer.
    pub seconds: f64,
    /// Seconds of processor time of the whole process so far.
    pub cpu_seconds: f64,
    /// The largest memory the process held, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

/// What the document says besides the answers.
#[derive(Clone, Copy, Debug)]
pub struct ContestContext<'a> {
    /// The net's path as given.
    pub file: &'a str,
    /// The path of the properties.
    pub query: &'a str,
    /// Places and transitions of the net.
    pub size: (usize, usize),
    /// What the questions were asked on.
    pub asked: AskedNet,
    /// Seconds to read.
    pub read_seconds: f64,
    /// Seconds from reading to the end.
    pub seconds: f64,
}

impl<'a> ContestDocument<'a> {
    /// The document of answers.
    pub fn new(answers: &'a [AnsweredProperty<'a>], context: &ContestContext<'a>) -> Self {
        Self {
            header: FileHeader::new("palisade/contest/1", context.file),
            query: context.query,
            properties: answers.iter().map(ContestProperty::new).collect(),
            statistics: ContestStatistics {
                places: context.size.0,
                transitions: context.size.1,
                reduced_places: context.asked.places,
                reduced_transitions: context.asked.transitions,
                read_seconds: context.read_seconds,
                reduce_seconds: context.asked.seconds,
                seconds: context.seconds,
                cpu_seconds: processor_time().as_secs_f64(),
                peak_memory_bytes: peak_resident_bytes(),
            },
        }
    }
}

impl<'a> ContestProperty<'a> {
    /// Its questions, and those that show its bound.
    pub fn every_question(&self) -> impl Iterator<Item = &ContestQuestion<'a>> {
        let sides = self.bound.iter().flat_map(|bound| [&bound.unbounded, &bound.least, &bound.most]);
        self.questions.iter().chain(sides.flatten().map(|side| &side.question))
    }

    fn new(answer: &'a AnsweredProperty<'a>) -> Self {
        let question = |(asked, question): (AskedOf<'_>, &'a AskedQuestion)| {
            let quantifier = match asked.quantifier() {
                Quantifier::Eventually => QuantifierWord::Ef,
                Quantifier::Always => QuantifierWord::Ag,
            };
            let asks = match asked {
                AskedOf::Cover(_) => AskedWord::Coverability,
                AskedOf::Reach(_) => AskedWord::Reachability,
            };
            ContestQuestion::new(quantifier, asks, question)
        };
        let bound = answer.bound.as_ref().map(|bound| ContestBound {
            tokens: bound.value().and_then(Count::to_u64),
            unbounded: bound.unbounded.as_ref().map(ContestSide::new),
            least: bound.least.as_ref().map(ContestSide::new),
            most: bound.most.as_ref().map(ContestSide::new),
        });
        Self {
            id: &answer.property.id,
            holds: answer.value(),
            bound,
            reason: answer.reason(),
            techniques: answer.techniques(),
            questions: answer.property.claim.questions().into_iter().zip(&answer.questions).map(question).collect(),
        }
    }
}

impl<'a> ContestQuestion<'a> {
    fn new(quantifier: QuantifierWord, asks: AskedWord, question: &'a AskedQuestion) -> Self {
        Self {
            quantifier,
            asks,
            reached: question.coverable,
            reason: question.reason.as_deref(),
            strategy: question.strategy,
            seconds: question.seconds,
            certificate: question.certificate.as_deref(),
            accepted: question.accepted,
            note: question.note.as_deref(),
        }
    }
}
