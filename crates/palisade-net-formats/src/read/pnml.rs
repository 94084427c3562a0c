//! Reader of PNML place/transition nets (ISO/IEC 15909-2), lenient about namespaces and older
//! dialects.
//!
//! Pages are flattened, reference nodes resolved, graphics and tool-specific parts left aside,
//! except that units of NUPN become units where the reader finds that each always holds exactly one
//! token. Inhibitor arcs are read as TAPAAL and PIPE write them. Reset and other special arcs,
//! capacities, priorities, time, and nets of other types, are named and refused.

use super::nodes::Ids;
use super::pnml_usual;
use super::xml::{count, is_unsupported, span, text_of};
use palisade_model::net::{Arcs, Count, Inhibitor, Net, OmegaCount, PlaceId, Problem, Query, TransitionId};
use palisade_model::ordered;
use palisade_model::text::Diagnostic;
use roxmltree::Node;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};

/// After so many complaints reading stops.
const MANY: usize = 20;

/// Reads a net, without a question, and how the document calls its nodes.
pub(super) fn read(name: &str, text: &str) -> Result<(Problem, Ids), Vec<Diagnostic>> {
    pnml_usual::read(name, text).map_or_else(|| read_any(name, text), Ok)
}

/// The same for texts of any dialect.
pub(super) fn read_any(name: &str, text: &str) -> Result<(Problem, Ids), Vec<Diagnostic>> {
    let document = super::xml::parse(text).map_err(|complaint| vec![complaint])?;
    let nets: Vec<Node<'_, '_>> = document.root_element().children().filter(|node| is(*node, "net")).collect();
    let root = span(document.root_element());
    let net = match nets.as_slice() {
        [net] => *net,
        [] => return Err(vec![Diagnostic::error("the document holds no net", root).with_expected(["`<net>`"])]),
        [_, second, ..] => return Err(vec![Diagnostic::error("the document holds more than one net", span(*second))]),
    };
    let kind = net.attribute("type").unwrap_or("");
    if is_unsupported(kind) {
        let message = format!("nets of type `{kind}` are not supported");
        return Err(vec![Diagnostic::error(message, span(net)).with_expected(["a place/transition net"])]);
    }
    let mut reader = Reader::new(name);
    reader.nodes(net);
    reader.resolve_references();
    reader.arcs(net);
    if reader.complaints.is_empty() {
        let (net, ids) = reader.finish(net);
        Ok((Problem { net, query: Query::default() }, ids))
    } else {
        ordered::sort_by_key(&mut reader.complaints, |complaint| complaint.span.start);
        reader.complaints.truncate(MANY);
        Err(reader.complaints)
    }
}

struct Reader<'a> {
    net: Net,
    ids: Ids,
    /// The ids of nodes and arcs.
    taken: FxHashSet<&'a str>,
    /// Reference nodes: their id and what they refer to.
    references: Vec<(Node<'a, 'a>, &'a str, &'a str)>,
    /// The priority of the first transition that has one.
    priority: Option<String>,
    names: FxHashSet<SmolStr>,
    pre: Vec<Arcs>,
    post: Vec<Arcs>,
    transition_names: Vec<String>,
    complaints: Vec<Diagnostic>,
}

/// An end of an arc.
enum End {
    Place(PlaceId),
    Transition(usize),
}

impl<'a> Reader<'a> {
    fn new(name: &str) -> Self {
        Self {
            net: Net { name: name.to_owned(), ..Net::default() },
            ids: Ids::default(),
            taken: FxHashSet::default(),
            references: Vec::new(),
            priority: None,
            names: FxHashSet::default(),
            pre: Vec::new(),
            post: Vec::new(),
            transition_names: Vec::new(),
            complaints: Vec::new(),
        }
    }

    fn nodes(&mut self, net: Node<'a, 'a>) {
        for node in parts(net) {
            let kind = node.tag_name().name();
            if !["place", "transition", "referencePlace", "referenceTransition"].contains(&kind) {
                if !is_arc(node) && node.has_attribute("source") && node.has_attribute("target") {
                    self.complain(node, format!("arcs of the kind `<{kind}>` are not supported"));
                }
                continue;
            }
            let Some(id) = node.attribute("id") else {
                self.complain(node, format!("a {kind} without `id`"));
                continue;
            };
            if !self.taken.insert(id) {
                self.complain(node, format!("the id `{id}` is used twice"));
                continue;
            }
            if let Some(what) = extension(node) {
                self.complain(node, format!("{what} is not supported: this is no place/transition net"));
            }
            match kind {
                "place" => {
                    let name = self.unique_name(node, id);
                    let initial = self.number(node, "initialMarking", "initialMarking", Count::ZERO);
                    let place = self.net.add_place(name, OmegaCount::Finite(initial));
                    self.ids.places.insert(id.into(), place);
                }
                "transition" => {
                    self.check_priority(node);
                    let index = self.transition_names.len();
                    self.transition_names.push(name_of(node).unwrap_or_else(|| id.to_owned()));
                    self.ids.transitions.insert(id.into(), TransitionId::from_index(index));
                    self.pre.push(Vec::new());
                    self.post.push(Vec::new());
                }
                _ => match node.attribute("ref") {
                    Some(target) => self.references.push((node, id, target)),
                    None => self.complain(node, format!("a {kind} without `ref`")),
                },
            }
        }
    }

