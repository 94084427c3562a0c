//! Conditions on markings in Model Checking Contest queries: any comparison of sums of tokens,
//! transitions that can fire, and deadlock. The comparisons besides `integer-le`, and sums of sums,
//! are those that TAPAAL writes.

use super::build::{Weighed, comparison, in_sense};
use super::formula::{DEEPEST, Sense, too_deep};
use super::nodes::Ids;
use super::xml::{constant, named, not_coverability, only_child, several, span};
use num_bigint::BigInt;
use palisade_model::net::{Formula, Net, PlaceId, TransitionId};
use palisade_model::text::Diagnostic;
use roxmltree::Node;

/// Reads conditions on markings of a net.
#[derive(Clone, Copy)]
pub(super) struct Conditions<'n> {
    pub(super) net: &'n Net,
    pub(super) ids: &'n Ids,
}

impl Conditions<'_> {
    /// A condition, or in the negated sense its contrary.
    pub(super) fn goal(&self, node: Node<'_, '_>, sense: Sense, depth: usize) -> Result<Formula, Diagnostic> {
        if depth > DEEPEST {
            return Err(too_deep(span(node)));
        }
        let parts = || -> Result<Vec<Formula>, Diagnostic> {
            several(node)?.into_iter().map(|part| self.goal(part, sense, depth + 1)).collect()
        };
        let is_plain = sense == Sense::Plain;
        let in_sense = |formula| in_sense(sense, self.net, formula);
        match (node.tag_name().name(), is_plain) {
            ("conjunction", true) | ("disjunction", false) => Ok(Formula::All(parts()?)),
            ("disjunction", true) | ("conjunction", false) => Ok(Formula::Any(parts()?)),
            ("negation", _) => self.goal(only_child(node)?, sense.negated(), depth + 1),
            ("true", _) => Ok(Formula::Constant(is_plain)),
            ("false", _) => Ok(Formula::Constant(!is_plain)),
            ("deadlock", _) => Ok(in_sense(Formula::Deadlock)),
            ("is-fireable", _) => {
                let fireable = |part| Ok(Formula::fireable(self.net, self.transition(part)?));
                let choices = several(node)?.into_iter().map(fireable).collect::<Result<_, Diagnostic>>()?;
                Ok(in_sense(Formula::Any(choices)))
            }
            ("integer-le" | "integer-lt" | "integer-ge" | "integer-gt" | "integer-eq" | "integer-ne", _) => {
                Ok(in_sense(self.comparison(node)?))
            }
            _ => Err(not_coverability(
                node,
                &[
                    "`<conjunction>`",
                    "`<disjunction>`",
                    "`<negation>`",
                    "`<integer-le>`",
                    "`<is-fireable>`",
                    "`<deadlock>`",
                ],
            )),
        }
    }

    fn comparison(&self, node: Node<'_, '_>) -> Result<Formula, Diagnostic> {
        let sides = several(node)?;
        let [left, right] = sides.as_slice() else {
            return Err(Diagnostic::error("a comparison has two sides", span(node)));
        };
        let sign = match node.tag_name().name() {
            "integer-le" => "<=",
            "integer-lt" => "<",
            "integer-ge" => ">=",
            "integer-gt" => ">",
            "integer-eq" => "=",
            _ => "!=",
        };
        Ok(comparison(sign, &self.sum(*left, 0)?, &self.sum(*right, 0)?))
    }

    /// A side of a comparison.
    fn sum(&self, node: Node<'_, '_>, depth: usize) -> Result<Weighed, Diagnostic> {
        if depth > DEEPEST {
            return Err(too_deep(span(node)));
        }
        let mut sum = Weighed::default();
        match node.tag_name().name() {
            "integer-constant" => sum.constant = BigInt::from(constant(node)?.to_big()),
            "tokens-count" => sum.terms = self.places(node)?,
            "integer-sum" => {
                for part in several(node)? {
                    sum.add(&self.sum(part, depth + 1)?, 1);
                }
            }
            "integer-difference" => {
                for (number, part) in several(node)?.into_iter().enumerate() {
                    sum.add(&self.sum(part, depth + 1)?, if number == 0 { 1 } else { -1 });
                }
            }
            _ => return Err(not_coverability(node, &["`<tokens-count>`", "`<integer-constant>`"])),
        }
        Ok(sum)
    }

    /// The places in a node, each with the weight 1.
    pub(super) fn places(&self, node: Node<'_, '_>) -> Result<Vec<(PlaceId, BigInt)>, Diagnostic> {
        let place = |part: Node<'_, '_>| {
            let id = named(part, "place")?;
            let place = self.ids.places.get(id.as_str()).copied();
            let missing = || Diagnostic::error(format!("the net has no place `{id}`"), span(part));
            Ok((place.ok_or_else(missing)?, BigInt::from(1)))
        };
        several(node)?.into_iter().map(place).collect()
    }

    fn transition(&self, node: Node<'_, '_>) -> Result<TransitionId, Diagnostic> {
        let id = named(node, "transition")?;
        let transition = self.ids.transitions.get(id.as_str()).copied();
        transition.ok_or_else(|| Diagnostic::error(format!("the net has no transition `{id}`"), span(node)))
    }
}
