//! The statements of TPL, as those of bodies in braces.

use super::cursor::{Cursor, Read};
use super::lexer::Token;
use crate::Diagnostic;
use crate::native::ast::{ExpressionKind, Name, RawExpression, Target};
use crate::native::braced::{Block, Statement, StatementKind};
use crate::native::token::FENCE;
use crate::suggest::did_you_mean;
use palisade_model::program::{BinaryOperator, Ordering};
use palisade_model::text::Span;

/// A statement without a label.
fn statement<'s>(kind: StatementKind<'s>, span: Span, extent: Span) -> Statement<'s> {
    Statement { annotations: Vec::new(), label: None, kind, span, extent }
}

/// The statements up to `}`; its brace stands at `open`.
pub(super) fn block<'s>(cursor: &mut Cursor<'_, 's>, open: Span) -> Read<Block<'s>> {
    let mut statements = Vec::new();
    while !cursor.take("}") {
        if cursor.peek().is_none() {
            return Err(cursor.unexpected("`}`"));
        }
        let start = cursor.here();
        let mut label = None;
        if let (Some(Token::Name(_)), Some(Token::Symbol(":"))) = (cursor.peek(), cursor.token(1)) {
            label = Some(cursor.name("a label")?);
            cursor.at += 1;
        }
        let inner = cursor.here();
        let is_label = matches!(cursor.token(1), Some(Token::Symbol(":")));
        let ends = label.is_some() && (is_label || cursor.peek() == Some(Token::Symbol("}")));
        let kind = if ends { StatementKind::Empty } else { cursor.nested(kind)? };
        let span = if ends { start } else { cursor.since(inner) };
        if !ends && !kind.ends_in_braces() {
            cursor.expect(";")?;
        } else {
            cursor.take(";");
        }
        let extent = if ends { start } else { cursor.since(start) };
        statements.push(Statement { label, ..statement(kind, span, extent) });
    }
    Ok(Block { statements, span: cursor.since(open) })
}

/// A block, or one statement in its place.
fn body<'s>(cursor: &mut Cursor<'_, 's>) -> Read<Block<'s>> {
    let start = cursor.here();
    if cursor.take("{") {
        return cursor.nested(|cursor| block(cursor, start));
    }
    let kind = cursor.nested(kind)?;
    let span = cursor.since(start);
    if !kind.ends_in_braces() {
        cursor.expect(";")?;
    }
    let extent = cursor.since(start);
    cursor.bare.push(extent);
    Ok(Block { statements: vec![statement(kind, span, extent)], span: extent })
}

