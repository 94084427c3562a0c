//! The names of a native text, by its tokens: heads, automata, bodies in braces.

use super::{SymbolKind as Kind, Symbols};
use crate::native::lexer::{Spanned, tokens};
use crate::native::token::{EVENT, Keyword, NEVER, PLAIN, Symbol, TASK, Token};
use palisade_model::text::Span;
use rustc_hash::FxHashMap;

/// The names of a text.
pub(super) fn symbols(text: &str) -> Symbols {
    let tokens = tokens(text).tokens;
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        symbols: Symbols::default(),
        globals: FxHashMap::default(),
        labels: FxHashMap::default(),
        scopes: Vec::new(),
        uses: Vec::new(),
    };
    reader.items();
    reader.resolve();
    reader.symbols
}

/// A name that is looked up once all declarations are known.
struct Use<'s> {
    name: &'s str,
    span: Span,
    of: Wanted<'s>,
}

/// What a name is looked up as.
enum Wanted<'s> {
    /// A name that the whole text can see; inside of `mem[…]` one of its own where nothing declares
    /// it.
    Global { is_address: bool },
    /// A label of a thread or a procedure.
    Label { owner: usize },
    /// A label of a thread by its name.
    LabelOf { thread: &'s str },
}

struct Reader<'a, 's> {
    tokens: &'a [Spanned<'s>],
    at: usize,
    symbols: Symbols,
    globals: FxHashMap<&'s str, usize>,
    /// Labels by owner and name.
    labels: FxHashMap<(usize, &'s str), usize>,
    /// The registers that can be seen, block by block.
    scopes: Vec<FxHashMap<&'s str, usize>>,
    uses: Vec<Use<'s>>,
}

