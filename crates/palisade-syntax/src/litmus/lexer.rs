//! Tokens of a litmus test, comments left out.

use crate::Diagnostic;
use palisade_model::text::Span;

/// A token; names keep the case they are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name: letters, digits, `_`, `.`, `/`, `-`, not beginning with a digit.
    Name(&'a str),
    /// A number without sign, decimal or hexadecimal.
    Number(i128),
    /// Punctuation.
    Symbol(&'static str),
}

impl Token<'_> {
    /// How the token is called in messages.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::Symbol(symbol) => format!("`{symbol}`"),
        }
    }
}

/// Punctuation, longer before its prefixes.
const SYMBOLS: [&str; 24] = [
    "/\\", "\\/", "==", "=>", "!=", "<>", "<<", "=", ";", ",", "|", "(", ")", "[", "]", "{", "}", ":", "*", "+", "-",
    "~", "&", "$",
];

/// The text with every comment `(* … *)` (they nest) replaced by as many blanks, so that places
/// stay what they are. Before the initial state, a comment does not begin inside a string.
pub(super) fn without_comments(text: &str) -> Result<String, Diagnostic> {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut open: Vec<usize> = Vec::new();
    let mut in_string = false;
    let mut in_header = true;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if !in_string && rest.starts_with(b"(*") {
            open.push(at);
            out[at..at + 2].fill(b' ');
            at += 2;
        } else if !open.is_empty() && rest.starts_with(b"*)") {
            open.pop();
            out[at..at + 2].fill(b' ');
            at += 2;
        } else {
            if open.is_empty() {
                match bytes[at] {
                    b'"' if in_header => in_string = !in_string,
                    b'{' if !in_string => in_header = false,
                    _ => {}
                }
            } else if bytes[at] != b'\n' {
                out[at] = b' ';
            }
            at += 1;
        }
    }
    if let Some(start) = open.pop() {
        let span = Span { start, end: start + 2 };
        return Err(Diagnostic::error("this comment is never closed", span).with_expected(["`*)`"]));
    }
    Ok(String::from_utf8(out).expect("whole comments were blanked, so characters stay whole"))
}

/// The tokens of a stretch of the text.
pub(super) fn tokens(text: &str, within: Span) -> Result<Vec<(Token<'_>, Span)>, Diagnostic> {
    let mut found = Vec::new();
    let mut at = within.start;
    while let Some(first) = text[at..within.end].chars().next() {
        let rest = &text[at..within.end];
        let start = at;
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let token = if first.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            at += length;
            Token::Number(number(&rest[..length], Span { start, end: at })?)
        } else if is_name_start(first) {
            let length = rest.find(|c: char| !is_name_part(c)).unwrap_or(rest.len());
            at += length;
            Token::Name(&rest[..length])
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            at += symbol.len();
            Token::Symbol(symbol)
        } else if first == '%' {
            // A register's mark belongs to nothing else, so the name alone is enough.
            at += 1;
            continue;
        } else {
            let span = Span { start, end: start + first.len_utf8() };
            return Err(Diagnostic::error(format!("unexpected character `{first}`"), span));
        };
        found.push((token, Span { start, end: at }));
    }
    Ok(found)
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '.'
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-')
}

fn number(digits: &str, span: Span) -> Result<i128, Diagnostic> {
    let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16),
        None => digits.parse(),
    };
    match parsed {
        Ok(value) if value <= i128::from(u64::MAX) => Ok(value),
        Ok(_) => Err(Diagnostic::error(format!("`{digits}` does not fit 64 bits"), span)),
        Err(_) => Err(Diagnostic::error(format!("`{digits}` is not a number"), span)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_nest_and_keep_places() {
        let text = "X86 a \"(* no\" (* b (* c *) d\n *) { } (* \"e *) P0;";
        let blanked = without_comments(text).expect("closed");
        assert_eq!(blanked.len(), text.len());
        assert_eq!(blanked.split_whitespace().collect::<Vec<_>>(), ["X86", "a", "\"(*", "no\"", "{", "}", "P0;"]);
        assert!(without_comments("(* (* *)").is_err());
    }

    #[test]
    fn tokens_have_places() {
        use Token::{Name, Number, Symbol};
        let text = "0:EAX=0x1F /\\ x-1";
        let found = tokens(text, Span { start: 0, end: text.len() }).expect("tokens");
        let kinds: Vec<Token<'_>> = found.iter().map(|(token, _)| *token).collect();
        let expected = [Number(0), Symbol(":"), Name("EAX"), Symbol("="), Number(31), Symbol("/\\"), Name("x-1")];
        assert_eq!(kinds, expected);
        assert_eq!(found[4].1, Span { start: 6, end: 10 });
        assert!(tokens("99999999999999999999999", Span { start: 0, end: 23 }).is_err());
    }
}
