//! What the word under the cursor stands for: a name of the text, or a word of its language.

use super::document::Document;
use super::words::meaning;
use crate::program::{Action, AddressName, Expression, Program, Span, Thread};
use crate::syntax::symbols::{Symbol, SymbolKind as Kind};
use crate::syntax::{Format, parse};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

/// The most lines of the text that are shown.
const MOST_LINES: usize = 6;

/// What stands at a position.
pub(super) fn hover(document: &Document, position: Position) -> Option<Hover> {
    // The words of Rust are told by others.
    if document.format == Format::Machine {
        return None;
    }
    let byte = document.text.byte(position);
    let (value, span) = match document.symbols().at(byte) {
        Some((symbol, span)) => (name(document, &document.symbols().all[symbol]), span),
        None => {
            let span = word_at(document.text.as_str(), byte)?;
            let word = document.text.source.slice(span);
            (format!("`{word}`: {}", meaning(word)?), span)
        }
    };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(document.text.range(span)) })
}

/// The word at a byte, or before it.
fn word_at(text: &str, byte: usize) -> Option<Span> {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..byte].rfind(|c| !is_inside(c));
    let start = before.map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    let end = text[byte..].find(|c| !is_inside(c)).map_or(text.len(), |length| byte + length);
    (start < end).then_some(Span { start, end })
}

/// A name of the text.
fn name(document: &Document, symbol: &Symbol) -> String {
    let program = parse(document.text.source.clone(), document.format).map(|parsed| parsed.program).ok();
    let owner = symbol.owner.map(|owner| &document.symbols().all[owner]);
    let of_owner = owner.map_or(String::new(), |owner| format!(" of `{}`", owner.name));
    let mut out = format!("{} `{}`{of_owner}", symbol.kind.word(), symbol.name);
    let mut spans = vec![symbol.span];
    if let Some(program) = &program {
        let thread = |name: &str| program.threads.iter().find(|thread| thread.name == name);
        match (symbol.kind, owner.and_then(|owner| thread(&owner.name))) {
            (Kind::Address, _) => {
                let own = program.addresses.iter().find(|address| address.name == symbol.name);
                out.push_str(&own.map_or(String::new(), |own| location(program, own)));
            }
            (Kind::Thread, _) => {
                if let Some(thread) = thread(&symbol.name) {
                    out.push_str(&format!(", × {}", thread.copies));
                }
            }
            (Kind::Register, Some(thread)) => {
                let own = thread.register_named(&symbol.name).map(|id| &thread.registers[id.index()]);
                out.push_str(&own.map_or(String::new(), |own| format!(", {} at the start", own.initial)));
            }
            (Kind::Label, Some(thread)) => spans.extend(at_label(thread, &symbol.name)),
            _ => {}
        }
    }
    let mut lines: Vec<usize> = spans.iter().map(|span| document.text.source.position(span.start).line).collect();
    lines.sort_unstable();
    lines.dedup();
    let text: Vec<&str> = document.text.as_str().lines().collect();
    let shown: Vec<&str> =
        lines.iter().take(MOST_LINES).filter_map(|line| text.get(line - 1)).map(|it| it.trim()).collect();
    format!("{out}\n\n```palisade\n{}\n```", shown.join("\n"))
}

/// The instructions that stand at a label.
fn at_label(thread: &Thread, name: &str) -> Vec<Span> {
    let Some(label) = thread.label_named(name) else { return Vec::new() };
    let own = thread.instructions.iter().filter(|instruction| instruction.source == label);
    own.map(|instruction| instruction.span).collect()
}

/// What is known of a location: its number, what it holds at the start, and who accesses it by its
/// name.
fn location(program: &Program, own: &AddressName) -> String {
    let mut out = if own.length == 1 {
        format!(", address {}, {} at the start", own.address, program.initial_value(own.address))
    } else {
        format!(", {} cells from address {} on", own.length, own.address)
    };
    let names_it = |address: &Expression| {
        let mut found = false;
        address.for_each_address(&mut |id| found |= program.addresses[id.index()].name == own.name);
        found
    };
    for (word, stores) in [("stored by", true), ("loaded by", false)] {
        let accesses = |thread: &&Thread| {
            thread.instructions.iter().map(|instruction| &instruction.action).any(|action| {
                let is_kind = match action {
                    Action::Store { .. } => stores,
                    Action::Load { .. } => !stores,
                    _ => true,
                };
                is_kind && action.address().is_some_and(names_it)
            })
        };
        let threads: Vec<String> =
            program.threads.iter().filter(accesses).map(|thread| format!("`{}`", thread.name)).collect();
        if !threads.is_empty() {
            out.push_str(&format!("; {word} {}", threads.join(", ")));
        }
    }
    out
}
