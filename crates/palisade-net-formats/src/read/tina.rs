//! Reader of TINA's textual nets (`.net`), as far as they are untimed place/transition nets.
//!
//! Test arcs `p?k` are read arcs, `p?-k` inhibitor arcs. Stopwatch arcs, priorities and time
//! intervals other than `[0,w[` are named and refused; labels and notes are left aside. The
//! question is a formula in a file of its own.

use super::lexer::{Kind, Lexer};
use super::lexicon::{Bytes, Lexicon, Signs};
use palisade_model::net::{Arcs, Count, Inhibitor, Net, OmegaCount, PlaceId, Problem, Query, TransitionId};
use palisade_model::text::{Diagnostic, Span};
use rustc_hash::FxHashMap;

const NAMES: Bytes = Bytes::LETTERS.or(Bytes::DIGITS).or(Bytes::of(b"_'"));

static LEXICON: Lexicon = Lexicon::new(Signs {
    operators: &["\n", "->", "?-", "?", "!", "*", ":", "(", ")", "{", "[", "]", ",", ">", "<"],
    comments: &[("#", b'\n')],
    starts_word: NAMES,
    continues_word: NAMES,
    lines: true,
});

/// Reads a net, without a question.
pub(super) fn read(name: &str, text: &str) -> Result<Problem, Vec<Diagnostic>> {
    let mut reader = Reader {
        lexer: Lexer::new(text, &LEXICON),
        net: Net { name: name.to_owned(), ..Net::default() },
        places: FxHashMap::default(),
        transitions: FxHashMap::default(),
        arcs: Vec::new(),
    };
    reader.lines().map_err(|complaint| vec![complaint])?;
    let Reader { mut net, arcs, .. } = reader;
    for (name, pre, post) in arcs {
        net.add_transition(name, pre, post);
    }
    Ok(Problem { net, query: Query::default() })
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    net: Net,
    places: FxHashMap<String, PlaceId>,
    transitions: FxHashMap<String, usize>,
    /// Name, preset and postset by transition.
    arcs: Vec<(String, Arcs, Arcs)>,
}

/// The direction of an arc, seen from its transition.
enum Effect {
    Take,
    Put,
    Read,
    Inhibit,
}

