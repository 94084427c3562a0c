//! Litmus tests in C, of C11's atomics and of the Linux kernel's.
//!
//! A test is read as the x86 program that compilers make of it by the usual mapping ([`calls`] has
//! it), with its accesses in the order of the text. Its threads become trees of bodies in braces,
//! as the native language has them, and are lowered by its means; types are C's ([`types`]). What
//! is said of a test is said of that program, and not of C's memory model.

mod arithmetic;
mod barriers;
mod body;
mod calls;
mod expressions;
mod graces;
mod lexer;
mod locations;
mod posix;
mod rcu;
mod resolve;
mod statements;
mod text;
mod threads;
mod types;

pub(super) use text::is_c;

use self::body::Body;
use self::lexer::Token;
use self::locations::Locations;
use self::resolve::Names;
use self::threads::Head;
use self::types::Pointers;
use super::initial::{InitialItem, InitialPlace, WrittenValue};
use super::pointers::only_pointers;
use super::question::{WrittenLocation, WrittenQuestion};
use super::resolve::fitting;
use super::{LitmusTest, initial, question, sections};
use crate::Diagnostic;
use crate::native::ast::{self, ExpressionKind, RawExpression};
use crate::native::braced::{BracedThread, Statement, StatementKind, Structured};
use crate::native::structured;
use crate::native::templates::Templates;
use palisade_model::program::{Copies, Posts, Program, SourceText, Value, truncate};
use palisade_model::text::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads a test in C.
pub(super) fn read(source: &Arc<SourceText>) -> Result<LitmusTest, Vec<Diagnostic>> {
    whole(source).map(|(test, _)| test)
}

/// What a test's text has besides its program.
#[derive(Debug)]
pub(in super::super) struct Texts {
    /// Where the parts of each thread stand.
    pub(in super::super) layouts: Vec<structured::Layout>,
    /// Whether the test's calls are those of the Linux kernel.
    is_kernel: bool,
}

impl Texts {
    /// The fence of the test's dialect, as a statement.
    pub(in super::super) fn fence(&self) -> &'static str {
        if self.is_kernel { "smp_mb();" } else { "atomic_thread_fence(memory_order_seq_cst);" }
    }

    /// Whether the test's calls are those of the Linux kernel alone.
    pub(in super::super) fn is_kernel(&self) -> bool {
        self.is_kernel
    }

    /// What a store's text becomes to be a locked exchange: the stretch to replace, from the
    /// store's first byte on, and its new text. Nothing if the store is a plain assignment or of
    /// another call.
    pub(in super::super) fn exchanged(store: &str) -> Option<(Span, &'static str)> {
        if store.starts_with("WRITE_ONCE") {
            return Some((Span { start: 0, end: "WRITE_ONCE".len() }, "smp_store_mb"));
        }
        if !store.starts_with("atomic_store_explicit") {
            return None;
        }
        let start = store.rfind("memory_order_")?;
        let length = store[start..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        Some((Span { start, end: start + length }, "memory_order_seq_cst"))
    }
}

