//! Reader of mist's `.spec`: guarded commands over counters.
//!
//! A rule `p >= k -> p' = p - s` takes `k` and puts `k − s` back, so a guard above the subtraction
//! is a read arc. Line breaks mean nothing; a constraint list that follows another without a comma
//! is a further alternative of the target. Only what is a place/transition net with an
//! upward-closed target is accepted: tests for zero, resets and transfers are named and refused.

use super::lexer::{Kind, Lexer};
use super::lexicon::{Bytes, Lexicon, Signs};
use super::names::Names;
use super::usual;
use palisade_model::net::{Arcs, Count, Net, OmegaCount, PlaceId, Problem, Query, Target, Transition, normalize};
use palisade_model::text::Diagnostic;

static LEXICON: Lexicon = Lexicon::new(Signs {
    operators: &["->", "-", ">=", ">", "<=", "<", "=", ",", ";", "'", "+", "[", "]"],
    comments: &[("#", b'\n')],
    starts_word: Bytes::LETTERS.or(Bytes::of(b"_")),
    continues_word: Bytes::LETTERS.or(Bytes::DIGITS).or(Bytes::of(b"_")),
    lines: false,
});

/// Whether the word means something, so that it cannot name a place.
pub(crate) fn is_keyword(word: &str) -> bool {
    matches!(word, "vars" | "rules" | "init" | "target" | "invariants" | "true" | "in")
}

/// About so many bytes make a rule; how many rules come is guessed from it.
const USUAL_RULE: usize = 128;

/// After so many complaints reading stops.
const MANY: usize = 20;

/// Reads a net with its target.
pub(super) fn read(name: &str, text: &str) -> Result<Problem, Vec<Diagnostic>> {
    let mut reader = Reader {
        lexer: Lexer::new(text, &LEXICON),
        net: Net { name: name.to_owned(), ..Net::default() },
        places: Names::default(),
        updated_in: Vec::new(),
        complaints: Vec::new(),
    };
    let query = reader.sections();
    let Reader { net, mut complaints, .. } = reader;
    match query {
        Ok(query) if complaints.is_empty() => Ok(Problem { net, query }),
        Ok(_) => Err(complaints),
        Err(complaint) => {
            complaints.push(complaint);
            Err(complaints)
        }
    }
}

/// What the text says of a place: of a lower bound no more than that it is one, of `in [a, b]` the
/// upper end.
enum Relation {
    AtLeast,
    Equal(Count),
    UpTo(Count),
}

/// What stands for a place that is not declared. That has been complained about, so the net will
/// not be used.
const UNDECLARED: PlaceId = PlaceId(u32::MAX);

