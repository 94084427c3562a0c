//! Changes to the source text itself: fences at labels, stores made locked exchanges; comments and
//! layout stay.
//!
//! A fence at a label l is the change of [ESOP13, §7]: every instruction `l: inst` becomes
//! `f: inst` with a fresh label f, and `l: mfence; goto f` is added. Only the label's own
//! occurrences before instructions change; jumps to l stay as they are and meet the fence.

use super::fence_word::FenceWord;
use super::litmus::{self, CTexts, TableEditError};
use super::native::structured::{self, Layout, StoreText};
use super::native::{self, Jump};
use super::trencher::{Word, Words};
use super::{Format, check, kernel_text, ordering_text, parse, tpl};
use palisade_model::program::{
    Action, InstructionId, LabelId, Language, Measure, NameSpace, NoText, Ordering, Program, SourceText, Span, Thread,
    ThreadId, lock_states,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Why a text cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// No instruction stands at the label.
    #[error("no instruction stands at the label `{0}`, so a fence there does nothing")]
    NoInstruction(String),
    /// The instruction is no store.
    #[error("the instruction at `{0}` is not a store")]
    NoStore(String),
    /// A section inside a section cannot be written.
    #[error("the store at `{0}` may be reached inside a locked section, where another one cannot begin")]
    InsideSection(String),
    /// The format knows no store fences.
    #[error("the format has no `sfence` to put at `{0}`")]
    NoStoreFence(String),
    /// TPL's stores are relaxed or release.
    #[error("TPL has no sequentially consistent store to put at `{0}`: put a fence behind it")]
    NoStrongStore(String),
    /// The table of a litmus test has no place for it.
    #[error(transparent)]
    Table(TableEditError),
    /// The text's language is read and not written.
    #[error("texts in Memorax's language are not changed; write the program in the native language first")]
    NotWritten,
    /// The program was lifted from machine code.
    #[error("machine code is not changed: put the fence into the source, in front of its line, and build again")]
    MachineCode,
    /// A fence belongs in the middle of a statement, behind a call.
    #[error(
        "a fence at `{0}` would stand in the middle of a statement, behind a call: write the call as a statement of its own"
    )]
    InsideStatement(String),
    /// A statement without braces around it has no place for a fence.
    #[error(
        "a fence at `{0}` needs braces around the statement that follows `if`, `else` or `while`: write them first"
    )]
    NoBraces(String),
    /// The text has no ordering that could be changed.
    #[error("the text on line {0} has no ordering to change: write the access as a call with its ordering first")]
    NoOrdering(usize),
    /// The Linux kernel has no call with the ordering.
    #[error("the kernel has no call like `{0}` for each ordering")]
    NoKernelCall(String),
    /// The program was not read from its text.
    #[error("the text does not show the instruction at `{0}`")]
    NoText(String),
}

/// The program's text with a fence at a label.
pub fn insert_fence(program: &Program, format: Format, thread: ThreadId, label: LabelId) -> Result<String, EditError> {
    apply(program, format, &[Measure::Fence { thread, label }])
}

/// A litmus test with more rows.
fn litmus_rows(program: &Program, changes: &[Measure]) -> Result<String, EditError> {
    let (mut fences, mut exchanges) = (Vec::new(), Vec::new());
    for change in changes {
        match *change {
            Measure::Fence { thread, label } => fences.push((thread, label, FenceWord::Full)),
            Measure::StoreFence { thread, label } => fences.push((thread, label, FenceWord::Store)),
            Measure::Exchange { thread, store } => exchanges.push((thread, store)),
            Measure::Kept { .. } | Measure::Ordered { .. } => {}
        }
    }
    litmus::with_rows(program, &fences, &exchanges).map_err(|error| match error {
        TableEditError::NoInstruction(label) => EditError::NoInstruction(label),
        TableEditError::NoText => EditError::NoText(program.name.clone()),
        error => EditError::Table(error),
    })
}

