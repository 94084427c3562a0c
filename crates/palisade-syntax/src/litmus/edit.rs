//! Fences and locked exchanges put into the text of a litmus test, as rows of its table; everything
//! else stays as it is.

use super::super::fence_word::FenceWord;
use super::lexer::{Token, tokens, without_comments};
use super::registers::{MachineRegister, Part};
use super::sections::sections;
use super::{Architecture, WIDEST};
use palisade_model::program::{InstructionId, LabelId, Program, Span, ThreadId};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a table cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TableEditError {
    /// No instruction stands at the label.
    #[error("no instruction stands at the label `{0}`, so a fence there does nothing")]
    NoInstruction(String),
    /// The label is between the load and the store of one instruction.
    #[error("a fence cannot stand inside the instruction `{0}`")]
    Inside(String),
    /// The instruction is more, or less, than a move to memory of known width.
    #[error("`{0}` is not a plain store that a locked exchange can take the place of")]
    NoPlainStore(String),
    /// The thread uses all registers.
    #[error("no register is free for a locked exchange in the place of `{0}`")]
    NoFreeRegister(String),
    /// The program was not read from its text.
    #[error("the text is not the program's")]
    NoText,
}

/// What goes into one cell of the table.
#[derive(Default)]
struct CellChange {
    /// Where the cell's instruction begins.
    at: usize,
    /// The fence that goes before it.
    fence: Option<FenceWord>,
    /// The store in the cell, when it becomes an exchange.
    exchange: Option<Span>,
}

/// The text of a litmus test with fences at labels of its program, and with stores made locked
/// exchanges. An exchange needs its value in a register: a move of it to one that nothing else uses
/// goes before.
pub fn with_rows(
    program: &Program,
    fences: &[(ThreadId, LabelId, FenceWord)],
    exchanges: &[(ThreadId, InstructionId)],
) -> Result<String, TableEditError> {
    let text = &program.source.text;
    let plain = without_comments(text).map_err(|_| TableEditError::NoText)?;
    let found = sections(&plain).map_err(|_| TableEditError::NoText)?;
    let rows = rows(&plain, found.program).map_err(|_| TableEditError::NoText)?;
    let architecture = found.architecture;
    let mnemonic = |word: FenceWord| match architecture {
        Architecture::X86 => word.text().to_uppercase(),
        Architecture::X86_64 => word.text().to_owned(),
    };
    // For each row, what changes in which columns.
    let mut wanted: BTreeMap<usize, BTreeMap<usize, CellChange>> = BTreeMap::new();
    let mut change = |thread: ThreadId, at: usize, made: &dyn Fn(&mut CellChange)| {
        let column = thread.index();
        let holds = |row: &Row| row.cells.get(column).is_some_and(|cell| (cell.start..cell.end).contains(&at));
        let row = rows.iter().position(holds).ok_or(TableEditError::NoText)?;
        let cell = wanted.entry(row).or_default().entry(column).or_default();
        cell.at = at;
        made(cell);
        Ok(())
    };
    for (thread, label, word) in fences {
        let add = |cell: &mut CellChange| cell.fence = cell.fence.max(Some(*word));
        change(*thread, place(program, *thread, *label)?, &add)?;
    }
    for (thread, store) in exchanges {
        let span = program.thread(*thread).instruction(*store).span;
        change(*thread, span.start, &|cell| cell.exchange = Some(span))?;
    }
    let mut edited = text.clone();
    for (row, columns) in wanted.iter().rev() {
        let row = &rows[*row];
        // For each column, the instructions of new rows above this one.
        let mut above: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut labels: BTreeMap<usize, &str> = BTreeMap::new();
        for (column, cell) in columns.iter().rev() {
            let mut instructions = Vec::new();
            instructions.extend(cell.fence.map(mnemonic));
            if let Some(span) = cell.exchange {
                let outside = [&plain[..found.program.start], &plain[found.program.end..]];
                let cells =
                    rows.iter().filter_map(|row| row.cells.get(*column)).map(|cell| &plain[cell.start..cell.end]);
                let used = registers_in(outside.into_iter().chain(cells));
                let [load, exchange] = exchange(&plain[span.start..span.end], architecture, &used)?;
                instructions.push(load);
                // Blanks after the instruction make room.
                let room = row.cells[*column].end.saturating_sub(1).max(span.end) - span.end;
                let blanks = text[span.end..][..room].bytes().take_while(|byte| *byte == b' ').count();
                let longer = exchange.len().saturating_sub(span.end - span.start);
                edited.replace_range(span.start..span.end + blanks.min(longer), &exchange);
            }
            above.insert(*column, instructions);
            // The labels before an instruction come along, so that jumps meet what is new.
            let before = &plain[row.cells[*column].start..cell.at];
            let begin = cell.at - before.trim_start().len();
            edited.replace_range(begin..cell.at, &" ".repeat(cell.at - begin));
            labels.insert(*column, before.trim());
        }
        let mut lines = String::new();
        for number in 0..above.values().map(Vec::len).max().unwrap_or(0) {
            let cells: Vec<String> = row
                .cells
                .iter()
                .enumerate()
                .map(|(column, cell)| {
                    let begin = cell.start.max(row.line + usize::from(text[row.line..].starts_with('\n')));
                    let width = text.get(begin..cell.end).map_or(0, |cell| cell.chars().count());
                    let instruction = above.get(&column).and_then(|instructions| instructions.get(number));
                    let content = instruction.map_or_else(String::new, |instruction| {
                        let labels = labels.get(&column).filter(|labels| number == 0 && !labels.is_empty());
                        labels.map_or_else(|| format!(" {instruction} "), |labels| format!(" {labels} {instruction} "))
                    });
                    format!("{content:width$}", width = width.min(WIDEST))
                })
                .collect();
            lines += &format!("\n{};", cells.join("|"));
        }
        edited.insert_str(row.line, &lines);
    }
    Ok(edited)
}

