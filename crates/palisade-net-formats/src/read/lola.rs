//! Reader of LoLA's nets (`.lola`) and of its formulas that ask for coverability.
//!
//! Formulas may ask about nets of other formats as well: a name that is none of LoLA's stands in
//! braces, as in TINA's nets, with a backslash before a brace or backslash of its own. Nodes of
//! PNML go by their ids too.

use super::build::{AnyCondition, Build, LowerBounds};
use super::formula::{DEEPEST, Sense, Sum, too_deep};
use super::lexer::{Kind, Lexer, Token};
use super::lexicon::{Bytes, Lexicon, Signs};
use super::nodes::{Ids, Nodes};
use palisade_model::net::{
    Arcs, Count, Net, OmegaCount, PlaceId, Problem, Quantifier, Query, ReachQuestion, TransitionId,
};
use palisade_model::text::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::borrow::Cow;

/// Names may hold anything but blanks and the signs of the grammar.
const NAMES: Bytes = Bytes::ALL.except(Bytes::BLANKS).except(Bytes::of(b",;:(){}"));

static NET_LEXICON: Lexicon = Lexicon::new(Signs {
    operators: &[",", ";", ":"],
    comments: &[("{", b'}'), ("//", b'\n')],
    starts_word: NAMES,
    continues_word: NAMES,
    lines: false,
});

const FORMULA_NAMES: Bytes = NAMES.except(Bytes::of(b"<>=!+*"));

static FORMULA_LEXICON: Lexicon = Lexicon::new(Signs {
    operators: &["(", ")", ">=", "<=", "!=", "=", ">", "<", "+", "*", ";", ":", "{", "}", ","],
    comments: &[],
    starts_word: FORMULA_NAMES,
    continues_word: FORMULA_NAMES,
    lines: false,
});

/// Words that cannot name a place or transition.
pub(crate) const KEYWORDS: [&str; 10] =
    ["PLACE", "MARKING", "TRANSITION", "CONSUME", "PRODUCE", "SAFE", "STRONG", "WEAK", "FAIR", "NET"];

/// Words that mean something in formulas, so that names like them stand in braces there.
pub(crate) const FORMULA_KEYWORDS: [&str; 15] = [
    "AND",
    "OR",
    "NOT",
    "TRUE",
    "FALSE",
    "FIREABLE",
    "DEADLOCK",
    "INITIAL",
    "EF",
    "AG",
    "EX",
    "AX",
    "EG",
    "AF",
    "REACHABLE",
];

/// Reads a net, without a question.
pub(super) fn read(name: &str, text: &str) -> Result<Problem, Vec<Diagnostic>> {
    let mut reader = NetReader {
        lexer: Lexer::new(text, &NET_LEXICON),
        net: Net { name: name.to_owned(), ..Net::default() },
        places: FxHashMap::default(),
    };
    match reader.net() {
        Ok(()) => Ok(Problem { net: reader.net, query: Query::default() }),
        Err(complaint) => Err(vec![complaint]),
    }
}

struct NetReader<'a> {
    lexer: Lexer<'a>,
    net: Net,
    places: FxHashMap<&'a str, PlaceId>,
}

impl<'a> NetReader<'a> {
    fn net(&mut self) -> Result<(), Diagnostic> {
        self.lexer.take_word("NET");
        self.keyword("PLACE")?;
        if !self.lexer.take_operator(";") {
            self.declarations()?;
        }
        self.keyword("MARKING")?;
        for (place, count) in self.list()? {
            let initial = &mut self.net.initial[place.index()];
            if let OmegaCount::Finite(held) = initial {
                *initial = OmegaCount::Finite(held.plus(&count));
            }
        }
        let mut transitions = FxHashSet::default();
        while self.lexer.take_word("TRANSITION") {
            let name = self.name("a transition")?;
            if !transitions.insert(name.text) {
                return Err(Diagnostic::error(format!("transition `{}` is declared twice", name.text), name.span));
            }
            if self.lexer.take_word("STRONG") || self.lexer.take_word("WEAK") {
                self.keyword("FAIR")?;
            }
            self.keyword("CONSUME")?;
            let pre = self.list()?;
            self.keyword("PRODUCE")?;
            let post = self.list()?;
            self.net.add_transition(name.text, pre, post);
        }
        match self.lexer.peek().kind {
            Kind::End => Ok(()),
            _ => Err(self.lexer.unexpected(&["`TRANSITION`", "the end of the text"])),
        }
    }

