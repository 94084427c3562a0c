//! Patterns of labels, `thread.label` with `*` and `?`.

use palisade_model::program::{Measure, Program, Sites};
use thiserror::Error;

/// A pattern of `thread.label` names: `*` stands for any characters, `?` for one. A pattern without
/// a dot is about labels of every thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    glob: Vec<char>,
}

/// A pattern that names no label: most likely a slip.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no label of the program matches `{0}`")]
pub struct PatternError(pub String);

impl std::str::FromStr for Pattern {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let glob = if text.contains('.') { text.to_owned() } else { format!("*.{text}") };
        Ok(Self { text: text.to_owned(), glob: glob.chars().collect() })
    }
}

impl Pattern {
    /// Whether the pattern names a label that a measure changes.
    pub(crate) fn matches(&self, program: &Program, sites: &Sites, measure: Measure) -> bool {
        measure.parts(sites).iter().any(|part| self.matches_name(&part.name(program)))
    }

    fn matches_name(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        // The usual two-finger match: after a mismatch, the last star swallows one character more.
        let (mut at, mut place) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while place < name.len() {
            match self.glob.get(at) {
                Some('*') => {
                    star = Some((at, place));
                    at += 1;
                }
                Some(wanted) if *wanted == '?' || *wanted == name[place] => {
                    at += 1;
                    place += 1;
                }
                _ => match &mut star {
                    Some((back, swallowed)) => {
                        *swallowed += 1;
                        at = *back + 1;
                        place = *swallowed;
                    }
                    None => return false,
                },
            }
        }
        self.glob[at..].iter().all(|wanted| *wanted == '*')
    }

    /// The pattern, if it names some label of the program.
    pub(crate) fn check(&self, program: &Program) -> Result<(), PatternError> {
        let names_some = program.threads.iter().any(|thread| {
            thread.labels.iter().any(|label| self.matches_name(&format!("{}.{}", thread.name, label.name)))
        });
        if names_some { Ok(()) } else { Err(PatternError(self.text.clone())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        let matches = |pattern: &str, name: &str| pattern.parse::<Pattern>().unwrap().matches_name(name);
        assert!(matches("t1.l?", "t1.l4") && !matches("t1.l?", "t1.l42"));
        assert!(matches("*.wait*", "reader.wait_2") && !matches("*.wait*", "reader.go"));
        assert!(matches("l1", "t1.l1") && !matches("l1", "t1.l11"));
        assert!(matches("a*b*c.*", "aXbbc.l") && !matches("a*b*c.*", "aXbb.l"));
    }
}