/// Reads a test, with where its parts stand.
pub(super) fn whole(source: &Arc<SourceText>) -> Result<(LitmusTest, Texts), Vec<Diagnostic>> {
    let one = |error: Diagnostic| vec![error];
    let text = text::without_comments(&source.text).map_err(one)?;
    let open = sections::initial_brace(&text).map_err(one)?;
    let header = sections::header(&text, open).map_err(one)?;
    let close = sections::matching_brace(&text, open).map_err(one)?;
    let items = initial::initial_state(&text, Span { start: open + 1, end: close }).map_err(one)?;
    let (heads, after) = threads::heads(&text, close + 1, text.len()).map_err(one)?;
    let end = text[after..].find("<<").map_or(text.len(), |offset| after + offset);
    let written = question::question(&text, Span { start: after, end }).map_err(one)?;
    let tokens_of = |head: &Head<'_>| Ok((head.number, lexer::tokens(&text, head.body)?));
    let threads = heads.iter().map(tokens_of).collect::<Result<Vec<_>, Diagnostic>>().map_err(one)?;
    if let Some(error) = variable_without_thread(&written, &items, &heads, &threads) {
        return Err(vec![error]);
    }
    let graces = graces::graces(&threads);
    let mut numbered = Locations::new(&items, &heads, &written, graces).map_err(one)?;
    let has_pointers = has_pointers(&items, &heads, &numbered, &text);
    numbered.number(has_pointers);
    let locations = &numbered;
    let memory = initial_memory(&items, locations).map_err(one)?;
    let addresses = locations.addresses();
    let (mut errors, mut warnings) = (Vec::new(), header.warnings);
    warnings.extend(heads.iter().flat_map(|head| &head.parameters).filter_map(threads::Parameter::doubt));
    let mut bodies = Vec::new();
    for head in &heads {
        match initial_values(head, &items, locations).and_then(|first| body::body(&text, head, locations, first)) {
            Ok(body) => bodies.push(body),
            Err(error) => errors.push(error),
        }
    }
    errors.extend(stray_item(&items, &heads));
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut texts = Texts { layouts: Vec::new(), is_kernel: false };
    let (mut kernel, mut c11) = (false, false);
    let (mut threads, mut locals) = (Vec::new(), Vec::new());
    let nothing = Structured::default();
    let templates = Templates::default();
    let context = structured::Context::new(&nothing, &addresses, &templates, source, &mut errors);
    let mut braced = Vec::new();
    let (mut taken, mut guessed) = (Vec::new(), Vec::new());
    for (head, body) in heads.iter().zip(bodies) {
        let Body { statements, locals: own, bare, warnings: noted, dialects, pointers } = body;
        taken.extend(pointers.taken);
        guessed.extend(pointers.guessed);
        warnings.extend(noted);
        kernel |= dialects.kernel;
        c11 |= dialects.c11;
        locals.push((head.number, own));
        let thread = BracedThread {
            head: ast::Head::Thread,
            name: head.name,
            parameters: None,
            copies: None,
            guard: None,
            body: statements,
        };
        braced.push((thread, bare));
    }
    texts.is_kernel = kernel && !c11;
    for (thread, bare) in &braced {
        for (lowered, layout) in structured::lower(&context, thread, Copies::Exactly(1), &mut errors) {
            threads.push(lowered);
            texts.layouts.push(structured::Layout { bare: bare.clone(), ..layout });
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    locations.fit(&items, &heads, &Pointers { taken, guessed }).map_err(one)?;
    let names = Names { locals: &locals, locations, threads: &threads, has_pointers };
    let question = super::resolve::question(&written, &names).map_err(one)?;
    warnings.extend(unknown_locations(&written, &items, &heads));
    warnings.sort_by_key(|warning| warning.span);
    let mut program = Program {
        name: header.name.clone(),
        domain: None,
        addresses: addresses.all.clone(),
        initial_memory: memory,
        threads,
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        posts: Posts::default(),
        source: source.clone(),
    };
    program.complete_orderings();
    let question = if has_pointers { only_pointers(&program, question) } else { question };
    let test = LitmusTest {
        name: header.name,
        architecture: None,
        description: header.description,
        information: header.information,
        program,
        question,
        kinds: written.kinds,
        warnings,
    };
    Ok((test, texts))
}

/// Whether addresses are values in a test: in its initial state, or somewhere in its threads.
/// Reading these does not need the locations' numbers.
fn has_pointers(items: &[InitialItem], heads: &[Head<'_>], locations: &Locations, text: &str) -> bool {
    let is_taken = |head: &Head<'_>| {
        body::body(text, head, locations, Vec::new()).is_ok_and(|body| !body.pointers.taken.is_empty())
    };
    items.iter().flat_map(|item| &item.values).any(WrittenValue::is_address) || heads.iter().any(is_taken)
}

/// The warnings about locations of the condition that the test has nowhere else: they hold 0.
fn unknown_locations(written: &WrittenQuestion, items: &[InitialItem], heads: &[Head<'_>]) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    written.locations(&mut |location| {
        if let WrittenLocation::Memory { name, span, .. } = location
            && !is_given(name, items, heads)
        {
            let message = format!("no thread has `{name}`, and nothing gives it a value");
            warnings.push(Diagnostic::warning(message, *span).with_label("it holds 0"));
        }
    });
    warnings
}

/// An error about a name of the condition that is no location's, and a variable's of a thread.
fn variable_without_thread(
    written: &WrittenQuestion,
    items: &[InitialItem],
    heads: &[Head<'_>],
    threads: &[(u32, Vec<(Token<'_>, Span)>)],
) -> Option<Diagnostic> {
    let mut found = None;
    written.locations(&mut |location| {
        let WrittenLocation::Memory { name, span, .. } = location else { return };
        let has_it = |tokens: &[(Token<'_>, Span)]| tokens.iter().any(|(token, _)| *token == Token::Name(name));
        let thread = threads.iter().find(|(_, tokens)| has_it(tokens));
        if let Some((number, _)) = thread.filter(|_| found.is_none() && !is_given(name, items, heads)) {
            let error = Diagnostic::error(format!("`{name}` is a variable of P{number}, and no location"), *span);
            found = Some(error.with_help(format!("name the thread: `{number}:{name}`")));
        }
    });
    found
}

/// Whether a location is in the initial state or among the parameters.
fn is_given(name: &str, items: &[InitialItem], heads: &[Head<'_>]) -> bool {
    let is_it = |item: &InitialItem| matches!(&item.place, InitialPlace::Location { name: own, .. } if own == name);
    let mut parameters = heads.iter().flat_map(|head| &head.parameters);
    items.iter().any(is_it) || parameters.any(|parameter| parameter.name.text == name)
}

/// The values of memory that are not 0.
fn initial_memory(items: &[InitialItem], locations: &Locations) -> Result<BTreeMap<Value, Value>, Diagnostic> {
    let mut memory = BTreeMap::new();
    let mut given = Vec::new();
    for item in items.iter().filter(|item| !item.values.is_empty()) {
        if given.contains(&&item.place) {
            return Err(
                Diagnostic::error("this has an initial value already", item.span).with_help("leave one of the two out")
            );
        }
        given.push(&item.place);
        let InitialPlace::Location { name, .. } = &item.place else { continue };
        let location = locations.named(name).expect("all locations are laid out");
        for (element, value) in (0..).zip(&item.values) {
            let cell = location.cell();
            if let (WrittenValue::Address { span, .. }, true) = (value, cell.bits < types::POINTER.bits) {
                return Err(Diagnostic::error(format!("`{name}` holds no address"), *span)
                    .with_help(format!("declare it as `int *{name}` or `intptr_t {name}`")));
            }
            let value = fitting(locations.number_of(value)?, cell.bits, item.span)?;
            let value = truncate(value, cell.bits, cell.signed || cell.bits == 64);
            let value = Value::try_from(value).expect("a value of its width fits");
            memory.insert(location.element(element), value);
        }
    }
    memory.retain(|_, value| *value != 0);
    Ok(memory)
}

/// The statements that give a thread's parameters their values.
fn initial_values<'s>(
    head: &Head<'s>,
    items: &[InitialItem],
    locations: &Locations,
) -> Result<Vec<Statement<'s>>, Diagnostic> {
    let mut statements = Vec::new();
    for parameter in head.parameters.iter().filter(|parameter| !parameter.is_address) {
        let given = items.iter().find(|item| is_of(item, head.number, parameter.name.text));
        let mut number = 0;
        if let Some((item, value)) = given.and_then(|item| Some((item, item.values.first()?))) {
            number = fitting(locations.number_of(value)?, parameter.cell.bits, item.span)?;
        }
        let span = parameter.name.span;
        let cell = parameter.cell;
        let value = truncate(number, cell.bits, cell.signed || cell.bits == 64);
        let value = Some(RawExpression::new(ExpressionKind::Constant(value), span));
        let kind = StatementKind::Let { register: parameter.name, value };
        statements.push(body::statement(kind, span, span));
    }
    Ok(statements)
}

/// Whether an item of the initial state is about a variable of a thread.
fn is_of(item: &InitialItem, number: u32, variable: &str) -> bool {
    matches!(&item.place, InitialPlace::Register { thread, name } if *thread == number && name == variable)
}

/// An error about an item of the initial state that gives a value to no parameter.
fn stray_item(items: &[InitialItem], heads: &[Head<'_>]) -> Option<Diagnostic> {
    let stray = items.iter().find(|item| {
        matches!(item.place, InitialPlace::Register { .. })
            && !heads.iter().any(|head| {
                let mut values = head.parameters.iter().filter(|parameter| !parameter.is_address);
                values.any(|parameter| is_of(item, head.number, parameter.name.text))
            })
    })?;
    let InitialPlace::Register { thread, name } = &stray.place else { return None };
    let error = Diagnostic::error("no parameter has this name and is a variable", stray.span);
    Some(error.with_help(format!(
        "make it a parameter, `P{thread} (int {name})`, or give the variable its value in the body: `int {name} = …;`"
    )))
}
