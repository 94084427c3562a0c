//! What is being answered, for the watchdog: inputs with what has become of them.

use super::Exit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is asked, and what has been found.
static ASKED: Mutex<Asked> = Mutex::new(Asked { inputs: Vec::new(), are_several: false, is_json: false });

/// How many files with evidence are being written: an answer has been found then.
static WRITERS: AtomicUsize = AtomicUsize::new(0);

/// What is asked, and what has become of it.
pub(super) struct Asked {
    /// The inputs, in the order in which answers are printed.
    pub(super) inputs: Vec<Input>,
    /// Whether documents are printed as an array.
    pub(super) are_several: bool,
    /// Whether documents are printed at all.
    pub(super) is_json: bool,
}

/// An input with what has become of it.
pub(super) struct Input {
    /// Its name.
    pub(super) name: String,
    /// What has become of it.
    pub(super) state: State,
}

/// What has become of an input.
pub(super) enum State {
    /// Nobody has begun with it.
    Waiting,
    /// It is being answered, since then; with what to print if nobody does, and whether printing
    /// anything is the answer.
    Open { since: Instant, found: Option<String>, ends_by_printing: bool },
    /// It is answered: how, and by what document.
    Done { exit: Exit, document: Option<String> },
}

/// What is asked, which nobody changes meanwhile.
pub(super) fn lock() -> MutexGuard<'static, Asked> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An input that is being answered. When this is dropped, it is answered.
pub(super) struct Open {
    name: String,
}

/// Begins with an input.
pub(super) fn begin(name: &str) -> Open {
    open(name, false);
    plant(name);
    Open { name: name.to_owned() }
}

/// Begins with an input, of which printing anything may be the answer.
pub(super) fn open(name: &str, ends_by_printing: bool) {
    let mut asked = lock();
    let mut waiting = asked.inputs.iter_mut().filter(|input| matches!(input.state, State::Waiting));
    if let Some(input) = waiting.find(|input| input.name == name) {
        input.state = State::Open { since: Instant::now(), found: None, ends_by_printing };
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        answered(&self.name, Exit::Holds, None);
    }
}

/// Keeps the answer about an input, should the others have none.
pub(super) fn answered(name: &str, exit: Exit, document: Option<&String>) {
    let mut asked = lock();
    let is_it = |input: &&mut Input| match &input.state {
        State::Waiting => false,
        State::Open { .. } => input.name == name,
        State::Done { document, .. } => input.name == name && document.is_none(),
    };
    if let Some(input) = asked.inputs.iter_mut().find(is_it) {
        input.state = State::Done { exit, document: document.cloned() };
    }
}

/// Leaves what to print about the only input if nobody answers.
pub(super) fn found(text: String) {
    let mut asked = lock();
    if let Some(Input { name, state: State::Open { found, .. } }) = asked.inputs.first_mut() {
        *found = Some(text);
        let name = name.clone();
        drop(asked);
        plant(&name);
    }
}

/// Says that something is printed, which is the answer of a command with one input. While the
/// watchdog itself prints, this does not return.
pub(super) fn ends_by_printing() {
    for input in &mut lock().inputs {
        if matches!(input.state, State::Open { ends_by_printing: true, .. }) {
            input.state = State::Done { exit: Exit::Holds, document: None };
        }
    }
}

/// A file of evidence that is being written.
pub(super) struct Writing;

/// Says that evidence is being written.
pub(super) fn writing() -> Writing {
    WRITERS.fetch_add(1, Ordering::Relaxed);
    Writing
}

/// Whether evidence is being written.
pub(super) fn is_writing() -> bool {
    WRITERS.load(Ordering::Relaxed) > 0
}

impl Drop for Writing {
    fn drop(&mut self) {
        WRITERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does not look at limits where a test wants that. Tests of debug builds say so; other builds do
/// not ask.
pub(super) fn plant(name: &str) {
    let is_planted =
        |variable| cfg!(debug_assertions) && std::env::var_os(variable).is_some_and(|planted| planted == name);
    if is_planted("PALISADE_PLANTED_DEAFNESS") {
        loop {
            std::hint::spin_loop();
        }
    }
    if is_planted("PALISADE_PLANTED_GREED") {
        let mut held = Vec::new();
        loop {
            held.push(vec![1_u8; 1 << 20]);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
