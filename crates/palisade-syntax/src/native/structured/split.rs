//! Takes bodies in braces, procedures and constants out of a text; the grammar of the older form
//! reads the rest.
//!
//! A thread with a body in braces leaves one token behind, so that it keeps its place among the
//! items. The names of constants are replaced by their values in the rest, so that they may stand
//! wherever a number may.

use super::parser::Parser;
use crate::Diagnostic;
use crate::native::again::again;
use crate::native::ast::Head;
use crate::native::braced::{Constant, Structured};
use crate::native::lexer::Spanned;
use crate::native::token::{EVENT, FINALLY, Keyword, Symbol, TASK, Token};
use palisade_model::text::{SourceText, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// What an item that is not of the older form begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A thread, an event or a task.
    Thread(Head),
    Procedure,
    Constant,
    /// What must hold in the end.
    Finally,
}

/// The tokens for the grammar of the older form, and what was taken out. Errors go to `errors`.
pub(crate) fn split<'s>(
    tokens: &[Spanned<'s>],
    source: &'s SourceText,
    errors: &mut Vec<Diagnostic>,
) -> (Vec<Spanned<'s>>, Structured<'s>) {
    let mut structured = Structured::default();
    let mut plain = Vec::with_capacity(tokens.len());
    let mut items = Vec::new();
    let mut at = 0;
    let mut inside_old_form = false;
    while at < tokens.len() {
        // Inside of a thread of the older form `const` and `proc` are names.
        let kind = kind_of(&tokens[at..]).filter(|kind| *kind == Kind::Thread(Head::Thread) || !inside_old_form);
        let Some(kind) = kind else {
            match tokens[at].0 {
                Token::Keyword(Keyword::Regs | Keyword::Begin) => inside_old_form = true,
                Token::Keyword(Keyword::End) => {
                    inside_old_form &= at > 0 && tokens[at - 1].0 == Token::Keyword(Keyword::Goto);
                }
                _ => {}
            }
            plain.push(tokens[at]);
            at += 1;
            continue;
        };
        let end = end_of(&tokens[at..], kind).map_or(tokens.len(), |length| at + length);
        if matches!(kind, Kind::Thread(_)) {
            inside_old_form = false;
            plain.push((Token::Braced(items.len()), tokens[at].1));
        }
        items.push((kind, &tokens[at..end]));
        at = end;
        if matches!(kind, Kind::Procedure | Kind::Finally)
            && tokens.get(at).is_some_and(|(token, _)| *token == Token::Symbol(Symbol::Semicolon))
        {
            at += 1;
        }
    }
    let procedures = items.iter().filter_map(|item| declared_procedure(item)).collect();
    let numbers = constants(&items, source, &mut structured, errors);
    let mut number_of_thread = vec![usize::MAX; items.len()];
    for (number, (kind, tokens)) in items.iter().enumerate() {
        let mut parser = Parser::new(tokens, source, &numbers, &procedures, errors);
        match kind {
            Kind::Thread(head) => {
                if let Ok(thread) = parser.thread(*head) {
                    number_of_thread[number] = structured.threads.len();
                    structured.threads.push(thread);
                }
            }
            Kind::Procedure => structured.procedures.extend(parser.procedure()),
            Kind::Finally => structured.finally.extend(parser.finally()),
            Kind::Constant => {}
        }
    }
    (with_values(plain, &numbers, &number_of_thread), structured)
}

/// The name of the procedure that an item declares.
fn declared_procedure<'s>((kind, tokens): &(Kind, &[Spanned<'s>])) -> Option<&'s str> {
    match tokens.get(1) {
        Some((Token::Name(name), _)) if *kind == Kind::Procedure => Some(name),
        _ => None,
    }
}

/// The tokens with the values of constants for their names, and the final numbers of the threads.
fn with_values<'s>(
    plain: Vec<Spanned<'s>>,
    numbers: &FxHashMap<&'s str, i64>,
    number_of_thread: &[usize],
) -> Vec<Spanned<'s>> {
    let mut tokens = Vec::with_capacity(plain.len());
    for (token, span) in plain {
        match token {
            Token::Braced(number) => tokens.push((Token::Braced(number_of_thread[number]), span)),
            Token::Name(name) if numbers.contains_key(name) => {
                let value = numbers[name];
                if value < 0 {
                    tokens.push((Token::Symbol(Symbol::Minus), span));
                }
                tokens.push((Token::Integer(value.unsigned_abs()), span));
            }
            _ => tokens.push((token, span)),
        }
    }
    tokens
}

