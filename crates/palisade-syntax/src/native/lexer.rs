//! Splits a native text into tokens.
//!
//! Written by hand, one pass over the bytes: every later step works on tokens, so the text's size
//! hardly matters.

use super::token::{Keyword, Symbol, Token};
use crate::{Diagnostic, MAX_ERRORS, MAX_EXPRESSION_DEPTH};
use palisade_model::text::Span;

/// How many brackets may be open: those an expression needs, and those around it.
const MAX_BRACKETS: usize = MAX_EXPRESSION_DEPTH + 8;

/// How many braces may be open.
const MAX_BRACES: usize = 64;

/// A token with its place.
pub(crate) type Spanned<'s> = (Token<'s>, Span);

/// The symbol that a text begins with, and its length in bytes.
fn symbol(text: &str) -> Option<(Symbol, usize)> {
    let symbol = match text.as_bytes() {
        // Two characters first, so that `<=` is not read as `<`.
        [b'<', b'-', ..] | [b':', b'=', ..] => (Symbol::Arrow, 2),
        [b'=', b'=', ..] => (Symbol::Equal, 2),
        [b'!', b'=', ..] => (Symbol::NotEqual, 2),
        [b'<', b'=', ..] => (Symbol::LessOrEqual, 2),
        [b'>', b'=', ..] => (Symbol::GreaterOrEqual, 2),
        [b'<', b'<', ..] => (Symbol::ShiftLeft, 2),
        [b'>', b'>', ..] => (Symbol::ShiftRight, 2),
        [b'&', b'&', ..] => (Symbol::And, 2),
        [b'|', b'|', ..] => (Symbol::Or, 2),
        [b'.', b'.', ..] => (Symbol::DotDot, 2),
        [b':', ..] => (Symbol::Colon, 1),
        [b';', ..] => (Symbol::Semicolon, 1),
        [b',', ..] => (Symbol::Comma, 1),
        [b'(', ..] => (Symbol::OpenParen, 1),
        [b')', ..] => (Symbol::CloseParen, 1),
        [b'[', ..] => (Symbol::OpenBracket, 1),
        [b']', ..] => (Symbol::CloseBracket, 1),
        [b'{', ..] => (Symbol::OpenBrace, 1),
        [b'}', ..] => (Symbol::CloseBrace, 1),
        [b'@', ..] => (Symbol::At, 1),
        [b'=', ..] => (Symbol::Equal, 1),
        [b'<', ..] => (Symbol::Less, 1),
        [b'>', ..] => (Symbol::Greater, 1),
        [b'+', ..] => (Symbol::Plus, 1),
        [b'-', ..] => (Symbol::Minus, 1),
        [b'*', ..] => (Symbol::Star, 1),
        [b'/', ..] => (Symbol::Slash, 1),
        [b'%', ..] => (Symbol::Percent, 1),
        [b'&', ..] => (Symbol::BitAnd, 1),
        [b'|', ..] => (Symbol::BitOr, 1),
        [b'^', ..] => (Symbol::Caret, 1),
        [b'!', ..] => (Symbol::Not, 1),
        [b'~', ..] => (Symbol::Tilde, 1),
        _ => {
            let first = text.chars().next()?;
            let symbol = match first {
                '←' => Symbol::Arrow,
                '≠' => Symbol::NotEqual,
                '≤' => Symbol::LessOrEqual,
                '≥' => Symbol::GreaterOrEqual,
                '∧' => Symbol::And,
                '∨' => Symbol::Or,
                '¬' => Symbol::Not,
                _ => return None,
            };
            (symbol, first.len_utf8())
        }
    };
    Some(symbol)
}

/// What a text is made of.
pub(crate) struct Lexed<'s> {
    /// Its tokens without its comments; [`Token::Unknown`] stands for what is no token.
    pub(crate) tokens: Vec<Spanned<'s>>,
    /// What in it is no token.
    pub(crate) errors: Vec<Diagnostic>,
    /// Whether the tokens go on to the end of the text.
    pub(crate) is_whole: bool,
}

/// Splits a text into tokens.
pub(crate) fn tokens(text: &str) -> Lexed<'_> {
    let tokens = Vec::with_capacity(text.len() / 3);
    let mut lexer = Lexer { text, at: 0, tokens, errors: Vec::new(), depth: 0, braces: 0, is_whole: true };
    while lexer.errors.len() < MAX_ERRORS && lexer.skip_space() {
        lexer.token();
    }
    let is_whole = lexer.is_whole && lexer.at == text.len();
    Lexed { tokens: lexer.tokens, errors: lexer.errors, is_whole }
}

/// Whether a name may begin with the character.
pub(crate) fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name may go on with the character: letters, digits, primes as in the literature,
/// combining marks.
pub(crate) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'' | '’' | '′' | '″' | '‴' | '\u{300}'..='\u{36f}')
}