    /// The places, in groups that may have a bound.
    fn declarations(&mut self) -> Result<(), Diagnostic> {
        loop {
            if self.lexer.take_word("SAFE") {
                // A promise of the net's author that no place exceeds the bound; nothing here
                // relies on it.
                if self.lexer.peek().kind == Kind::Word {
                    self.number()?;
                }
                self.lexer.operator(":", &["`:`"])?;
            }
            let token = self.name("a place")?;
            if self.places.contains_key(token.text) {
                return Err(Diagnostic::error(format!("place `{}` is declared twice", token.text), token.span));
            }
            let id = self.net.add_place(token.text, OmegaCount::Finite(Count::ZERO));
            self.places.insert(token.text, id);
            let goes_on = self.lexer.take_operator(",") || self.lexer.take_operator(";") && self.more_places();
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// After a `;`, whether further places follow (a group with another bound).
    fn more_places(&self) -> bool {
        let token = self.lexer.peek();
        token.kind == Kind::Word && token.text != "MARKING"
    }

    /// `p : k, q;` with weight 1 where none is given.
    fn list(&mut self) -> Result<Arcs, Diagnostic> {
        let mut arcs = Vec::new();
        if self.lexer.take_operator(";") {
            return Ok(arcs);
        }
        loop {
            let token = self.name("a place")?;
            let Some(place) = self.places.get(token.text).copied() else {
                return Err(Diagnostic::error(
                    format!("place `{}` is not declared under `PLACE`", token.text),
                    token.span,
                ));
            };
            let count = if self.lexer.take_operator(":") { self.number()? } else { Count::ONE };
            arcs.push((place, count));
            if !self.lexer.take_operator(",") {
                break;
            }
        }
        self.lexer.operator(";", &["`,`", "`;`"])?;
        Ok(arcs)
    }

    fn number(&mut self) -> Result<Count, Diagnostic> {
        number_in(&mut self.lexer)
    }

    fn name(&mut self, what: &str) -> Result<Token<'a>, Diagnostic> {
        let token = self.lexer.peek();
        if token.kind == Kind::Word && !KEYWORDS.contains(&token.text) {
            Ok(self.lexer.advance())
        } else {
            Err(self.lexer.unexpected(&[what]))
        }
    }

    fn keyword(&mut self, keyword: &str) -> Result<(), Diagnostic> {
        if self.lexer.take_word(keyword) { Ok(()) } else { Err(self.lexer.unexpected(&[&format!("`{keyword}`")])) }
    }
}

fn number_in(lexer: &mut Lexer<'_>) -> Result<Count, Diagnostic> {
    let token = lexer.peek();
    let digits = token.kind == Kind::Word && token.text.bytes().all(|byte| byte.is_ascii_digit());
    match token.text.parse() {
        Ok(count) if digits => {
            lexer.advance();
            Ok(count)
        }
        _ => Err(lexer.unexpected(&["a number"])),
    }
}

/// Reads a formula `EF φ` (or `REACHABLE φ`) or `AG φ` (or `INVARIANT φ`), or the contrary of one
/// (`NOT EF φ`), about the nodes of a net by their names, and by their ids where the net's document
/// has some.
pub(super) fn read_formula(text: &str, net: &Net, ids: Option<&Ids>) -> Result<(Query, Quantifier), Vec<Diagnostic>> {
    let (formula, quantifier, span) = parse(LowerBounds, text, net, ids)?;
    let too_many = || vec![Diagnostic::error("the formula has too many alternatives", span)];
    // What has to be reached, or must not be, is the same for a question and its contrary.
    Ok((formula.query().ok_or_else(too_many)?, quantifier))
}

/// Reads a formula as a question of reachability.
pub(super) fn read_reach_formula(text: &str, net: &Net, ids: Option<&Ids>) -> Result<ReachQuestion, Vec<Diagnostic>> {
    let (goal, quantifier, _) = parse(AnyCondition, text, net, ids)?;
    Ok(ReachQuestion { quantifier, goal })
}

/// The condition, how it is put, and where it stands.
fn parse<B: Build>(
    build: B,
    text: &str,
    net: &Net,
    ids: Option<&Ids>,
) -> Result<(B::Part, Quantifier, Span), Vec<Diagnostic>> {
    let place_names = net.place_ids().map(|id| (net.places[id.index()].name.as_str(), id));
    let transition_names = net.transition_ids().map(|(id, transition)| (transition.name.as_str(), id));
    let place_ids = ids.iter().flat_map(|ids| &ids.places).map(|(id, place)| (id.as_str(), *place));
    let transition_ids = ids.iter().flat_map(|ids| &ids.transitions).map(|(id, transition)| (id.as_str(), *transition));
    let namesakes = ids.iter().flat_map(|ids| &ids.namesakes).map(SmolStr::as_str);
    let mut reader = FormulaReader {
        lexer: Lexer::new(text, &FORMULA_LEXICON),
        places: Nodes::new("place", place_names, place_ids).with_namesakes(namesakes),
        transitions: Nodes::new("transition", transition_names, transition_ids),
        net,
        build,
        sense: Sense::Plain,
        depth: 0,
    };
    reader.question().map_err(|complaint| vec![complaint])
}

struct FormulaReader<'a, B> {
    lexer: Lexer<'a>,
    places: Nodes<'a, PlaceId>,
    transitions: Nodes<'a, TransitionId>,
    net: &'a Net,
    /// What conditions become.
    build: B,
    /// The sense in which the part at hand counts.
    sense: Sense,
    /// How many brackets and negations are open.
    depth: usize,
}