struct Reader<'a> {
    lexer: Lexer<'a>,
    net: Net,
    places: Names<'a>,
    /// Per place, how many rules stand before the last one that updates it, and one; 0 when none
    /// does.
    updated_in: Vec<usize>,
    complaints: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn sections(&mut self) -> Result<Query, Diagnostic> {
        self.keyword("vars")?;
        self.variables()?;
        self.keyword("rules")?;
        self.updated_in = vec![0; self.net.places.len()];
        self.net.transitions.reserve(self.lexer.rest().len() / USUAL_RULE);
        let mut rule = Rule::default();
        while !self.lexer.at_word("init") {
            self.rule(&mut rule)?;
        }
        self.keyword("init")?;
        self.initial()?;
        self.keyword("target")?;
        let query = self.targets()?;
        if self.lexer.take_word("invariants") {
            self.invariants()?;
        }
        match self.lexer.peek().kind {
            Kind::End => Ok(query),
            _ => Err(self.lexer.unexpected(&["`invariants`", "the end of the text"])),
        }
    }

    fn variables(&mut self) -> Result<(), Diagnostic> {
        loop {
            let token = self.lexer.peek();
            if token.kind != Kind::Word || token.text == "rules" {
                return if token.kind == Kind::Word {
                    Ok(())
                } else {
                    Err(self.lexer.unexpected(&["a place", "`rules`"]))
                };
            }
            if is_keyword(token.text) {
                return Err(Diagnostic::error(
                    format!("`{}` is a keyword and cannot name a place", token.text),
                    token.span,
                )
                .with_expected(["a place", "`rules`"]));
            }
            self.lexer.advance();
            if self.places.get(token.text).is_some() {
                self.complain(Diagnostic::error(format!("place `{}` is declared twice", token.text), token.span))?;
            } else {
                let id = self.net.add_place(token.text, OmegaCount::Finite(Count::ZERO));
                self.places.insert(token.text, id);
            }
        }
    }

    /// A rule, in vectors that held another rule.
    fn rule(&mut self, Rule { guards, updates, post }: &mut Rule) -> Result<(), Diagnostic> {
        guards.clear();
        loop {
            if !self.usual_bound(guards) && !self.lexer.take_word("true") {
                self.bound(guards, &["a place", "`true`", "`init`"], "a rule's guard")?;
            }
            if !self.comma() {
                break;
            }
        }
        self.lexer.operator("->", &["`,`", "`->`"])?;
        strongest(guards);
        normalize(guards);
        updates.clear();
        if !self.lexer.take_operator(";") {
            loop {
                self.update(guards, updates)?;
                if !self.comma() {
                    break;
                }
            }
            self.lexer.operator(";", &["`,`", "`;`"])?;
        }
        updates.sort_unstable_by_key(|(place, _)| *place);
        post.clear();
        put(guards, updates, post);
        let name = self.net.next_transition_name();
        self.net.transitions.push(Transition { name, pre: fitted(guards), post: fitted(post) });
        Ok(())
    }

    /// `p' = p`, `p' = p + k` or `p' = p − k`: notes what it leaves on the place.
    fn update(&mut self, guards: &Arcs, updates: &mut Arcs) -> Result<(), Diagnostic> {
        if let Some((said, adds)) = usual::change(self.lexer.rest_bytes())
            && let Some(place) = self.places.get_short(said.name)
        {
            let name = &self.lexer.rest()[..said.name_length];
            self.lexer.skip(said.length);
            let held = asked(guards, place);
            let left = if adds { Some(held.plus(&said.count)) } else { held.minus(&said.count) };
            return self.leave(place, name, left.ok_or(said.count), updates);
        }
        match self.unusual_update()? {
            Some(Change { place, name, plus, minus }) => {
                let left = asked(guards, place).plus(&plus).minus(&minus);
                self.leave(place, name, left.ok_or_else(|| minus.saturating_minus(&plus)), updates)
            }
            None => Ok(()),
        }
    }

    /// Notes what an update leaves on its place; where it takes more than is there, `left` is what
    /// the guard lacks.
    #[inline]
    fn leave(
        &mut self,
        place: PlaceId,
        name: &str,
        left: Result<Count, Count>,
        updates: &mut Arcs,
    ) -> Result<(), Diagnostic> {
        let rule = self.net.transitions.len() + 1;
        if std::mem::replace(&mut self.updated_in[place.index()], rule) == rule {
            let message = format!("place `{name}` is updated twice in one rule");
            self.complain(self.about(name, message))?;
        }
        match left {
            Ok(left) => updates.push((place, left)),
            Err(needed) => {
                let message = format!("`{name}` may become negative: the rule takes more than its guard asks for");
                let expected = format!("a guard `{name} >= {needed}`");
                self.complain(self.about(name, message).with_expected([&expected]))?;
            }
        }
        Ok(())
    }

    /// An update in whatever form; nothing when it was complained about.
    #[inline(never)]
    fn unusual_update(&mut self) -> Result<Option<Change<'a>>, Diagnostic> {
        let name = self.name(&["a place", "`;`"])?;
        let place = self.place(name, &["a place", "`;`"])?;
        self.lexer.operator("'", &["`'`"])?;
        self.lexer.operator("=", &["`=`"])?;
        if let Some(value) = self.lexer.peek_number() {
            self.lexer.pass(value);
            let span = self.lexer.span_of(name).to(self.lexer.span_of(value));
            let message = format!("a reset (`{name}' = {value}`) is not supported: this is no place/transition net");
            let expected = format!("`{name} + k` or `{name} - k`");
            self.complain(Diagnostic::error(message, span).with_expected([&expected]))?;
            return Ok(None);
        }
        let source = self.name(&["a place"])?;
        let mut transfer = (self.place(source, &["a place"])? != place).then_some(source);
        let (mut plus, mut minus) = (Count::ZERO, Count::ZERO);
        loop {
            let adds = if self.lexer.take_operator("+") {
                true
            } else if self.lexer.take_operator("-") {
                false
            } else {
                break;
            };
            if adds && self.lexer.peek_word().is_some() {
                let source = self.name(&["a number"])?;
                self.place(source, &["a number"])?;
                transfer = transfer.or(Some(source));
                continue;
            }
            let number = self.count()?;
            let sum = if adds { &mut plus } else { &mut minus };
            *sum = sum.plus(&number);
        }
        if let Some(source) = transfer {
            let message = format!("a transfer into `{name}` is not supported: this is no place/transition net");
            self.complain(self.about(source, message).with_expected([format!("`{name}`")]))?;
            return Ok(None);
        }
        Ok((place != UNDECLARED).then_some(Change { place, name, plus, minus }))
    }

    fn initial(&mut self) -> Result<(), Diagnostic> {
        let mut given = vec![false; self.net.places.len()];
        loop {
            let (place, name, relation) = self.stated(&["a place"])?;
            // By monotonicity the largest initial marking covers all that the smaller ones cover.
            let initial = match relation {
                Relation::AtLeast => OmegaCount::Omega,
                Relation::Equal(count) | Relation::UpTo(count) => OmegaCount::Finite(count),
            };
            let index = place.index();
            if let (Some(slot), Some(seen)) = (self.net.initial.get_mut(index), given.get_mut(index)) {
                *slot = initial;
                if std::mem::replace(seen, true) {
                    self.complain(self.about(name, format!("the initial count of `{name}` is given twice")))?;
                }
            }
            if !self.comma() {
                break;
            }
        }
        if let Some(index) = given.iter().position(|given| !given)
            && self.complaints.is_empty()
            && self.lexer.at_word("target")
        {
            let name = &self.net.places[index].name;
            let missing = given.iter().filter(|given| !**given).count();
            let others = if missing > 1 { format!(" (and of {} more)", missing - 1) } else { String::new() };
            let message =
                format!("the initial count of `{name}`{others} is missing; tools disagree on what that means");
            let expected = [format!("`{name} = 0`"), format!("`{name} >= 0`")];
            self.complain(
                Diagnostic::error(message, self.lexer.peek().span).with_expected([&expected[0], &expected[1]]),
            )?;
        }
        Ok(())
    }

    fn targets(&mut self) -> Result<Query, Diagnostic> {
        let mut query = Query::default();
        loop {
            let mut demands: Arcs = Vec::new();
            loop {
                self.bound(&mut demands, &["a place"], "a target")?;
                if !self.comma() {
                    break;
                }
            }
            strongest(&mut demands);
            query.targets.push(Target::new(demands));
            let next = self.lexer.peek();
            if next.kind == Kind::End || next.text == "invariants" {
                return Ok(query);
            }
            if next.kind != Kind::Word {
                return Err(self.lexer.unexpected(&["`,`", "a place", "`invariants`", "the end of the text"]));
            }
        }
    }

    /// Place invariants `p = w, q = v`, a hint for other tools; those that hold with weight 1 and
    /// sum 1 become units.
    fn invariants(&mut self) -> Result<(), Diagnostic> {
        let mut units = Vec::new();
        while self.lexer.peek().kind != Kind::End {
            let mut support = Vec::new();
            let mut simple = true;
            loop {
                let (place, _, relation) = self.stated(&["a place", "the end of the text"])?;
                support.push(place);
                simple &= matches!(relation, Relation::Equal(count) if count == Count::ONE);
                if !self.comma() {
                    break;
                }
            }
            if simple {
                units.push(support);
            }
        }
        if self.complaints.is_empty() {
            self.net.add_sound_units(units);
        }
        Ok(())
    }

    /// A lower bound `p >= k`.
    fn bound(&mut self, bounds: &mut Arcs, expected: &[&str], role: &str) -> Result<(), Diagnostic> {
        let name = self.name(expected)?;
        let place = self.place(name, expected)?;
        if !self.lexer.take_operator(">=") {
            return self.no_bound(name, role);
        }
        let count = self.count()?;
        bounds.push((place, count));
        Ok(())
    }

    /// Takes a lower bound if it is written as most tools write it.
    #[inline]
    fn usual_bound(&mut self, bounds: &mut Arcs) -> bool {
        let usual = self.usual_relation(b" >= ");
        usual.map(|(place, _, count)| bounds.push((place, count))).is_some()
    }

    /// What the text says of a place, and its name.
    fn stated(&mut self, expected: &[&str]) -> Result<(PlaceId, &'a str, Relation), Diagnostic> {
        if let Some((place, name, count)) = self.usual_relation(b" = ") {
            return Ok((place, name, Relation::Equal(count)));
        }
        let name = self.name(expected)?;
        let place = self.place(name, expected)?;
        Ok((place, name, self.relation()?))
    }

    /// Takes a place, with its name, this sign and a number if they are written as most tools write
    /// them.
    #[inline]
    fn usual_relation<const N: usize>(&mut self, sign: &[u8; N]) -> Option<(PlaceId, &'a str, Count)> {
        let said = usual::relation(self.lexer.rest_bytes(), sign)?;
        let place = self.places.get_short(said.name)?;
        let name = &self.lexer.rest()[..said.name_length];
        self.lexer.skip(said.length);
        Some((place, name, said.count))
    }

    /// Takes a comma.
    #[inline]
    fn comma(&mut self) -> bool {
        match usual::comma(self.lexer.rest_bytes()) {
            Some(length) => {
                self.lexer.skip(length);
                true
            }
            None => self.lexer.take_operator(","),
        }
    }

    /// Complains about a relation that is no lower bound, and takes it.
    #[cold]
    fn no_bound(&mut self, name: &str, role: &str) -> Result<(), Diagnostic> {
        let message = match self.relation()? {
            Relation::Equal(count) if count.is_zero() => {
                format!("a test for zero (inhibitor arc) in {role} is not supported")
            }
            _ => format!("an upper bound in {role} is not supported"),
        };
        self.complain(self.about(name, message).with_expected(["`>=`"]))
    }

    fn relation(&mut self) -> Result<Relation, Diagnostic> {
        Ok(if self.lexer.take_operator(">=") {
            self.count().map(|_| Relation::AtLeast)?
        } else if self.lexer.take_operator("=") {
            Relation::Equal(self.count()?)
        } else if self.lexer.take_word("in") {
            self.lexer.operator("[", &["`[`"])?;
            let low = self.count()?;
            self.lexer.operator(",", &["`,`"])?;
            let number = self.lexer.number(&["a number"])?;
            let high = count(number);
            if high < low {
                self.complain(self.about(number, "the range is empty: its end lies below its start"))?;
            }
            self.lexer.operator("]", &["`]`"])?;
            Relation::UpTo(high)
        } else {
            return Err(self.lexer.unexpected(&["`>=`", "`=`", "`in`"]));
        })
    }

    /// The name that comes next.
    #[inline]
    fn name(&self, expected: &[&str]) -> Result<&'a str, Diagnostic> {
        self.lexer.peek_word().ok_or_else(|| self.lexer.unexpected(expected))
    }

    /// Takes the name, which comes next, and tells whose it is.
    fn place(&mut self, name: &str, expected: &[&str]) -> Result<PlaceId, Diagnostic> {
        let place = match self.places.get(name) {
            Some(place) => place,
            None => self.no_place(name, expected)?,
        };
        self.lexer.pass(name);
        Ok(place)
    }

    /// Complains about a name that no place has.
    #[cold]
    fn no_place(&mut self, name: &str, expected: &[&str]) -> Result<PlaceId, Diagnostic> {
        if is_keyword(name) {
            return Err(self.lexer.unexpected(expected));
        }
        self.complain(self.about(name, format!("place `{name}` is not declared under `vars`")))?;
        Ok(UNDECLARED)
    }

    fn count(&mut self) -> Result<Count, Diagnostic> {
        self.lexer.number(&["a number"]).map(count)
    }

    /// A complaint about a word or number of the text.
    #[cold]
    fn about(&self, text: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message, self.lexer.span_of(text))
    }

    fn keyword(&mut self, keyword: &'static str) -> Result<(), Diagnostic> {
        if self.lexer.take_word(keyword) {
            return Ok(());
        }
        Err(self.lexer.unexpected(&[&format!("`{keyword}`")]))
    }

    /// Notes a complaint after which reading can go on; gives up when there are many.
    fn complain(&mut self, complaint: Diagnostic) -> Result<(), Diagnostic> {
        if self.complaints.len() + 1 >= MANY {
            return Err(complaint);
        }
        self.complaints.push(complaint);
        Ok(())
    }
}

