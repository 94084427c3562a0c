//! Read sections and grace periods as data: which calls are theirs, who waits for whom, and where a
//! thread stands.

use super::lexer::Token;
use crate::Diagnostic;
use palisade_model::text::Span;

/// Whose sections a grace period waits for: those of RCU, or of an `srcu_struct` by its name.
pub(super) type Domain = Option<String>;

/// A call about read sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SectionCall {
    Lock,
    Unlock,
    Synchronize,
}

/// What a word calls, and whether it names an `srcu_struct`.
pub(super) fn section_call(word: &str) -> Option<(SectionCall, bool)> {
    Some(match word {
        "rcu_read_lock" => (SectionCall::Lock, false),
        "rcu_read_unlock" => (SectionCall::Unlock, false),
        "synchronize_rcu" | "synchronize_rcu_expedited" => (SectionCall::Synchronize, false),
        "srcu_read_lock" => (SectionCall::Lock, true),
        "srcu_read_unlock" => (SectionCall::Unlock, true),
        "synchronize_srcu" | "synchronize_srcu_expedited" => (SectionCall::Synchronize, true),
        _ => return None,
    })
}

/// A grace period of the text, with a hidden location for each thread that it waits for.
#[derive(Clone, Debug)]
pub(super) struct Grace {
    /// The thread that waits.
    pub(super) thread: u32,
    pub(super) domain: Domain,
    /// The threads with sections, each with the name of its location.
    pub(super) readers: Vec<(u32, String)>,
}

/// The grace periods of a test, by the tokens of its threads, in order of the text.
pub(super) fn graces(threads: &[(u32, Vec<(Token<'_>, Span)>)]) -> Vec<Grace> {
    let mut calls: Vec<(u32, SectionCall, Domain)> = Vec::new();
    for (thread, tokens) in threads {
        for (index, (token, _)) in tokens.iter().enumerate() {
            let Token::Name(word) = token else { continue };
            let Some((call, is_named)) = section_call(word) else { continue };
            let name = tokens[index + 1..].iter().take(3).find_map(|(token, _)| match token {
                Token::Name(name) if is_named => Some((*name).to_owned()),
                _ => None,
            });
            calls.push((*thread, call, name));
        }
    }
    let mut graces = Vec::new();
    for (thread, _, domain) in calls.iter().filter(|(_, call, _)| *call == SectionCall::Synchronize) {
        let mut readers: Vec<(u32, String)> = Vec::new();
        let number = graces.len() + 1;
        for (reader, call, own) in &calls {
            let is_new = readers.iter().all(|(known, _)| known != reader);
            if *call == SectionCall::Lock && own == domain && reader != thread && is_new {
                readers.push((*reader, format!("gp{number}'P{reader}")));
            }
        }
        graces.push(Grace { thread: *thread, domain: domain.clone(), readers });
    }
    graces
}

/// Where a thread stands with respect to read sections, while its text is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Sections {
    /// The sections that are open.
    pub(super) open: Vec<(Domain, Span)>,
    /// How many loops are open.
    pub(super) loops: usize,
    /// How many grace periods the thread has waited for.
    pub(super) waited: usize,
}

impl Sections {
    /// Refuses a jump out of a section.
    pub(super) fn leave(&self, span: Span) -> Result<(), Diagnostic> {
        if self.open.is_empty() {
            return Ok(());
        }
        Err(Diagnostic::error("a read section is left here without its end", span)
            .with_help("end it in the block in which it begins"))
    }

    /// Refuses a section that is open at the end of the thread.
    pub(super) fn end(&self) -> Result<(), Diagnostic> {
        let Some((_, span)) = self.open.last() else { return Ok(()) };
        Err(Diagnostic::error("this read section never ends", *span).with_expected(["`rcu_read_unlock()`"]))
    }
}