/// A litmus test in C with fences of its dialect.
fn litmus_in_c(program: &Program, changes: &[Measure], texts: &CTexts) -> Result<String, EditError> {
    let mut replacements = Replacements::default();
    for (id, thread) in program.thread_ids() {
        let mut editor = Editor::new(program, thread, &mut replacements);
        editor.note(id, changes)?;
        editor.c(texts.layouts.get(id.index()).ok_or_else(|| EditError::NoText(thread.name.clone()))?, texts)?;
    }
    Ok(replacements.apply(&program.source.text))
}

/// The program's text with all the changes made. The program must be the one read from its text.
pub fn apply(program: &Program, format: Format, changes: &[Measure]) -> Result<String, EditError> {
    match format {
        Format::Litmus => {
            return match litmus::c_texts(&program.source) {
                Some(texts) => litmus_in_c(program, changes, &texts),
                None => litmus_rows(program, changes),
            };
        }
        Format::Memorax if !changes.is_empty() => return Err(EditError::NotWritten),
        Format::Machine if !changes.is_empty() => return Err(EditError::MachineCode),
        Format::Memorax | Format::Machine => return Ok(program.source.text.clone()),
        Format::Native | Format::Trencher | Format::Tpl => {}
    }
    let mut replacements = Replacements::default();
    let layouts = match format {
        Format::Native => native::layouts(&program.source),
        Format::Tpl => tpl::layouts(&program.source),
        _ => Vec::new(),
    };
    for (id, thread) in program.thread_ids() {
        let mut editor = Editor::new(program, thread, &mut replacements);
        editor.note(id, changes)?;
        match (format, layouts.get(id.index())) {
            (Format::Native | Format::Tpl, Some(Some(layout))) => editor.structured(layout, format)?,
            (Format::Native, _) => editor.native()?,
            _ => editor.trencher()?,
        }
    }
    Ok(replacements.apply(&program.source.text))
}

impl Language for Format {
    fn name(&self) -> &'static str {
        Self::name(*self)
    }

    fn edited(&self, program: &Program, changes: &[Measure], path: &str) -> Result<Program, NoText> {
        let text = apply(program, *self, changes).map_err(|error| NoText::Edit(error.to_string()))?;
        let source = SourceText::new(path, text);
        let refused = |errors| NoText::Refused { source: source.clone(), errors };
        let mut edited = parse(source.clone(), *self).map_err(refused)?.program;
        for (thread, before) in edited.threads.iter_mut().zip(&program.threads) {
            thread.copies = before.copies;
        }
        edited.domain = program.domain;
        check(&mut edited).map_err(refused)?;
        Ok(edited)
    }
}

/// Stretches of a text to replace, none overlapping another.
#[derive(Debug, Default)]
struct Replacements {
    all: Vec<(Span, String)>,
}

impl Replacements {
    fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.all.push((span, text.into()));
    }

    /// Replaces a stretch once, however often that is asked for: several threads may have one text.
    fn replace_once(&mut self, span: Span, text: impl Into<String>) {
        let replacement = (span, text.into());
        if !self.all.contains(&replacement) {
            self.all.push(replacement);
        }
    }

    fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(Span { start: at, end: at }, text);
    }

    fn apply(mut self, text: &str) -> String {
        // Stable: what is inserted at a place comes before what replaces the text there.
        self.all.sort_by_key(|(span, _)| *span);
        let mut changed = String::with_capacity(text.len() + 64 * self.all.len());
        let mut at = 0;
        for (span, replacement) in &self.all {
            changed.push_str(&text[at..span.start]);
            changed.push_str(replacement);
            at = span.end;
        }
        changed.push_str(&text[at..]);
        changed
    }
}

/// How accesses are written.
enum Form<'a> {
    /// On lines with labels.
    Line,
    /// In a body in braces, of which the stores are known.
    Braced(&'a FxHashMap<usize, StoreText>),
    /// In C, with the calls of the Linux kernel or those of C11.
    C { is_kernel: bool },
}

