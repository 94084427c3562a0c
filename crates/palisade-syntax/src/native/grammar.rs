//! The grammar of the native language, over tokens.
//!
//! After an error inside a line the next line is read, after an error elsewhere the next thread, so
//! that several errors are reported at once. Expressions are read as operands between operators and
//! put together by precedence afterwards, which is faster than a level of grammar per precedence.

use super::ast::{
    Annotation, ExpressionKind, Head, Item, Name, Number, Operation, Place, Plain, RawAddress, RawCopies,
    RawExpression, RawInitial, RawInstruction, RawLine, RawPlace, RawProgram, RawRegister, RawThread, Target,
};
use super::failure::{Construct, Failure};
use super::lexer::Spanned;
use super::strength;
use super::token::{DAEMON, EVENT, FENCE, ITEM_WORDS, Keyword, MARKS, NEVER, PLAIN, POST, POSTS, Symbol, TASK, Token};
use chumsky::input::MapExtra;
use chumsky::inspector::SimpleState;
use chumsky::prelude::*;
use palisade_model::program::{BinaryOperator, Span, UnaryOperator};
use std::panic::resume_unwind;

/// Tokens alone, whose positions are their numbers: with an input that tells places in the text,
/// compiling the grammar takes four times as long. The tokens with their places are the state.
type Input<'t, 's> = &'t [Token<'s>];
type Extra<'t, 's> = extra::Full<Failure<'s>, SimpleState<&'t [Spanned<'s>]>, ()>;
type Rule<'t, 's, T> = Boxed<'t, 't, Input<'t, 's>, T, Extra<'t, 's>>;
type Here<'t, 'b, 's> = MapExtra<'t, 'b, Input<'t, 's>, Extra<'t, 's>>;

/// So many brackets inside of each other can be read on any stack: a level takes up to ten
/// kilobytes of it, and sixty where nothing is optimised.
const SHALLOW: usize = 12;

/// The stack on which texts with more are read, in bytes. The lexer lets no more than some two
/// hundred be open at once.
const DEEP_STACK: usize = 64 << 20;

/// Parses the tokens of a text.
pub(crate) fn parse<'s>(tokens: &[Spanned<'s>]) -> Result<RawProgram<'s>, Vec<Failure<'s>>> {
    let here = || parse_on_this_stack(tokens);
    if nesting(tokens) <= SHALLOW {
        return here();
    }
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, here);
        reader.map_or_else(|_| here(), |reader| reader.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// How many brackets are open at once, at most.
fn nesting(tokens: &[Spanned<'_>]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for (token, _) in tokens {
        match token {
            Token::Symbol(Symbol::OpenParen | Symbol::OpenBracket) => open += 1,
            Token::Symbol(Symbol::CloseParen | Symbol::CloseBracket) => open = open.saturating_sub(1),
            // Brackets never reach beyond an instruction.
            Token::Symbol(Symbol::Semicolon) => open = 0,
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn parse_on_this_stack<'s>(tokens: &[Spanned<'s>]) -> Result<RawProgram<'s>, Vec<Failure<'s>>> {
    let input: Vec<Token<'s>> = tokens.iter().map(|(token, _)| *token).collect();
    let (program, failures) = text().parse_with_state(&input[..], &mut SimpleState(tokens)).into_output_errors();
    match program {
        Some(program) if failures.is_empty() => Ok(program),
        _ => Err(failures),
    }
}

/// Where in the text stands what was read, a token or more.
fn span(here: &mut Here<'_, '_, '_>) -> Span {
    let SimpleSpan { start, end, .. } = here.span();
    let tokens = &here.state().0[start..end];
    tokens.first().zip(tokens.last()).map_or_else(Span::default, |(first, last)| first.1.to(last.1))
}

fn keyword<'t, 's: 't>(keyword: Keyword) -> impl Parser<'t, Input<'t, 's>, Token<'s>, Extra<'t, 's>> + Clone {
    just(Token::Keyword(keyword))
}

fn symbol<'t, 's: 't>(symbol: Symbol) -> impl Parser<'t, Input<'t, 's>, Token<'s>, Extra<'t, 's>> + Clone {
    just(Token::Symbol(symbol))
}