impl Reader<'_> {
    fn lines(&mut self) -> Result<(), Diagnostic> {
        loop {
            while self.lexer.take_operator("\n") {}
            let word = self.lexer.peek();
            match (word.kind, word.text) {
                (Kind::End, _) => return Ok(()),
                (Kind::Word, "net") => {
                    self.lexer.advance();
                    self.net.name = self.name("the net's name")?.0;
                }
                (Kind::Word, "tr") => self.transition()?,
                (Kind::Word, "pl") => self.place()?,
                (Kind::Word, "lb" | "nt" | "an") => self.skip_line()?,
                (Kind::Word, "pr") => {
                    return Err(Diagnostic::error("priorities are not supported", word.span));
                }
                _ => return Err(self.lexer.unexpected(&["`net`", "`tr`", "`pl`"])),
            }
            if self.lexer.peek().kind != Kind::End && !self.lexer.take_operator("\n") {
                return Err(self.lexer.unexpected(&["the end of the line"]));
            }
        }
    }

    fn transition(&mut self) -> Result<(), Diagnostic> {
        self.lexer.advance();
        let name = self.name("a transition")?.0;
        let index = self.transition_named(name);
        self.label()?;
        if matches!(self.lexer.peek().kind, Kind::Operator("[" | "]")) {
            self.interval()?;
        }
        if self.at_line_end() {
            return Ok(());
        }
        while !self.lexer.take_operator("->") {
            let place = self.name("a place, or `->`")?.0;
            let place = self.place_named(place);
            let arc = self.weight(&Effect::Take)?;
            self.connect(index, place, arc);
        }
        while !self.at_line_end() {
            let place = self.name("a place")?.0;
            let place = self.place_named(place);
            let arc = self.weight(&Effect::Put)?;
            self.connect(index, place, arc);
        }
        Ok(())
    }

    fn place(&mut self) -> Result<(), Diagnostic> {
        self.lexer.advance();
        let name = self.name("a place")?.0;
        let place = self.place_named(name);
        self.label()?;
        if self.lexer.take_operator("(") {
            let count = self.count()?;
            self.lexer.operator(")", &["`)`"])?;
            let initial = &mut self.net.initial[place.index()];
            if let OmegaCount::Finite(held) = initial {
                *initial = OmegaCount::Finite(held.plus(&count));
            }
        }
        if self.at_line_end() {
            return Ok(());
        }
        while !self.lexer.take_operator("->") {
            let name = self.name("a transition, or `->`")?.0;
            let index = self.transition_named(name);
            let arc = self.weight(&Effect::Put)?;
            self.connect(index, place, arc);
        }
        while !self.at_line_end() {
            let name = self.name("a transition")?.0;
            let index = self.transition_named(name);
            let arc = self.weight(&Effect::Take)?;
            self.connect(index, place, arc);
        }
        Ok(())
    }

    /// The weight after a node of an arc list; only arcs that take tokens may be read or inhibitor
    /// arcs.
    fn weight(&mut self, usual: &Effect) -> Result<(Effect, Count), Diagnostic> {
        let sign = self.lexer.peek();
        let takes = matches!(usual, Effect::Take);
        let effect = match sign.kind {
            Kind::Operator("?-") if takes => Effect::Inhibit,
            Kind::Operator("!") => return Err(Diagnostic::error("stopwatch arcs are not supported", sign.span)),
            Kind::Operator("?") if takes => Effect::Read,
            Kind::Operator("*") if takes => Effect::Take,
            Kind::Operator("*") => Effect::Put,
            _ if takes => return Ok((Effect::Take, Count::ONE)),
            _ => return Ok((Effect::Put, Count::ONE)),
        };
        self.lexer.advance();
        Ok((effect, self.count()?))
    }

    fn connect(&mut self, transition: usize, place: PlaceId, (effect, count): (Effect, Count)) {
        let (_, pre, post) = &mut self.arcs[transition];
        match effect {
            Effect::Take => pre.push((place, count)),
            Effect::Put => post.push((place, count)),
            Effect::Read => {
                pre.push((place, count.clone()));
                post.push((place, count));
            }
            Effect::Inhibit => {
                let transition = TransitionId::from_index(transition);
                self.net.inhibitors.push(Inhibitor { transition, place, count });
            }
        }
    }

    /// `: label`, which is left aside.
    fn label(&mut self) -> Result<(), Diagnostic> {
        if self.lexer.take_operator(":") {
            self.name("a label")?;
        }
        Ok(())
    }

    /// `[0,w[`, which allows any delay.
    fn interval(&mut self) -> Result<(), Diagnostic> {
        let start = self.lexer.peek().span;
        let mut parts = Vec::new();
        for _ in 0..5 {
            parts.push(self.lexer.advance());
        }
        let text: String = parts.iter().map(|token| token.text).collect();
        if text == "[0,w[" {
            return Ok(());
        }
        let message = "time intervals are not supported";
        Err(Diagnostic::error(message, start).with_expected(["`[0,w[`", "no interval"]))
    }

    fn count(&mut self) -> Result<Count, Diagnostic> {
        let token = self.lexer.peek();
        let digits = token.text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
        let zeros = match &token.text[digits.len()..] {
            "" => "",
            "K" => "000",
            "M" => "000000",
            "G" => "000000000",
            "T" => "000000000000",
            "P" => "000000000000000",
            "E" => "000000000000000000",
            _ => return Err(self.lexer.unexpected(&["a number"])),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.lexer.unexpected(&["a number"]));
        }
        self.lexer.advance();
        Ok(format!("{digits}{zeros}").parse().expect("digits make a number"))
    }

    fn name(&mut self, what: &str) -> Result<(String, Span), Diagnostic> {
        let token = self.lexer.peek();
        match token.kind {
            Kind::Word => {
                self.lexer.advance();
                Ok((token.text.to_owned(), token.span))
            }
            Kind::Operator("{") => {
                self.lexer.quoted('}').ok_or_else(|| Diagnostic::error("the text in braces does not end", token.span))
            }
            _ => Err(self.lexer.unexpected(&[what])),
        }
    }

    fn place_named(&mut self, name: String) -> PlaceId {
        let net = &mut self.net;
        *self.places.entry(name).or_insert_with_key(|name| net.add_place(name.clone(), OmegaCount::Finite(Count::ZERO)))
    }

    fn transition_named(&mut self, name: String) -> usize {
        let arcs = &mut self.arcs;
        *self.transitions.entry(name).or_insert_with_key(|name| {
            arcs.push((name.clone(), Vec::new(), Vec::new()));
            arcs.len() - 1
        })
    }

    fn at_line_end(&self) -> bool {
        matches!(self.lexer.peek().kind, Kind::End | Kind::Operator("\n"))
    }

    /// Leaves aside what stands on a line; a text in braces may go over several.
    fn skip_line(&mut self) -> Result<(), Diagnostic> {
        while !self.at_line_end() {
            if self.lexer.peek().kind == Kind::Operator("{") {
                self.name("a text")?;
            } else {
                self.lexer.advance();
            }
        }
        Ok(())
    }
}