/// What a statement does.
fn kind<'s>(cursor: &mut Cursor<'_, 's>) -> Read<StatementKind<'s>> {
    let start = cursor.here();
    let Some(Token::Name(word)) = cursor.peek() else {
        return match cursor.peek() {
            Some(Token::Symbol(";")) => Ok(StatementKind::Empty),
            Some(Token::Symbol("{")) => Ok(StatementKind::Block(body(cursor)?)),
            _ => Err(cursor.unexpected("a statement")),
        };
    };
    match (word, cursor.token(1)) {
        (_, Some(Token::Symbol("."))) => return access(cursor),
        (_, Some(Token::Symbol("="))) => return assignment(cursor),
        _ => cursor.at += 1,
    }
    match word {
        "if" => {
            let mut branches = vec![(cursor.expression()?, body(cursor)?)];
            let mut otherwise = None;
            while otherwise.is_none() && cursor.take_word("else") {
                if cursor.take_word("if") {
                    branches.push((cursor.expression()?, body(cursor)?));
                } else {
                    otherwise = Some(body(cursor)?);
                }
            }
            Ok(StatementKind::If { branches, otherwise })
        }
        "while" => Ok(StatementKind::While { condition: cursor.expression()?, body: body(cursor)? }),
        "goto" => Ok(StatementKind::Goto(Target::Label(cursor.name("a label")?))),
        "skip" => Ok(StatementKind::Empty),
        "assert" => Ok(StatementKind::Ensure(cursor.expression()?)),
        "assume" => Ok(StatementKind::Assume(cursor.expression()?)),
        "verify" => {
            // It marks a local for the question that `track` is about.
            cursor.expression()?;
            Ok(StatementKind::Empty)
        }
        "oneof" => {
            cursor.expect("(")?;
            let mut blocks = Vec::new();
            while !cursor.take(")") {
                blocks.push(body(cursor)?);
            }
            Ok(StatementKind::Choose(blocks))
        }
        "fence" => fence(cursor, start),
        "lock" | "unlock" => {
            cursor.expect("(")?;
            let location = location(cursor)?;
            cursor.expect(")")?;
            let span = cursor.since(start);
            let number = |value| RawExpression::new(ExpressionKind::Literal(value), span);
            Ok(if word == "lock" {
                let orderings = [Ordering::Acquire, Ordering::Relaxed];
                waiting(apply("cas", vec![location, number(0), number(1)], &orderings, span), number(0), span)
            } else {
                StatementKind::Effect(apply("store", vec![location, number(0)], &[Ordering::Release], span))
            })
        }
        "wait" => {
            let (load, mut values) = wait(cursor, start)?;
            let span = cursor.since(start);
            match values.pop() {
                Some(value) if values.is_empty() => Ok(waiting(load, value, span)),
                last => any_of(None, load, values.into_iter().chain(last), span),
            }
        }
        "BCAS" => {
            let (update, expected) = update(cursor, word, start)?;
            let expected = expected.expect("it has an expected value");
            Ok(waiting(update, expected, cursor.since(start)))
        }
        "FADD" | "CAS" | "exchange" => Ok(StatementKind::Effect(update(cursor, word, start)?.0)),
        _ => {
            let words = ["if", "while", "goto", "skip", "assert", "assume", "oneof", "fence", "lock", "unlock", "wait"];
            let words = words.into_iter().chain(["BCAS", "FADD", "CAS", "exchange"]);
            Err(Diagnostic::error(format!("`{word}` begins no statement"), start)
                .with_help_if(did_you_mean(word, words)))
        }
    }
}

/// A call of the native language with orderings behind its operands.
fn apply<'s>(
    name: &'static str,
    mut operands: Vec<RawExpression<'s>>,
    orderings: &[Ordering],
    span: Span,
) -> RawExpression<'s> {
    operands.extend(orderings.iter().map(|it| RawExpression::new(ExpressionKind::Name(it.word()), span)));
    RawExpression::new(ExpressionKind::Apply(Name { text: name, span }, operands), span)
}

/// Waits until an access finds a value.
fn waiting<'s>(access: RawExpression<'s>, value: RawExpression<'s>, span: Span) -> StatementKind<'s> {
    let mut condition = RawExpression::binary(BinaryOperator::Equal, access, value);
    condition.span = span;
    StatementKind::Await(condition)
}

fn location<'s>(cursor: &mut Cursor<'_, 's>) -> Read<RawExpression<'s>> {
    let Name { text, span } = cursor.name("a location")?;
    Ok(RawExpression::new(ExpressionKind::Name(text), span))
}