/// A rule as it is read. One serves all rules, so that its vectors are made once.
#[derive(Default)]
struct Rule {
    /// What it asks for.
    guards: Arcs,
    /// What it leaves on the places that it updates.
    updates: Arcs,
    /// What it puts.
    post: Arcs,
}

/// An update.
struct Change<'a> {
    place: PlaceId,
    name: &'a str,
    plus: Count,
    minus: Count,
}

/// How much the guard, sorted by place, asks for on a place.
#[inline]
fn asked(guards: &Arcs, place: PlaceId) -> &Count {
    static NONE: Count = Count::ZERO;
    let position = guards.binary_search_by_key(&place, |(place, _)| *place);
    position.map_or(&NONE, |position| &guards[position].1)
}

/// Sorts lower bounds by place, and keeps the largest of several on one place.
#[inline]
fn strongest(bounds: &mut Arcs) {
    if bounds.is_sorted_by(|(one, _), (other, _)| one < other) {
        return;
    }
    bounds.sort_unstable_by(|(one, more), (other, less)| one.cmp(other).then_with(|| less.cmp(more)));
    bounds.dedup_by_key(|(place, _)| *place);
}

/// What a rule puts: what its updates leave, and all that it asks for on other places. Sorted by
/// place, as both are.
fn put(guards: &[(PlaceId, Count)], updates: &mut Arcs, post: &mut Arcs) {
    let mut guards = guards;
    for (place, left) in updates.drain(..) {
        while let [(first, held), others @ ..] = guards
            && *first <= place
        {
            if *first < place {
                post.push((*first, held.clone()));
            }
            guards = others;
        }
        if !left.is_zero() {
            post.push((place, left));
        }
    }
    post.extend_from_slice(guards);
}

/// The arcs in a vector that is no larger than it has to be.
fn fitted(arcs: &mut Arcs) -> Arcs {
    let mut own = Vec::with_capacity(arcs.len());
    own.append(arcs);
    own
}

fn count(number: &str) -> Count {
    number.parse().expect("the lexer lets only digits into numbers")
}
