//! The forms in which most tools write PNML, read in one pass without a tree of the document.
//!
//! Pages of places, transitions and arcs with ids, names, markings and inscriptions; graphics and
//! tools' parts are passed over, except units of NUPN. At anything else, and at every mistake, this
//! reader gives up. The other one reads the document then, which knows all dialects, and says what
//! is wrong and where.

use super::nodes::Ids;
use super::xml::is_unsupported;
use palisade_model::net::{Arcs, Count, Net, OmegaCount, PlaceId, Problem, Query, TransitionId, normalize};
use rustc_hash::{FxBuildHasher, FxHashSet};
use smol_str::{SmolStr, format_smolstr};
use std::hash::BuildHasher;

/// Attributes of an element; more than anything usual has.
const MOST_ATTRIBUTES: usize = 8;

/// Reads a net, without a question, and how the document calls its nodes. Nothing where something
/// is not usual.
pub(super) fn read(name: &str, text: &str) -> Option<(Problem, Ids)> {
    let mut reader = Reader {
        tags: Tags { text, at: 0 },
        net: Net { name: name.to_owned(), ..Net::default() },
        ids: Ids::default(),
        names: FxHashSet::default(),
        taken: Vec::new(),
        units: Vec::new(),
    };
    reader.document()?;
    reader.finish()
}

/// The start of an element, or its end.
enum Tag<'a> {
    Start { name: &'a str, attributes: &'a str, is_empty: bool },
    End(&'a str),
}

/// The tags of a text, one after the other.
struct Tags<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tags<'a> {
    /// The next tag, with the text before it.
    fn next(&mut self) -> Option<(&'a str, Tag<'a>)> {
        loop {
            let rest = &self.text[self.at..];
            let open = rest.find('<')?;
            let (before, tag) = rest.split_at(open);
            let passed = match tag.as_bytes().get(1)? {
                b'?' => tag.find("?>")? + 2,
                b'!' if tag.starts_with("<!--") => tag.find("-->")? + 3,
                b'!' => return None,
                _ => {
                    let end = end_of(tag)?;
                    self.at += open + end + 1;
                    return Some((before, Self::tag(&tag[1..end])?));
                }
            };
            if !is_blank(before) {
                return None;
            }
            self.at += open + passed;
        }
    }

    /// What is between `<` and `>` as a tag.
    fn tag(inside: &'a str) -> Option<Tag<'a>> {
        if let Some(name) = inside.strip_prefix('/') {
            return Some(Tag::End(name.trim_end()));
        }
        let (inside, is_empty) = inside.strip_suffix('/').map_or((inside, false), |inside| (inside, true));
        let end = inside.find(|it: char| it.is_ascii_whitespace()).unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(end);
        is_usual(name).then_some(Tag::Start { name, attributes, is_empty })
    }

    /// The next tag, before which there is no text.
    fn next_alone(&mut self) -> Option<Tag<'a>> {
        self.next().filter(|(before, _)| is_blank(before)).map(|(_, tag)| tag)
    }
}

/// Where a tag ends: at a `>` that is in no value.
fn end_of(tag: &str) -> Option<usize> {
    let mut quote = None;
    tag.bytes().position(|byte| match quote {
        Some(mark) => {
            if byte == mark {
                quote = None;
            }
            false
        }
        None => {
            if byte == b'"' || byte == b'\'' {
                quote = Some(byte);
            }
            byte == b'>'
        }
    })
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

/// Whether a name is usual: without a prefix, for one.
fn is_usual(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_alphabetic()) && name.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// A text as it is meant, which is as it stands where nothing in it is escaped.
fn plain(text: &str) -> Option<&str> {
    (!text.bytes().any(|byte| matches!(byte, b'&' | b'\r' | b'<'))).then_some(text.trim())
}

/// Attributes by name: all of them, each once.
fn attributes(mut text: &str) -> Option<Vec<(&str, &str)>> {
    let mut found: Vec<(&str, &str)> = Vec::with_capacity(4);
    loop {
        let is_apart = text.starts_with(|it: char| it.is_ascii_whitespace());
        text = text.trim_ascii_start();
        if text.is_empty() {
            return Some(found);
        }
        let (name, rest) = text.split_once('=')?;
        let name = name.trim_ascii_end();
        let rest = rest.trim_ascii_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let (value, rest) = rest[1..].split_once(quote)?;
        let is_usual = is_usual(name) || name == "xmlns";
        let is_new = found.iter().all(|(other, _)| *other != name) && found.len() < MOST_ATTRIBUTES;
        let is_plain = value.bytes().all(|it| it >= b' ' && it != b'&' && it != b'<');
        if !is_apart || !is_usual || !is_new || !is_plain {
            return None;
        }
        found.push((name, value));
        text = rest;
    }
}

/// These attributes and no others, each there.
fn exactly<'a, const N: usize>(text: &'a str, names: [&str; N]) -> Option<[&'a str; N]> {
    let found = attributes(text)?;
    let value = |name: &str| found.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    let mut values = [""; N];
    for (own, name) in values.iter_mut().zip(names) {
        *own = value(name)?;
    }
    (found.len() == N).then_some(values)
}