    /// Priorities mean nothing while all transitions have the same.
    fn check_priority(&mut self, node: Node<'a, 'a>) {
        let Some(priority) = node.children().find(|child| is(*child, "priority")).map(text_of) else { return };
        if *self.priority.get_or_insert_with(|| priority.clone()) != priority {
            self.complain(node, "priorities are not supported: this is no place/transition net".to_owned());
        }
    }

    /// Gives reference nodes the meaning of the nodes that they stand for.
    fn resolve_references(&mut self) {
        let references = std::mem::take(&mut self.references);
        let targets: FxHashMap<&str, &str> = references.iter().map(|(_, id, target)| (*id, *target)).collect();
        for (node, id, first) in references {
            let mut target = first;
            // As many steps as there are references lead out of any chain that is no circle.
            for _ in 0..targets.len() {
                let Some(next) = targets.get(target) else { break };
                target = next;
            }
            let place = self.ids.places.get(target).copied().filter(|_| is(node, "referencePlace"));
            let transition = self.ids.transitions.get(target).copied().filter(|_| is(node, "referenceTransition"));
            if let Some(place) = place {
                self.ids.places.insert(id.into(), place);
            } else if let Some(transition) = transition {
                self.ids.transitions.insert(id.into(), transition);
            } else {
                let kind = if is(node, "referencePlace") { "place" } else { "transition" };
                self.complain(node, format!("`{id}` refers to `{first}`, which leads to no {kind}"));
            }
        }
    }

    fn arcs(&mut self, net: Node<'a, 'a>) {
        for arc in parts(net).filter(|node| is_arc(*node)) {
            if let Some(id) = arc.attribute("id")
                && !self.taken.insert(id)
            {
                self.complain(arc, format!("the id `{id}` is used twice"));
                continue;
            }
            let special = special_kind(arc);
            let inhibits = is(arc, INHIBITOR_ARC) || special.as_deref() == Some("inhibitor");
            if let Some(kind) = special.filter(|_| !inhibits) {
                self.complain(arc, format!("{kind} arcs are not supported"));
                continue;
            }
            if let Some(what) = extension(arc) {
                self.complain(arc, format!("{what} is not supported: this is no place/transition net"));
                continue;
            }
            let weight = self.number(arc, "inscription", "weight", Count::ONE);
            if weight.is_zero() {
                self.complain(arc, "an arc of weight 0".to_owned());
                continue;
            }
            match (self.end(arc, "source"), self.end(arc, "target")) {
                (Some(End::Place(place)), Some(End::Transition(index))) if inhibits => {
                    let transition = TransitionId::from_index(index);
                    self.net.inhibitors.push(Inhibitor { transition, place, count: weight });
                }
                (Some(_), Some(_)) if inhibits => {
                    self.complain(arc, "an inhibitor arc has to lead from a place to a transition".to_owned());
                }
                (Some(End::Place(place)), Some(End::Transition(index))) => self.pre[index].push((place, weight)),
                (Some(End::Transition(index)), Some(End::Place(place))) => self.post[index].push((place, weight)),
                (Some(_), Some(_)) => {
                    self.complain(arc, "an arc has to join a place and a transition".to_owned());
                }
                _ => {}
            }
        }
    }

    /// The net with its transitions, and with those units of the NUPN extension that are sound
    /// here.
    fn finish(self, document: Node<'a, 'a>) -> (Net, Ids) {
        let Self { mut net, ids, pre, post, transition_names, .. } = self;
        for (name, (pre, post)) in transition_names.into_iter().zip(pre.into_iter().zip(post)) {
            net.add_transition(name, pre, post);
        }
        let units = document
            .descendants()
            .filter(|node| is(*node, "toolspecific") && node.attribute("tool") == Some("nupn"))
            .flat_map(|tool| tool.descendants().filter(|node| is(*node, "unit")))
            .filter_map(|unit| unit.children().find(|node| is(*node, "places")));
        net.add_sound_units(
            units.map(|places| {
                text_of(places).split_whitespace().filter_map(|id| ids.places.get(id).copied()).collect()
            }),
        );
        (net, ids)
    }

