//! The names of a text: what each of them is, where it is declared and where it stands, for
//! editors.
//!
//! A native text is read by its tokens alone, so that an unfinished one has symbols as well; other
//! texts are read as programs.

mod native;
mod program;

use crate::native::structured::WORDS;
use crate::native::token::{ITEM_WORDS, Keyword, LOCKS, MARKS};
use crate::{Format, parse};
use palisade_model::program::Ordering;
use palisade_model::text::{SourceText, Span};
use std::sync::Arc;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// The program.
    Program,
    /// A thread.
    Thread,
    /// An event.
    Event,
    /// A task.
    Task,
    /// A procedure.
    Procedure,
    /// A constant.
    Constant,
    /// A location in memory.
    Address,
    /// A register or a parameter.
    Register,
    /// A label.
    Label,
}

impl SymbolKind {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Thread => "thread",
            Self::Event => "event",
            Self::Task => "task",
            Self::Procedure => "procedure",
            Self::Constant => "constant",
            Self::Address => "location",
            Self::Register => "register",
            Self::Label => "label",
        }
    }
}

/// A name with its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// What it stands for.
    pub kind: SymbolKind,
    /// The name as written.
    pub name: String,
    /// Where it is declared, or first used where nothing declares it.
    pub span: Span,
    /// The whole of what is declared: a thread from its word to its end.
    pub extent: Span,
    /// The thread, event, task or procedure that it belongs to, by its position among the symbols.
    pub owner: Option<usize>,
}

/// The names of a text.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// What is declared, in order of declaration.
    pub all: Vec<Symbol>,
    /// Where names stand, in order, each with the position of its symbol.
    occurrences: Vec<(Span, usize)>,
}

impl Symbols {
    /// The symbols of a text. One that is in another language than the native one, and has errors,
    /// has none.
    pub fn of(source: &Arc<SourceText>, format: Format) -> Self {
        let mut symbols = match format {
            Format::Native => native::symbols(&source.text),
            _ => parse(source.clone(), format).map(|parsed| program::symbols(&parsed.program)).unwrap_or_default(),
        };
        symbols.occurrences.sort_unstable();
        symbols.occurrences.dedup_by_key(|(span, _)| *span);
        symbols
    }

    /// The symbol whose name stands at a byte, or ends there, and where exactly.
    pub fn at(&self, byte: usize) -> Option<(usize, Span)> {
        let end = self.occurrences.partition_point(|(span, _)| span.start <= byte);
        let (span, symbol) = *self.occurrences[..end].last()?;
        (byte <= span.end).then_some((symbol, span))
    }

    /// Where the name of a symbol stands.
    pub fn places(&self, symbol: usize) -> impl Iterator<Item = Span> {
        self.occurrences.iter().filter(move |(_, own)| *own == symbol).map(|(span, _)| *span)
    }

    /// Adds a declaration; its position.
    fn declare(&mut self, kind: SymbolKind, name: &str, span: Span, owner: Option<usize>) -> usize {
        self.all.push(Symbol { kind, name: name.to_owned(), span, extent: span, owner });
        self.occurrences.push((span, self.all.len() - 1));
        self.all.len() - 1
    }
}

/// The words that the native language keeps for itself, in all places or in some.
pub fn words() -> impl Iterator<Item = &'static str> {
    let keywords = Keyword::ALL.iter().map(|keyword| keyword.spelling());
    let orderings = Ordering::ALL.into_iter().map(Ordering::word);
    keywords.chain(ITEM_WORDS).chain(LOCKS).chain(MARKS).chain(WORDS.iter().copied()).chain(orderings)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each name at a `^` below a line: what it is, and the line on which it is declared.
    fn shown(text: &str, format: Format, marks: &[(usize, &str)]) -> Vec<String> {
        let source = SourceText::new("t", text);
        let symbols = Symbols::of(&source, format);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let found = marks.iter().map(|(line, word)| {
            let start: usize = lines[..line - 1].iter().map(|line| line.len()).sum();
            let column = lines[line - 1].find(word).expect("the word stands there");
            match symbols.at(start + column) {
                None => "nothing".to_owned(),
                Some((symbol, span)) => {
                    assert_eq!(source.slice(span), *word);
                    let symbol = &symbols.all[symbol];
                    let owner = symbol.owner.map_or(String::new(), |own| format!(" of {}", symbols.all[own].name));
                    format!("{}{owner} on {}", symbol.kind.word(), source.position(symbol.span.start).line)
                }
            }
        });
        found.collect()
    }

    const AUTOMATA: &str = "\
program P
address x, slot[2]
initial x = 1
thread t regs r = 1, which init a begin
  a: r <- mem[x]; goto b;
  b: mem[slot + which] <- r; goto a;
  a: mem[y] <- r; goto b;