struct Reader<'a> {
    tags: Tags<'a>,
    net: Net,
    ids: Ids,
    names: FxHashSet<SmolStr>,
    /// Hashes of the ids of nodes and arcs.
    taken: Vec<u64>,
    /// The places of each unit, by their ids.
    units: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Option<()> {
        let Tag::Start { name: "pnml", attributes: own, is_empty: false } = self.tags.next_alone()? else {
            return None;
        };
        attributes(own)?;
        let Tag::Start { name: "net", attributes: own, is_empty: false } = self.tags.next_alone()? else { return None };
        let found = attributes(own)?;
        let kind = found.iter().find(|(name, _)| *name == "type").map_or("", |(_, kind)| *kind);
        if is_unsupported(kind) {
            return None;
        }
        self.page("net")?;
        let Tag::End("pnml") = self.tags.next_alone()? else { return None };
        let rest = &self.tags.text[self.tags.at..];
        is_blank(rest).then_some(())
    }

    /// What is in a net or a page, up to its end.
    fn page(&mut self, own: &str) -> Option<()> {
        let mut open = vec![own];
        while let Some(inner) = open.last() {
            match self.tags.next_alone()? {
                Tag::End(name) if name == *inner => {
                    open.pop();
                }
                Tag::End(_) => return None,
                Tag::Start { name: "page", attributes: own, is_empty } => {
                    attributes(own)?;
                    if !is_empty {
                        open.push("page");
                    }
                }
                Tag::Start { name, attributes, is_empty } => self.part(name, attributes, is_empty)?,
            }
        }
        Some(())
    }

    fn part(&mut self, name: &'a str, attributes: &'a str, is_empty: bool) -> Option<()> {
        match name {
            "place" => {
                let [id] = exactly(attributes, ["id"])?;
                let [called, initial] = self.labels("place", ["name", "initialMarking"], is_empty)?;
                let name = self.unique_name(called.filter(|name| !name.is_empty()).unwrap_or(id), id);
                let place = self.net.add_place(name, OmegaCount::Finite(number(initial, 0)?));
                self.take(id);
                self.ids.places.insert(id.into(), place).is_none().then_some(())
            }
            "transition" => {
                let [id] = exactly(attributes, ["id"])?;
                let [called] = self.labels("transition", ["name"], is_empty)?;
                let name = called.filter(|name| !name.is_empty()).unwrap_or(id);
                let transition = self.net.add_transition(name, Vec::new(), Vec::new());
                self.take(id);
                self.ids.transitions.insert(id.into(), transition).is_none().then_some(())
            }
            "arc" => {
                let [id, source, target] = exactly(attributes, ["id", "source", "target"])?;
                let [weight] = self.labels("arc", ["inscription"], is_empty)?;
                let weight = number(weight, 1).filter(|weight| !weight.is_zero())?;
                self.take(id);
                self.arc(source, target, weight)
            }
            "name" | "graphics" => self.pass(name, is_empty),
            "toolspecific" => {
                let is_nupn = self::attributes(attributes)?.contains(&("tool", "nupn"));
                if is_nupn { self.units(is_empty) } else { self.pass(name, is_empty) }
            }
            _ => None,
        }
    }

    fn take(&mut self, id: &str) {
        self.taken.push(FxBuildHasher.hash_one(id));
    }

    fn arc(&mut self, source: &str, target: &str, weight: Count) -> Option<()> {
        let find = |place: &str, transition: &str| -> Option<(PlaceId, TransitionId)> {
            Some((*self.ids.places.get(place)?, *self.ids.transitions.get(transition)?))
        };
        let (arcs, place) = match find(source, target) {
            Some((place, transition)) => (&mut self.net.transitions[transition.index()].pre, place),
            None => {
                let (place, transition) = find(target, source)?;
                (&mut self.net.transitions[transition.index()].post, place)
            }
        };
        push(arcs, (place, weight));
        Some(())
    }

    /// The texts of labels in an element, each there once or not at all, up to the element's end.
    fn labels<const N: usize>(&mut self, own: &str, names: [&str; N], is_empty: bool) -> Option<[Option<&'a str>; N]> {
        let mut found = [None; N];
        if is_empty {
            return Some(found);
        }
        loop {
            match self.tags.next_alone()? {
                Tag::End(name) => return (name == own).then_some(found),
                Tag::Start { name: name @ ("graphics" | "toolspecific"), attributes, is_empty } => {
                    is_other_tool(attributes)?;
                    self.pass(name, is_empty)?;
                }
                Tag::Start { name, attributes, is_empty: false } => {
                    exactly(attributes, [])?;
                    let label = &mut found[names.iter().position(|label| *label == name)?];
                    if label.is_some() {
                        return None;
                    }
                    *label = Some(self.text(name)?);
                }
                Tag::Start { .. } => return None,
            }
        }
    }

    /// The text in a label, up to the label's end.
    fn text(&mut self, own: &str) -> Option<&'a str> {
        let mut found = None;
        loop {
            match self.tags.next_alone()? {
                Tag::End(name) => return found.filter(|_| name == own),
                Tag::Start { name: "text", attributes, is_empty: false } if found.is_none() => {
                    exactly(attributes, [])?;
                    let (text, Tag::End("text")) = self.tags.next()? else { return None };
                    found = Some(plain(text)?);
                }
                Tag::Start { name: name @ ("graphics" | "toolspecific"), attributes, is_empty } => {
                    is_other_tool(attributes)?;
                    self.pass(name, is_empty)?;
                }
                Tag::Start { .. } => return None,
            }
        }
    }

    /// Passes over an element.
    fn pass(&mut self, own: &'a str, is_empty: bool) -> Option<()> {
        let mut open = if is_empty { Vec::new() } else { vec![own] };
        while let Some(inner) = open.last() {
            let (text, tag) = self.tags.next()?;
            if text.contains('&') {
                return None;
            }
            match tag {
                Tag::End(name) if name == *inner => {
                    open.pop();
                }
                Tag::End(_) => return None,
                Tag::Start { name, attributes, is_empty } => {
                    is_other_tool(attributes)?;
                    if !is_empty {
                        open.push(name);
                    }
                }
            }
        }
        Some(())
    }

    /// The units of NUPN.
    fn units(&mut self, is_empty: bool) -> Option<()> {
        let mut open = if is_empty { Vec::new() } else { vec!["toolspecific"] };
        while let Some(inner) = open.last().copied() {
            let (text, tag) = self.tags.next()?;
            let text = plain(text)?;
            match tag {
                Tag::End(name) if name == inner => {
                    if name == "places" {
                        let is_of_unit = open.iter().rev().nth(1).is_some_and(|outer| *outer == "unit");
                        is_of_unit.then(|| self.units.push(text))?;
                    }
                    open.pop();
                }
                Tag::End(_) => return None,
                Tag::Start { name, attributes: own, is_empty } => {
                    attributes(own)?;
                    if inner == "places" {
                        return None;
                    }
                    match is_empty {
                        true if name == "places" => return None,
                        true => {}
                        false => open.push(name),
                    }
                }
            }
        }
        Some(())
    }

    /// The name where no other place has it, else with its id.
    fn unique_name(&mut self, name: &str, id: &str) -> SmolStr {
        let mut name = SmolStr::from(name);
        while !self.names.insert(name.clone()) {
            self.ids.namesakes.insert(name.clone());
            name = format_smolstr!("{name}#{id}");
        }
        name
    }

    /// The net, once all ids are known to be different.
    fn finish(self) -> Option<(Problem, Ids)> {
        let Self { mut net, ids, names, mut taken, units, .. } = self;
        drop(names);
        taken.sort_unstable();
        if taken.is_sorted_by(|one, other| one < other) {
            drop(taken);
        } else {
            return None;
        }
        for transition in &mut net.transitions {
            normalize(&mut transition.pre);
            normalize(&mut transition.post);
        }
        let places = |unit: &str| unit.split_whitespace().filter_map(|id| ids.places.get(id).copied()).collect();
        net.add_sound_units(units.into_iter().map(places));
        Some((Problem { net, query: Query::default() }, ids))
    }
}