/// An ordering of a list.
fn ordering(cursor: &mut Cursor<'_, '_>, allowed: &[Ordering], what: &str) -> Read<Ordering> {
    let name = cursor.name("an ordering")?;
    let ordering = match name.text {
        "rlx" => Some(Ordering::Relaxed),
        "acq" => Some(Ordering::Acquire),
        "rel" => Some(Ordering::Release),
        "acq_rel" => Some(Ordering::AcqRel),
        // An update of a location of its own, in models without other fences.
        "seq_cst" | "upd" => Some(Ordering::SeqCst),
        _ => None,
    };
    let short = |ordering: &Ordering| match ordering {
        Ordering::Relaxed => "`rlx`",
        Ordering::Acquire => "`acq`",
        Ordering::Release => "`rel`",
        Ordering::AcqRel => "`acq_rel`",
        Ordering::SeqCst | Ordering::Plain => "`seq_cst`",
    };
    match ordering {
        Some(ordering) if allowed.contains(&ordering) => Ok(ordering),
        Some(_) => Err(Diagnostic::error(format!("{what} cannot be `{}`", name.text), name.span)
            .with_expected(allowed.iter().map(short))),
        None => Err(Diagnostic::error(format!("`{}` is no ordering", name.text), name.span)
            .with_expected(allowed.iter().map(short))),
    }
}

const LOADS: [Ordering; 2] = [Ordering::Relaxed, Ordering::Acquire];
const STORES: [Ordering; 2] = [Ordering::Relaxed, Ordering::Release];

/// `fence`, `fence(ordering)`.
fn fence<'s>(cursor: &mut Cursor<'_, 's>, start: Span) -> Read<StatementKind<'s>> {
    let mut given = Ordering::SeqCst;
    if cursor.take("(") {
        let allowed = [Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];
        given = ordering(cursor, &allowed, "a fence")?;
        cursor.expect(")")?;
    }
    Ok(StatementKind::Effect(apply(FENCE, Vec::new(), &[given], cursor.since(start))))
}

/// What follows `wait`: a load, and the values that are waited for.
fn wait<'s>(cursor: &mut Cursor<'_, 's>, start: Span) -> Read<(RawExpression<'s>, Vec<RawExpression<'s>>)> {
    cursor.expect("(")?;
    let location = location(cursor)?;
    let mut values = Vec::new();
    let mut given = Ordering::Relaxed;
    while cursor.take(",") {
        let is_last = cursor.token(1) == Some(Token::Symbol(")"));
        if is_last && !values.is_empty() && matches!(cursor.peek(), Some(Token::Name("rlx" | "acq" | "rel"))) {
            given = ordering(cursor, &LOADS, "a load")?;
            break;
        }
        values.push(cursor.expression()?);
    }
    cursor.expect(")")?;
    if values.is_empty() {
        return Err(Diagnostic::error("which value does this wait for?", cursor.since(start)));
    }
    Ok((apply("load", vec![location], &[given], cursor.since(start)), values))
}

/// What follows the word of an update, with the value that is expected, if any.
fn update<'s>(
    cursor: &mut Cursor<'_, 's>,
    word: &str,
    start: Span,
) -> Read<(RawExpression<'s>, Option<RawExpression<'s>>)> {
    let (name, count) = match word {
        "FADD" => ("fetch_add", 1),
        "exchange" => ("xchg", 1),
        _ => ("cas", 2),
    };
    cursor.expect("(")?;
    let mut operands = vec![location(cursor)?];
    let mut expected = None;
    for index in 0..count {
        cursor.expect(",")?;
        let begin = cursor.at;
        operands.push(cursor.expression()?);
        if count == 2 && index == 0 {
            // It is evaluated twice, and reads only locals.
            cursor.at = begin;
            expected = Some(cursor.expression()?);
        }
    }
    let (mut read, mut written) = (Ordering::Relaxed, Ordering::Relaxed);
    if cursor.take(",") {
        read = ordering(cursor, &LOADS, "the load of an update")?;
        cursor.expect(",")?;
        written = ordering(cursor, &STORES, "the store of an update")?;
    }
    cursor.expect(")")?;
    let both = match (read, written) {
        (Ordering::Acquire, Ordering::Release) => Ordering::AcqRel,
        (Ordering::Acquire, _) => Ordering::Acquire,
        (_, written) => written,
    };
    let orderings = [both, read];
    Ok((apply(name, operands, &orderings[..count], cursor.since(start)), expected))
}