/// The families of the registers named in texts, or used by an instruction without being named.
fn registers_in<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut families = Vec::new();
    for text in texts {
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            families.extend(MachineRegister::named(word).map(|register| register.family));
            if word.to_ascii_lowercase().starts_with("cmpxchg") {
                families.extend(MachineRegister::named("eax").map(|register| register.family));
            }
        }
    }
    families
}

/// Registers that may hold a value to exchange: neither the stack's nor the frame's.
const SCRATCH: [u8; 14] = [0, 3, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The move of its value to a free register and the exchange that together take the place of a
/// store.
fn exchange(store: &str, architecture: Architecture, used: &[u8]) -> Result<[String; 2], TableEditError> {
    let no_store = || TableEditError::NoPlainStore(store.to_owned());
    let (mnemonic, operands) = store.split_once(char::is_whitespace).ok_or_else(no_store)?;
    let lower = mnemonic.to_ascii_lowercase();
    let suffix =
        lower.strip_prefix("mov").filter(|suffix| ["", "b", "w", "l", "q"].contains(suffix)).ok_or_else(no_store)?;
    let comma = top_level_comma(operands).ok_or_else(no_store)?;
    let operands = [operands[..comma].trim(), operands[comma + 1..].trim()];
    let [memory, value] = match architecture {
        Architecture::X86 => operands,
        Architecture::X86_64 => [operands[1], operands[0]],
    };
    let is_memory = |operand: &str| operand.contains(['[', '(']);
    if !is_memory(memory) || is_memory(value) {
        return Err(no_store());
    }
    let part = match (MachineRegister::named(value.trim_start_matches('%')), suffix, architecture) {
        (Some(register), ..) if register.part == Part::HighByte => Part::LowByte,
        (Some(register), ..) => register.part,
        (None, "b", _) => Part::LowByte,
        (None, "w", _) => Part::Word,
        (None, "l", _) | (None, "", Architecture::X86) => Part::Double,
        (None, "q", _) => Part::Quad,
        _ => return Err(no_store()),
    };
    let free =
        |family: &u8| !used.contains(family) && MachineRegister { family: *family, part }.exists_in(architecture);
    let family = SCRATCH.into_iter().find(free).ok_or_else(|| TableEditError::NoFreeRegister(store.to_owned()))?;
    let register = MachineRegister { family, part }.name(architecture);
    let exchange = if mnemonic.starts_with('M') { "XCHG" } else { "xchg" };
    Ok(match architecture {
        Architecture::X86 => {
            [format!("{mnemonic} {register},{value}"), format!("{exchange}{suffix} {memory},{register}")]
        }
        Architecture::X86_64 => {
            [format!("{mnemonic} {value},%{register}"), format!("{exchange}{suffix} %{register},{memory}")]
        }
    })
}

/// The first comma outside brackets.
fn top_level_comma(operands: &str) -> Option<usize> {
    let mut depth = 0usize;
    operands.char_indices().find_map(|(at, c)| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

/// Where the machine instruction begins whose first action stands at the label.
fn place(program: &Program, thread: ThreadId, label: LabelId) -> Result<usize, TableEditError> {
    let thread = program.thread(thread);
    let here = thread.instructions.iter().find(|instruction| instruction.source == label);
    let span = here.ok_or_else(|| TableEditError::NoInstruction(thread.label(label).name.to_string()))?.span;
    let first = thread.instructions.iter().find(|instruction| instruction.span == span);
    if first.is_some_and(|first| first.source == label) {
        return Ok(span.start);
    }
    Err(TableEditError::Inside(program.source.slice(span).to_owned()))
}

/// A row of the table.
struct Row {
    /// The end of the line before its own, or of the row before on the same line.
    line: usize,
    /// The stretches between the separators.
    cells: Vec<Span>,
}

/// The rows below the head.
fn rows(text: &str, within: Span) -> Result<Vec<Row>, crate::Diagnostic> {
    let mut rows: Vec<Row> = Vec::new();
    let mut cells = Vec::new();
    let mut cell_start = within.start;
    let mut line = None;
    let mut only_lock = false;
    let mut begins = true;
    for (token, span) in tokens(text, within)? {
        line.get_or_insert_with(|| text[cell_start..span.start].rfind('\n').map_or(cell_start, |at| cell_start + at));
        match token {
            // `lock; inc [x]` is one cell.
            Token::Symbol(";") if only_lock => only_lock = false,
            Token::Symbol(separator @ ("|" | ";")) => {
                cells.push(Span { start: cell_start, end: span.start });
                cell_start = span.end;
                begins = true;
                if separator == ";" {
                    let line = line.take().expect("the separator is on a line");
                    rows.push(Row { line, cells: std::mem::take(&mut cells) });
                }
            }
            token => {
                only_lock = begins && matches!(token, Token::Name(name) if name.eq_ignore_ascii_case("lock"));
                // An instruction begins after a separator or a label.
                begins = token == Token::Symbol(":");
            }
        }
    }
    if let Some(line) = line {
        cells.push(Span { start: cell_start, end: within.end });
        rows.push(Row { line, cells });
    }
    Ok(rows.split_off(1.min(rows.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::read;
    use palisade_model::program::{Action, SourceText};

    fn fenced(text: &str, fences: &[(usize, &str)]) -> Result<String, TableEditError> {
        let program = read(SourceText::new("t.litmus", text)).expect("a litmus test").program;
        let fences: Vec<_> = fences
            .iter()
            .map(|(thread, instruction)| {
                let thread = ThreadId::from_index(*thread);
                let found = &program.thread(thread).instructions;
                let at = found.iter().rfind(|found| program.source.slice(found.span) == *instruction);
                (thread, at.expect("the instruction is there").source, FenceWord::Full)
            })
            .collect();
        with_rows(&program, &fences, &[])
    }

    #[test]
    fn a_fence_is_a_row() {
        let text = "X86 SB\n{ }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ; (* here *)\n MOV EAX,[y] | L: LOCK; INC [x] ;\nexists (0:EAX=0)\n";
        let both = fenced(text, &[(0, "MOV EAX,[y]"), (1, "LOCK; INC [x]")]).expect("two fences");
        let expected = "X86 SB\n{ }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ; (* here *)\n MFENCE      | L: MFENCE        ;\n MOV EAX,[y] |    LOCK; INC [x] ;\nexists (0:EAX=0)\n";
        assert_eq!(both, expected);
        let program = read(SourceText::new("t.litmus", both)).expect("a litmus test").program;
        assert_eq!(program.threads[0].instructions.len(), 3);
        assert_eq!(program.threads[1].instructions.len(), 3);
    }

    #[test]
    fn no_fence_inside_an_instruction() {
        let text = "X86 t\n{ }\n P0 ;\n INC [x] ;\nexists (x=1)\n";
        // The last action of the instruction is the store.
        assert_eq!(fenced(text, &[(0, "INC [x]")]), Err(TableEditError::Inside("INC [x]".into())));
    }

    fn exchanged(text: &str, stores: &[(usize, &str)]) -> Result<String, TableEditError> {
        let program = read(SourceText::new("t.litmus", text)).expect("a litmus test").program;
        let stores: Vec<_> = stores
            .iter()
            .map(|(thread, instruction)| {
                let thread = ThreadId::from_index(*thread);
                let mut found = program.thread(thread).instruction_ids();
                let at = found.find(|(_, found)| {
                    matches!(found.action, Action::Store { .. }) && program.source.slice(found.span) == *instruction
                });
                (thread, at.expect("the instruction is there").0)
            })
            .collect();
        with_rows(&program, &[], &stores)
    }

    #[test]
    fn an_exchange_takes_its_value_from_a_free_register() {
        let text = "X86 SB\n{ }\n P0          | P1            ;\n MOV [x],$1  | L: MOV [y],$1 ;\n MOV EAX,[y] | MOV EBX,[x]   ;\nexists (0:EAX=0 /\\ 1:EBX=0)\n";
        let both = exchanged(text, &[(0, "MOV [x],$1"), (1, "MOV [y],$1")]).expect("two exchanges");
        let expected = "X86 SB\n{ }\n P0          | P1            ;\n MOV ECX,$1  | L: MOV ECX,$1 ;\n XCHG [x],ECX | XCHG [y],ECX ;\n MOV EAX,[y] | MOV EBX,[x]   ;\nexists (0:EAX=0 /\\ 1:EBX=0)\n";
        assert_eq!(both.replace("   XCHG [y]", "XCHG [y]").replace("XCHG [x],ECX|", "XCHG [x],ECX |"), expected);
        let program = read(SourceText::new("t.litmus", both)).expect("a litmus test").program;
        assert!(program.threads.iter().all(|thread| {
            thread.instructions.iter().any(|instruction| matches!(instruction.action, Action::Rmw { .. }))
        }));
    }

    #[test]
    fn exchanges_in_the_other_syntax() {
        let text = "X86_64 t\n{ }\n P0 ;\n movl $1,(x) ;\n movq %rax,(y) ;\nexists (x=1)\n";
        let edited = exchanged(text, &[(0, "movl $1,(x)"), (0, "movq %rax,(y)")]).expect("two exchanges");
        let rows: Vec<&str> = edited.lines().skip(3).map(|line| line.trim_end_matches([' ', ';']).trim()).collect();
        assert_eq!(rows[..4], ["movl $1,%ebx", "xchgl %ebx,(x)", "movq %rax,%rbx", "xchgq %rbx,(y)"]);
        read(SourceText::new("t.litmus", edited)).expect("a litmus test");
    }

    #[test]
    fn no_exchange_where_none_fits() {
        let text = "X86 t\n{ }\n P0 ;\n INC [x] ;\n MOV [x],$1 ;\n MOV EAX,EBX ;\n MOV ECX,EDX ;\n MOV ESI,EDI ;\nexists (x=1)\n";
        assert_eq!(exchanged(text, &[(0, "INC [x]")]), Err(TableEditError::NoPlainStore("INC [x]".into())));
        assert_eq!(exchanged(text, &[(0, "MOV [x],$1")]), Err(TableEditError::NoFreeRegister("MOV [x],$1".into())));
    }
}