fn name<'t, 's: 't>(construct: Construct) -> impl Parser<'t, Input<'t, 's>, Name<'s>, Extra<'t, 's>> + Clone {
    select! { Token::Name(text) = extra => Name { text, span: span(extra) } }.labelled(construct)
}

fn number<'t, 's: 't>() -> impl Parser<'t, Input<'t, 's>, Number, Extra<'t, 's>> + Clone {
    symbol(Symbol::Minus)
        .or_not()
        .then(select! { Token::Integer(value) => i128::from(value) })
        .map_with(|(minus, value), extra| Number {
            value: if minus.is_some() { -value } else { value },
            span: span(extra),
        })
        .labelled(Construct::Number)
}

fn bracketed<'t, 's: 't, T: 't>(inner: Rule<'t, 's, T>) -> Rule<'t, 's, T> {
    inner.delimited_by(symbol(Symbol::OpenBracket), symbol(Symbol::CloseBracket)).boxed()
}

fn text<'t, 's: 't>() -> Rule<'t, 's, RawProgram<'s>> {
    let expression = expression();
    let item = choice((
        thread(expression.clone()).map(|thread| Item::Thread(Box::new(thread))),
        template(expression.clone()).map(|thread| Item::Thread(Box::new(thread))),
        select! { Token::Braced(number) => Item::Braced(number) },
        select! { Token::Name(DAEMON) = extra => Item::Daemon(span(extra)) },
        domain(),
        addresses(),
        keyword(Keyword::Initial)
            .ignore_then(initial(expression).separated_by(symbol(Symbol::Comma)).at_least(1).collect())
            .map(Item::Initial),
        never(),
        posts(),
    ))
    .then_ignore(symbol(Symbol::Semicolon).or_not());
    let not_thread = any()
        .filter(|token| {
            !matches!(token, Token::Keyword(Keyword::Thread) | Token::Braced(_) | Token::Name(EVENT | TASK))
        })
        .ignored();
    let skip_to_thread = any().ignored().then(not_thread.repeated()).map(|_| Item::Error);
    keyword(Keyword::Program)
        .ignore_then(name(Construct::ProgramName))
        .then_ignore(symbol(Symbol::Semicolon).or_not())
        .then(item.recover_with(via_parser(skip_to_thread)).repeated().collect())
        .then_ignore(end())
        .map(|(name, items)| RawProgram { name, items })
        .boxed()
}

fn domain<'t, 's: 't>() -> Rule<'t, 's, Item<'s>> {
    let wrap = select! { Token::Name(text) = extra if !ITEM_WORDS.contains(&text) => Name { text, span: span(extra) } };
    keyword(Keyword::Domain)
        .ignore_then(number())
        .then_ignore(symbol(Symbol::DotDot))
        .then(number())
        .then(wrap.or_not())
        .map_with(|((low, high), wrap), extra| Item::Domain { low, high, wrap, span: span(extra) })
        .boxed()
}

/// `address x, slot[4]`, `plain data`.
fn addresses<'t, 's: 't>() -> Rule<'t, 's, Item<'s>> {
    let word = keyword(Keyword::Address).to(false).or(select! { Token::Name(PLAIN) => true });
    let address = name(Construct::AddressName)
        .then(bracketed(number().boxed()).or_not())
        .then(symbol(Symbol::Equal).ignore_then(number()).or_not())
        .map(|((name, length), number)| RawAddress { is_plain: false, name, length, number });
    word.then(address.separated_by(symbol(Symbol::Comma)).at_least(1).collect::<Vec<_>>())
        .map(|(is_plain, addresses)| {
            Item::Addresses(addresses.into_iter().map(|address| RawAddress { is_plain, ..address }).collect())
        })
        .boxed()
}

