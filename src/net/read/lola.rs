//! Reader of LoLA's nets (`.lola`) and of its formulas that ask for coverability.

use super::formula::Formula;
use super::lexer::{Kind, Lexer, Lexicon, Token};
use crate::net::diagnostic::Diagnostic;
use crate::net::{Arcs, Count, Net, OmegaCount, PlaceId, Problem, Query, TransitionId};
use crate::program::Span;
use rustc_hash::FxHashMap;

/// Names may hold anything but blanks and the signs of the grammar.
fn names(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b",;:(){}".contains(&byte)
}

static NET_LEXICON: Lexicon = Lexicon {
    operators: &[",", ";", ":"],
    comments: &[("{", "}"), ("//", "\n")],
    starts_word: names,
    continues_word: names,
    lines: false,
};

fn formula_names(byte: u8) -> bool {
    names(byte) && !b"<>=!+*".contains(&byte)
}

static FORMULA_LEXICON: Lexicon = Lexicon {
    operators: &["(", ")", ">=", "<=", "!=", "=", ">", "<", "+", "*", ";", ":", "{", "}", ","],
    comments: &[],
    starts_word: formula_names,
    continues_word: formula_names,
    lines: false,
};

/// Words that cannot name a place or transition.
pub(in crate::net) const KEYWORDS: [&str; 10] =
    ["PLACE", "MARKING", "TRANSITION", "CONSUME", "PRODUCE", "SAFE", "STRONG", "WEAK", "FAIR", "NET"];

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
            if !self.lexer.take_operator(",") && !(self.lexer.take_operator(";") && self.more_places()) {
                break;
            }
        }
        self.keyword("MARKING")?;
        for (place, count) in self.list()? {
            let initial = &mut self.net.initial[place.index()];
            if let OmegaCount::Finite(held) = initial {
                *initial = OmegaCount::Finite(held.plus(&count));
            }
        }
        while self.lexer.take_word("TRANSITION") {
            let name = self.name("a transition")?;
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
    };
    reader.question().map_err(|complaint| vec![complaint])
}

struct FormulaReader<'a> {
    lexer: Lexer<'a>,
    places: FxHashMap<&'a str, PlaceId>,
    transitions: FxHashMap<&'a str, TransitionId>,
    net: &'a Net,
}

/// One side of a comparison: places (as often as they count) and a constant.
struct Sum {
    places: Vec<PlaceId>,
    constant: Count,
}

/// Coefficients above this are refused.
const LARGEST_COEFFICIENT: u64 = 1000;

impl FormulaReader<'_> {
    fn question(&mut self) -> Result<Query, Diagnostic> {
        let start = self.lexer.peek().span;
        if !(self.lexer.take_word("EF") || self.lexer.take_word("REACHABLE")) {
            return Err(self.lexer.unexpected(&["`EF`", "`REACHABLE`"]));
        }
        let formula = self.disjunction()?;
        let end = self.lexer.peek();
        self.lexer.take_operator(";");
        if self.lexer.peek().kind != Kind::End {
            return Err(self.lexer.unexpected(&["`AND`", "`OR`", "the end of the text"]));
        }
        formula.query().ok_or_else(|| {
            Diagnostic::new(Span { start: start.start, end: end.span.start }, "the formula has too many alternatives")
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
                let inner = self.disjunction()?;
                self.lexer.operator(")", &["`)`", "`AND`", "`OR`"])?;
                Ok(inner)
            }
            (Kind::Word, "TRUE" | "FALSE") => {
                self.lexer.advance();
                Ok(Formula::Constant(token.text == "TRUE"))
            }
            (Kind::Word, "FIREABLE") => self.fireable(),
            (Kind::Word, "NOT" | "DEADLOCK" | "EX" | "AX" | "EG" | "AG" | "AF" | "EF" | "INITIAL") => {
                let message =
                    format!("`{}` is not supported here: the formula asks more than coverability", token.text);
                Err(Diagnostic::new(token.span, message).expecting(&["lower bounds with `AND` and `OR`"]))
            }
            _ => self.comparison(),
        }
    }

    fn fireable(&mut self) -> Result<Formula, Diagnostic> {
        self.lexer.advance();
        self.lexer.operator("(", &["`(`"])?;
        let name = self.lexer.advance();
        let Some(transition) = self.transitions.get(name.text).copied() else {
            return Err(Diagnostic::new(name.span, format!("the net has no transition `{}`", name.text)));
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
        let mut sum = Sum { places: Vec::new(), constant: Count::ZERO };
        loop {
            let token = self.lexer.peek();
            if token.kind == Kind::Word && self.places.contains_key(token.text) {
                sum.places.push(self.place()?);
            } else {
                let number = number_in(&mut self.lexer).map_err(|complaint| {
                    if token.kind == Kind::Word {
                        Diagnostic::new(token.span, format!("the net has no place `{}`", token.text))
                    } else {
                        complaint.expecting(&["a place", "a number"])
                    }
                })?;
                if self.lexer.take_operator("*") {
                    let place = self.place()?;
                    let times = number.to_u64().filter(|times| *times <= LARGEST_COEFFICIENT).ok_or_else(|| {
                        Diagnostic::new(
                            token.span,
                            format!("coefficients above {LARGEST_COEFFICIENT} are not supported"),
                        )
                    })?;
                    sum.places.extend((0..times).map(|_| place));
                } else {
                    sum.constant = sum.constant.plus(&number);
                }
            }
            if !self.lexer.take_operator("+") {
                return Ok(sum);
            }
        }
    }

    fn place(&mut self) -> Result<PlaceId, Diagnostic> {
        let token = self.lexer.advance();
        self.places
            .get(token.text)
            .copied()
            .ok_or_else(|| Diagnostic::new(token.span, format!("the net has no place `{}`", token.text)))
    }
}
