//! Reader of LoLA's nets (`.lola`) and of its formulas that ask for coverability.
//!
//! Formulas may ask about nets of other formats as well: a name that is none of LoLA's stands in braces, as in TINA's
//! nets, with a backslash before a brace or backslash of its own.

use super::formula::{DEEPEST, Formula, too_deep};
use super::lexer::{Kind, Lexer, Token};
use super::lexicon::{Bytes, Lexicon, Signs};
use crate::net::diagnostic::Diagnostic;
use crate::net::{Arcs, Count, Net, OmegaCount, PlaceId, Problem, Query, TransitionId};
use crate::program::Span;
use rustc_hash::{FxHashMap, FxHashSet};
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
pub(in crate::net) const KEYWORDS: [&str; 10] =
    ["PLACE", "MARKING", "TRANSITION", "CONSUME", "PRODUCE", "SAFE", "STRONG", "WEAK", "FAIR", "NET"];

/// Words that mean something in formulas, so that names like them stand in braces there.
pub(in crate::net) const FORMULA_KEYWORDS: [&str; 15] = [
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
                return Err(Diagnostic::new(name.span, format!("transition `{}` is declared twice", name.text)));
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
                // A promise of the net's author that no place exceeds the bound; nothing here relies on it.
                if self.lexer.peek().kind == Kind::Word {
                    self.number()?;
                }
                self.lexer.operator(":", &["`:`"])?;
            }
            let token = self.name("a place")?;
            if self.places.contains_key(token.text) {
                return Err(Diagnostic::new(token.span, format!("place `{}` is declared twice", token.text)));
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
                return Err(Diagnostic::new(
                    token.span,
                    format!("place `{}` is not declared under `PLACE`", token.text),
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

/// Reads a formula `EF φ` (or `REACHABLE φ`).
pub(super) fn read_formula(text: &str, net: &Net) -> Result<Query, Vec<Diagnostic>> {
    let mut reader = FormulaReader {
        lexer: Lexer::new(text, &FORMULA_LEXICON),
        places: net.place_ids().map(|id| (net.places[id.index()].name.as_str(), id)).collect(),
        transitions: net.transition_ids().map(|(id, transition)| (transition.name.as_str(), id)).collect(),
        net,
        depth: 0,
    };
    reader.question().map_err(|complaint| vec![complaint])
}

struct FormulaReader<'a> {
    lexer: Lexer<'a>,
    places: FxHashMap<&'a str, PlaceId>,
    transitions: FxHashMap<&'a str, TransitionId>,
    net: &'a Net,
    /// How many brackets are open.
    depth: usize,
}

/// One side of a comparison: places (as often as they count) and a constant.
struct Sum {
    places: Vec<PlaceId>,
    constant: Count,
    /// A number in it that is also the name of a place.
    number: Option<Span>,
}

/// Coefficients above this are refused.
const LARGEST_COEFFICIENT: u64 = 1000;

impl<'a> FormulaReader<'a> {
    fn question(&mut self) -> Result<Query, Diagnostic> {
        let quantifier = self.lexer.peek();
        let formula = if self.lexer.take_word("REACHABLE") {
            self.disjunction()?
        } else if self.lexer.take_word("EF") {
            let formula = self.atom()?;
            let next = self.lexer.peek();
            if next.kind == Kind::Word && ["AND", "OR"].contains(&next.text) {
                let message = format!("it is not clear whether `EF` reaches beyond this `{}`", next.text);
                return Err(Diagnostic::new(next.span, message).expecting(&["`EF ( … )` around the whole formula"]));
            }
            formula
        } else if FORMULA_KEYWORDS.contains(&quantifier.text) {
            return Err(more_than_coverability(quantifier).expecting(&["`EF`", "`REACHABLE`"]));
        } else {
            return Err(self.lexer.unexpected(&["`EF`", "`REACHABLE`"]));
        };
        let end = self.lexer.peek();
        self.lexer.take_operator(";");
        if self.lexer.peek().kind != Kind::End {
            return Err(self.lexer.unexpected(&["`AND`", "`OR`", "the end of the text"]));
        }
        formula.query().ok_or_else(|| {
            Diagnostic::new(
                Span { start: quantifier.span.start, end: end.span.start },
                "the formula has too many alternatives",
            )
        })
    }

    fn disjunction(&mut self) -> Result<Formula, Diagnostic> {
        let mut parts = vec![self.conjunction()?];
        while self.lexer.take_word("OR") {
            parts.push(self.conjunction()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Formula::Any(parts) })
    }

    fn conjunction(&mut self) -> Result<Formula, Diagnostic> {
        let mut parts = vec![self.atom()?];
        while self.lexer.take_word("AND") {
            parts.push(self.atom()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Formula::All(parts) })
    }

    fn atom(&mut self) -> Result<Formula, Diagnostic> {
        let token = self.lexer.peek();
        match (token.kind, token.text) {
            (Kind::Operator("("), _) => {
                self.lexer.advance();
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(too_deep(token.span));
                }
                let inner = self.disjunction()?;
                self.lexer.operator(")", &["`)`", "`AND`", "`OR`"])?;
                self.depth -= 1;
                Ok(inner)
            }
            (Kind::Word, "TRUE" | "FALSE") => {
                self.lexer.advance();
                Ok(Formula::Constant(token.text == "TRUE"))
            }
            (Kind::Word, "FIREABLE") => self.fireable(),
            (Kind::Word, word) if FORMULA_KEYWORDS.contains(&word) => {
                Err(more_than_coverability(token).expecting(&["lower bounds with `AND` and `OR`"]))
            }
            _ => self.comparison(),
        }
    }

    fn fireable(&mut self) -> Result<Formula, Diagnostic> {
        self.lexer.advance();
        self.lexer.operator("(", &["`(`"])?;
        let (name, span) = self.name(&["a transition"])?;
        let Some(transition) = self.transitions.get(name.as_ref()).copied() else {
            return Err(Diagnostic::new(span, format!("the net has no transition `{name}`")));
        };
        self.lexer.operator(")", &["`)`"])?;
        Ok(Formula::fireable(self.net, transition))
    }

    fn comparison(&mut self) -> Result<Formula, Diagnostic> {
        let left = self.sum()?;
        let operator = self.lexer.peek();
        let Kind::Operator(sign @ (">=" | ">" | "<=" | "<" | "=" | "!=")) = operator.kind else {
            return Err(self.lexer.unexpected(&["`>=`", "`>`"]));
        };
        self.lexer.advance();
        let right = self.sum()?;
        if left.places.is_empty()
            && right.places.is_empty()
            && let Some(span) = left.number.or(right.number)
        {
            let message = "numbers are compared, but the net has a place of this name";
            return Err(Diagnostic::new(span, message).expecting(&["the place's name in braces"]));
        }
        let (large, small, strict) = match sign {
            ">=" | ">" => (left, right, sign == ">"),
            "<=" | "<" => (right, left, sign == "<"),
            _ => {
                let message = format!("`{sign}` makes no coverability question");
                return Err(Diagnostic::new(operator.span, message).expecting(&["`>=`"]));
            }
        };
        if !small.places.is_empty() {
            let message = "an upper bound makes no coverability question";
            return Err(Diagnostic::new(operator.span, message).expecting(&["places on the larger side only"]));
        }
        let mut bound = small.constant;
        if strict {
            bound = bound.plus(&Count::ONE);
        }
        Ok(Formula::at_least(large.places, bound.saturating_minus(&large.constant)))
    }

    fn sum(&mut self) -> Result<Sum, Diagnostic> {
        let mut sum = Sum { places: Vec::new(), constant: Count::ZERO, number: None };
        loop {
            let token = self.lexer.peek();
            if self.at_number() {
                let number = number_in(&mut self.lexer)?;
                if self.lexer.take_operator("*") {
                    let place = self.place(&["a place"])?;
                    let times = number.to_u64().filter(|times| *times <= LARGEST_COEFFICIENT).ok_or_else(|| {
                        Diagnostic::new(
                            token.span,
                            format!("coefficients above {LARGEST_COEFFICIENT} are not supported"),
                        )
                    })?;
                    sum.places.extend((0..times).map(|_| place));
                } else {
                    sum.constant = sum.constant.plus(&number);
                    sum.number = sum.number.or(self.places.contains_key(token.text).then_some(token.span));
                }
            } else {
                sum.places.push(self.place(&["a place", "a number"])?);
            }
            if !self.lexer.take_operator("+") {
                return Ok(sum);
            }
        }
    }

    /// Whether a number is next, or what only a number can have been meant to be.
    fn at_number(&self) -> bool {
        let token = self.lexer.peek();
        token.kind == Kind::Word
            && token.text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && !(self.places.contains_key(token.text) && token.text.bytes().any(|byte| !byte.is_ascii_digit()))
    }

    fn place(&mut self, expected: &[&str]) -> Result<PlaceId, Diagnostic> {
        let (name, span) = self.name(expected)?;
        let place = self.places.get(name.as_ref()).copied();
        place.ok_or_else(|| Diagnostic::new(span, format!("the net has no place `{name}`")))
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
                None => Err(Diagnostic::new(token.span, "the name in braces does not end")),
            },
            _ => Err(self.lexer.unexpected(expected)),
        }
    }
}

fn more_than_coverability(token: Token<'_>) -> Diagnostic {
    let message = format!("`{}` is not supported here: the formula asks more than coverability", token.text);
    Diagnostic::new(token.span, message)
}
