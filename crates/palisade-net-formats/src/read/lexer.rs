//! A lexer over bytes for the line-less text formats (mist, LoLA, formulas).

use super::lexicon::{Comment, Lexicon};
use palisade_model::text::{Diagnostic, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word; which characters make one depends on the format.
    Word,
    /// A decimal number without sign.
    Number,
    /// One of the operators the lexer was made with.
    Operator(&'static str),
    /// A character that starts no token of the format.
    Stray,
    /// The sign that opens a comment which does not end.
    OpenComment,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// What it is.
    pub(super) kind: Kind,
    /// Its text.
    pub(super) text: &'a str,
    /// Where it stands.
    pub(super) span: Span,
}

/// Splits a text into tokens. The lexer keeps of a token only where it starts: readers ask for the
/// token that they expect, mostly with success, and the lexer compares that one alone.
pub(super) struct Lexer<'a> {
    text: &'a str,
    lexicon: &'static Lexicon,
    /// Where the next token starts, or where a comment starts that does not end.
    at: usize,
}

impl<'a> Lexer<'a> {
    /// Starts at the first token of the text.
    pub(super) fn new(text: &'a str, lexicon: &'static Lexicon) -> Self {
        let mut lexer = Self { text, lexicon, at: 0 };
        lexer.move_to(0);
        lexer
    }

    /// The text from the next token on.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The bytes from the next token on.
    #[inline]
    pub(super) fn rest_bytes(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The next token.
    pub(super) fn peek(&self) -> Token<'a> {
        let class = self.next_class();
        let (kind, text) = if class & Lexicon::STARTS_COMMENT != 0
            && let Comment::Open(open) = self.lexicon.comment(self.rest_bytes())
        {
            (Kind::OpenComment, open)
        } else if class & Lexicon::STARTS_WORD != 0 {
            (Kind::Word, self.run(Lexicon::CONTINUES_WORD))
        } else if class & Lexicon::DIGIT != 0 {
            (Kind::Number, self.run(Lexicon::DIGIT))
        } else if let Some(operator) = self.lexicon.operator(self.rest_bytes()) {
            (Kind::Operator(operator), operator)
        } else {
            let character = self.rest().chars().next();
            let kind = if character.is_some() { Kind::Stray } else { Kind::End };
            (kind, &self.rest()[..character.map_or(0, char::len_utf8)])
        };
        Token { kind, text, span: Span { start: self.at, end: self.at + text.len() } }
    }