impl<'s> Reader<'_, 's> {
    fn token(&self, ahead: usize) -> Option<Token<'s>> {
        self.tokens.get(self.at + ahead).map(|(token, _)| *token)
    }

    fn is(&self, ahead: usize, symbol: Symbol) -> bool {
        self.token(ahead) == Some(Token::Symbol(symbol))
    }

    /// The word here, whether or not it is a keyword, and where it stands.
    fn name(&self, ahead: usize) -> Option<(&'s str, Span)> {
        match self.tokens.get(self.at + ahead)? {
            (Token::Name(name), span) => Some((name, *span)),
            _ => None,
        }
    }

    fn items(&mut self) {
        while let Some(token) = self.token(0) {
            let (start, is_named) = (self.tokens[self.at].1, self.name(1).is_some());
            match token {
                Token::Keyword(Keyword::Program) if is_named => self.global(Kind::Program),
                Token::Keyword(Keyword::Address) => self.addresses(),
                Token::Name(PLAIN) if is_named => self.addresses(),
                Token::Name("const") if is_named => self.global(Kind::Constant),
                Token::Name("proc") if is_named => self.thread(Kind::Procedure, start),
                Token::Keyword(Keyword::Thread) if is_named => self.thread(Kind::Thread, start),
                Token::Name(EVENT) if is_named => self.thread(Kind::Event, start),
                Token::Name(TASK) if is_named => self.thread(Kind::Task, start),
                Token::Name(NEVER) if is_named => self.never(),
                Token::Name(name) => {
                    self.used(name, start, false);
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Declares the name behind the word here for the whole text.
    fn global(&mut self, kind: Kind) {
        if let Some((name, span)) = self.name(1) {
            let symbol = self.symbols.declare(kind, name, span, None);
            if kind != Kind::Program {
                self.globals.entry(name).or_insert(symbol);
            }
        }
        self.at += 2;
    }

    /// `address x, slot[4] = 5`.
    fn addresses(&mut self) {
        self.global(Kind::Address);
        let mut depth = 0_usize;
        while let Some((token, span)) = self.tokens.get(self.at) {
            match token {
                Token::Symbol(Symbol::OpenBracket) => depth += 1,
                Token::Symbol(Symbol::CloseBracket) => depth = depth.saturating_sub(1),
                Token::Symbol(Symbol::Comma) if depth == 0 && self.name(1).is_some() => {
                    self.global(Kind::Address);
                    continue;
                }
                Token::Name(name) if depth > 0 => self.used(name, *span, false),
                Token::Symbol(Symbol::Comma | Symbol::Equal | Symbol::Minus) | Token::Integer(_) => {}
                _ if depth > 0 => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    /// `t at l, u at m`.
    fn never(&mut self) {
        self.at += 1;
        while let (Some((thread, span)), Some(Token::Name("at"))) = (self.name(0), self.token(1)) {
            self.used(thread, span, false);
            if let Some((label, span)) = self.name(2) {
                self.uses.push(Use { name: label, span, of: Wanted::LabelOf { thread } });
            }
            self.at += 3;
            if self.is(0, Symbol::Comma) {
                self.at += 1;
            }
        }
    }

    /// A thread, an event, a task or a procedure, from its word to its end.
    fn thread(&mut self, kind: Kind, start: Span) {
        let owner = self.symbols.all.len();
        self.global(kind);
        self.scopes.push(FxHashMap::default());
        let (mut in_parentheses, mut in_registers) = (false, false);
        while let Some((token, span)) = self.tokens.get(self.at).copied() {
            match token {
                Token::Symbol(Symbol::OpenBrace) => {
                    self.body(owner);
                    break;
                }
                Token::Keyword(Keyword::Begin) => {
                    self.at += 1;
                    self.automaton(owner);
                    break;
                }
                Token::Symbol(Symbol::OpenParen) => in_parentheses = true,
                Token::Symbol(Symbol::CloseParen) => in_parentheses = false,
                Token::Keyword(Keyword::Regs) => in_registers = true,
                Token::Keyword(Keyword::Init) => {
                    in_registers = false;
                    if let Some((label, span)) = self.name(1) {
                        self.uses.push(Use { name: label, span, of: Wanted::Label { owner } });
                        self.at += 1;
                    }
                }
                Token::Keyword(Keyword::Mem) => {}
                // The head was never finished.
                Token::Keyword(_) => break,
                Token::Name("when") if !in_parentheses && !in_registers => {}
                Token::Name(name) if in_parentheses || in_registers => self.register(name, span, owner),
                Token::Name(name) => self.used(name, span, self.is_in_memory()),
                _ => {}
            }
            self.at += 1;
        }
        self.scopes.clear();
        let end = self.tokens[..self.at.min(self.tokens.len())].last().map_or(start, |(_, span)| *span);
        self.symbols.all[owner].extent = start.to(end);
    }

    /// Whether the name here stands directly inside of `mem[…]`.
    fn is_in_memory(&self) -> bool {
        let before = |back: usize| self.at.checked_sub(back).map(|at| self.tokens[at].0);
        before(1) == Some(Token::Symbol(Symbol::OpenBracket)) && before(2) == Some(Token::Keyword(Keyword::Mem))
    }

    /// The lines between `begin` and `end`.
    fn automaton(&mut self, owner: usize) {
        while let Some((token, span)) = self.tokens.get(self.at).copied() {
            match token {
                Token::Keyword(Keyword::End) => {
                    self.at += 1;
                    return;
                }
                Token::Keyword(Keyword::Thread | Keyword::Program) => return,
                Token::Name(name) if self.is(1, Symbol::Colon) => self.label(name, span, owner),
                Token::Keyword(Keyword::Goto) | Token::Name("else") => self.jump(owner),
                Token::Name(name) => self.used(name, span, self.is_in_memory()),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// A body in braces, to its closing brace.
    fn body(&mut self, owner: usize) {
        let outer = self.scopes.len();
        while let Some((token, span)) = self.tokens.get(self.at).copied() {
            match token {
                Token::Symbol(Symbol::OpenBrace) => self.scopes.push(FxHashMap::default()),
                Token::Symbol(Symbol::CloseBrace) => {
                    self.scopes.pop();
                    if self.scopes.len() <= outer {
                        self.at += 1;
                        return;
                    }
                }
                Token::Keyword(Keyword::Thread | Keyword::Program) => return,
                Token::Name("let") => {
                    if let Some((name, span)) = self.name(1) {
                        self.register(name, span, owner);
                        self.at += 1;
                    }
                }
                Token::Name(name) if self.is(1, Symbol::Colon) => self.label(name, span, owner),
                Token::Keyword(Keyword::Goto) => self.jump(owner),
                Token::Name(name) => self.used(name, span, false),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// The word here and the label behind it.
    fn jump(&mut self, owner: usize) {
        if let Some((name, span)) = self.name(1) {
            self.uses.push(Use { name, span, of: Wanted::Label { owner } });
            self.at += 1;
        }
    }

    fn label(&mut self, name: &'s str, span: Span, owner: usize) {
        if let Some(first) = self.labels.get(&(owner, name)) {
            self.symbols.occurrences.push((span, *first));
        } else {
            let symbol = self.symbols.declare(Kind::Label, name, span, Some(owner));
            self.labels.insert((owner, name), symbol);
        }
    }

    fn register(&mut self, name: &'s str, span: Span, owner: usize) {
        let symbol = self.symbols.declare(Kind::Register, name, span, Some(owner));
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, symbol);
        }
    }

    /// A name that stands for a value: a register that can be seen from here, or what the whole
    /// text can see.
    fn used(&mut self, name: &'s str, span: Span, is_address: bool) {
        match self.scopes.iter().rev().find_map(|scope| scope.get(name)) {
            Some(symbol) => self.symbols.occurrences.push((span, *symbol)),
            None => self.uses.push(Use { name, span, of: Wanted::Global { is_address } }),
        }
    }

    fn resolve(&mut self) {
        let uses = std::mem::take(&mut self.uses);
        for Use { name, span, .. } in uses.iter().filter(|own| matches!(own.of, Wanted::Global { is_address: true })) {
            if !self.globals.contains_key(name) {
                let symbol = self.symbols.declare(Kind::Address, name, *span, None);
                self.globals.insert(name, symbol);
            }
        }
        for Use { name, span, of } in uses {
            let symbol = match of {
                Wanted::Global { .. } => self.globals.get(name),
                Wanted::Label { owner } => self.labels.get(&(owner, name)),
                Wanted::LabelOf { thread } => {
                    self.globals.get(thread).and_then(|owner| self.labels.get(&(*owner, name)))
                }
            };
            self.symbols.occurrences.extend(symbol.map(|symbol| (span, *symbol)));
        }
    }
}
