//! Reader of Model Checking Contest queries (XML): `EF` and `AG` of conditions on markings,
//! combinations of these, and upper bounds. What lower bounds describe is a question of
//! coverability, anything else one of reachability.

use super::Asked;
use super::formula::{DEEPEST, Formula, Sense, Sum, too_deep};
use super::mcc_condition::Conditions;
use super::nodes::Ids;
use super::xml::{constant, elements, is, named, not_coverability, only_child, several, span, text_of};
use num_bigint::BigInt;
use palisade_model::net::{
    AskedOf, Claim, Count, LinearBound, Net, Property, Quantifier, Query, Question, ReachQuestion, TransitionId,
    UpperBound, WhichQuestion,
};
use palisade_model::text::Diagnostic;
use roxmltree::{Document, Node};
use rustc_hash::FxHashSet;

/// Reads the property of that id, or the only one, as a question of coverability. What is none may
/// be one of reachability, where that is asked for.
pub(super) fn read(
    text: &str,
    property: Option<&str>,
    net: &Net,
    ids: &Ids,
    may_reach: bool,
) -> Result<Asked, Vec<Diagnostic>> {
    let reader = Reader { net, ids };
    read_chosen(text, property, |formula, which| {
        let asked = reader.cover_question(formula, which);
        if may_reach
            && !matches!(asked, Ok(Some(_)))
            && let Ok(Some(question)) = reader.reach_question(formula, which)
        {
            return Ok(Some(Asked::Reach(question)));
        }
        Ok(asked?.map(|(query, quantifier)| Asked::Cover(query, quantifier)))
    })
}

/// Reads the property of that id, or the only one, as a question of reachability, called as
/// evidence calls it: `ID#2`, `ID>=3`.
pub(super) fn read_reach(
    text: &str,
    property: Option<&str>,
    net: &Net,
    ids: &Ids,
) -> Result<ReachQuestion, Vec<Diagnostic>> {
    let reader = Reader { net, ids };
    read_chosen(text, property, |formula, which| reader.reach_question(formula, which))
}

/// Reads the formula of the property of that id, or of the only one, or a question of it; nothing
/// is read where there is no such question.
fn read_chosen<T>(
    text: &str,
    property: Option<&str>,
    read: impl FnOnce(Node<'_, '_>, &WhichQuestion) -> Result<Option<T>, Diagnostic>,
) -> Result<T, Vec<Diagnostic>> {
    let complain = |complaint| vec![complaint];
    let document = super::xml::parse(text).map_err(complain)?;
    let is_an_id = |id: &str| document.descendants().any(|node| is(node, "id") && text_of(node) == id);
    let (id, which) = match property {
        Some(name) if !is_an_id(name) => {
            let (id, which) = WhichQuestion::of(name);
            (Some(id), which)
        }
        property => (property, WhichQuestion::Only),
    };
    let formula = choose(&document, id).map_err(complain)?;
    read(formula, &which).map_err(complain)?.ok_or_else(|| {
        let name = property.unwrap_or_default();
        vec![Diagnostic::error(format!("there is no question `{name}` of this kind"), span(formula))]
    })
}

/// Reads all properties, each as far as it is about coverability.
pub(super) fn read_all(text: &str, net: &Net, ids: &Ids) -> Result<Vec<Property>, Vec<Diagnostic>> {
    let complain = |complaint| vec![complaint];
    let document = super::xml::parse(text).map_err(complain)?;
    let reader = Reader { net, ids };
    let property = |node: Node<'_, '_>| {
        let id = child(node, "id").map_or(String::new(), text_of);
        let missing = || Diagnostic::error("the property has no formula", span(node));
        let claim = child(node, "formula").map_or_else(|| Claim::Open(missing()), |formula| reader.claim(formula));
        Property { id, claim }
    };
    let properties: Vec<Property> = document.descendants().filter(|node| is(*node, "property")).map(property).collect();
    if properties.is_empty() {
        let root = span(document.root_element());
        let complaint = Diagnostic::error("the file holds no property", root).with_expected(["`<property>`"]);
        return Err(vec![complaint]);
    }
    let nodes = document.descendants().filter(|node| is(*node, "property"));
    let mut known = FxHashSet::default();
    for (property, node) in properties.iter().zip(nodes) {
        if property.id.is_empty() {
            return Err(complain(Diagnostic::error("the property has no id", span(node)).with_expected(["`<id>`"])));
        }
        if !known.insert(&property.id) {
            return Err(complain(used_twice(&property.id, node)));
        }
    }
    Ok(properties)
}

fn used_twice(id: &str, second: Node<'_, '_>) -> Diagnostic {
    Diagnostic::error(format!("the property id `{id}` is used twice"), span(second))
}

