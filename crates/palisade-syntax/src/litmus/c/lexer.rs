//! Tokens of C.

use crate::Diagnostic;
use palisade_model::text::Span;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'s> {
    /// A name or a keyword.
    Name(&'s str),
    /// A number without sign.
    Number(Number),
    /// Punctuation.
    Symbol(&'static str),
}

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Its value.
    pub(super) value: i128,
    /// Whether its suffix has a `u`.
    pub(super) unsigned: bool,
    /// Whether its suffix has an `l`.
    pub(super) long: bool,
    /// Whether it is written with 10 digits.
    pub(super) decimal: bool,
}

impl Token<'_> {
    /// How the token is called in messages.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Number(number) => format!("`{}`", number.value),
            Self::Symbol(symbol) => format!("`{symbol}`"),
        }
    }
}

/// Punctuation, longer before its prefixes.
const SYMBOLS: [&str; 46] = [
    "<<=", ">>=", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++",
    "--", "->", "(", ")", "{", "}", "[", "]", ";", ",", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">",
    "=", "?", ":", ".", "#",
];

/// The tokens of a stretch of a text without comments.
pub(super) fn tokens(text: &str, within: Span) -> Result<Vec<(Token<'_>, Span)>, Diagnostic> {
    let mut found = Vec::new();
    let mut at = within.start;
    while let Some(first) = text[at..within.end].chars().next() {
        let rest = &text[at..within.end];
        let start = at;
        let word = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let token = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() {
            at += word(rest);
            Token::Number(number(&text[start..at], Span { start, end: at })?)
        } else if first.is_ascii_alphabetic() || first == '_' {
            at += word(rest);
            match &text[start..at] {
                "NULL" => Token::Number(Number { value: 0, unsigned: false, long: false, decimal: true }),
                name => Token::Name(name),
            }
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            at += symbol.len();
            Token::Symbol(symbol)
        } else {
            let span = Span { start, end: start + first.len_utf8() };
            if first == '"' && found.iter().any(|(token, _)| matches!(token, Token::Name("asm" | "__asm__"))) {
                return Err(Diagnostic::error("inline assembly is not understood", span)
                    .with_help("write what it does in C: `atomic_thread_fence(…)` for a barrier"));
            }
            return Err(Diagnostic::error(format!("unexpected character `{first}`"), span));
        };
        found.push((token, Span { start, end: at }));
    }
    Ok(found)
}

fn number(written: &str, span: Span) -> Result<Number, Diagnostic> {
    let lower = written.to_ascii_lowercase();
    let hexadecimal = lower.strip_prefix("0x");
    let rest = hexadecimal.unwrap_or(&lower);
    let digits = rest.trim_end_matches(['u', 'l']);
    let suffix = &rest[digits.len()..];
    let octal = hexadecimal.is_none() && digits.len() > 1 && digits.starts_with('0');
    let radix = if hexadecimal.is_some() {
        16
    } else if octal {
        8
    } else {
        10
    };
    let known = ["", "u", "l", "ul", "lu", "ll", "ull", "llu"].contains(&suffix);
    match i128::from_str_radix(digits, radix) {
        Ok(value) if known && value <= i128::from(u64::MAX) => {
            Ok(Number { value, unsigned: suffix.contains('u'), long: suffix.contains('l'), decimal: radix == 10 })
        }
        Ok(_) if known => Err(Diagnostic::error(format!("`{written}` does not fit 64 bits"), span)),
        _ => Err(Diagnostic::error(format!("`{written}` is not a number"), span)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_base_and_a_type() {
        let read = |text: &str| number(text, Span { start: 0, end: text.len() });
        let values: Vec<i128> = ["0", "10", "0x1F", "017", "5UL"].map(|text| read(text).expect(text).value).to_vec();
        assert_eq!(values, [0, 10, 31, 15, 5]);
        assert!(read("5ul").is_ok_and(|number| number.unsigned && number.long && number.decimal));
        for wrong in ["09", "1f", "5ulu", "0x", "99999999999999999999999"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