fn initial<'t, 's: 't>(expression: Rule<'t, 's, RawExpression<'s>>) -> Rule<'t, 's, RawInitial<'s>> {
    let named = name(Construct::AddressName)
        .then(bracketed(number().boxed()).or_not())
        .map(|(name, index)| Place::Named { name, index });
    let memory = keyword(Keyword::Mem).ignore_then(bracketed(expression.clone())).map(Place::Memory);
    named
        .or(memory)
        .then_ignore(symbol(Symbol::Equal))
        .then(expression)
        .map_with(|(place, value), extra| RawInitial { place, value, span: span(extra) })
        .boxed()
}

/// `posts drain`, `posts plain`.
fn posts<'t, 's: 't>() -> Rule<'t, 's, Item<'s>> {
    let word = select! { Token::Name(text) = extra => Name { text, span: span(extra) } }.labelled(Construct::Posting);
    select! { Token::Name(POSTS) => () }.labelled(Construct::Posts).ignore_then(word).map(Item::Posts).boxed()
}

/// `never thread at label, …`: a joint control state.
fn never<'t, 's: 't>() -> Rule<'t, 's, Item<'s>> {
    let never = select! { Token::Name(NEVER) => () }.labelled(Construct::Never);
    let at = select! { Token::Name("at") => () }.labelled(Construct::At);
    let end = keyword(Keyword::End).map_with(|_, extra| Name { text: Keyword::End.spelling(), span: span(extra) });
    let place = name(Construct::ThreadName)
        .then_ignore(at)
        .then(name(Construct::Label).or(end))
        .map(|(thread, label)| RawPlace { thread, label });
    never
        .ignore_then(place.separated_by(symbol(Symbol::Comma)).at_least(1).collect())
        .map_with(|places, extra| Item::Never { places, span: span(extra) })
        .boxed()
}

fn thread<'t, 's: 't>(expression: Rule<'t, 's, RawExpression<'s>>) -> Rule<'t, 's, RawThread<'s>> {
    keyword(Keyword::Thread)
        .ignore_then(name(Construct::ThreadName))
        .then(copies().or_not())
        .then(registers().or_not())
        .then_ignore(keyword(Keyword::Init))
        .then(name(Construct::Label))
        .then(body(expression))
        .map(|((((name, copies), registers), initial), (lines, end))| RawThread {
            head: Head::Thread,
            name,
            parameters: None,
            copies,
            guard: None,
            registers: registers.unwrap_or_default(),
            initial: Some(initial),
            lines,
            end,
        })
        .boxed()
}

/// An event or a task. Both take what only one of them can have, so that the reader can say which.
fn template<'t, 's: 't>(expression: Rule<'t, 's, RawExpression<'s>>) -> Rule<'t, 's, RawThread<'s>> {
    let parameters = name(Construct::Register)
        .separated_by(symbol(Symbol::Comma))
        .collect()
        .delimited_by(symbol(Symbol::OpenParen), symbol(Symbol::CloseParen))
        .map_with(|names, extra| (names, span(extra)));
    let head = choice((
        select! { Token::Name(EVENT) => Head::Event }.labelled(Construct::Event).then(name(Construct::EventName)),
        select! { Token::Name(TASK) => Head::Task }.labelled(Construct::Task).then(name(Construct::TaskName)),
    ));
    let guard = select! { Token::Name("when") => () }
        .labelled(Construct::When)
        .ignore_then(expression.clone())
        .map_with(|condition, extra| (condition, span(extra)));
    head.then(parameters.or_not())
        .then(copies().or_not())
        .then(guard.or_not())
        .then(registers().or_not())
        .then(keyword(Keyword::Init).ignore_then(name(Construct::Label)).or_not())
        .then(body(expression))
        .map(|(((((((head, name), parameters), copies), guard), registers), initial), (lines, end))| RawThread {
            head,
            name,
            parameters,
            copies,
            guard,
            registers: registers.unwrap_or_default(),
            initial,
            lines,
            end,
        })
        .boxed()
}