/// `x.store(value, ordering)`, or a load whose value nobody wants.
fn access<'s>(cursor: &mut Cursor<'_, 's>) -> Read<StatementKind<'s>> {
    let start = cursor.here();
    if !matches!(cursor.token(2), Some(Token::Name("store" | "nastore"))) {
        return Ok(StatementKind::Effect(load(cursor)?));
    }
    let location = location(cursor)?;
    cursor.at += 1;
    let mut given = if cursor.take_word("nastore") { Ordering::Plain } else { Ordering::Relaxed };
    cursor.at += usize::from(given != Ordering::Plain);
    cursor.expect("(")?;
    let value = cursor.expression()?;
    if given != Ordering::Plain && cursor.take(",") {
        given = ordering(cursor, &STORES, "a store")?;
    }
    cursor.expect(")")?;
    Ok(StatementKind::Effect(apply("store", vec![location, value], &[given], cursor.since(start))))
}

/// `x.load(ordering)`, `x.naload()`.
fn load<'s>(cursor: &mut Cursor<'_, 's>) -> Read<RawExpression<'s>> {
    let start = cursor.here();
    let location = location(cursor)?;
    cursor.expect(".")?;
    let mut given = if cursor.take_word("naload") {
        Ordering::Plain
    } else if cursor.take_word("load") {
        Ordering::Relaxed
    } else {
        return Err(cursor.unexpected("`load`, `store`, `naload` or `nastore`"));
    };
    cursor.expect("(")?;
    if given != Ordering::Plain && !cursor.take(")") {
        given = ordering(cursor, &LOADS, "a load")?;
        cursor.expect(")")?;
    } else if given == Ordering::Plain {
        cursor.expect(")")?;
    }
    Ok(apply("load", vec![location], &[given], cursor.since(start)))
}

/// `r = value`.
fn assignment<'s>(cursor: &mut Cursor<'_, 's>) -> Read<StatementKind<'s>> {
    let register = cursor.name("a local variable")?;
    cursor.refuse_location(register, "store(…)", "stores to")?;
    cursor.at += 1;
    let start = cursor.here();
    let value = match (cursor.peek(), cursor.token(1)) {
        (Some(Token::Name(_)), Some(Token::Symbol("."))) => load(cursor)?,
        (Some(Token::Name("wait")), Some(Token::Symbol("("))) => {
            cursor.at += 1;
            let (load, values) = wait(cursor, start)?;
            return any_of(Some(register), load, values, cursor.since(start));
        }
        (Some(Token::Name(word @ ("FADD" | "CAS" | "exchange"))), Some(Token::Symbol("("))) => {
            cursor.at += 1;
            update(cursor, word, start)?.0
        }
        _ => cursor.expression()?,
    };
    let target = RawExpression::new(ExpressionKind::Name(register.text), register.span);
    Ok(StatementKind::Assign { target, value })
}

/// Waits until a load finds one of some values, and puts it into a local, if one is given.
fn any_of<'s>(
    register: Option<Name<'s>>,
    load: RawExpression<'s>,
    values: impl IntoIterator<Item = RawExpression<'s>>,
    span: Span,
) -> Read<StatementKind<'s>> {
    let mut reads_itself = false;
    let old = || RawExpression::new(ExpressionKind::Name("old"), span);
    let equal = |value: RawExpression<'s>| {
        value.names(&mut |name| reads_itself |= register.is_some_and(|own| own.text == name.text));
        RawExpression::binary(BinaryOperator::Equal, old(), value)
    };
    let either = |one, other| RawExpression::binary(BinaryOperator::Or, one, other);
    let condition = values.into_iter().map(equal).reduce(either).expect("there is a value");
    if reads_itself {
        let message = "the local that gets the value is one of those that are waited for";
        return Err(Diagnostic::error(message, span).with_help("put the value into another local"));
    }
    Ok(StatementKind::Wait { register, access: load, condition })
}