fn choose<'a>(document: &'a Document<'a>, property: Option<&str>) -> Result<Node<'a, 'a>, Diagnostic> {
    let properties: Vec<Node<'_, '_>> = document.descendants().filter(|node| is(*node, "property")).collect();
    let root = span(document.root_element());
    let id_of = |node: &Node<'a, 'a>| child(*node, "id").map_or(String::new(), text_of);
    let chosen = match (property, properties.as_slice()) {
        (Some(id), all) => {
            let mut named = all.iter().filter(|node| id_of(node) == id);
            let first = named.next().ok_or_else(|| {
                let message = format!("there is no property `{id}` in this file");
                expecting_ids(Diagnostic::error(message, root), all.iter().map(id_of))
            })?;
            if let Some(second) = named.next() {
                return Err(used_twice(id, *second));
            }
            first
        }
        (None, [only]) => only,
        (None, []) => return Err(Diagnostic::error("the file holds no property", root).with_expected(["`<property>`"])),
        (None, many) => {
            let message = format!("the file holds {} properties: choose one with `--property ID`", many.len());
            return Err(expecting_ids(Diagnostic::error(message, root), many.iter().map(id_of)));
        }
    };
    child(*chosen, "formula")
        .ok_or_else(|| Diagnostic::error("the property has no formula", span(*chosen)).with_expected(["`<formula>`"]))
}

/// Adds the ids that there are.
fn expecting_ids(complaint: Diagnostic, ids: impl Iterator<Item = String>) -> Diagnostic {
    let ids: Vec<String> = ids.map(|id| format!("`{id}`")).collect();
    complaint.with_expected(ids)
}

#[derive(Clone, Copy)]
struct Reader<'n> {
    net: &'n Net,
    ids: &'n Ids,
}

