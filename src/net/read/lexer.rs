//! A lexer over bytes for the line-less text formats (mist, LoLA, formulas).

use crate::net::diagnostic::Diagnostic;
use crate::program::Span;

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

/// What tokens and comments look like in a format.
pub(super) struct Lexicon {
    /// Operators, longer ones before their prefixes.
    pub(super) operators: &'static [&'static str],
    /// Comments: how they open and close (`"\n"`: at the end of the line).
    pub(super) comments: &'static [(&'static str, &'static str)],
    /// Whether a byte may start a word.
    pub(super) starts_word: fn(u8) -> bool,
    /// Whether a byte may go on with a word.
    pub(super) continues_word: fn(u8) -> bool,
    /// Whether line breaks are tokens (the operator `"\n"`).
    pub(super) lines: bool,
}

/// What each byte can be in a format, in one table, so that the loops over bytes call nothing.
struct Classes([u8; 256]);

impl Classes {
    const BLANK: u8 = 1;
    const STARTS_WORD: u8 = 2;
    const CONTINUES_WORD: u8 = 4;
    const DIGIT: u8 = 8;
    const STARTS_COMMENT: u8 = 16;

    fn of(lexicon: &Lexicon) -> Self {
        let mut classes = [0; 256];
        for byte in 0..=u8::MAX {
            let is_blank = byte.is_ascii_whitespace() && !(lexicon.lines && byte == b'\n');
            let is_comment = lexicon.comments.iter().any(|(open, _)| open.as_bytes().first() == Some(&byte));
            let member = [
                (is_blank, Self::BLANK),
                ((lexicon.starts_word)(byte), Self::STARTS_WORD),
                ((lexicon.continues_word)(byte), Self::CONTINUES_WORD),
                (byte.is_ascii_digit(), Self::DIGIT),
                (is_comment, Self::STARTS_COMMENT),
            ];
            for (_, class) in member.into_iter().filter(|(is_member, _)| *is_member) {
                classes[usize::from(byte)] |= class;
            }
        }
        Self(classes)
    }

    /// Whether a byte is of this class.
    fn has(&self, byte: u8, class: u8) -> bool {
        self.0[usize::from(byte)] & class != 0
    }

    /// How many bytes of this class come first.
    fn run(&self, bytes: &[u8], class: u8) -> usize {
        bytes.iter().position(|byte| !self.has(*byte, class)).unwrap_or(bytes.len())
    }
}

/// Splits a text into tokens, one token ahead.
pub(super) struct Lexer<'a> {
    text: &'a str,
    lexicon: &'static Lexicon,
    classes: Classes,
    offset: usize,
    current: Token<'a>,
}

impl<'a> Lexer<'a> {
    /// Starts at the first token of the text.
    pub(super) fn new(text: &'a str, lexicon: &'static Lexicon) -> Self {
        let start = Token { kind: Kind::End, text: "", span: Span { start: 0, end: 0 } };
        let mut lexer = Self { text, lexicon, classes: Classes::of(lexicon), offset: 0, current: start };
        lexer.advance();
        lexer
    }

