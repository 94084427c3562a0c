//! Reader of Model Checking Contest queries (XML): `EF` of lower bounds and of transitions that can fire.

use super::formula::Formula;
use super::xml::{span, text_of};
use crate::net::diagnostic::Diagnostic;
use crate::net::{Count, Net, PlaceId, Query, TransitionId};
use roxmltree::{Document, Node};
use rustc_hash::FxHashMap;

/// How a net's document calls its nodes.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Places by id.
    pub(super) places: FxHashMap<String, PlaceId>,
    /// Transitions by id.
    pub(super) transitions: FxHashMap<String, TransitionId>,
}

/// Reads the property of that id, or the only one.
pub(super) fn read(text: &str, property: Option<&str>, net: &Net, ids: &Ids) -> Result<Query, Vec<Diagnostic>> {
    let complain = |complaint| vec![complaint];
    let document = super::xml::parse(text).map_err(complain)?;
    let formula = choose(&document, property).map_err(complain)?;
    let reader = Reader { net, ids };
    reader.question(formula).map_err(complain)
}

fn choose<'a>(document: &'a Document<'a>, property: Option<&str>) -> Result<Node<'a, 'a>, Diagnostic> {
    let properties: Vec<Node<'_, '_>> = document.descendants().filter(|node| is(*node, "property")).collect();
    let root = span(document.root_element());
    let id_of = |node: &Node<'a, 'a>| child(*node, "id").map_or(String::new(), text_of);
    let chosen = match (property, properties.as_slice()) {
        (Some(id), _) => properties
            .iter()
            .find(|node| id_of(node) == id)
            .ok_or_else(|| Diagnostic::new(root, format!("there is no property `{id}` in this file")))?,
        (None, [only]) => only,
        (None, []) => return Err(Diagnostic::new(root, "the file holds no property").expecting(&["`<property>`"])),
        (None, many) => {
            let message = format!("the file holds {} properties: choose one by its id", many.len());
            return Err(Diagnostic::new(root, message));
        }
    };
    child(*chosen, "formula")
        .ok_or_else(|| Diagnostic::new(span(*chosen), "the property has no formula").expecting(&["`<formula>`"]))
}

struct Reader<'n> {
    net: &'n Net,
    ids: &'n Ids,
}

impl Reader<'_> {
    fn question(&self, formula: Node<'_, '_>) -> Result<Query, Diagnostic> {
        let path = only_child(formula)?;
        if !is(path, "exists-path") {
            return Err(not_coverability(path, &["`<exists-path>`"]));
        }
        let finally = only_child(path)?;
        if !is(finally, "finally") {
            return Err(not_coverability(finally, &["`<finally>`"]));
        }
        let reached = only_child(finally)?;
        let formula = self.formula(reached)?;
        formula.query().ok_or_else(|| Diagnostic::new(span(reached), "the formula has too many alternatives"))
    }

    fn formula(&self, node: Node<'_, '_>) -> Result<Formula, Diagnostic> {
        let parts = || elements(node).map(|part| self.formula(part)).collect::<Result<Vec<_>, _>>();
        match node.tag_name().name() {
            "conjunction" => Ok(Formula::All(parts()?)),
            "disjunction" => Ok(Formula::Any(parts()?)),
            "true" => Ok(Formula::Constant(true)),
            "false" => Ok(Formula::Constant(false)),
            "is-fireable" => {
                let mut choices = Vec::new();
                for part in elements(node) {
                    choices.push(Formula::fireable(self.net, self.transition(part)?));
                }
                Ok(Formula::Any(choices))
            }
            "integer-le" => self.comparison(node),
            _ => Err(not_coverability(
                node,
                &["`<conjunction>`", "`<disjunction>`", "`<integer-le>`", "`<is-fireable>`"],
            )),
        }
    }

    /// `constant ≤ tokens`.
    fn comparison(&self, node: Node<'_, '_>) -> Result<Formula, Diagnostic> {
        let sides: Vec<Node<'_, '_>> = elements(node).collect();
        let [low, high] = sides.as_slice() else {
            return Err(Diagnostic::new(span(node), "a comparison has two sides"));
        };
        if !is(*low, "integer-constant") {
            let message = "an upper bound makes no coverability question";
            return Err(Diagnostic::new(span(*low), message).expecting(&["`<integer-constant>` on the left"]));
        }
        let text = text_of(*low);
        let bound: Count =
            text.parse().map_err(|_| Diagnostic::new(span(*low), format!("`{text}` is not a number of tokens")))?;
        if is(*high, "integer-constant") {
            let text = text_of(*high);
            let high = text.parse().is_ok_and(|high: Count| bound <= high);
            return Ok(Formula::Constant(high));
        }
        if !is(*high, "tokens-count") {
            return Err(not_coverability(*high, &["`<tokens-count>`"]));
        }
        let mut places = Vec::new();
        for part in elements(*high) {
            let id = text_of(part);
            let place = self.ids.places.get(&id).copied().filter(|_| is(part, "place"));
            places.push(place.ok_or_else(|| Diagnostic::new(span(part), format!("the net has no place `{id}`")))?);
        }
        Ok(Formula::at_least(places, bound))
    }

    fn transition(&self, node: Node<'_, '_>) -> Result<TransitionId, Diagnostic> {
        let id = text_of(node);
        let transition = self.ids.transitions.get(&id).copied().filter(|_| is(node, "transition"));
        transition.ok_or_else(|| Diagnostic::new(span(node), format!("the net has no transition `{id}`")))
    }
}

fn not_coverability(node: Node<'_, '_>, expected: &[&str]) -> Diagnostic {
    let message =
        format!("`<{}>` is not supported here: the formula asks more than coverability", node.tag_name().name());
    Diagnostic::new(span(node), message).expecting(expected)
}

fn only_child<'a>(node: Node<'a, 'a>) -> Result<Node<'a, 'a>, Diagnostic> {
    let mut children = elements(node);
    match (children.next(), children.next()) {
        (Some(child), None) => Ok(child),
        _ => Err(Diagnostic::new(span(node), format!("`<{}>` has to hold one element", node.tag_name().name()))),
    }
}

fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

fn elements<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(Node::is_element)
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    elements(node).find(|child| is(*child, name))
}