    fn end(&mut self, arc: Node<'a, 'a>, side: &str) -> Option<End> {
        let Some(id) = arc.attribute(side) else {
            self.complain(arc, format!("an arc without `{side}`"));
            return None;
        };
        if let Some(place) = self.ids.places.get(id) {
            return Some(End::Place(*place));
        }
        if let Some(transition) = self.ids.transitions.get(id) {
            return Some(End::Transition(transition.index()));
        }
        self.complain(arc, format!("the arc's {side} `{id}` is neither a place nor a transition"));
        None
    }

    /// The number in a child's `text` (or `value`), as `3` or `Default,3`, or in an attribute.
    fn number(&mut self, node: Node<'a, 'a>, label: &str, attribute: &str, default: Count) -> Count {
        let mut labels = node.children().filter(|child| is(*child, label));
        let content = labels.next().map(content_of);
        if let Some(second) = labels.next() {
            self.complain(second, format!("`<{label}>` is given twice"));
        }
        let text = match content {
            Some(content) => text_of(content),
            None => node.attribute(attribute).unwrap_or("").trim().to_owned(),
        };
        if text.is_empty() {
            return default;
        }
        // Of coloured tokens one colour at most is an uncoloured net.
        let number = match text.split_once(',') {
            Some((_, number)) => number.trim(),
            None => text.as_str(),
        };
        count(number).unwrap_or_else(|| {
            let message = format!("`{text}` is not a number of tokens");
            self.complaints
                .push(Diagnostic::error(message, span(content.unwrap_or(node))).with_expected(["a natural number"]));
            default
        })
    }

    /// The node's name where no other place has it, else its id.
    fn unique_name(&mut self, node: Node<'a, 'a>, id: &str) -> SmolStr {
        let mut name = name_of(node).map_or_else(|| id.into(), SmolStr::from);
        while !self.names.insert(name.clone()) {
            self.ids.namesakes.insert(name.clone());
            name = format_smolstr!("{name}#{id}");
        }
        name
    }

    fn complain(&mut self, node: Node<'a, 'a>, message: String) {
        self.complaints.push(Diagnostic::error(message, span(node)));
    }
}

fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// The nodes and arcs of a net, those inside pages included, tool-specific parts left out.
fn parts<'a>(net: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    let mut pending: Vec<Node<'a, 'a>> = vec![net];
    std::iter::from_fn(move || {
        loop {
            let node = pending.pop()?;
            if is(node, "net") || is(node, "page") {
                pending.extend(node.children().rev().filter(Node::is_element));
            } else {
                return Some(node);
            }
        }
    })
}

fn name_of(node: Node<'_, '_>) -> Option<String> {
    let name = node.children().find(|child| is(*child, "name"))?;
    let text = text_of(content_of(name));
    (!text.is_empty()).then_some(text)
}

/// Where the text of a label is.
fn content_of<'a>(label: Node<'a, 'a>) -> Node<'a, 'a> {
    label.children().find(|child| is(*child, "text") || is(*child, "value")).unwrap_or(label)
}

/// What a node or arc has that place/transition nets have not, in the dialects that have it.
fn extension(node: Node<'_, '_>) -> Option<&'static str> {
    let child = |name: &str| node.children().find(|child| is(*child, name)).map(|child| text_of(content_of(child)));
    let other_than = |text: Option<String>, without: &[&str]| {
        text.is_some_and(|text| !without.contains(&text.split_whitespace().collect::<String>().as_str()))
    };
    let attribute = |name: &str| node.attribute(name).map(str::to_owned);
    if other_than(child("capacity"), &["", "0"]) {
        Some("a capacity")
    } else if other_than(attribute("invariant"), &["", "<inf"])
        || other_than(attribute("urgent"), &["", "false"])
        || other_than(child("delay"), &["", "0infty"])
        || is(node, "arc") && other_than(attribute("inscription"), &["", "1", "[0,inf)"])
    {
        Some("time")
    } else {
        None
    }
}

/// The element that some tools have for inhibitor arcs.
const INHIBITOR_ARC: &str = "inhibitorArc";

fn is_arc(node: Node<'_, '_>) -> bool {
    is(node, "arc") || is(node, INHIBITOR_ARC)
}

/// The kind of an arc that takes or puts tokens otherwise than by its weight.
fn special_kind(arc: Node<'_, '_>) -> Option<String> {
    let by_attribute = arc.attribute("type").map(str::to_owned);
    let by_child = arc
        .children()
        .find(|child| is(*child, "type") || is(*child, "arctype"))
        .map(|child| child.attribute("value").map_or_else(|| text_of(child), str::to_owned));
    by_attribute.or(by_child).filter(|kind| !["", "normal", "timed"].contains(&kind.as_str()))
}