/// What begins with the first of the tokens, unless it is of the older form.
fn kind_of(tokens: &[Spanned<'_>]) -> Option<Kind> {
    let token = |index: usize| tokens.get(index).map(|(token, _)| *token);
    match (token(0)?, token(1)?) {
        (Token::Keyword(Keyword::Thread), Token::Name(_)) => {
            let mut after = 2;
            if token(2) == Some(Token::Symbol(Symbol::OpenBracket)) {
                let close = |(token, _): &Spanned<'_>| *token == Token::Symbol(Symbol::CloseBracket);
                after = 3 + tokens.iter().skip(2).take(32).position(close)?;
            }
            (token(after)? == Token::Symbol(Symbol::OpenBrace)).then_some(Kind::Thread(Head::Thread))
        }
        (Token::Name(EVENT), Token::Name(_)) => opens_a_body(tokens).then_some(Kind::Thread(Head::Event)),
        (Token::Name(TASK), Token::Name(_)) => opens_a_body(tokens).then_some(Kind::Thread(Head::Task)),
        (Token::Name("proc"), Token::Name(_) | Token::Keyword(_)) => {
            (token(2)? == Token::Symbol(Symbol::OpenParen)).then_some(Kind::Procedure)
        }
        (Token::Name(FINALLY), Token::Symbol(Symbol::OpenBrace)) => Some(Kind::Finally),
        (Token::Name("const"), Token::Name(_)) => (token(2)? == Token::Symbol(Symbol::Equal)).then_some(Kind::Constant),
        _ => None,
    }
}

/// Whether the head of an event or a task goes on to a brace.
fn opens_a_body(tokens: &[Spanned<'_>]) -> bool {
    let is_end = |token: &Token<'_>| match token {
        Token::Symbol(Symbol::OpenBrace | Symbol::CloseBrace) => true,
        Token::Keyword(keyword) => *keyword != Keyword::Mem,
        _ => false,
    };
    let end = tokens.iter().take(LONGEST_HEAD).map(|(token, _)| *token).find(is_end);
    end == Some(Token::Symbol(Symbol::OpenBrace))
}

/// How many tokens the head of an event or a task may have.
const LONGEST_HEAD: usize = 500;

/// How many tokens an item has; none if it is never closed.
fn end_of(tokens: &[Spanned<'_>], kind: Kind) -> Option<usize> {
    if kind == Kind::Constant {
        let semicolon = Token::Symbol(Symbol::Semicolon);
        let last = tokens.iter().position(|(token, _)| *token == semicolon || matches!(token, Token::Keyword(_)))?;
        return Some(last + usize::from(tokens[last].0 == semicolon));
    }
    let mut open = 0_usize;
    for (index, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::Symbol(Symbol::OpenBrace) => open += 1,
            Token::Symbol(Symbol::CloseBrace) => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return Some(index + 1);
                }
            }
            // An item of its own begins: the brace before it was never closed.
            Token::Keyword(Keyword::Thread | Keyword::Program) if index > 0 => return Some(index),
            _ => {}
        }
    }
    None
}

/// Reads the constants; each may use those before it.
fn constants<'s>(
    items: &[(Kind, &[Spanned<'s>])],
    source: &'s SourceText,
    structured: &mut Structured<'s>,
    errors: &mut Vec<Diagnostic>,
) -> FxHashMap<&'s str, i64> {
    let mut numbers: FxHashMap<&'s str, i64> = FxHashMap::default();
    let mut places: FxHashMap<&'s str, Span> = FxHashMap::default();
    for (_, tokens) in items.iter().filter(|(kind, _)| *kind == Kind::Constant) {
        let Ok(Constant { name, value }) =
            Parser::new(tokens, source, &numbers, &FxHashSet::default(), errors).constant()
        else {
            continue;
        };
        if let Some(first) = places.insert(name.text, name.span) {
            let message = format!("the constant `{}` is declared twice", name.text);
            errors.push(again(message, name.span, first, source));
            continue;
        }
        numbers.insert(name.text, value);
        structured.constants.push(Constant { name, value });
    }
    numbers
}
