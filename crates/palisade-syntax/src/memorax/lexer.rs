//! Splits a text in Memorax's language into words.

use crate::{Diagnostic, MAX_ERRORS};
use palisade_model::text::Span;

/// Words that cannot be names.
pub(super) const KEYWORDS: [&str; 30] = [
    "if",
    "then",
    "else",
    "while",
    "do",
    "read",
    "write",
    "syncwr",
    "syncrd",
    "fence",
    "ssfence",
    "llfence",
    "locked",
    "slocked",
    "cas",
    "goto",
    "true",
    "false",
    "my",
    "me",
    "other",
    "process",
    "not",
    "nop",
    "text",
    "data",
    "either",
    "or",
    "forbidden",
    "assume",
];

/// Further words that cannot be names.
const MORE_KEYWORDS: [&str; 4] = ["predicates", "registers", "macro", "endmacro"];

/// Two characters first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 24] = [
    ":=", "||", "&&", "!=", "<=", ">=", "=", "(", ")", ",", "-", "*", ";", ":", "{", "}", "<", ">", "+", "[", "]", "@",
    "!", "/",
];

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'s> {
    /// A word that is no keyword.
    Name(&'s str),
    /// A keyword.
    Keyword(&'s str),
    /// A register, with its `$`.
    Register(&'s str),
    /// A natural number.
    Number(i64),
    /// Punctuation or an operator.
    Symbol(&'static str),
}

impl std::fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(text) | Self::Keyword(text) | Self::Register(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Symbol(text) => f.write_str(text),
        }
    }
}

/// A word where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'s> {
    /// What it is.
    pub(super) kind: Kind<'s>,
    /// Its place in the text; for a word of a macro, the place in the macro's definition.
    pub(super) span: Span,
    /// The outermost call of the macro that it comes from.
    pub(super) call: Option<Span>,
}

impl Token<'_> {
    /// Whether the word is this keyword or symbol.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Keyword(word) if word == text)
            || matches!(self.kind, Kind::Symbol(word) if word == text)
    }
}

/// The words of a text without its comments, or what in it is no word.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Vec<Diagnostic>> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), errors: Vec::new() };
    while lexer.errors.len() < MAX_ERRORS && lexer.skip_space() {
        lexer.token();
    }
    if lexer.errors.is_empty() { Ok(lexer.tokens) } else { Err(lexer.errors) }
}

struct Lexer<'s> {
    text: &'s str,
    at: usize,
    tokens: Vec<Token<'s>>,
    errors: Vec<Diagnostic>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    /// Goes to the next word; there is none at the end of the text.
    fn skip_space(&mut self) -> bool {
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            if !self.rest().starts_with("/*") {
                return self.at < self.text.len();
            }
            match self.rest().find("*/") {
                // `/*/` opens a comment and does not close it.
                Some(end) if end >= 2 => self.at += end + 2,
                _ => match self.rest()[2..].find("*/") {
                    Some(end) => self.at += 2 + end + 2,
                    None => {
                        let span = Span { start: self.at, end: self.at + 2 };
                        self.errors.push(Diagnostic::error("this comment does not end", span).with_expected(["`*/`"]));
                        self.at = self.text.len();
                        return false;
                    }
                },
            }
        }
    }

    fn token(&mut self) {
        let rest = self.rest();
        let start = self.at;
        let word = |from: usize| {
            let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            rest[from..].find(ends).map_or(rest.len(), |length| from + length)
        };
        let first = rest.chars().next().expect("a word begins here");
        let (kind, length) = if first.is_ascii_alphabetic() || first == '_' {
            let text = &rest[..word(0)];
            let is_keyword = KEYWORDS.contains(&text) || MORE_KEYWORDS.contains(&text);
            (if is_keyword { Kind::Keyword(text) } else { Kind::Name(text) }, text.len())
        } else if first == '$' && word(1) > 1 {
            (Kind::Register(&rest[..word(1)]), word(1))
        } else if first.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            match rest[..length].parse() {
                Ok(number) => (Kind::Number(number), length),
                Err(_) => return self.wrong("this number does not fit 64 bits", length),
            }
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            if matches!(symbol, "!" | "/") {
                let help = if symbol == "!" { "negation is `not`" } else { "a comment stands between `/*` and `*/`" };
                self.wrong(&format!("`{symbol}` is no word of this language"), 1);
                self.errors.last_mut().expect("one was just pushed").help = Some(help.to_owned());
                return;
            }
            (Kind::Symbol(symbol), symbol.len())
        } else {
            let length = first.len_utf8();
            return self.wrong(&format!("`{}` is no word of this language", first.escape_debug()), length);
        };
        self.at += length;
        self.tokens.push(Token { kind, span: Span { start, end: self.at }, call: None });
    }

    fn wrong(&mut self, message: &str, length: usize) {
        let span = Span { start: self.at, end: self.at + length };
        self.errors.push(Diagnostic::error(message, span));
        self.at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_comments() {
        let words = |text| tokens(text).map(|all| all.iter().map(|it| it.kind.to_string()).collect::<Vec<_>>());
        assert_eq!(
            words("L0:write:x:=$0+1/*/ or */;").unwrap(),
            ["L0", ":", "write", ":", "x", ":=", "$0", "+", "1", ";"]
        );
        assert!(words("a /* b").unwrap_err()[0].message.contains("does not end"));
        assert!(words("99999999999999999999").is_err() && words("!x").is_err() && words("§").is_err());
    }
}