/// `[*]`, `[3]`.
fn copies<'t, 's: 't>() -> Rule<'t, 's, (RawCopies, Span)> {
    let copies = symbol(Symbol::Star).to(RawCopies::Any).or(number().map(RawCopies::Number));
    bracketed(copies.boxed()).map_with(|copies, extra| (copies, span(extra))).boxed()
}

/// `regs r, s = 1`.
fn registers<'t, 's: 't>() -> Rule<'t, 's, Vec<RawRegister<'s>>> {
    let register = name(Construct::Register)
        .then(symbol(Symbol::Equal).ignore_then(number()).or_not())
        .map(|(name, initial)| RawRegister { name, initial });
    keyword(Keyword::Regs)
        .ignore_then(register.then_ignore(symbol(Symbol::Comma).or_not()).repeated().collect())
        .boxed()
}

/// What stands from `begin` to `end`.
fn body<'t, 's: 't>(expression: Rule<'t, 's, RawExpression<'s>>) -> Rule<'t, 's, (Vec<Option<RawLine<'s>>>, Span)> {
    keyword(Keyword::Begin)
        .ignore_then(line(expression).map(Some).recover_with(via_parser(rest_of_line())).repeated().collect())
        .then(keyword(Keyword::End).map_with(|_, extra| span(extra)))
        .boxed()
}

/// What is skipped after an error in a line: up to what looks like the next one, or the end of the
/// thread.
fn rest_of_line<'t, 's: 't>() -> Rule<'t, 's, Option<RawLine<'s>>> {
    let ends_thread = |token: &Token<'_>| {
        use Keyword as K;
        matches!(
            token,
            Token::Keyword(K::End | K::Thread | K::Program | K::Domain | K::Address | K::Initial) | Token::Braced(_)
        )
    };
    let token = any().filter(move |token| !ends_thread(token)).ignored();
    let jump_to_end = keyword(Keyword::Goto).then(keyword(Keyword::End)).ignored();
    let label = select! { Token::Name(_) => () }.then(symbol(Symbol::Colon)).ignored();
    let next_line = label.or(symbol(Symbol::At).ignored());
    let next_template = select! { Token::Name(EVENT | TASK) => () }.then(select! { Token::Name(_) => () }).ignored();
    let skipped = jump_to_end.or(token.and_is(next_template.not()));
    skipped.clone().then(skipped.and_is(next_line.not()).repeated()).map(|_| None).boxed()
}

fn line<'t, 's: 't>(expression: Rule<'t, 's, RawExpression<'s>>) -> Rule<'t, 's, RawLine<'s>> {
    let value = symbol(Symbol::Minus)
        .or_not()
        .then(select! { Token::Integer(_) => (), Token::Decimal(_) => () })
        .map_with(|_, extra| span(extra))
        .labelled(Construct::Number);
    let annotation = symbol(Symbol::At)
        .ignore_then(select! { Token::Name(text) = extra => Name { text, span: span(extra) } })
        .then(value.delimited_by(symbol(Symbol::OpenParen), symbol(Symbol::CloseParen)))
        .map(|(name, value)| Annotation { name, value });
    let goto = keyword(Keyword::Goto).ignore_then(
        name(Construct::Label)
            .map(Target::Label)
            .or(keyword(Keyword::End).map_with(|_, extra| Target::End(span(extra)))),
    );
    let semicolon = symbol(Symbol::Semicolon).or_not();
    let mark = select! { Token::Name(text) = extra if MARKS.contains(&text) => Name { text, span: span(extra) } };
    let instruction = instruction(expression);
    let instruction = instruction.clone().map(|own| (None, own)).or(mark.map(Some).then(instruction)).boxed();
    let labelled = name(Construct::Label)
        .then_ignore(symbol(Symbol::Colon))
        .then(instruction)
        .then_ignore(semicolon.clone())
        .then(goto.or_not())
        .then_ignore(semicolon)
        .map_with(|((label, (mark, instruction)), target), extra| (label, mark, instruction, target, span(extra)));
    annotation
        .repeated()
        .collect()
        .then(labelled)
        .map(|(annotations, (label, mark, instruction, target, span))| RawLine {
            annotations,
            label,
            mark,
            instruction,
            target,
            span,
        })
        .boxed()
}