impl<'a, B: Build> FormulaReader<'a, B> {
    fn question(&mut self) -> Result<(B::Part, Quantifier, Span), Diagnostic> {
        const EXPECTED: [&str; 4] = ["`EF`", "`AG`", "`REACHABLE`", "`INVARIANT`"];
        let mut is_negated = false;
        while self.lexer.take_word("NOT") {
            is_negated = !is_negated;
        }
        let first = self.lexer.peek();
        let quantifier = match first.text {
            "EF" | "REACHABLE" => Quantifier::Eventually,
            "AG" | "INVARIANT" => Quantifier::Always,
            word if FORMULA_KEYWORDS.contains(&word) => {
                return Err(more_than_coverability(first).with_expected(EXPECTED));
            }
            _ => return Err(self.lexer.unexpected(&EXPECTED)),
        };
        self.lexer.advance();
        self.sense = Sense::of(quantifier);
        let formula = if ["REACHABLE", "INVARIANT"].contains(&first.text) {
            self.disjunction()?
        } else {
            let formula = self.atom()?;
            let next = self.lexer.peek();
            if next.kind == Kind::Word && ["AND", "OR"].contains(&next.text) {
                let (word, next_word) = (first.text, next.text);
                let message = format!("it is not clear whether `{word}` reaches beyond this `{next_word}`");
                let expected = format!("`{word} ( … )` around the whole formula");
                return Err(Diagnostic::error(message, next.span).with_expected([&expected]));
            }
            formula
        };
        let end = self.lexer.peek();
        self.lexer.take_operator(";");
        if self.lexer.peek().kind != Kind::End {
            return Err(self.lexer.unexpected(&["`AND`", "`OR`", "the end of the text"]));
        }
        let span = Span { start: first.span.start, end: end.span.start };
        Ok((formula, if is_negated { quantifier.contrary() } else { quantifier }, span))
    }