/// Whether attributes are not those of a part of NUPN, whose units count wherever they stand.
fn is_other_tool(text: &str) -> Option<()> {
    (!attributes(text)?.contains(&("tool", "nupn"))).then_some(())
}

/// A number of tokens that is written in a few digits.
fn number(text: Option<&str>, default: u64) -> Option<Count> {
    const MOST_DIGITS: usize = 18;
    match text {
        None | Some("") => Some(default.into()),
        Some(digits) => {
            let is_number = digits.len() <= MOST_DIGITS && digits.bytes().all(|digit| digit.is_ascii_digit());
            is_number.then(|| digits.parse::<u64>().ok()).flatten().map(Count::from)
        }
    }
}

/// Adds an arc. Most transitions have few, and many transitions make much of a large net, so that
/// room is made for those alone that there are.
fn push(arcs: &mut Arcs, arc: (PlaceId, Count)) {
    if arcs.len() == arcs.capacity() {
        arcs.reserve_exact(arcs.len().max(1));
    }
    arcs.push(arc);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::pnml;

    /// A net as the contest writes it: a ring with a unit, pages, graphics, labels in other orders,
    /// and names that are used twice.
    const RING: &str = r#"<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<!-- A ring. -->
<net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet"><name><text>Ring</text></name><page id="p">
<place id="a"><name><graphics><offset x="0" y="-10"/></graphics><text>here</text></name>
  <initialMarking><text> 1 </text></initialMarking><graphics><position x="1" y="2"/></graphics></place>
<place id='b' ><name><text>there</text></name></place><place id="c"><name><text>here</text></name></place><place id="d"/>
<page id="q"><transition id="t"><name><text>go</text></name></transition>
<transition id="u"><toolspecific tool="other" version="1"><x>1 > 0</x></toolspecific></transition></page>
<arc id="1" source="a" target="t"/><arc id="2" source="t" target="b"><inscription><text>1</text></inscription></arc>
<arc id="3" source="b" target="u"></arc><arc id="4" source="u" target="a"/>
<arc id="5" source="c" target="u"><inscription><text>12</text></inscription></arc><arc id="6" source="d" target="u"/>
<arc id="7" source="u" target="d"/><arc id="8" source="u" target="d"/>
</page><toolspecific tool="nupn" version="1.1"><structure units="2" root="r" safe="true">
<unit id="r"><places/><subunits>s</subunits></unit><unit id="s"><places>a b</places><subunits/></unit></structure></toolspecific>
</net></pnml>
"#;

    /// What the other reader says, where this one says something.
    fn compare(text: &str) -> bool {
        let Some((problem, ids)) = read("ring", text) else { return false };
        let (other, other_ids) = pnml::read_any("ring", text).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
        assert_eq!(problem, other, "{text}");
        assert_eq!((ids.places, ids.transitions), (other_ids.places, other_ids.transitions), "{text}");
        assert_eq!(ids.namesakes, other_ids.namesakes, "{text}");
        true
    }

    #[test]
    fn usual_nets_are_read_as_by_the_other_reader() {
        let text = RING.replace("<places/>", "<places></places>");
        assert!(compare(&text));
        let (problem, _) = read("ring", &text).expect("it is usual");
        assert_eq!((problem.net.units.len(), problem.net.places.len(), problem.net.transitions.len()), (1, 4, 2));
    }

    #[test]
    fn at_what_is_not_usual_the_reader_gives_up() {
        let text = RING.replace("<places/>", "<places></places>");
        for (old, new) in [
            ("<text>go</text>", "<text>g&amp;o</text>"),
            ("id=\"t\"", "id=\"u\""),
            ("target=\"t\"", "target=\"x\""),
            ("target=\"t\"/>", "target=\"t\" type=\"inhibitor\"/>"),
            ("<text>12</text>", "<text>0</text>"),
            ("<text> 1 </text>", "<text>Default,1</text>"),
            ("<place id=\"d\"/>", "<place id=\"d\"><capacity><text>1</text></capacity></place>"),
            ("<place id=\"d\"/>", "<referencePlace id=\"d\" ref=\"a\"/>"),
            ("ptnet", "symmetricnet"),
            ("</net>", "</net><net id=\"2\"/>"),
            ("id=\"3\"", "id=\"4\""),
        ] {
            assert!(read("ring", &text.replace(old, new)).is_none(), "{old} as {new}");
        }
    }

    /// Whatever a change of one byte makes of a text, both readers take it for the same or this one
    /// gives up.
    #[test]
    fn damaged_nets_are_read_as_by_the_other_reader_or_not_at_all() {
        let text = RING.replace("<places/>", "<places></places>");
        let start = text.find("<pnml").expect("it is there");
        let mut read = 0;
        for position in start..text.len() {
            for byte in ["", "x", "\"", "<", ">", "/", " ", "&", "1", "="] {
                let changed = format!("{}{byte}{}", &text[..position], &text[position + 1..]);
                read += usize::from(compare(&changed));
            }
        }
        assert!(read > 1_000, "{read}");
    }
}
