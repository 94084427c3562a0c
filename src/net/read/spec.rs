//! Reader of mist's `.spec`: guarded commands over counters.
//!
//! A rule `p >= k -> p' = p - s` takes `k` and puts `k − s` back, so a guard above the subtraction is a read arc. Line
//! breaks mean nothing; a constraint list that follows another without a comma is a further alternative of the target.
//! Only what is a place/transition net with an upward-closed target is accepted: tests for zero, resets and transfers
//! are named and refused.

use super::lexer::{Kind, Lexer, Lexicon, Token, continues_identifier, starts_identifier};
use crate::net::diagnostic::Diagnostic;
use crate::net::{Arcs, Count, Net, OmegaCount, PlaceId, Problem, Query, Target};
use crate::program::Span;
use rustc_hash::FxHashMap;

static LEXICON: Lexicon = Lexicon {
    operators: &["->", ">=", "<=", "=", ",", ";", "'", "+", "-", "[", "]", "<", ">"],
    comments: &[("#", "\n")],
    starts_word: starts_identifier,
    continues_word: continues_identifier,
    lines: false,
};

/// Words that cannot name a place.
pub(in crate::net) const KEYWORDS: [&str; 7] = ["vars", "rules", "init", "target", "invariants", "true", "in"];

/// After so many complaints reading stops.
const MANY: usize = 20;

