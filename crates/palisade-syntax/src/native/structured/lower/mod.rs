//! Makes each thread with a body in braces a control-flow automaton of the language.
//!
//! A statement is lowered between two labels, the one at which it starts and the one to which it
//! goes on, so that no instruction is there only to jump. What a statement reads from memory goes
//! to registers of its own, one instruction per access, from left to right; they are free again
//! when the statement ends. Calls are inlined.

mod accesses;
mod automaton;
mod calls;
mod conditions;
mod expressions;
mod flow;
mod layout;
mod loops;
mod places;
mod scope;
mod sequence;
mod sleeping;
mod tasks;

pub(crate) use conditions::negated;
pub(crate) use layout::{Layout, StoreText};

use self::automaton::Automaton;
use self::scope::Frame;
use crate::Diagnostic;
use crate::native::again::again;
use crate::native::ast::{Head, Name};
use crate::native::braced::{BracedThread, Procedure, Structured};
use crate::native::scope::Addresses;
use crate::native::templates::Templates;
use palisade_model::program::{Copies, LabelId, RegisterId, Role, Thread, Value};
use palisade_model::text::{SourceText, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most instructions that a thread may come to by inlining.
const MOST_INSTRUCTIONS: usize = 50_000;

/// How many statements may be open inside of each other, those of calls included.
const MOST_OPEN: usize = 200;

/// The most copies of a thread that says `self`.
const MOST_NUMBERED: u64 = 64;

/// What the threads of a text have in common.
pub(crate) struct Context<'a, 's> {
    source: &'a SourceText,
    addresses: &'a Addresses<'s>,
    constants: FxHashMap<&'s str, (Value, Span)>,
    /// The names of addresses and constants, which registers may not have.
    global_names: Arc<FxHashSet<String>>,
    procedures: FxHashMap<&'s str, &'a Procedure<'s>>,
    templates: &'a Templates<'s>,
}

impl<'a, 's> Context<'a, 's> {
    /// The context, with errors about names that are declared twice.
    pub(crate) fn new(
        structured: &'a Structured<'s>,
        addresses: &'a Addresses<'s>,
        templates: &'a Templates<'s>,
        source: &'a SourceText,
        found: &mut Vec<Diagnostic>,
    ) -> Self {
        let constants: FxHashMap<_, _> = structured
            .constants
            .iter()
            .map(|constant| (constant.name.text, (constant.value, constant.name.span)))
            .collect();
        for address in &addresses.all {
            if let Some((_, first)) = constants.get(address.name.as_str()) {
                let message = format!("`{}` is a constant and also an address", address.name);
                found.push(again(message, address.span, *first, source));
            }
        }
        let mut procedures: FxHashMap<&'s str, &'a Procedure<'s>> = FxHashMap::default();
        for procedure in &structured.procedures {
            let Name { text, span } = procedure.name;
            if let Some(first) = procedures.get(text) {
                let message = format!("the procedure `{text}` is declared twice");
                found.push(again(message, span, first.name.span, source));
            } else {
                procedures.insert(text, procedure);
            }
        }
        let global_names = addresses.names().chain(constants.keys().copied()).map(str::to_owned).collect();
        let global_names = Arc::new(global_names);
        Self { source, addresses, constants, global_names, procedures, templates }
    }
}

/// The automata of a thread: one, or one per copy if its body says `self`.
pub(crate) fn lower<'a, 's>(
    context: &'a Context<'a, 's>,
    thread: &'a BracedThread<'s>,
    copies: Copies,
    found: &mut Vec<Diagnostic>,
) -> Vec<(Thread, Layout)> {
    // Occurrences of events and runs of tasks have no numbers.
    let number = (thread.head == Head::Thread && matches!(copies, Copies::Exactly(_))).then_some(0);
    let (first, uses_self) = one(context, thread, thread.name.text.to_owned(), copies, number, found);
    let Copies::Exactly(count @ 2..) = copies else { return first.into_iter().collect() };
    if !uses_self || thread.head != Head::Thread {
        return first.into_iter().collect();
    }
    if count > MOST_NUMBERED {
        let message = format!("`self` makes a thread of each copy: {count} are too many");
        let note = format!("{MOST_NUMBERED} are the most");
        found.push(Diagnostic::error(message, thread.name.span).with_note(note));
        return Vec::new();
    }
    let each = |number: u64, found: &mut Vec<Diagnostic>| {
        let name = format!("{}_{number}", thread.name.text);
        let number = Value::try_from(number).expect("there are only a few");
        one(context, thread, name, Copies::Exactly(1), Some(number), found).0
    };
    (0..count).filter_map(|number| each(number, found)).collect()
}

/// One automaton, and whether the body says `self`.
fn one<'a, 's>(
    context: &'a Context<'a, 's>,
    thread: &'a BracedThread<'s>,
    name: String,
    copies: Copies,
    number: Option<Value>,
    found: &mut Vec<Diagnostic>,
) -> (Option<(Thread, Layout)>, bool) {
    let errors_before = found.len();
    let mut lowering = Lowering {
        context,
        automaton: Automaton::new(Arc::clone(&context.global_names)),
        found,
        frames: Vec::new(),
        registers: FxHashMap::default(),
        temporaries: FxHashMap::default(),
        in_use: Vec::new(),
        head: thread.head,
        name: thread.name.text,
        number,
        uses_self: false,
        sections: 0,
        open: 0,
        is_full: false,
        layout: layout::Draft::default(),
        statement: None,
    };
    let (initial, role) = lowering.thread(thread);
    let uses_self = lowering.uses_self;
    let Lowering { automaton, layout, .. } = lowering;
    let is_wrong = found[errors_before..].iter().any(|it| it.severity == crate::Severity::Error);
    if is_wrong {
        return (None, uses_self);
    }
    let registers = automaton.registers.clone();
    let finished = automaton.finish(initial, context.source);
    let layout = layout.finish(&finished);
    let initial = finished.ids[initial.index()].expect("the initial label is kept");
    let automaton::Finished { labels, instructions, .. } = finished;
    let span = thread.name.span;
    (
        Some((Thread { name, span, copies, is_daemon: false, role, registers, labels, initial, instructions }, layout)),
        uses_self,
    )
}

/// Lowers one thread.
struct Lowering<'a, 's, 'f> {
    context: &'a Context<'a, 's>,
    automaton: Automaton,
    found: &'f mut Vec<Diagnostic>,
    /// The thread's body and the calls that are open in it.
    frames: Vec<Frame<'s>>,
    /// The registers that the text declares, by procedure and name.
    registers: FxHashMap<(&'s str, &'s str), RegisterId>,
    /// The registers for what statements read, by the names they are called after.
    temporaries: FxHashMap<String, Vec<RegisterId>>,
    /// Those that hold something at the moment.
    in_use: Vec<RegisterId>,
    /// Whether it is a thread, an event or a task.
    head: Head,
    /// The thread's name in the text.
    name: &'s str,
    /// The number of the copy, where it has one.
    number: Option<Value>,
    /// Whether something depends on that number.
    uses_self: bool,
    /// How many locked sections are open: one at most.
    sections: usize,
    /// How many statements are open inside of each other.
    open: usize,
    /// Whether there are too many instructions or open statements, which is reported.
    is_full: bool,
    /// Where the parts of the automaton stand in the text.
    layout: layout::Draft,
    /// The statement that is being lowered.
    statement: Option<layout::StatementId>,
}

impl<'a, 's> Lowering<'a, 's, '_> {
    fn thread(&mut self, thread: &'a BracedThread<'s>) -> (LabelId, Role) {
        let end = thread.body.close();
        let end = self.automaton.label(Vec::new(), &[], Some("end"), Span { start: end, end: end + 1 });
        self.frames.push(Frame::new("", Vec::new(), Vec::new(), end));
        let role = self.role(thread);
        let rest = self.initial_values(&thread.body.statements);
        let sequence = self.plan(rest, end, None);
        let entry = sequence.entry;
        self.run_open(&sequence);
        self.frames.pop();
        (entry, role)
    }

    /// An error at a place.
    fn error(&mut self, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        self.found.push(Diagnostic::error(message, span));
        self.found.last_mut().expect("one was just pushed")
    }

    /// The frame that is open.
    fn frame(&mut self) -> &mut Frame<'s> {
        self.frames.last_mut().expect("the thread's frame is open")
    }
}
