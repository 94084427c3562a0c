//! TPL, `.tpl`: the language of Rocker [Lahav and Margalit, PLDI 2019; Margalit and Lahav, POPL
//! 2021], threads over shared locations with the orderings of C11.
//!
//! A text becomes tokens ([`lexer`]), these the trees of the native language's bodies in braces
//! ([`grammar`], [`statements`]), and the trees automata. A value lies in a domain from 0 to
//! `max_value` that wraps. An access without an ordering is relaxed, the weakest atomic one.

mod cursor;
mod grammar;
mod lexer;
mod statements;

use self::grammar::{Test, Variable};
use crate::native::ast::{Head, Name};
use crate::native::braced::{BracedThread, Structured};
use crate::native::scope::Addresses;
use crate::native::structured::{self, Layout};
use crate::native::templates::Templates;
use crate::{Diagnostic, MAX_ERRORS, Parsed, Severity, program_name};
use palisade_model::program::{AddressName, Copies, Domain, DomainOrigin, Posts, Program, Value};
use palisade_model::text::{SourceText, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The greatest value where the text gives none.
const GREATEST: Value = 255;

/// Reads a text in TPL.
pub(super) fn parse(source: &Arc<SourceText>) -> Result<Parsed, Vec<Diagnostic>> {
    parse_with_layouts(source).map(|(parsed, _)| parsed)
}

/// For each thread, where its parts stand in the text; empty where that is wrong.
pub(super) fn layouts(source: &Arc<SourceText>) -> Vec<Option<Layout>> {
    parse_with_layouts(source).map(|(_, layouts)| layouts).unwrap_or_default()
}

fn parse_with_layouts(source: &Arc<SourceText>) -> Result<(Parsed, Vec<Option<Layout>>), Vec<Diagnostic>> {
    let tokens = lexer::tokens(&source.text)?;
    let Test { greatest, variables, threads: functions } = grammar::parse(&tokens, source.text.len())?;
    let domain = Domain { low: 0, high: greatest.unwrap_or(GREATEST), wrap: true, origin: DomainOrigin::File };
    let mut initial_memory = BTreeMap::new();
    let named = variables.iter().zip(1..).map(|(variable, address)| {
        let Variable { name: Name { text, span }, initial, .. } = *variable;
        let initial = domain.wrapped(i128::from(initial));
        if initial != 0 {
            initial_memory.insert(address, initial);
        }
        (text, AddressName { name: text.to_owned(), address, length: 1, span })
    });
    let addresses = Addresses::numbered(named);
    let (nothing, templates) = (Structured::default(), Templates::default());
    let mut found = Vec::new();
    let context = structured::Context::new(&nothing, &addresses, &templates, source, &mut found);
    let (mut threads, mut layouts) = (Vec::new(), Vec::new());
    let braced: Vec<(BracedThread<'_>, Vec<Span>)> =
        functions.into_iter().map(grammar::Function::into_thread).collect();
    for (thread, bare) in &braced {
        for (lowered, layout) in structured::lower(&context, thread, Head::Thread.default_copies(), &mut found) {
            threads.push(lowered);
            layouts.push(Some(Layout { bare: bare.clone(), ..layout }));
        }
    }
    let (mut errors, warnings): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| it.severity == Severity::Error);
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.span);
        errors.dedup();
        errors.truncate(MAX_ERRORS);
        return Err(errors);
    }
    let mut program = Program {
        name: program_name(source),
        domain: Some(domain),
        addresses: addresses.all,
        initial_memory,
        threads,
        posts: Posts::default(),
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        source: source.clone(),
    };
    program.complete_orderings();
    debug_assert!(program.threads.iter().all(|thread| thread.copies == Copies::Exactly(1)));
    Ok((Parsed { program, warnings, question: None }, layouts))
}