    /// Takes the token and moves on.
    pub(super) fn advance(&mut self) -> Token<'a> {
        let token = self.peek();
        // After a comment that does not end comes nothing.
        self.move_to(if token.kind == Kind::OpenComment { self.text.len() } else { token.span.end });
        token
    }

    /// The next token when it is a word; [`Lexer::span_of`] tells where it stands.
    #[inline]
    pub(super) fn peek_word(&self) -> Option<&'a str> {
        let class = self.next_class();
        let is_word = class & Lexicon::STARTS_WORD != 0
            && (class & Lexicon::STARTS_COMMENT == 0 || self.peek().kind == Kind::Word);
        is_word.then(|| self.run(Lexicon::CONTINUES_WORD))
    }

    /// The next token when it is a number.
    #[inline]
    pub(super) fn peek_number(&self) -> Option<&'a str> {
        let is_number = self.next_class() & (Lexicon::DIGIT | Lexicon::STARTS_WORD) == Lexicon::DIGIT;
        is_number.then(|| self.run(Lexicon::DIGIT))
    }

    /// Moves on behind the next token, which has this text.
    #[inline]
    pub(super) fn pass(&mut self, text: &str) {
        self.skip(text.len());
    }

    /// Moves on behind so many bytes, where a token ends.
    #[inline]
    pub(super) fn skip(&mut self, length: usize) {
        self.move_to(self.at + length);
    }

    /// Where a token stands that came from this lexer.
    pub(super) fn span_of(&self, text: &str) -> Span {
        let start = text.as_ptr().addr() - self.text.as_ptr().addr();
        Span { start, end: start + text.len() }
    }

    /// Takes the operator when it is next.
    ///
    /// Each caller knows the operator: inlined, this compares a byte or two.
    #[expect(clippy::inline_always, reason = "measured: without it, nets take 4 % longer to read")]
    #[inline(always)]
    pub(super) fn take_operator(&mut self, operator: &str) -> bool {
        let after = self.at + operator.len();
        if self.text.as_bytes().get(self.at..after) != Some(operator.as_bytes()) {
            return false;
        }
        // It may be no more than the start of a longer one.
        let is_cut = operator.len() == 1
            && self.next_class() & Lexicon::STARTS_LONGER != 0
            && self.lexicon.operator(self.rest_bytes()) != Some(operator);
        if !is_cut {
            self.move_to(after);
        }
        !is_cut
    }

    /// Whether the word is next.
    #[inline]
    pub(super) fn at_word(&self, word: &str) -> bool {
        let after = self.at + word.len();
        self.text.as_bytes().get(self.at..after) == Some(word.as_bytes())
            && self.class_at(after) & Lexicon::CONTINUES_WORD == 0
    }

    /// Takes the word when it is next.
    #[inline]
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.at_word(word);
        if is_next {
            self.pass(word);
        }
        is_next
    }

    /// Takes a number.
    #[inline]
    pub(super) fn number(&mut self, expected: &[&str]) -> Result<&'a str, Diagnostic> {
        let Some(number) = self.peek_number() else { return Err(self.unexpected(expected)) };
        self.pass(number);
        Ok(number)
    }

    /// Takes what stands between an opening sign, which is next, and its closing one; a backslash
    /// protects the character after it. Nothing when it does not close.
    pub(super) fn quoted(&mut self, close: char) -> Option<(String, Span)> {
        let open = self.peek().span;
        let mut content = String::new();
        let mut characters = self.text[open.end..].char_indices();
        while let Some((at, character)) = characters.next() {
            if character == close {
                let end = open.end + at + close.len_utf8();
                self.move_to(end);
                return Some((content, Span { start: open.start, end }));
            }
            content.push(if character == '\\' { characters.next()?.1 } else { character });
        }
        None
    }

    /// Takes the operator, which has to be next.
    #[inline]
    pub(super) fn operator(&mut self, operator: &str, expected: &[&str]) -> Result<(), Diagnostic> {
        if self.take_operator(operator) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// The complaint that the next token is none of those expected.
    #[cold]
    pub(super) fn unexpected(&self, expected: &[&str]) -> Diagnostic {
        let token = self.peek();
        let message = match token.kind {
            Kind::End => "the text ends too early".to_owned(),
            Kind::Operator("\n") => "the line ends too early".to_owned(),
            Kind::OpenComment => "the comment does not end".to_owned(),
            Kind::Stray if token.text.contains(char::is_control) => {
                let code = token.text.chars().next().map_or(0, u32::from);
                format!("unexpected control character U+{code:04X}")
            }
            _ => format!("unexpected `{}`", token.text),
        };
        Diagnostic::error(message, token.span).with_expected(expected.iter().copied())
    }

    /// The classes of the byte there; none at the end.
    #[inline]
    fn class_at(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).map_or(0, |byte| self.lexicon.class(*byte))
    }

    /// The classes of the next byte; none at the end.
    #[inline]
    fn next_class(&self) -> u8 {
        self.class_at(self.at)
    }

    /// As many bytes of this class as come next.
    #[inline]
    fn run(&self, class: u8) -> &'a str {
        let mut end = self.at;
        while self.class_at(end) & class != 0 {
            end += 1;
        }
        &self.text[self.at..end]
    }

    /// Moves on to the first token from there, or to a comment that does not end.
    #[inline]
    fn move_to(&mut self, at: usize) {
        self.at = at;
        if self.next_class() & (Lexicon::BLANK | Lexicon::STARTS_COMMENT) != 0 {
            self.skip_blanks();
        }
    }

    /// Skips blanks and comments; apart from `move_to`, as that is done for every token.
    #[inline(never)]
    fn skip_blanks(&mut self) {
        /// Lines are often indented so far.
        const INDENT: &[u8; 8] = b"        ";
        let bytes = self.text.as_bytes();
        loop {
            while self.next_class() & Lexicon::BLANK != 0 {
                self.at += 1;
                if bytes[self.at..].first_chunk() == Some(INDENT) {
                    self.at += INDENT.len();
                }
            }
            if self.next_class() & Lexicon::STARTS_COMMENT == 0 {
                return;
            }
            let Comment::Of(length) = self.lexicon.comment(&bytes[self.at..]) else { return };
            self.at += length;
        }
    }
}
