//! Nodes of a net as formulas call them: by name, and by id where the net's document has ids.

use palisade_model::net::{PlaceId, TransitionId};
use palisade_model::text::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// How a net's document calls its nodes.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Places by id.
    pub(super) places: FxHashMap<SmolStr, PlaceId>,
    /// Transitions by id.
    pub(super) transitions: FxHashMap<SmolStr, TransitionId>,
    /// Names that several places have: all but the first are called otherwise in the net.
    pub(super) namesakes: FxHashSet<SmolStr>,
}

/// Places, or transitions, by what they are called.
///
/// A word that calls two nodes, as the name of both or as the name of one and the id of the other,
/// calls neither: an answer about the wrong node would go unnoticed.
pub(super) struct Nodes<'a, Id> {
    /// `place` or `transition`.
    kind: &'static str,
    /// What each word calls.
    called: FxHashMap<&'a str, Called<Id>>,
}

/// What a word calls.
enum Called<Id> {
    /// One node.
    One(Id),
    /// Several nodes of this name.
    Namesakes,
    /// A node of this name, and another one with this id.
    NameAndId,
}

impl<'a, Id: Copy + PartialEq> Nodes<'a, Id> {
    /// The nodes of a kind with their names and their ids.
    pub(super) fn new(
        kind: &'static str,
        names: impl Iterator<Item = (&'a str, Id)>,
        ids: impl Iterator<Item = (&'a str, Id)>,
    ) -> Self {
        let mut called = FxHashMap::default();
        for (name, node) in names {
            called.entry(name).and_modify(|called| *called = Called::Namesakes).or_insert(Called::One(node));
        }
        for (id, node) in ids {
            let entry = called.entry(id).and_modify(|called| match called {
                Called::One(other) if *other == node => {}
                _ => *called = Called::NameAndId,
            });
            entry.or_insert(Called::One(node));
        }
        Self { kind, called }
    }

    /// The same, where these names call several nodes.
    pub(super) fn with_namesakes(mut self, names: impl Iterator<Item = &'a str>) -> Self {
        self.called.extend(names.map(|name| (name, Called::Namesakes)));
        self
    }

    /// Whether a word calls some node.
    pub(super) fn contains(&self, word: &str) -> bool {
        self.called.contains_key(word)
    }

    /// The node that a word in the text calls.
    pub(super) fn find(&self, word: &str, span: Span) -> Result<Id, Diagnostic> {
        let kind = self.kind;
        match self.called.get(word) {
            Some(Called::One(node)) => Ok(*node),
            None => Err(Diagnostic::error(format!("the net has no {kind} `{word}`"), span)),
            Some(Called::Namesakes) => {
                let message = format!("the net has several {kind}s of the name `{word}`");
                Err(Diagnostic::error(message, span).with_expected(["the id of one, where the net's format has ids"]))
            }
            Some(Called::NameAndId) => {
                let message = format!("`{word}` is the name of a {kind} and the id of another one");
                Err(Diagnostic::error(message, span).with_expected([
                    "the id of the one or the name of the other",
                    "a question in `.xml` (Model Checking Contest), which goes by ids",
                ]))
            }
        }
    }
}
