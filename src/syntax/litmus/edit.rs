//! Fences put into the text of a litmus test, as rows of its table; everything else stays as it is.

use super::Architecture;
use super::lexer::{Token, tokens, without_comments};
use super::sections::sections;
use crate::program::{LabelId, Program, Span, ThreadId};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why fences cannot be put into a text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FenceEditError {
    /// No instruction stands at the label.
    #[error("no instruction stands at the label `{0}`, so a fence there does nothing")]
    NoInstruction(String),
    /// The label is between the load and the store of one instruction.
    #[error("a fence cannot stand inside the instruction `{0}`")]
    Inside(String),
    /// The program was not read from its text.
    #[error("the text is not the program's")]
    NoText,
}

/// The text of a litmus test with fences at labels of its program.
pub fn with_fences(program: &Program, fences: &[(ThreadId, LabelId)]) -> Result<String, FenceEditError> {
    let text = &program.source.text;
    let plain = without_comments(text).map_err(|_| FenceEditError::NoText)?;
    let found = sections(&plain).map_err(|_| FenceEditError::NoText)?;
    let rows = rows(&plain, found.program).map_err(|_| FenceEditError::NoText)?;
    let mnemonic = match found.header.architecture {
        Architecture::X86 => "MFENCE",
        Architecture::X86_64 => "mfence",
    };
    // For each row, the columns before whose instruction a fence goes, with where that instruction begins.
    let mut wanted: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
    for (thread, label) in fences {
        let at = place(program, *thread, *label)?;
        let column = thread.index();
        let holds = |row: &Row| row.cells.get(column).is_some_and(|cell| (cell.start..cell.end).contains(&at));
        let row = rows.iter().position(holds).ok_or(FenceEditError::NoText)?;
        wanted.entry(row).or_default().insert(column, at);
    }
    let mut edited = text.clone();
    for (row, columns) in wanted.iter().rev() {
        let row = &rows[*row];
        let mut cells: Vec<String> = Vec::new();
        let mut blanked = Vec::new();
        for (index, cell) in row.cells.iter().enumerate() {
            let begin = cell.start.max(row.line + usize::from(text[row.line..].starts_with('\n')));
            let width = text.get(begin..cell.end).map_or(0, |cell| cell.chars().count());
            let content = columns.get(&index).map_or_else(String::new, |at| {
                // The labels before the instruction come along, so that jumps meet the fence.
                let labels = plain[cell.start..*at].trim();
                let begin = *at - plain[cell.start..*at].trim_start().len();
                blanked.push(begin..*at);
                let gap = if labels.is_empty() { "" } else { " " };
                format!(" {labels}{gap}{mnemonic} ")
            });
            cells.push(format!("{content:width$}"));
        }
        for labels in blanked.into_iter().rev() {
            let blanks = " ".repeat(labels.len());
            edited.replace_range(labels, &blanks);
        }
        edited.insert_str(row.line, &format!("\n{};", cells.join("|")));
    }
    Ok(edited)
}

/// Where the machine instruction begins whose first action stands at the label.
fn place(program: &Program, thread: ThreadId, label: LabelId) -> Result<usize, FenceEditError> {
    let thread = program.thread(thread);
    let here = thread.instructions.iter().find(|instruction| instruction.source == label);
    let span = here.ok_or_else(|| FenceEditError::NoInstruction(thread.label(label).name.clone()))?.span;
    let first = thread.instructions.iter().find(|instruction| instruction.span == span);
    if first.is_some_and(|first| first.source == label) {
        return Ok(span.start);
    }
    Err(FenceEditError::Inside(program.source.slice(span).to_owned()))
}

/// A row of the table.
struct Row {
    /// The end of the line before its own, or of the row before on the same line.
    line: usize,
    /// The stretches between the separators.
    cells: Vec<Span>,
}

/// The rows below the head.
fn rows(text: &str, within: Span) -> Result<Vec<Row>, crate::syntax::Diagnostic> {
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
    use crate::program::SourceText;
    use crate::syntax::litmus::read;

    fn fenced(text: &str, fences: &[(usize, &str)]) -> Result<String, FenceEditError> {
        let program = read(SourceText::new("t.litmus", text)).expect("a litmus test").program;
        let fences: Vec<_> = fences
            .iter()
            .map(|(thread, instruction)| {
                let thread = ThreadId::from_index(*thread);
                let found = &program.thread(thread).instructions;
                let at = found.iter().rfind(|found| program.source.slice(found.span) == *instruction);
                (thread, at.expect("the instruction is there").source)
            })
            .collect();
        with_fences(&program, &fences)
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
        assert_eq!(fenced(text, &[(0, "INC [x]")]), Err(FenceEditError::Inside("INC [x]".into())));
    }
}