    /// The token to be looked at.
    pub(super) fn peek(&self) -> Token<'a> {
        self.current
    }

    /// Takes the token and moves on.
    pub(super) fn advance(&mut self) -> Token<'a> {
        let taken = self.current;
        let unclosed = self.skip_blanks();
        let start = self.offset;
        if let Some(open) = unclosed {
            self.offset = self.text.len();
            let end = start + open.len();
            self.current = Token { kind: Kind::OpenComment, text: open, span: Span { start, end } };
            return taken;
        }
        let bytes = self.text.as_bytes();
        let kind = match bytes.get(start) {
            None => Kind::End,
            Some(byte) if self.classes.has(*byte, Classes::STARTS_WORD) => {
                self.offset += self.classes.run(&bytes[start..], Classes::CONTINUES_WORD);
                Kind::Word
            }
            Some(byte) if self.classes.has(*byte, Classes::DIGIT) => {
                self.offset += self.classes.run(&bytes[start..], Classes::DIGIT);
                Kind::Number
            }
            Some(_) => {
                let rest = &bytes[start..];
                let matching = |operator: &&&str| {
                    // Most differ in the first byte, and a call for each comparison would be most of the work.
                    operator.as_bytes().first() == rest.first() && rest.starts_with(operator.as_bytes())
                };
                if let Some(operator) = self.lexicon.operators.iter().find(matching) {
                    self.offset += operator.len();
                    Kind::Operator(operator)
                } else {
                    self.offset += self.text[start..].chars().next().map_or(1, char::len_utf8);
                    Kind::Stray
                }
            }
        };
        let span = Span { start, end: self.offset };
        self.current = Token { kind, text: &self.text[start..self.offset], span };
        taken
    }

    /// Takes the operator when it is next.
    pub(super) fn take_operator(&mut self, operator: &str) -> bool {
        let found = matches!(self.current.kind, Kind::Operator(own) if own == operator);
        if found {
            self.advance();
        }
        found
    }

    /// Takes the word when it is next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.current.kind == Kind::Word && self.current.text == word;
        if found {
            self.advance();
        }
        found
    }

    /// Takes a number.
    pub(super) fn number(&mut self, expected: &[&str]) -> Result<Token<'a>, Diagnostic> {
        if self.current.kind == Kind::Number { Ok(self.advance()) } else { Err(self.unexpected(expected)) }
    }

    /// Takes what stands between an opening sign, which is next, and its closing one; a backslash protects the
    /// character after it. Nothing when it does not close.
    pub(super) fn quoted(&mut self, close: char) -> Option<(String, Span)> {
        let open = self.current.span;
        let mut content = String::new();
        let mut characters = self.text[open.end..].char_indices();
        while let Some((at, character)) = characters.next() {
            if character == close {
                let end = open.end + at + close.len_utf8();
                self.offset = end;
                self.advance();
                return Some((content, Span { start: open.start, end }));
            }
            content.push(if character == '\\' { characters.next()?.1 } else { character });
        }
        None
    }

    /// Takes the operator, which has to be next.
    pub(super) fn operator(&mut self, operator: &'static str, expected: &[&str]) -> Result<Token<'a>, Diagnostic> {
        match self.current.kind {
            Kind::Operator(own) if own == operator => Ok(self.advance()),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// The complaint that the next token is none of those expected.
    pub(super) fn unexpected(&self, expected: &[&str]) -> Diagnostic {
        let message = match self.current.kind {
            Kind::End => "the text ends too early".to_owned(),
            Kind::Operator("\n") => "the line ends too early".to_owned(),
            Kind::OpenComment => "the comment does not end".to_owned(),
            Kind::Stray if self.current.text.contains(char::is_control) => {
                let code = self.current.text.chars().next().map_or(0, u32::from);
                format!("unexpected control character U+{code:04X}")
            }
            _ => format!("unexpected `{}`", self.current.text),
        };
        Diagnostic::new(self.current.span, message).expecting(expected)
    }

    /// Where a comment ends, if it does; the line break that ends one is left for the formats in which it counts.
    fn comment_end(&self, body: usize, close: &str) -> Option<usize> {
        let line = close == "\n";
        let length = if line && self.lexicon.lines { 0 } else { close.len() };
        let end = self.text[body..].find(close).map(|at| body + at + length);
        // The last line of a text needs no line break.
        if line { end.or(Some(self.text.len())) } else { end }
    }

    /// Moves on to the next token; stops at a comment that does not end and tells the sign that opens it.
    fn skip_blanks(&mut self) -> Option<&'static str> {
        let bytes = self.text.as_bytes();
        'blanks: loop {
            self.offset += self.classes.run(&bytes[self.offset..], Classes::BLANK);
            let rest = &bytes[self.offset..];
            if !rest.first().is_some_and(|byte| self.classes.has(*byte, Classes::STARTS_COMMENT)) {
                return None;
            }
            for (open, close) in self.lexicon.comments {
                if rest.starts_with(open.as_bytes()) {
                    let body = self.offset + open.len();
                    let Some(end) = self.comment_end(body, close) else { return Some(open) };
                    self.offset = end;
                    continue 'blanks;
                }
            }
            return None;
        }
    }
}

/// Letters, digits and `_`, not starting with a digit.
pub(super) fn starts_identifier(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Letters, digits and `_`.
pub(super) fn continues_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