/// Reads a net with its target.
pub(super) fn read(name: &str, text: &str) -> Result<Problem, Vec<Diagnostic>> {
    let mut reader = Reader {
        lexer: Lexer::new(text, &LEXICON),
        net: Net { name: name.to_owned(), ..Net::default() },
        places: FxHashMap::default(),
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

/// What a constraint says of its place; `in [a, b]` is known by its upper end only.
enum Relation {
    AtLeast(Count),
    Equal(Count),
    UpTo(Count),
}

struct Constraint {
    place: PlaceId,
    relation: Relation,
    span: Span,
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    net: Net,
    places: FxHashMap<&'a str, PlaceId>,
    complaints: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn sections(&mut self) -> Result<Query, Diagnostic> {
        self.keyword("vars")?;
        self.variables()?;
        self.keyword("rules")?;
        let mut rules = 0_usize;
        while !self.at_keyword("init") {
            self.rule(rules)?;
            rules += 1;
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
            if KEYWORDS.contains(&token.text) {
                return Err(Diagnostic::new(
                    token.span,
                    format!("`{}` is a keyword and cannot name a place", token.text),
                )
                .expecting(&["a place", "`rules`"]));
            }
            self.lexer.advance();
            if self.places.contains_key(token.text) {
                self.complain(Diagnostic::new(token.span, format!("place `{}` is declared twice", token.text)))?;
            } else {
                let id = self.net.add_place(token.text, OmegaCount::Finite(Count::ZERO));
                self.places.insert(token.text, id);
            }
        }
    }

    fn rule(&mut self, index: usize) -> Result<(), Diagnostic> {
        let mut guards: Arcs = Vec::new();
        loop {
            if !self.lexer.take_word("true") {
                let constraint = self.constraint(&["a place", "`true`", "`init`"])?;
                let count = self.at_least(&constraint, "a rule's guard")?;
                raise(&mut guards, constraint.place, count);
            }
            if !self.lexer.take_operator(",") {
                break;
            }
        }
        self.lexer.operator("->", &["`,`", "`->`"])?;
        let mut updates: Vec<Update> = Vec::new();
        if !self.lexer.take_operator(";") {
            loop {
                if let Some(update) = self.update()? {
                    if updates.iter().any(|other| other.place == update.place) {
                        let name = &self.net.places[update.place.index()].name;
                        let message = format!("place `{name}` is updated twice in one rule");
                        self.complain(Diagnostic::new(update.span, message))?;
                    }
                    updates.push(update);
                }
                if !self.lexer.take_operator(",") {
                    break;
                }
            }
            self.lexer.operator(";", &["`,`", "`;`"])?;
        }
        let mut post = guards.clone();
        for update in &updates {
            let held = guards.iter().find(|(place, _)| *place == update.place).map_or(&Count::ZERO, |(_, count)| count);
            if let Some(left) = held.plus(&update.plus).minus(&update.minus) {
                post.retain(|(place, _)| *place != update.place);
                post.push((update.place, left));
            } else {
                let name = &self.net.places[update.place.index()].name;
                let message = format!("`{name}` may become negative: the rule takes more than its guard asks for");
                let expected = format!("a guard `{name} >= {}`", update.minus.saturating_minus(&update.plus));
                self.complain(Diagnostic::new(update.span, message).expecting(&[&expected]))?;
            }
        }
        self.net.add_transition(format!("t{index}"), guards, post);
        Ok(())
    }

    /// `p' = p`, `p' = p + k` or `p' = p − k`; nothing when it was complained about.
    fn update(&mut self) -> Result<Option<Update>, Diagnostic> {
        let name = self.word(&["a place", "`;`"])?;
        self.lexer.operator("'", &["`'`"])?;
        self.lexer.operator("=", &["`=`"])?;
        let place = self.place(name)?;
        let value = self.lexer.peek();
        if value.kind == Kind::Number {
            self.lexer.advance();
            let span = name.span.to(value.span);
            let message = format!(
                "a reset (`{}' = {}`) is not supported: this is no place/transition net",
                name.text, value.text
            );
            let expected = format!("`{} + k` or `{} - k`", name.text, name.text);
            self.complain(Diagnostic::new(span, message).expecting(&[&expected]))?;
            return Ok(None);
        }
        let source = self.word(&["a place"])?;
        let mut transfer = (self.place(source)? != place).then_some(source.span);
        let (mut plus, mut minus) = (Count::ZERO, Count::ZERO);
        loop {
            let adds = if self.lexer.take_operator("+") {
                true
            } else if self.lexer.take_operator("-") {
                false
            } else {
                break;
            };
            if adds && self.lexer.peek().kind == Kind::Word {
                let source = self.word(&["a number"])?;
                self.place(source)?;
                transfer = transfer.or(Some(source.span));
                continue;
            }
            let number = count(self.lexer.number(&["a number"])?);
            let sum = if adds { &mut plus } else { &mut minus };
            *sum = sum.plus(&number);
        }
        if let Some(span) = transfer {
            let message = format!("a transfer into `{}` is not supported: this is no place/transition net", name.text);
            let expected = format!("`{}`", name.text);
            self.complain(Diagnostic::new(span, message).expecting(&[&expected]))?;
            return Ok(None);
        }
        Ok(place.map(|place| Update { place, plus, minus, span: name.span }))
    }

    fn initial(&mut self) -> Result<(), Diagnostic> {
        let mut given = vec![false; self.net.places.len()];
        loop {
            let constraint = self.constraint(&["a place"])?;
            let index = constraint.place.index();
            // By monotonicity the largest initial marking covers all that the smaller ones cover.
            let initial = match constraint.relation {
                Relation::AtLeast(_) => OmegaCount::Omega,
                Relation::Equal(count) | Relation::UpTo(count) => OmegaCount::Finite(count),
            };
            if let (Some(slot), Some(seen)) = (self.net.initial.get_mut(index), given.get_mut(index)) {
                *slot = initial;
                if std::mem::replace(seen, true) {
                    let message = format!("the initial count of `{}` is given twice", self.net.places[index].name);
                    self.complain(Diagnostic::new(constraint.span, message))?;
                }
            }
            if !self.lexer.take_operator(",") {
                break;
            }
        }
        if let Some(index) = given.iter().position(|given| !given)
            && self.complaints.is_empty()
            && self.at_keyword("target")
        {
            let name = &self.net.places[index].name;
            let missing = given.iter().filter(|given| !**given).count();
            let others = if missing > 1 { format!(" (and of {} more)", missing - 1) } else { String::new() };
            let message =
                format!("the initial count of `{name}`{others} is missing; tools disagree on what that means");
            let expected = [format!("`{name} = 0`"), format!("`{name} >= 0`")];
            self.complain(Diagnostic::new(self.lexer.peek().span, message).expecting(&[&expected[0], &expected[1]]))?;
        }
        Ok(())
    }

    fn targets(&mut self) -> Result<Query, Diagnostic> {
        let mut query = Query::default();
        loop {
            let mut demands: Arcs = Vec::new();
            loop {
                let constraint = self.constraint(&["a place"])?;
                let count = self.at_least(&constraint, "a target")?;
                raise(&mut demands, constraint.place, count);
                if !self.lexer.take_operator(",") {
                    break;
                }
            }
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

    /// Place invariants `p = w, q = v`, a hint for other tools; those that hold with weight 1 and sum 1 become units.
    fn invariants(&mut self) -> Result<(), Diagnostic> {
        while self.lexer.peek().kind != Kind::End {
            let mut support = Vec::new();
            let mut simple = true;
            loop {
                let constraint = self.constraint(&["a place", "the end of the text"])?;
                simple &= matches!(constraint.relation, Relation::Equal(count) if count == Count::ONE);
                support.push(constraint.place);
                if !self.lexer.take_operator(",") {
                    break;
                }
            }
            if simple && self.complaints.is_empty() {
                self.net.add_unit_if_sound(support);
            }
        }
        Ok(())
    }

    fn constraint(&mut self, expected: &[&str]) -> Result<Constraint, Diagnostic> {
        let name = self.word(expected)?;
        let place = self.place(name)?;
        let relation = if self.lexer.take_operator(">=") {
            Relation::AtLeast(count(self.lexer.number(&["a number"])?))
        } else if self.lexer.take_operator("=") {
            Relation::Equal(count(self.lexer.number(&["a number"])?))
        } else if self.lexer.take_word("in") {
            self.lexer.operator("[", &["`[`"])?;
            let low = count(self.lexer.number(&["a number"])?);
            self.lexer.operator(",", &["`,`"])?;
            let high = self.lexer.number(&["a number"])?;
            if count(high) < low {
                self.complain(Diagnostic::new(high.span, "the range is empty: its end lies below its start"))?;
            }
            self.lexer.operator("]", &["`]`"])?;
            Relation::UpTo(count(high))
        } else {
            return Err(self.lexer.unexpected(&["`>=`", "`=`", "`in`"]));
        };
        // An undeclared place has been complained about; any id does, as the net will not be used.
        Ok(Constraint { place: place.unwrap_or(PlaceId(u32::MAX)), relation, span: name.span })
    }

    fn at_least(&mut self, constraint: &Constraint, role: &str) -> Result<Count, Diagnostic> {
        if let Relation::AtLeast(count) = &constraint.relation {
            return Ok(count.clone());
        }
        let message = match &constraint.relation {
            Relation::Equal(count) if count.is_zero() => {
                format!("a test for zero (inhibitor arc) in {role} is not supported")
            }
            _ => format!("an upper bound in {role} is not supported"),
        };
        self.complain(Diagnostic::new(constraint.span, message).expecting(&["`>=`"]))?;
        Ok(Count::ZERO)
    }

    fn place(&mut self, token: Token<'a>) -> Result<Option<PlaceId>, Diagnostic> {
        let place = self.places.get(token.text).copied();
        if place.is_none() {
            let message = format!("place `{}` is not declared under `vars`", token.text);
            self.complain(Diagnostic::new(token.span, message))?;
        }
        Ok(place)
    }

    fn word(&mut self, expected: &[&str]) -> Result<Token<'a>, Diagnostic> {
        let token = self.lexer.peek();
        if token.kind == Kind::Word && !KEYWORDS.contains(&token.text) {
            Ok(self.lexer.advance())
        } else {
            Err(self.lexer.unexpected(expected))
        }
    }

    fn at_keyword(&self, keyword: &str) -> bool {
        let token = self.lexer.peek();
        token.kind == Kind::Word && token.text == keyword
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

struct Update {
    place: PlaceId,
    plus: Count,
    minus: Count,
    span: Span,
}

fn count(token: Token<'_>) -> Count {
    token.text.parse().expect("the lexer lets only digits into numbers")
}

/// Several lower bounds of one place: the largest counts.
fn raise(bounds: &mut Arcs, place: PlaceId, count: Count) {
    match bounds.iter_mut().find(|(other, _)| *other == place) {
        Some((_, bound)) if *bound < count => *bound = count,
        Some(_) => {}
        None => bounds.push((place, count)),
    }
}