struct Lexer<'s> {
    text: &'s str,
    at: usize,
    tokens: Vec<Spanned<'s>>,
    errors: Vec<Diagnostic>,
    /// How many brackets are open.
    depth: usize,
    /// How many braces are open.
    braces: usize,
    /// Whether nothing was left out.
    is_whole: bool,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    /// Skips space and comments; whether anything is left.
    fn skip_space(&mut self) -> bool {
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else { return false };
            if first.is_whitespace() {
                self.at += rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
            } else if first == '#' || rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(length) = comment.find("*/") else {
                    let span = Span { start: self.at, end: self.at + 2 };
                    self.errors.push(Diagnostic::error("the comment is never closed", span).with_expected(["`*/`"]));
                    return false;
                };
                self.at += length + 4;
            } else {
                return true;
            }
        }
    }

    /// Reads the token that begins here.
    fn token(&mut self) {
        let rest = self.rest();
        let first = rest.chars().next().expect("something is left");
        if begins_name(first) {
            let word = &rest[..rest.find(|c| !continues_name(c)).unwrap_or(rest.len())];
            let token = Keyword::of(word).map_or(Token::Name(word), Token::Keyword);
            self.push(token, word.len());
        } else if first.is_ascii_digit() {
            self.number();
        } else if let Some((symbol, length)) = symbol(rest) {
            if self.nesting(symbol) {
                self.push(Token::Symbol(symbol), length);
            }
        } else if first == '"' {
            // As one error: what stands between the quotes is none of this language either.
            let end = rest[1..]
                .find(['"', '\n'])
                .map_or(rest.len(), |at| at + 1 + usize::from(rest[at + 1..].starts_with('"')));
            self.error(end, "a string means nothing here".to_owned());
            let error = self.errors.last_mut().expect("one was just added");
            error.help = Some(
                "there is no inline assembly: say what it does, as `fence(seq_cst)` does; all values are integers"
                    .to_owned(),
            );
        } else {
            let shown = if first.is_control() { format!("{first:?}") } else { format!("`{first}`") };
            self.error(first.len_utf8(), format!("the character {shown} means nothing here"));
            let help = match first {
                '.' => {
                    "there are no methods and no fields: the name of an address in an expression in braces is a load"
                }
                '?' => "there is no `? :`; write `if (…) { … } else { … }`",
                _ => return,
            };
            let error = self.errors.last_mut().expect("one was just added");
            error.help = Some(help.to_owned());
        }
    }

    fn number(&mut self) {
        let rest = self.rest();
        let end_of = |from: usize| rest[from..].find(|c| !continues_name(c)).map_or(rest.len(), |end| from + end);
        let length = end_of(0);
        let word = &rest[..length];
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            let after = &rest[length..];
            if after.strip_prefix('.').is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit())) {
                let length = end_of(length + 1);
                return self.push(Token::Decimal(&rest[..length]), length);
            }
        }
        let value = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        match value {
            Ok(value) => self.push(Token::Integer(value), length),
            Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => {
                self.error(length, format!("the number `{word}` does not fit 64 bits"));
            }
            Err(_) => self.error(length, format!("`{word}` is neither a number nor a name")),
        }
    }

    /// Counts open brackets, so that nothing later has to fear deep nesting; whether there are not
    /// too many.
    fn nesting(&mut self, symbol: Symbol) -> bool {
        match symbol {
            Symbol::OpenParen | Symbol::OpenBracket => self.depth += 1,
            Symbol::CloseParen | Symbol::CloseBracket => self.depth = self.depth.saturating_sub(1),
            // Brackets never reach beyond an instruction.
            Symbol::Semicolon => self.depth = 0,
            Symbol::OpenBrace => (self.depth, self.braces) = (0, self.braces + 1),
            Symbol::CloseBrace => (self.depth, self.braces) = (0, self.braces.saturating_sub(1)),
            _ => {}
        }
        let (what, most) = match (self.depth > MAX_BRACKETS, self.braces > MAX_BRACES) {
            (false, false) => return true,
            (true, _) => ("brackets", MAX_BRACKETS),
            (_, true) => ("braces", MAX_BRACES),
        };
        self.error(1, format!("{what} are nested deeper than {most} levels"));
        (self.at, self.is_whole) = (self.text.len(), false);
        false
    }

    fn push(&mut self, token: Token<'s>, length: usize) {
        self.tokens.push((token, Span { start: self.at, end: self.at + length }));
        self.at += length;
    }

    fn error(&mut self, length: usize, message: String) {
        self.errors.push(Diagnostic::error(message, Span { start: self.at, end: self.at + length }));
        self.push(Token::Unknown, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let tokens = tokens(text).tokens;
        tokens.iter().map(|(token, _)| token.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn arrows_primes_and_comments() {
        assert_eq!(
            shown("l′0: r_1 ← mem[y]; // c\n l'0:r:=1 # d\n/* e\n */ x<-1"),
            "l′0 : r_1 <- mem [ y ] ; l'0 : r <- 1 x <- 1"
        );
        assert_eq!(shown("-4..3 2.5 0x1F a<=b ≠ c"), "- 4 .. 3 2.5 31 a <= b != c");
    }

    #[test]
    fn symbols_are_read_as_they_are_written() {
        for wanted in Symbol::ALL {
            let spelling = wanted.spelling();
            assert_eq!(symbol(spelling), Some((*wanted, spelling.len())), "{spelling}");
        }
        let others = [
            (":=", Symbol::Arrow),
            ("←", Symbol::Arrow),
            ("==", Symbol::Equal),
            ("≠", Symbol::NotEqual),
            ("≤", Symbol::LessOrEqual),
            ("≥", Symbol::GreaterOrEqual),
            ("∧", Symbol::And),
            ("∨", Symbol::Or),
            ("¬", Symbol::Not),
        ];
        for (spelling, wanted) in others {
            assert_eq!(symbol(spelling), Some((wanted, spelling.len())), "{spelling}");
        }
    }

    #[test]
    fn what_is_no_token() {
        let message = |text: &str| tokens(text).errors[0].message.clone();
        assert_eq!(message("a $ b"), "the character `$` means nothing here");
        assert_eq!(message("99999999999999999999"), "the number `99999999999999999999` does not fit 64 bits");
        assert_eq!(message("5x"), "`5x` is neither a number nor a name");
        assert_eq!(message("/* a"), "the comment is never closed");
        assert_eq!(message(&"(".repeat(1_000_000)), "brackets are nested deeper than 208 levels");
    }
}