end
thread u regs r init a begin
  a: r <- load(mem[y], acquire);
end
never t at b, u at a
";

    #[test]
    fn names_of_automata() {
        let marks = [
            (3, "x"),
            (5, "a"),
            (5, "r"),
            (5, "b"),
            (6, "slot"),
            (6, "which"),
            (7, "a"),
            (7, "y"),
            (10, "r"),
            (10, "y"),
            (10, "load"),
            (12, "t"),
            (12, "b"),
            (12, "u"),
        ];
        let expected = [
            "location on 2",
            "label of t on 5",
            "register of t on 4",
            "label of t on 6",
            "location on 2",
            "register of t on 4",
            "label of t on 5",
            "location on 7",
            "register of u on 9",
            "location on 7",
            "nothing",
            "thread on 4",
            "label of t on 6",
            "thread on 9",
        ];
        assert_eq!(shown(AUTOMATA, Format::Native, &marks), expected);
    }

    const BRACES: &str = "\
program P
const N = 2;
address x, slot[N]
proc take(spot) {
  while (xchg(spot, 1) != 0) { pause; }
}
thread t [N] {
  let r = x;
  again: take(x);
  { let q = r; slot[q] = N; }
  for (let i = 0; i < N; i++) { post main job(i); }
  goto again;
}
task job(v) { x = v; }
";

    #[test]
    fn names_of_bodies_in_braces() {
        let marks = [
            (5, "spot"),
            (8, "r"),
            (8, "x"),
            (9, "take"),
            (10, "r"),
            (11, "i"),
            (11, "job"),
            (12, "again"),
            (14, "v"),
            (3, "N"),
            (7, "N"),
            (5, "while"),
        ];
        let found = shown(BRACES, Format::Native, &marks);
        let expected = [
            "register of take on 4",
            "register of t on 8",
            "location on 3",
            "procedure on 4",
            "register of t on 8",
            "register of t on 11",
            "task on 14",
            "label of t on 9",
            "register of job on 14",
            "constant on 2",
            "constant on 2",
            "nothing",
        ];
        assert_eq!(found, expected);
        let source = SourceText::new("t", BRACES);
        let symbols = Symbols::of(&source, Format::Native);
        let take = symbols.all.iter().find(|symbol| symbol.name == "take").expect("a procedure");
        assert!(source.slice(take.extent).starts_with("proc take(spot) {") && source.slice(take.extent).ends_with('}'));
    }

    #[test]
    fn unfinished_texts_have_symbols() {
        for text in [AUTOMATA, BRACES] {
            for end in (0..text.len()).chain([text.len()]) {
                let source = SourceText::new("t", &text[..end]);
                let symbols = Symbols::of(&source, Format::Native);
                for symbol in &symbols.all {
                    assert_eq!(source.slice(symbol.span), symbol.name);
                    assert!(symbol.extent.start <= symbol.span.start && symbol.span.end <= symbol.extent.end);
                }
            }
        }
        let symbols = Symbols::of(&SourceText::new("t", "program P thread t { let r = 1; r = "), Format::Native);
        assert_eq!(symbols.all.len(), 3);
    }

    #[test]
    fn names_of_a_litmus_test() {
        let text = "\
X86 SB
{ x = 0; y = 0; }
 P0 | P1 ;
 MOV [x],$1 | MOV [y],$1 ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
";
        let marks = [(4, "x"), (5, "EAX"), (5, "y")];
        let expected = ["location on 2", "register of P0 on 5", "location on 2"];
        assert_eq!(shown(text, Format::Litmus, &marks), expected);
        // In a condition the thread stands in front.
        let symbols = Symbols::of(&SourceText::new("t", text), Format::Litmus);
        let owners: Vec<&str> = text
            .match_indices(":EAX")
            .map(|(at, _)| {
                let (symbol, _) = symbols.at(at + 1).expect("a register");
                symbols.all[symbols.all[symbol].owner.expect("a thread")].name.as_str()
            })
            .collect();
        assert_eq!(owners, ["P0", "P1"]);
    }

    #[test]
    fn words_are_no_names() {
        assert!(words().any(|word| word == "thread") && words().any(|word| word == "acq_rel"));
    }
}