/// What a register gets.
enum Right<'s> {
    Value(RawExpression<'s>),
    Any,
    Locked(RawInstruction<'s>),
}

fn instruction<'t, 's: 't>(expression: Rule<'t, 's, RawExpression<'s>>) -> Rule<'t, 's, RawInstruction<'s>> {
    let memory = keyword(Keyword::Mem).ignore_then(bracketed(expression.clone())).boxed();
    let locked = locked(memory.clone(), expression.clone());
    let sleeping = sleeping(memory.clone(), expression.clone());
    let store = memory
        .then_ignore(symbol(Symbol::Arrow))
        .then(expression.clone())
        .map(|(address, value)| RawInstruction::Store { address, value });
    let plain = select! {
        Token::Keyword(Keyword::Mfence) => Plain::Fence,
        Token::Keyword(Keyword::Sfence) => Plain::StoreFence,
        Token::Keyword(Keyword::Nop) => Plain::Nop,
        Token::Keyword(Keyword::Fail) => Plain::Fail,
        Token::Name("lock") => Plain::Lock,
        Token::Name("unlock") => Plain::Unlock,
    }
    .map(RawInstruction::Plain);
    let assume = keyword(Keyword::Assert)
        .or(keyword(Keyword::Assume))
        .ignore_then(expression.clone())
        .map(RawInstruction::Assume);
    let ensure = keyword(Keyword::Ensure).ignore_then(expression.clone()).map(RawInstruction::Ensure);
    let right = choice((
        locked.clone().map(Right::Locked),
        expression.clone().map(Right::Value),
        symbol(Symbol::Star).labelled(Construct::AnyValue).map(|_| Right::Any),
    ));
    let assign =
        name(Construct::Register).then_ignore(symbol(Symbol::Arrow)).then(right).map(|(register, right)| match right {
            Right::Value(value) => RawInstruction::Assign { register, value },
            Right::Any => RawInstruction::Havoc { register },
            Right::Locked(instruction) => instruction.into_register(register),
        });
    let fence = select! { Token::Name(FENCE) => () }
        .ignore_then(expression.clone().delimited_by(symbol(Symbol::OpenParen), symbol(Symbol::CloseParen)))
        .map(|ordering| RawInstruction::Fence { ordering });
    choice((assign, store, assume, plain, locked, fence, ensure, sleeping, post(expression)))
        .labelled(Construct::Instruction)
        .boxed()
}

/// `sleep mem[address] if = expected releasing mem[released] into register`, `wake mem[address]
/// count`.
fn sleeping<'t, 's: 't>(
    memory: Rule<'t, 's, RawExpression<'s>>,
    expression: Rule<'t, 's, RawExpression<'s>>,
) -> Rule<'t, 's, RawInstruction<'s>> {
    let expected = select! { Token::Name("if") => () }.then(symbol(Symbol::Equal)).ignore_then(expression.clone());
    let released = select! { Token::Name("releasing") => () }.ignore_then(memory.clone());
    let sleep = select! { Token::Name("sleep") => () }
        .ignore_then(memory.clone())
        .then(expected.or_not())
        .then(released.or_not())
        .then(select! { Token::Name("into") => () }.ignore_then(name(Construct::Register)).or_not())
        .map_with(|(((address, expected), released), register), extra| RawInstruction::Sleep {
            address,
            expected,
            released,
            register,
            span: span(extra),
        });
    let wake = select! { Token::Name("wake") => () }
        .ignore_then(memory)
        .then(expression)
        .map(|(address, count)| RawInstruction::Wake { address, count });
    sleep.or(wake).boxed()
}

/// The word that starts a task on a thread of its own.
pub(crate) const SPAWN: &str = "spawn";

