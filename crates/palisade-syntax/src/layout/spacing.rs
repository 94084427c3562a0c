//! Where a blank stands between two tokens on a line.

use super::items::{Item, Kind};
use crate::native::token::{EVENT, Keyword, Symbol, Token};

/// Words before which `(` begins an operand, not the operands of a call.
const STATEMENTS: &[&str] = &["if", "while", "await", "return", "choose", "or", "else", "let", "for", "when"];

/// Whether a blank stands before an item that is not the first on its line.
pub(super) fn is_spaced(items: &[Item<'_>], index: usize) -> bool {
    let (Kind::Token(left), Kind::Token(right)) = (items[index - 1].kind, items[index].kind) else { return true };
    if items[index].is_joined {
        return false;
    }
    if items.get(index + 1).is_some_and(Item::ends_step) && ends_operand(left) {
        return false;
    }
    if items[index - 1].ends_step() {
        let is_prefix = index < 3 || !matches!(items[index - 3].kind, Kind::Token(token) if ends_operand(token));
        return !is_prefix && !matches!(right, Token::Symbol(Symbol::Semicolon | Symbol::CloseParen));
    }
    let earlier = |back: usize| index.checked_sub(back).map(|at| items[at].kind);
    match (left, right) {
        (
            _,
            Token::Symbol(
                Symbol::Semicolon | Symbol::Comma | Symbol::CloseParen | Symbol::CloseBracket | Symbol::Colon,
            ),
        ) => false,
        (Token::Symbol(Symbol::OpenParen | Symbol::OpenBracket | Symbol::At | Symbol::DotDot), _)
        | (_, Token::Symbol(Symbol::DotDot)) => false,
        // `thread t [3]` is no array.
        (_, Token::Symbol(Symbol::OpenBracket)) => {
            matches!(earlier(2), Some(Kind::Token(Token::Keyword(Keyword::Thread) | Token::Name(EVENT))))
                || matches!(left, Token::Symbol(symbol) if symbol != Symbol::CloseBracket)
        }
        (Token::Name(word), Token::Symbol(Symbol::OpenParen)) => STATEMENTS.contains(&word),
        (Token::Keyword(keyword), Token::Symbol(Symbol::OpenParen)) => {
            !matches!(keyword, Keyword::Cas | Keyword::Xchg | Keyword::FetchAdd | Keyword::Rmw)
        }
        (Token::Symbol(symbol), _) if is_prefix(symbol) => !stands_before_operand(items, index - 1),
        _ => true,
    }
}

/// Whether an operand may end with a token.
fn ends_operand(token: Token<'_>) -> bool {
    match token {
        Token::Name(word) => !STATEMENTS.contains(&word),
        Token::Symbol(symbol) => matches!(symbol, Symbol::CloseParen | Symbol::CloseBracket),
        _ => false,
    }
}

fn is_prefix(symbol: Symbol) -> bool {
    matches!(symbol, Symbol::Minus | Symbol::Not | Symbol::Tilde | Symbol::Star | Symbol::BitAnd)
}

/// Whether an operator has no operand before it, so that it belongs to the one behind it.
fn stands_before_operand(items: &[Item<'_>], index: usize) -> bool {
    let before = items[..index].iter().rev().find_map(|item| match item.kind {
        Kind::Token(token) => Some(token),
        _ => None,
    });
    match before {
        Some(Token::Symbol(symbol)) => !matches!(symbol, Symbol::CloseParen | Symbol::CloseBracket),
        Some(Token::Name(word)) => STATEMENTS.contains(&word),
        Some(Token::Keyword(_)) | None => true,
        Some(_) => false,
    }
}
