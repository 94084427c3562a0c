//! The names of a text that was read as a program: the words of the text that are names of it.

use super::{SymbolKind as Kind, Symbols};
use palisade_model::program::{Program, Role, Thread};
use palisade_model::text::Span;
use rustc_hash::FxHashMap;

/// The names of a program's text.
pub(super) fn symbols(program: &Program) -> Symbols {
    let mut reader = Reader { symbols: Symbols::default(), by_name: FxHashMap::default() };
    for address in &program.addresses {
        reader.declare(Kind::Address, &address.name, address.span, None);
    }
    let mut owners = Vec::new();
    for thread in &program.threads {
        let kind = match thread.role {
            Role::Thread => Kind::Thread,
            Role::Event { .. } => Kind::Event,
            Role::Task { .. } => Kind::Task,
        };
        let owner = reader.declare(kind, &thread.name, thread.span, None);
        for register in &thread.registers {
            reader.declare(Kind::Register, &register.name, register.span, Some(owner));
        }
        for label in &thread.labels {
            reader.declare(Kind::Label, &label.name, label.span, Some(owner));
        }
        owners.push(owner);
    }
    let text = &program.source.text;
    reader.symbols.occurrences.clear();
    for (span, word) in words(text) {
        let thread = named_thread(program, span.start).or_else(|| thread_at(program, span.start));
        let owner = thread.map(|index| owners[index]);
        let owned = owner.and_then(|owner| reader.by_name.get(&(Some(owner), folded(word))));
        if let Some(symbol) = owned.or_else(|| reader.by_name.get(&(None, folded(word)))) {
            reader.symbols.occurrences.push((span, *symbol));
        }
    }
    let Symbols { all, occurrences } = &mut reader.symbols;
    // A name is declared where it stands first: the reader may know a whole line alone.
    for (index, symbol) in all.iter_mut().enumerate() {
        let first = occurrences.iter().find(|(_, own)| *own == index);
        if let Some((span, _)) = first {
            (symbol.span, symbol.extent) = (*span, *span);
        }
    }
    reader.symbols
}

struct Reader {
    symbols: Symbols,
    /// By owner and name; letters count as one in both cases, as in assembly.
    by_name: FxHashMap<(Option<usize>, String), usize>,
}

impl Reader {
    fn declare(&mut self, kind: Kind, name: &str, span: Span, owner: Option<usize>) -> usize {
        let symbol = self.symbols.declare(kind, name, span, owner);
        *self.by_name.entry((owner, folded(name))).or_insert(symbol)
    }
}

fn folded(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// The thread that a condition names in front of a register: `P0` for `0:EAX` and `P0:EAX`.
fn named_thread(program: &Program, byte: usize) -> Option<usize> {
    let before = program.source.text[..byte].strip_suffix(':')?;
    let start = before.rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| at + 1);
    let number: usize = before[start..].trim_start_matches(['P', 'p']).parse().ok()?;
    program.threads.iter().position(|thread| thread.name.eq_ignore_ascii_case(&format!("P{number}")))
}

/// The thread whose text has a byte: one with an instruction there, else the last one that begins
/// before.
fn thread_at(program: &Program, byte: usize) -> Option<usize> {
    let has = |span: Span| span.start <= byte && byte < span.end;
    let stands_in = |thread: &Thread| thread.instructions.iter().any(|instruction| has(instruction.span));
    let inside = program.threads.iter().position(stands_in);
    inside.or_else(|| program.threads.iter().rposition(|thread| thread.span.start <= byte))
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = (Span, &str)> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'');
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_inside)?;
        let end = text[start..].find(|c| !is_inside(c)).map_or(text.len(), |length| start + length);
        at = end;
        Some((Span { start, end }, &text[start..end]))
    })
}