/// `post executor task(arguments)`, `spawn task(arguments)`.
fn post<'t, 's: 't>(expression: Rule<'t, 's, RawExpression<'s>>) -> Rule<'t, 's, RawInstruction<'s>> {
    let word =
        |construct| select! { Token::Name(text) = extra => Name { text, span: span(extra) } }.labelled(construct);
    let posted = select! { Token::Name(POST) => () }.ignore_then(word(Construct::Executor)).map(Some);
    let spawned = select! { Token::Name(SPAWN) => None };
    let arguments = expression
        .separated_by(symbol(Symbol::Comma))
        .collect()
        .delimited_by(symbol(Symbol::OpenParen), symbol(Symbol::CloseParen));
    posted
        .or(spawned)
        .then(name(Construct::TaskName))
        .then(arguments.or_not())
        .map_with(|((executor, task), arguments), extra| RawInstruction::Post {
            executor,
            task,
            arguments: arguments.unwrap_or_default(),
            span: span(extra),
        })
        .boxed()
}

/// `operation(mem[address], operands)`, `operation(mem[address], operands) else label`.
fn locked<'t, 's: 't>(
    memory: Rule<'t, 's, RawExpression<'s>>,
    expression: Rule<'t, 's, RawExpression<'s>>,
) -> Rule<'t, 's, RawInstruction<'s>> {
    let operation = select! {
        Token::Keyword(Keyword::Cas) => Operation::Cas,
        Token::Keyword(Keyword::Xchg) => Operation::Xchg,
        Token::Keyword(Keyword::FetchAdd) => Operation::FetchAdd,
        Token::Keyword(Keyword::Rmw) => Operation::Rmw,
        Token::Name("load") => Operation::Load,
        Token::Name("store") => Operation::Store,
        Token::Name("await") => Operation::Await,
        Token::Name("await_cas") => Operation::AwaitCas,
        Token::Name("acquire") => Operation::Acquire,
        Token::Name("weak_cas") => Operation::WeakCas,
    }
    .labelled(Construct::LockedUpdate);
    let operands = symbol(Symbol::Comma).ignore_then(expression).repeated().collect::<Vec<_>>();
    let otherwise = select! { Token::Name("else") => () }.ignore_then(name(Construct::Label)).or_not();
    operation
        .then(memory.then(operands).delimited_by(symbol(Symbol::OpenParen), symbol(Symbol::CloseParen)))
        .map_with(|(operation, (address, operands)), extra| (operation, address, operands, span(extra)))
        .then(otherwise)
        .map(|((operation, address, operands, span), otherwise)| RawInstruction::Locked {
            register: None,
            operation,
            address,
            operands,
            otherwise,
            span,
        })
        .boxed()
}

