//! What evidence about properties shows, in words and in a document: which targets, where they
//! stand in the text.

use super::models::model_name;
use super::properties::Properties;
use super::wording::counted;
use palisade_model::program::Program;
use palisade_semantics::{Model, Target};
use palisade_verify::PropertyFacts;

/// What has been checked about the properties of a program.
#[derive(Clone, Debug)]
pub struct ShownProperties {
    /// The memory model.
    pub model: Model,
    /// The targets that are never reached.
    pub hold: Vec<ShownTarget>,
    /// The target that is reached.
    pub violated: Option<ShownTarget>,
    /// The program's other targets.
    pub others: Vec<ShownTarget>,
    /// How many joint control states the program must not reach, of which nothing is shown.
    pub joint_states: usize,
}

/// A target by its place in the program's text.
#[derive(Clone, Debug)]
pub struct ShownTarget {
    /// `ensure`, `fail`, `never` or `final states`.
    pub kind: &'static str,
    /// The thread and its label, for an instruction.
    pub label: Option<(String, String)>,
    /// The line, unless it is about final states.
    pub line: Option<usize>,
    /// The target in words.
    words: String,
}

impl ShownProperties {
    /// What a proof shows of a program as it is written.
    pub fn proved(program: &Program, facts: &PropertyFacts) -> Self {
        let all = |targets: &[Target]| targets.iter().map(|target| ShownTarget::new(program, *target)).collect();
        Self {
            model: facts.model,
            hold: all(&facts.shown),
            violated: None,
            others: all(&facts.others),
            joint_states: facts.joint_states,
        }
    }

    /// What a violation shows of a program as it is written.
    pub fn violated(program: &Program, model: Model, target: Target) -> Self {
        let violated = Some(ShownTarget::new(program, target));
        Self { model, hold: Vec::new(), violated, others: Vec::new(), joint_states: 0 }
    }

    /// What is shown about the program of a file: `all 3 properties of ring.pal hold under TSO`.
    pub fn words(&self, file: &str) -> String {
        let model = model_name(self.model);
        if let Some(violated) = &self.violated {
            return format!("{file} violates {} under {model}", violated.words());
        }
        let list = |targets: &[ShownTarget]| targets.iter().map(ShownTarget::words).collect::<Vec<_>>().join(", ");
        let total = self.hold.len() + self.others.len() + self.joint_states;
        match (self.hold.len(), total) {
            (1, 1) => format!("the only property of {file}, {}, holds under {model}", list(&self.hold)),
            (own, _) if own == total => format!("all {total} properties of {file} hold under {model}"),
            (own, _) => {
                let mut others: Vec<String> = self.others.iter().map(ShownTarget::words).collect();
                if self.joint_states > 0 {
                    others.push(counted(self.joint_states, "joint control state"));
                }
                let (hold, others) = (list(&self.hold), others.join(", "));
                format!(
                    "{own} of {total} properties of {file} hold under {model}: {hold}; nothing is said about {others}"
                )
            }
        }
    }
}

impl ShownTarget {
    /// A target of a program as it is written.
    fn new(program: &Program, target: Target) -> Self {
        let properties = Properties { program, question: None };
        let (line, place) = (properties.line(target), properties.place(target));
        let (kind, words) = match (properties.kind(target), target) {
            (_, Target::FinalStates) => ("final states", "the question about final states".to_owned()),
            ("never", _) => ("never", properties.quoted(target)),
            (kind, _) => (kind, format!("`{kind}` at {place}")),
        };
        let label = properties.label(target).map(|(thread, label)| (thread.to_owned(), label.to_owned()));
        Self { kind, label, line, words }
    }

    /// The target in words.
    fn words(&self) -> String {
        self.words.clone()
    }
}