impl Reader<'_> {
    /// A formula, or a question of it, as one of coverability.
    fn cover_question(
        &self,
        formula: Node<'_, '_>,
        which: &WhichQuestion,
    ) -> Result<Option<(Query, Quantifier)>, Diagnostic> {
        match which {
            WhichQuestion::Only => self.question(formula).map(Some),
            WhichQuestion::Number(number) => match self.claim(formula).questions().get(number - 1) {
                Some(AskedOf::Cover(question)) => Ok(Some((question.query.clone(), question.quantifier))),
                _ => Ok(None),
            },
            WhichQuestion::AtLeast(_) => Ok(None),
        }
    }

    /// A formula, or a question of it, as one of reachability.
    fn reach_question(
        &self,
        formula: Node<'_, '_>,
        which: &WhichQuestion,
    ) -> Result<Option<ReachQuestion>, Diagnostic> {
        if *which != WhichQuestion::Only {
            return Ok(self.claim(formula).reach_question(which));
        }
        let (condition, quantifier, is_negated) = only_path(formula)?;
        let goal = self.conditions().goal(condition, Sense::of(quantifier), 0)?;
        Ok(Some(ReachQuestion { quantifier: if is_negated { quantifier.contrary() } else { quantifier }, goal }))
    }

    /// What a formula says, as far as that is about coverability.
    fn claim(&self, formula: Node<'_, '_>) -> Claim {
        only_child(formula).map_or_else(Claim::Open, |path| self.state_claim(path, 0))
    }

    /// What a formula about the initial state says: combinations of `EF` and `AG`.
    fn state_claim(&self, node: Node<'_, '_>, depth: usize) -> Claim {
        if depth > DEEPEST {
            return Claim::Open(too_deep(span(node)));
        }
        let parts = || -> Result<Vec<Claim>, Diagnostic> {
            Ok(several(node)?.into_iter().map(|part| self.state_claim(part, depth + 1)).collect())
        };
        match node.tag_name().name() {
            "negation" => match only_child(node) {
                Ok(part) => Claim::Not(Box::new(self.state_claim(part, depth + 1))),
                Err(complaint) => Claim::Open(complaint),
            },
            "conjunction" => parts().map_or_else(Claim::Open, Claim::All),
            "disjunction" => parts().map_or_else(Claim::Open, Claim::Any),
            "place-bound" if depth == 0 => self.bound(node).map_or_else(Claim::Open, Claim::Bound),
            _ => match path(node) {
                Ok((quantifier, condition)) => self.path_claim(condition, quantifier).unwrap_or_else(Claim::Open),
                Err(complaint) => Claim::Open(complaint),
            },
        }
    }

    /// How many tokens places hold together at most.
    fn bound(&self, node: Node<'_, '_>) -> Result<UpperBound, Diagnostic> {
        let terms = self.conditions().places(node)?;
        Ok(UpperBound { terms: LinearBound::new(terms, BigInt::ZERO).terms })
    }

    fn conditions(&self) -> Conditions<'_> {
        Conditions { net: self.net, ids: self.ids }
    }

    /// What `EF` or `AG` of a condition says.
    fn path_claim(&self, node: Node<'_, '_>, quantifier: Quantifier) -> Result<Claim, Diagnostic> {
        let sense = Sense::of(quantifier);
        if let Ok(query) = self.query(node, sense) {
            return Ok(Claim::Question(Question { quantifier, query }));
        }
        let goal = self.conditions().goal(node, sense, 0)?;
        Ok(Claim::Reach(ReachQuestion { quantifier, goal }))
    }

    /// The targets of a condition in a sense.
    fn query(&self, condition: Node<'_, '_>, sense: Sense) -> Result<Query, Diagnostic> {
        let formula = self.formula(condition, sense, 0)?;
        formula.query().ok_or_else(|| Diagnostic::error("the formula has too many alternatives", span(condition)))
    }

    fn question(&self, formula: Node<'_, '_>) -> Result<(Query, Quantifier), Diagnostic> {
        let (condition, quantifier, is_negated) = only_path(formula)?;
        let query = self.query(condition, Sense::of(quantifier))?;
        Ok((query, if is_negated { quantifier.contrary() } else { quantifier }))
    }

    fn formula(&self, node: Node<'_, '_>, sense: Sense, depth: usize) -> Result<Formula, Diagnostic> {
        if depth > DEEPEST {
            return Err(too_deep(span(node)));
        }
        let parts = || -> Result<Vec<Formula>, Diagnostic> {
            several(node)?.into_iter().map(|part| self.formula(part, sense, depth + 1)).collect()
        };
        match node.tag_name().name() {
            "conjunction" => Ok(sense.all(parts()?)),
            "disjunction" => Ok(sense.any(parts()?)),
            "negation" => self.formula(only_child(node)?, sense.negated(), depth + 1),
            "true" => Ok(sense.constant(true)),
            "false" => Ok(sense.constant(false)),
            "is-fireable" if sense == Sense::Negated => {
                Err(Diagnostic::error(sense.no_lower_bound(), span(node)).with_expected(["`<negation>` around it"]))
            }
            "is-fireable" => {
                let mut choices = Vec::new();
                for part in several(node)? {
                    let fireable = Formula::fireable(self.net, self.transition(part)?);
                    choices.push(fireable.ok_or_else(|| Diagnostic::error(sense.no_lower_bound(), span(part)))?);
                }
                Ok(Formula::Any(choices))
            }
            "integer-le" => self.comparison(node, sense),
            _ => Err(not_coverability(
                node,
                &["`<conjunction>`", "`<disjunction>`", "`<negation>`", "`<integer-le>`", "`<is-fireable>`"],
            )),
        }
    }

    /// `left ≤ right`.
    fn comparison(&self, node: Node<'_, '_>, sense: Sense) -> Result<Formula, Diagnostic> {
        let sides = several(node)?;
        let [left, right] = sides.as_slice() else {
            return Err(Diagnostic::error("a comparison has two sides", span(node)));
        };
        let (low, high) = (self.sum(*left)?, self.sum(*right)?);
        sense.at_most(low, high, false).ok_or_else(|| {
            let (side, expected) = match sense {
                Sense::Plain => (left, "`<integer-constant>` on the left"),
                Sense::Negated => (right, "`<integer-constant>` on the right"),
            };
            Diagnostic::error(sense.no_lower_bound(), span(*side)).with_expected([expected])
        })
    }

    /// A side of a comparison.
    fn sum(&self, node: Node<'_, '_>) -> Result<Sum, Diagnostic> {
        if is(node, "integer-constant") {
            return Ok(Sum { terms: Vec::new(), constant: constant(node)? });
        }
        if !is(node, "tokens-count") {
            return Err(not_coverability(node, &["`<tokens-count>`", "`<integer-constant>`"]));
        }
        let mut terms = Vec::new();
        for part in several(node)? {
            let id = named(part, "place")?;
            let place = self.ids.places.get(id.as_str()).copied();
            let missing = || Diagnostic::error(format!("the net has no place `{id}`"), span(part));
            terms.push((place.ok_or_else(missing)?, Count::ONE));
        }
        Ok(Sum { terms, constant: Count::ZERO })
    }

    fn transition(&self, node: Node<'_, '_>) -> Result<TransitionId, Diagnostic> {
        let id = named(node, "transition")?;
        let transition = self.ids.transitions.get(id.as_str()).copied();
        transition.ok_or_else(|| Diagnostic::error(format!("the net has no transition `{id}`"), span(node)))
    }
}

/// The condition that a formula without combinations is about, how it is put, and whether it is
/// negated.
fn only_path<'a>(formula: Node<'a, 'a>) -> Result<(Node<'a, 'a>, Quantifier, bool), Diagnostic> {
    let mut node = only_child(formula)?;
    let mut is_negated = false;
    while is(node, "negation") {
        node = only_child(node)?;
        is_negated = !is_negated;
    }
    let (quantifier, condition) = path(node)?;
    Ok((condition, quantifier, is_negated))
}

/// `EF` or `AG`, and the condition that it is about.
fn path<'a>(node: Node<'a, 'a>) -> Result<(Quantifier, Node<'a, 'a>), Diagnostic> {
    let (quantifier, operator) = match node.tag_name().name() {
        "exists-path" => (Quantifier::Eventually, "finally"),
        "all-paths" => (Quantifier::Always, "globally"),
        _ => return Err(not_coverability(node, &["`<exists-path>`", "`<all-paths>`"])),
    };
    let states = only_child(node)?;
    if !is(states, operator) {
        return Err(not_coverability(states, &[&format!("`<{operator}>`")]));
    }
    Ok((quantifier, only_child(states)?))
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    elements(node).find(|child| is(*child, name))
}
