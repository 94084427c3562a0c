//! The answers to all properties of a net in the lines of the Model Checking Contest.

use palisade_model::net::{Count, Property};

/// What became of a question of a property.
#[derive(Clone, Debug)]
pub struct AskedQuestion {
    /// Whether some target can be covered, or a marking reached; nothing where that is not known.
    pub coverable: Option<bool>,
    /// Why it is not known, or has no evidence.
    pub reason: Option<String>,
    /// The strategy that answered.
    pub strategy: &'static str,
    /// Seconds from the beginning of all to its answer.
    pub seconds: f64,
    /// The file that the evidence was written to.
    pub certificate: Option<String>,
    /// Whether the evidence was checked and accepted; nothing where it was not checked.
    pub accepted: Option<bool>,
    /// The transition or the marking that the answer is about, where the question has no file.
    pub note: Option<String>,
}

/// What is known of how large a sum of tokens gets, each side with the question that shows it.
#[derive(Clone, Debug, Default)]
pub struct AskedBound {
    /// A number that is reached by a run whose end can be repeated, where there is no bound.
    pub unbounded: Option<(Count, AskedQuestion)>,
    /// The largest number that is known to be reached.
    pub least: Option<(Count, AskedQuestion)>,
    /// The smallest that is known not to be passed.
    pub most: Option<(Count, AskedQuestion)>,
    /// Why the two are not the same.
    pub reason: Option<String>,
}

impl AskedBound {
    /// Whether it is known how large the sum gets.
    fn is_known(&self) -> bool {
        self.unbounded.is_some() || self.value().is_some()
    }

    /// As the contest's lines say it, where it is known.
    fn word(&self) -> Option<String> {
        let number = self.value().map(Count::to_string);
        number.or_else(|| self.unbounded.as_ref().map(|_| "UNBOUNDED".to_owned()))
    }

    /// The bound, where it is known.
    pub fn value(&self) -> Option<&Count> {
        let ((least, _), (most, _)) = (self.least.as_ref()?, self.most.as_ref()?);
        (least == most).then_some(least)
    }

    /// What is known where the bound is not: `it is 3 to 7`.
    fn range(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or("a limit was reached");
        match (&self.least, &self.most) {
            (Some((least, _)), Some((most, _))) => format!("it is {least} to {most}: {reason}"),
            (Some((least, _)), None) => format!("it is at least {least}: {reason}"),
            (None, Some((most, _))) => format!("it is at most {most}: {reason}"),
            (None, None) => reason.to_owned(),
        }
    }
}

/// A property with what became of its questions, in order.
#[derive(Clone, Debug)]
pub struct AnsweredProperty<'a> {
    /// The property.
    pub property: &'a Property,
    /// Its questions.
    pub questions: Vec<AskedQuestion>,
    /// Its bound, if it asks for one.
    pub bound: Option<AskedBound>,
}

impl AnsweredProperty<'_> {
    /// Whether the property holds, as far as that is known.
    pub fn value(&self) -> Option<bool> {
        let answers: Vec<Option<bool>> = self.questions.iter().map(|question| question.coverable).collect();
        self.property.claim.value(&answers)
    }

    /// Whether it is known what it asks: whether it holds, or how large a sum gets.
    pub fn is_known(&self) -> bool {
        self.value().is_some() || self.bound.as_ref().is_some_and(AskedBound::is_known)
    }

    /// Why it is not known.
    pub fn reason(&self) -> Option<String> {
        if self.is_known() {
            return None;
        }
        if let Some(bound) = &self.bound {
            return Some(bound.range());
        }
        let obstacle = self.property.claim.obstacles().first().map(|why| why.message.clone());
        let stopped = self.questions.iter().find_map(|question| question.reason.clone());
        obstacle.or(stopped)
    }

    /// The contest's words for what answered, each once, in the order of the alphabet.
    pub fn techniques(&self) -> Vec<&'static str> {
        let of = |question: &AskedQuestion| techniques(question.strategy).iter().copied();
        let sides = self.bound.iter().flat_map(|bound| [&bound.unbounded, &bound.least, &bound.most]);
        let sides = sides.flatten().map(|(_, asked)| asked);
        let mut words: Vec<&str> = self.questions.iter().chain(sides).flat_map(of).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The contest's word for the answer, where it is known: `TRUE`, `FALSE`, or a bound.
    pub fn word(&self) -> Option<String> {
        let bound = self.bound.as_ref().and_then(AskedBound::word);
        bound.or_else(|| self.value().map(|value| if value { "TRUE" } else { "FALSE" }.to_owned()))
    }

    /// What its answers are about, a line for each of the first.
    pub fn notes(&self) -> Vec<String> {
        const FIRST: usize = 10;
        let notes: Vec<&String> = self
            .questions
            .iter()
            .filter(|question| question.coverable.is_some())
            .filter_map(|question| question.note.as_ref())
            .collect();
        let mut lines: Vec<String> = notes.iter().take(FIRST).map(|note| format!("  {note}")).collect();
        lines.extend(notes.len().checked_sub(FIRST + 1).map(|more| format!("  and {} more", more + 1)));
        lines
    }

    /// The line about it.
    pub fn line(&self) -> String {
        let id = &self.property.id;
        match self.word() {
            Some(value) => {
                let techniques = self.techniques().join(" ");
                format!("FORMULA {id} {value} TECHNIQUES {techniques}").trim_end().to_owned()
            }
            None => format!("FORMULA {id} CANNOT_COMPUTE {}", self.reason().unwrap_or_default()),
        }
    }
}

/// The contest's words for a strategy. Questions of coverability are asked of the part of the net
/// that bears on them.
fn techniques(strategy: &str) -> &'static [&'static str] {
    match strategy {
        "saturation" | "pair-saturation" | "state-equation" | "continuous" => &["TOPOLOGICAL", "STRUCTURAL_REDUCTION"],
        "walk" | "explore" => &["EXPLICIT"],
        "seek" => &["EXPLICIT", "STUBBORN_SETS"],
        "equation" => &["TOPOLOGICAL"],
        _ => &["EXPLICIT", "STRUCTURAL_REDUCTION"],
    }
}
