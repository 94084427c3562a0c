//! What a program that is not robust does to its properties, in a line.

use super::prove::{Context, PropertyVerdict, why_open};
use palisade_engine::properties::{Answer, Proof, TargetAnswer};
use palisade_semantics::{Quantifier, Target};

/// What is known of the properties of a program that is not robust.
#[derive(Debug)]
pub struct Breaks<'a> {
    /// The program, and what a litmus test asks.
    pub context: Context<'a>,
    /// The answers; none where the question has no meaning.
    pub proof: Option<&'a Proof>,
    /// Why properties were not asked about.
    pub unasked: Option<&'a str>,
}

impl Breaks<'_> {
    /// The verdict on all properties together.
    pub fn verdict(&self) -> PropertyVerdict {
        let known =
            self.proof.map_or(PropertyVerdict::Holds, |proof| PropertyVerdict::of_all(proof, self.context.question));
        if self.unasked.is_some() { known.max(PropertyVerdict::Unknown) } else { known }
    }

    /// The line of a report that follows its first one.
    pub fn line(&self) -> String {
        let (word, words) = self.words(false);
        format!("{word:<8} {words}")
    }

    /// The same as a part of a line.
    pub fn part(&self) -> String {
        let (word, words) = self.words(true);
        format!("{word} {words}")
    }

    /// The verb and what it governs.
    pub fn words(&self, is_short: bool) -> (&'static str, String) {
        if let Some(answer) = self.answers().find(|answer| self.is_wanted(answer)) {
            return ("reaches", self.reaching_words(answer, is_short));
        }
        let properties = self.context.properties();
        let violated: Vec<&TargetAnswer> =
            self.answers().filter(|answer| matches!(answer.answer, Answer::Violated(_))).collect();
        if let Some(first) = violated.first() {
            let others = match violated.len() - 1 {
                0 => String::new(),
                others => format!(", and {others} more"),
            };
            return ("breaks", format!("{}{}{others}", properties.quoted(first.target), under_sc(first)));
        }
        let open = self.answers().find_map(|answer| match answer.answer {
            Answer::Open(why) => Some((answer, why)),
            _ => None,
        });
        let why = match (open, self.unasked) {
            (None, None) if is_short => return ("breaks", "no property".to_owned()),
            (None, None) => return ("breaks", "no property: proved under TSO".to_owned()),
            (Some(_), _) | (_, Some(_)) if is_short => return ("breaks", "nothing that is known".to_owned()),
            (Some((answer, why)), _) => format!("{}, {}", properties.quoted(answer.target), why_open(answer.rung, why)),
            (None, Some(why)) => why.to_owned(),
        };
        ("breaks", format!("not decided: {why}"))
    }

    fn answers(&self) -> impl Iterator<Item = &TargetAnswer> {
        self.proof.iter().flat_map(|proof| &proof.answers)
    }

    /// Whether an answer is about final states that a litmus test wants to see.
    fn is_wanted(&self, answer: &TargetAnswer) -> bool {
        let quantifier = self.context.question.map(|question| question.condition().quantifier);
        answer.target == Target::FinalStates && quantifier == Some(Quantifier::Exists)
    }

    fn reaching_words(&self, answer: &TargetAnswer, is_short: bool) -> String {
        let wanted = if is_short { "its `exists`".to_owned() } else { self.context.properties().quoted(answer.target) };
        match answer.answer {
            Answer::Violated(_) => format!("{wanted}{}", under_sc(answer)),
            Answer::Holds(_) if is_short => format!("not {wanted}"),
            Answer::Holds(_) => format!("not {wanted}: proved under TSO"),
            Answer::Open(_) if is_short => format!("{wanted} perhaps"),
            Answer::Open(why) => format!("{wanted} perhaps: not decided, {}", why_open(answer.rung, why)),
        }
    }
}

/// Whether interleavings reach a target already.
fn under_sc(answer: &TargetAnswer) -> &'static str {
    if answer.under_sc == Some(true) { ", under SC already" } else { "" }
}