fn expression<'t, 's: 't>() -> Rule<'t, 's, RawExpression<'s>> {
    recursive(|expression| {
        let literal = select! {
            Token::Integer(value) = extra => RawExpression::new(ExpressionKind::Literal(value), span(extra)),
        };
        let parenthesised = expression
            .clone()
            .delimited_by(symbol(Symbol::OpenParen), symbol(Symbol::CloseParen))
            .map_with(|inside: RawExpression<'s>, extra| inside.parenthesised(span(extra)));
        let memory = keyword(Keyword::Mem)
            .ignore_then(expression.clone().delimited_by(symbol(Symbol::OpenBracket), symbol(Symbol::CloseBracket)))
            .map_with(|address, extra| RawExpression::new(ExpressionKind::Memory(Box::new(address)), span(extra)));
        let call = expression.clone().delimited_by(symbol(Symbol::OpenParen), symbol(Symbol::CloseParen));
        let index = expression.delimited_by(symbol(Symbol::OpenBracket), symbol(Symbol::CloseBracket));
        let name = select! { Token::Name(text) = extra => Name { text, span: span(extra) } };
        let named = name
            .then(call.map(|operand| (true, operand)).or(index.map(|operand| (false, operand))).or_not())
            .map_with(|(name, operand), extra| {
                let kind = match operand {
                    None => ExpressionKind::Name(name.text),
                    Some((true, operand)) => ExpressionKind::Call(name, Box::new(operand)),
                    Some((false, operand)) => ExpressionKind::Index(name, Box::new(operand)),
                };
                RawExpression::new(kind, span(extra))
            });
        let atom = choice((named, literal, parenthesised, memory)).labelled(Construct::Value);
        let prefix = select! {
            Token::Symbol(Symbol::Minus) = extra => (UnaryOperator::Negate, span(extra)),
            Token::Symbol(Symbol::Not) = extra => (UnaryOperator::Not, span(extra)),
            Token::Symbol(Symbol::Tilde) = extra => (UnaryOperator::Complement, span(extra)),
        }
        .labelled(Construct::Value);
        let unary =
            prefix.repeated().foldr(atom, |(operator, start), operand| operand.prefixed(operator, start)).boxed();
        let operators = infix().then(unary.clone()).repeated().collect::<Vec<_>>();
        unary.then(operators).map(|(first, rest)| by_precedence(first, rest))
    })
    .boxed()
}

/// A binary operator with how strongly it binds.
fn infix<'t, 's: 't>() -> impl Parser<'t, Input<'t, 's>, (BinaryOperator, u8), Extra<'t, 's>> + Clone {
    select! { Token::Symbol(symbol) if symbol.operator().is_some() => symbol }
        .map(|symbol| {
            let operator = symbol.operator().expect("only operators are taken");
            (operator, strength(operator))
        })
        .labelled(Construct::Operator)
}

/// Puts operands and the operators between them together; every operator is left-associative.
fn by_precedence<'s>(
    first: RawExpression<'s>,
    rest: Vec<((BinaryOperator, u8), RawExpression<'s>)>,
) -> RawExpression<'s> {
    let mut pending: Vec<(RawExpression<'s>, (BinaryOperator, u8))> = Vec::new();
    let mut right = first;
    for (operator, operand) in rest {
        right = reduce(&mut pending, right, operator.1);
        pending.push((right, operator));
        right = operand;
    }
    reduce(&mut pending, right, 0)
}

/// Applies the pending operators that bind at least as strongly as `strength`.
fn reduce<'s>(
    pending: &mut Vec<(RawExpression<'s>, (BinaryOperator, u8))>,
    mut right: RawExpression<'s>,
    strength: u8,
) -> RawExpression<'s> {
    while let Some((left, (operator, _))) = pending.pop_if(|(_, (_, binding))| *binding >= strength) {
        right = RawExpression::binary(operator, left, right);
    }
    right
}

#[cfg(test)]
mod tests {
    use crate::{Format, MAX_EXPRESSION_DEPTH, parse};
    use palisade_model::text::SourceText;

    /// Reads an expression of so many brackets, with little stack.
    fn is_read(depth: usize, open: &str, close: &str) -> bool {
        let expression = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let older =
            format!("program deep\naddress x\nthread t regs r init a begin\n a: r <- {expression}; goto b;\nend\n");
        let braces = format!("program deep\naddress x\nthread t {{ let r = 0; r = {expression}; }}\n");
        [older, braces].into_iter().all(|text| {
            let reader = std::thread::Builder::new().stack_size(1 << 20);
            let read = move || parse(SourceText::new("deep.pal", text), Format::Native).is_ok();
            reader.spawn(read).expect("a thread").join().expect("no overflow")
        })
    }

    #[test]
    fn brackets_as_deep_as_they_may_be_need_little_stack() {
        for (open, close) in [("(", ")"), ("(1 + ", ")"), ("-(", ")")] {
            assert!(is_read(3, open, close), "{open}");
            assert!(is_read(MAX_EXPRESSION_DEPTH / 2 - 4, open, close), "{open}");
            assert!(!is_read(MAX_EXPRESSION_DEPTH + 10, open, close), "{open}");
        }
    }
}
