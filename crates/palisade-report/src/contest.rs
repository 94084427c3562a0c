//! The answers to all properties of a net in the lines of the Model Checking Contest.

use palisade_model::net::Property;

/// What became of a question of a property.
#[derive(Clone, Debug)]
pub struct AskedQuestion {
    /// Whether some target can be covered, or a marking reached; nothing where that is not known.
    pub coverable: Option<bool>,
    /// Why it is not known.
    pub reason: Option<String>,
    /// The strategy that answered.
    pub strategy: &'static str,
    /// Seconds from the beginning of all to its answer.
    pub seconds: f64,
    /// The file that the evidence was written to.
    pub certificate: Option<String>,
    /// Whether the evidence was checked and accepted; nothing where it was not checked.
    pub accepted: Option<bool>,
}

/// A property with what became of its questions, in order.
#[derive(Clone, Debug)]
pub struct AnsweredProperty<'a> {
    /// The property.
    pub property: &'a Property,
    /// Its questions.
    pub questions: Vec<AskedQuestion>,
}

impl AnsweredProperty<'_> {
    /// Whether the property holds, as far as that is known.
    pub fn value(&self) -> Option<bool> {
        let answers: Vec<Option<bool>> = self.questions.iter().map(|question| question.coverable).collect();
        self.property.claim.value(&answers)
    }

    /// Why it is not known whether the property holds.
    pub fn reason(&self) -> Option<String> {
        if self.value().is_some() {
            return None;
        }
        let obstacle = self.property.claim.obstacles().first().map(|why| why.message.clone());
        let stopped = self.questions.iter().find_map(|question| question.reason.clone());
        obstacle.or(stopped)
    }

    /// The contest's words for what answered, each once, in the order of the alphabet.
    pub fn techniques(&self) -> Vec<&'static str> {
        let of = |question: &AskedQuestion| techniques(question.strategy).iter().copied();
        let mut words: Vec<&str> = self.questions.iter().flat_map(of).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The line about it.
    pub fn line(&self) -> String {
        let id = &self.property.id;
        match (self.value(), self.reason()) {
            (Some(value), _) => {
                let word = if value { "TRUE" } else { "FALSE" };
                let techniques = self.techniques().join(" ");
                format!("FORMULA {id} {word} TECHNIQUES {techniques}").trim_end().to_owned()
            }
            (None, reason) => format!("FORMULA {id} CANNOT_COMPUTE {}", reason.unwrap_or_default()),
        }
    }
}

/// The contest's words for a strategy. Questions of coverability are asked of the part of the net that bears on them.
fn techniques(strategy: &str) -> &'static [&'static str] {
    match strategy {
        "saturation" | "pair-saturation" | "state-equation" | "continuous" => &["TOPOLOGICAL", "STRUCTURAL_REDUCTION"],
        "walk" | "explore" => &["EXPLICIT"],
        "equation" => &["TOPOLOGICAL"],
        _ => &["EXPLICIT", "STRUCTURAL_REDUCTION"],
    }
}