    fn disjunction(&mut self) -> Result<B::Part, Diagnostic> {
        let mut parts = vec![self.conjunction()?];
        while self.lexer.take_word("OR") {
            parts.push(self.conjunction()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { self.build.any(self.sense, parts) })
    }

    fn conjunction(&mut self) -> Result<B::Part, Diagnostic> {
        let mut parts = vec![self.atom()?];
        while self.lexer.take_word("AND") {
            parts.push(self.atom()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { self.build.all(self.sense, parts) })
    }

    fn atom(&mut self) -> Result<B::Part, Diagnostic> {
        let token = self.lexer.peek();
        match (token.kind, token.text) {
            (Kind::Operator("("), _) => {
                self.descend()?;
                let inner = self.disjunction()?;
                self.lexer.operator(")", &["`)`", "`AND`", "`OR`"])?;
                self.depth -= 1;
                Ok(inner)
            }
            (Kind::Word, "NOT") => {
                self.descend()?;
                self.sense = self.sense.negated();
                let inner = self.atom()?;
                self.sense = self.sense.negated();
                self.depth -= 1;
                Ok(inner)
            }
            (Kind::Word, "TRUE" | "FALSE") => {
                self.lexer.advance();
                Ok(self.build.constant(self.sense, token.text == "TRUE"))
            }
            (Kind::Word, "FIREABLE") => self.fireable(),
            (Kind::Word, word) if FORMULA_KEYWORDS.contains(&word) => {
                let deadlock = self.build.deadlock(self.sense, self.net).filter(|_| word == "DEADLOCK");
                if deadlock.is_some() {
                    self.lexer.advance();
                }
                let complaint = || more_than_coverability(token).with_expected(["bounds with `AND`, `OR` and `NOT`"]);
                deadlock.ok_or_else(complaint)
            }
            _ => self.comparison(),
        }
    }

    /// Takes a bracket or a negation.
    fn descend(&mut self) -> Result<(), Diagnostic> {
        let token = self.lexer.advance();
        self.depth += 1;
        if self.depth > DEEPEST { Err(too_deep(token.span)) } else { Ok(()) }
    }

    fn fireable(&mut self) -> Result<B::Part, Diagnostic> {
        let word = self.lexer.advance();
        self.build.can_ask_fireable(self.sense, word.span)?;
        self.lexer.operator("(", &["`(`"])?;
        let (name, span) = self.name(&["a transition"])?;
        let transition = self.transitions.find(&name, span)?;
        self.lexer.operator(")", &["`)`"])?;
        self.build.fireable(self.sense, self.net, transition, span)
    }

    fn comparison(&mut self) -> Result<B::Part, Diagnostic> {
        let (left, left_number) = self.sum()?;
        let operator = self.lexer.peek();
        let Kind::Operator(sign @ (">=" | ">" | "<=" | "<" | "=" | "!=")) = operator.kind else {
            return Err(self.lexer.unexpected(match self.sense {
                Sense::Plain => &["`>=`", "`>`"],
                Sense::Negated => &["`<=`", "`<`"],
            }));
        };
        self.lexer.advance();
        let (right, right_number) = self.sum()?;
        if left.terms.is_empty()
            && right.terms.is_empty()
            && let Some(span) = left_number.or(right_number)
        {
            let message = "numbers are compared, but the net has a place of this name";
            return Err(Diagnostic::error(message, span).with_expected(["the place's name in braces"]));
        }
        self.build.compare(self.sense, sign, (left, right), operator.span)
    }

    /// A sum, and a number in it that is also the name of a place.
    fn sum(&mut self) -> Result<(Sum, Option<Span>), Diagnostic> {
        let mut sum = Sum { terms: Vec::new(), constant: Count::ZERO };
        let mut doubtful = None;
        loop {
            let token = self.lexer.peek();
            if self.at_number() {
                let number = number_in(&mut self.lexer)?;
                if self.lexer.take_operator("*") {
                    let place = self.place(&["a place"])?;
                    if !number.is_zero() {
                        sum.terms.push((place, number));
                    }
                } else {
                    sum.constant = sum.constant.plus(&number);
                    doubtful = doubtful.or(self.places.contains(token.text).then_some(token.span));
                }
            } else {
                sum.terms.push((self.place(&["a place", "a number"])?, Count::ONE));
            }
            if !self.lexer.take_operator("+") {
                return Ok((sum, doubtful));
            }
        }
    }

    /// Whether a number is next, or what only a number can have been meant to be.
    fn at_number(&self) -> bool {
        let token = self.lexer.peek();
        token.kind == Kind::Word
            && token.text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && !(self.places.contains(token.text) && token.text.bytes().any(|byte| !byte.is_ascii_digit()))
    }

    fn place(&mut self, expected: &[&str]) -> Result<PlaceId, Diagnostic> {
        let (name, span) = self.name(expected)?;
        self.places.find(&name, span)
    }

    /// A name as it stands, or in braces.
    fn name(&mut self, expected: &[&str]) -> Result<(Cow<'a, str>, Span), Diagnostic> {
        let token = self.lexer.peek();
        match token.kind {
            Kind::Word => {
                self.lexer.advance();
                Ok((token.text.into(), token.span))
            }
            Kind::Operator("{") => match self.lexer.quoted('}') {
                Some((name, span)) => Ok((name.into(), span)),
                None => Err(Diagnostic::error("the name in braces does not end", token.span)),
            },
            _ => Err(self.lexer.unexpected(expected)),
        }
    }
}

fn more_than_coverability(token: Token<'_>) -> Diagnostic {
    let message = format!("`{}` is not supported here: the formula asks more than coverability", token.text);
    Diagnostic::error(message, token.span)
}