/// Edits the text of one thread.
struct Editor<'a> {
    program: &'a Program,
    thread: &'a Thread,
    labels: NameSpace,
    /// The fresh label to which the instructions of a fenced label move, and the fence.
    fenced: FxHashMap<LabelId, (String, FenceWord)>,
    exchanged: Vec<InstructionId>,
    /// Accesses and fences with other orderings; of updates that do not store, if the second part
    /// says so.
    ordered: BTreeMap<(InstructionId, bool), Ordering>,
    replacements: &'a mut Replacements,
}

impl<'a> Editor<'a> {
    fn new(program: &'a Program, thread: &'a Thread, replacements: &'a mut Replacements) -> Self {
        let labels = NameSpace::with_taken(thread.labels.iter().map(|label| label.name.as_str()));
        let (fenced, exchanged, ordered) = (FxHashMap::default(), Vec::new(), BTreeMap::new());
        Self { program, thread, labels, fenced, exchanged, ordered, replacements }
    }

    /// Notes the changes of the thread with a number.
    fn note(&mut self, id: ThreadId, changes: &[Measure]) -> Result<(), EditError> {
        for change in changes {
            match *change {
                Measure::Fence { thread, label } if thread == id => self.fence(label, FenceWord::Full)?,
                Measure::StoreFence { thread, label } if thread == id => self.fence(label, FenceWord::Store)?,
                Measure::Exchange { thread, store } if thread == id => self.exchange(store)?,
                Measure::Ordered { thread, access, failing, ordering } if thread == id => {
                    self.ordered.insert((access, failing), ordering);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes other orderings into the text.
    fn order(&mut self, form: &Form<'_>) -> Result<(), EditError> {
        let accesses: BTreeSet<InstructionId> = self.ordered.keys().map(|(access, _)| *access).collect();
        let text = &self.program.source.text;
        for access in accesses {
            let mut changed = self.thread.instruction(access).clone();
            let line = self.program.source.position(changed.span.start).line;
            for failing in [false, true] {
                if let Some(ordering) = self.ordered.get(&(access, failing)) {
                    changed.order(failing, *ordering);
                }
            }
            let span = changed.span;
            let Some(operation) = changed.operation() else {
                let fence = match form {
                    Form::Line => ordering_text::fence(&text[span.start..span.end])
                        .map(|fence| fence.start + span.start..fence.end + span.start),
                    Form::Braced(_) | Form::C { .. } => ordering_text::fence_statement(text, span.start..span.end),
                };
                let fence = fence.map(|fence| Span { start: fence.start, end: fence.end });
                let fence = fence.ok_or(EditError::NoOrdering(line))?;
                match form {
                    Form::Line => self.replacements.replace_once(fence, "nop"),
                    Form::Braced(_) | Form::C { .. } => self.remove_statement(fence),
                }
                continue;
            };
            let store = if let Form::Braced(stores) = form { stores.get(&access.index()) } else { None };
            match store {
                Some(StoreText::Assignment { target, value }) => {
                    let place = |start, end| Span { start, end };
                    self.replacements.replace_once(place(target.start, target.start), "store(");
                    self.replacements.replace_once(place(target.end, value.start), ", ");
                    let ordering = format!(", {})", operation.ordering());
                    self.replacements.replace_once(place(value.end, value.end), ordering);
                }
                _ => {
                    let is_braced = matches!(form, Form::Braced(_));
                    let own = self.program.source.slice(span);
                    let c11 = || ordering_text::reordered(own, &operation, is_braced);
                    let found = match form {
                        Form::C { is_kernel: true } => kernel_text::reordered(own, &operation)
                            .ok_or_else(|| EditError::NoKernelCall(own.to_owned()))?,
                        Form::C { .. } => kernel_text::reordered(own, &operation)
                            .or_else(|| own.starts_with("atomic_").then(c11).flatten())
                            .ok_or(EditError::NoOrdering(line))?,
                        Form::Line | Form::Braced(_) => c11().ok_or(EditError::NoOrdering(line))?,
                    };
                    let (range, new) = found;
                    let place = Span { start: span.start + range.start, end: span.start + range.end };
                    self.replacements.replace_once(place, new);
                }
            }
        }
        Ok(())
    }

    /// Removes a statement, and its line if it stands there alone.
    fn remove_statement(&mut self, statement: Span) {
        let text = &self.program.source.text;
        let start = text[..statement.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[statement.end..].find('\n').map_or(text.len(), |newline| statement.end + newline + 1);
        let is_blank = |text: &str| text.chars().all(char::is_whitespace);
        let whole = if is_blank(&text[start..statement.start]) && is_blank(&text[statement.end..end]) {
            Span { start, end }
        } else {
            let behind = &text[statement.end..end];
            let blanks = behind.len() - behind.trim_start_matches(' ').len();
            Span { start: statement.start, end: statement.end + blanks }
        };
        self.replacements.replace_once(whole, "");
    }

    /// A fence in the words of the text.
    fn fence_text(&self, word: FenceWord) -> &'static str {
        if word == FenceWord::Full && self.program.states_orderings() { "fence(seq_cst)" } else { word.text() }
    }

    fn label_name(&self, label: LabelId) -> &'a str {
        &self.thread.label(label).name
    }

    fn fence(&mut self, label: LabelId, word: FenceWord) -> Result<(), EditError> {
        let name = self.label_name(label);
        if !self.thread.instructions.iter().any(|instruction| instruction.source == label) {
            return Err(EditError::NoInstruction(name.to_owned()));
        }
        if let Some((_, before)) = self.fenced.get_mut(&label) {
            *before = word.max(*before);
        } else {
            let fresh = self.labels.fresh(&format!("{name}_f"));
            self.fenced.insert(label, (fresh, word));
        }
        Ok(())
    }

    fn exchange(&mut self, store: InstructionId) -> Result<(), EditError> {
        let instruction = self.thread.instruction(store);
        if !matches!(instruction.action, Action::Store { .. }) {
            return Err(EditError::NoStore(self.label_name(instruction.source).to_owned()));
        }
        if !self.exchanged.contains(&store) {
            self.exchanged.push(store);
        }
        Ok(())
    }

    /// The line break and the blanks before the line on which a byte stands.
    fn new_line(&self, at: usize) -> String {
        let text = &self.program.source.text;
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = &text[start..at];
        let blanks = &line[..line.find(|c: char| !c.is_whitespace()).unwrap_or(line.len())];
        let end = if text[..start].ends_with("\r\n") { "\r\n" } else { "\n" };
        format!("{end}{blanks}")
    }

    /// Whether an instruction is the first in the text at its label.
    fn is_first(&self, id: InstructionId) -> bool {
        let source = self.thread.instruction(id).source;
        let first = self.thread.instructions.iter().position(|instruction| instruction.source == source);
        first == Some(id.index())
    }

    fn native(mut self) -> Result<(), EditError> {
        self.order(&Form::Line)?;
        if self.fenced.is_empty() && self.exchanged.is_empty() {
            return Ok(());
        }
        for (id, instruction) in self.thread.instruction_ids() {
            // A line that goes on to the next one by standing before it must go on to the same
            // label afterwards.
            let after = InstructionId::from_index(id.index() + 1);
            let next = self.thread.instructions.get(after.index());
            let moved = next.filter(|next| self.fenced.contains_key(&next.source) && !self.is_first(after));
            let fenced = self.fenced.get(&instruction.source);
            let is_exchanged = self.exchanged.contains(&id);
            if fenced.is_none() && !is_exchanged && moved.is_none() {
                continue;
            }
            let span = instruction.span;
            let name = self.label_name(instruction.source);
            let line = native::line_parts(self.program.source.slice(span), span.start)
                .filter(|line| self.program.source.slice(line.label) == name)
                .ok_or_else(|| EditError::NoText(name.to_owned()))?;
            if let Some((fresh, word)) = fenced {
                if self.is_first(id) {
                    let word = self.fence_text(*word);
                    let text = format!("{name}: {word}; goto {fresh};{}", self.new_line(span.start));
                    self.replacements.insert(span.start, text);
                }
                self.replacements.replace(line.label, fresh.as_str());
            }
            if is_exchanged {
                let store = line.store.ok_or_else(|| EditError::NoText(name.to_owned()))?;
                self.replacements.insert(store.memory.start, "xchg(");
                self.replacements.replace(Span { start: store.memory.end, end: store.value.start }, ", ");
                self.replacements.insert(store.value.end, ")");
            }
            if let (Jump::NextLine { at, semicolons }, Some(next)) = (line.jump, moved) {
                let before = if semicolons == 0 { ";" } else { "" };
                let behind = if semicolons == 2 { "" } else { ";" };
                self.replacements.insert(at, format!("{before} goto {}{behind}", self.label_name(next.source)));
            }
        }
        Ok(())
    }

    /// The labels with fences, in order, with where these go.
    fn places(&self, layout: &Layout) -> Result<Vec<(LabelId, FenceWord, Vec<usize>)>, EditError> {
        let mut fenced: Vec<(&LabelId, &(String, FenceWord))> = self.fenced.iter().collect();
        fenced.sort_by_key(|(label, _)| **label);
        let place = |(label, (_, word)): (&LabelId, &(String, FenceWord))| {
            let site = layout.sites.get(label.index()).and_then(Option::as_ref);
            let site = site.ok_or_else(|| EditError::InsideStatement(self.label_name(*label).to_owned()))?;
            let mut places = vec![site.before];
            if !site.back.is_empty() && comes_back_with_stores(self.thread, *label, &site.inside) {
                places.extend(&site.back);
            }
            if places.iter().any(|at| layout.lacks_braces(*at)) {
                return Err(EditError::NoBraces(self.label_name(*label).to_owned()));
            }
            Ok((*label, *word, places))
        };
        fenced.into_iter().map(place).collect()
    }

    /// Puts a statement before bytes.
    fn insert_statement(&mut self, places: &[usize], statement: &str) {
        for at in places {
            let (at, statement) = structured::inserted(&self.program.source.text, *at, statement);
            self.replacements.replace_once(Span { start: at, end: at }, statement);
        }
    }

    /// Edits a thread of a litmus test in C.
    fn c(mut self, layout: &Layout, texts: &CTexts) -> Result<(), EditError> {
        self.order(&Form::C { is_kernel: texts.is_kernel() })?;
        for (label, word, places) in self.places(layout)? {
            if word == FenceWord::Store {
                return Err(EditError::NoStoreFence(self.label_name(label).to_owned()));
            }
            self.insert_statement(&places, texts.fence());
        }
        for store in &self.exchanged {
            let span = self.thread.instruction(*store).span;
            let text = self.program.source.slice(span);
            let (part, new) = CTexts::exchanged(text)
                .ok_or_else(|| EditError::Table(TableEditError::NoPlainStore(text.to_owned())))?;
            let part = Span { start: span.start + part.start, end: span.start + part.end };
            self.replacements.replace_once(part, new);
        }
        Ok(())
    }

    /// Edits a body in braces: fences become statements of their own, on lines of their own where
    /// the statements around have them.
    fn structured(mut self, layout: &Layout, format: Format) -> Result<(), EditError> {
        if format == Format::Native {
            self.order(&Form::Braced(&layout.stores))?;
        } else if let Some((access, _)) = self.ordered.keys().next() {
            let line = self.program.source.position(self.thread.instruction(*access).span.start).line;
            return Err(EditError::NoOrdering(line));
        }
        for (label, word, places) in self.places(layout)? {
            let statement = match (format, word) {
                (Format::Tpl, FenceWord::Full) => "fence(seq_cst);".to_owned(),
                (Format::Tpl, FenceWord::Store) => {
                    return Err(EditError::NoStoreFence(self.label_name(label).to_owned()));
                }
                (_, word) => format!("{};", self.fence_text(word)),
            };
            self.insert_statement(&places, &statement);
        }
        for store in &self.exchanged {
            let label = || self.label_name(self.thread.instruction(*store).source).to_owned();
            if format == Format::Tpl {
                return Err(EditError::NoStrongStore(label()));
            }
            let place = |start, end| Span { start, end };
            match layout.stores.get(&store.index()).ok_or_else(|| EditError::NoText(label()))? {
                StoreText::Assignment { target, value } => {
                    self.replacements.replace_once(place(target.start, target.start), "xchg(");
                    self.replacements.replace_once(place(target.end, value.start), ", ");
                    self.replacements.replace_once(place(value.end, value.end), ")");
                }
                StoreText::Call { ordering } => {
                    self.replacements.replace_once(*ordering, Ordering::SeqCst.word());
                }
            }
        }
        Ok(())
    }

    fn trencher(mut self) -> Result<(), EditError> {
        if self.fenced.is_empty() && self.exchanged.is_empty() {
            return Ok(());
        }
        if let Some((label, _)) = self.fenced.iter().filter(|(_, (_, word))| *word == FenceWord::Store).min() {
            return Err(EditError::NoStoreFence(self.label_name(*label).to_owned()));
        }
        let states = lock_states(self.thread);
        for (id, instruction) in self.thread.instruction_ids() {
            let span = instruction.span;
            let name = self.label_name(instruction.source);
            let text = self.program.source.slice(span);
            let words: Vec<Word<'_>> = Words::new(text).take(4).collect();
            let [first, source, target, operation] = words.as_slice() else {
                return Err(EditError::NoText(name.to_owned()));
            };
            if source.text != name {
                return Err(EditError::NoText(name.to_owned()));
            }
            let between = &text[first.span.end..source.span.start];
            let blank = if between.chars().all(|c| c == ' ' || c == '\t') { between } else { " " };
            let line = |from: &str, to: &str, rest: &str| format!("transition{blank}{from}{blank}{to}{blank}{rest}");
            let break_line = self.new_line(span.start);
            let mut from = name.to_owned();
            if let Some((fresh, _)) = self.fenced.get(&instruction.source) {
                from.clone_from(fresh);
                if self.is_first(id) {
                    let fence = line(name, fresh, "mfence") + &break_line;
                    self.replacements.insert(span.start, fence);
                }
            }
            if self.exchanged.contains(&id) {
                if states[instruction.source.index()][1] {
                    return Err(EditError::InsideSection(name.to_owned()));
                }
                let [locked, written] = std::array::from_fn(|_| self.labels.fresh(&format!("{name}_x")));
                let lines = [
                    line(&from, &locked, "lock"),
                    line(&locked, &written, &text[operation.span.start..]),
                    line(&written, target.text, "unlock"),
                ];
                self.replacements.replace(span, lines.join(&break_line));
            } else if from != name {
                let start = span.start + source.span.start;
                self.replacements.replace(Span { start, end: start + name.len() }, from);
            }
        }
        Ok(())
    }
}

/// Whether a thread that leaves a label with an empty buffer can come back to it, by some labels
/// alone, with stores in its buffer.
fn comes_back_with_stores(thread: &Thread, label: LabelId, inside: &[LabelId]) -> bool {
    let by_label = thread.instructions_by_label();
    let mut seen = vec![[false; 2]; thread.labels.len()];
    let mut open = vec![(label, false)];
    while let Some((at, pending)) = open.pop() {
        for id in &by_label[at.index()] {
            let instruction = thread.instruction(*id);
            let pending = match &instruction.action {
                Action::Store { .. } => true,
                action => pending && !action.drains_buffer(),
            };
            if instruction.target == label && pending {
                return true;
            }
            if inside.contains(&instruction.target)
                && !std::mem::replace(&mut seen[instruction.target.index()][usize::from(pending)], true)
            {
                open.push((instruction.target, pending));
            }
        }
    }
    false
}
