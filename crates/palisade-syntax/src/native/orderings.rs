//! The words for orderings, which stand behind the other operands: `load(x, acquire)`,
//! `cas(x, 0, 1, acq_rel, acquire)`.

use super::ast::{ExpressionKind, Name, Orderings, RawExpression};
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use palisade_model::program::{Action, Expression, Instruction, Operation, Ordering, Queue};

/// What takes orderings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordered {
    Load,
    Store,
    Update,
    CompareExchange,
    Fence,
}

/// What an instruction does, and what its text says beyond it.
pub(super) struct Meaning<'s> {
    /// What it does on x86, but for its ordering.
    pub(super) action: Action,
    /// The orderings that the text gives.
    pub(super) given: Option<Orderings>,
    /// What it waits for, of the value read.
    pub(super) until: Option<Expression>,
    /// Where it goes if it fails for no reason.
    pub(super) otherwise: Option<Name<'s>>,
    /// What it does to sleepers.
    pub(super) queue: Option<Queue>,
}

impl From<Action> for Meaning<'_> {
    fn from(action: Action) -> Self {
        Self { action, given: None, until: None, otherwise: None, queue: None }
    }
}

/// A load that may be plain data, and what a failing compare-exchange is.
const LOADS: [Ordering; 4] = [Ordering::Plain, Ordering::Relaxed, Ordering::Acquire, Ordering::SeqCst];

impl Ordered {
    /// The orderings that it may have.
    fn allowed(self) -> &'static [Ordering] {
        use Ordering as O;
        match self {
            Self::Load => &LOADS,
            Self::Store => &[O::Plain, O::Relaxed, O::Release, O::SeqCst],
            Self::Update | Self::CompareExchange => &[O::Relaxed, O::Acquire, O::Release, O::AcqRel, O::SeqCst],
            Self::Fence => &[O::Acquire, O::Release, O::AcqRel, O::SeqCst],
        }
    }

    /// What it is called, with an article.
    fn called(self) -> &'static str {
        match self {
            Self::Load => "a load",
            Self::Store => "a store",
            Self::Update => "an update",
            Self::CompareExchange => "a compare-exchange",
            Self::Fence => "a fence",
        }
    }
}

/// How an ordering is called elsewhere.
fn foreign(word: &str) -> Option<Ordering> {
    let word = word.strip_prefix("memory_order_").unwrap_or(word);
    Some(match word {
        "Relaxed" | "rlx" => Ordering::Relaxed,
        "Acquire" | "acq" => Ordering::Acquire,
        "Release" | "rel" => Ordering::Release,
        "AcqRel" | "acqrel" => Ordering::AcqRel,
        "SeqCst" | "sc" | "seqcst" => Ordering::SeqCst,
        "na" | "nonatomic" | "non_atomic" => Ordering::Plain,
        word => Ordering::named(word)?,
    })
}

/// The orderings that words give an operation; what is wrong with them, or odd, goes to `found`.
pub(crate) fn orderings(of: Ordered, words: &[RawExpression<'_>], found: &mut Vec<Diagnostic>) -> Option<Orderings> {
    let success = one(words.first()?, of.called(), of.allowed(), found)?;
    let Some(word) = words.get(1) else { return Some(Orderings::one(success)) };
    let failure = one(word, "the load of one that fails", &LOADS[1..], found)?;
    Some(Orderings { success, failure: Some(failure) })
}

/// The ordering that a word gives.
fn one(
    word: &RawExpression<'_>,
    called: &str,
    allowed: &'static [Ordering],
    found: &mut Vec<Diagnostic>,
) -> Option<Ordering> {
    let expected = allowed.iter().map(|ordering| format!("`{ordering}`"));
    let ExpressionKind::Name(text) = word.kind else {
        found.push(Diagnostic::error("an ordering is expected here", word.span).with_expected(expected));
        return None;
    };
    let ordering = match Ordering::named(text) {
        Some(ordering) => ordering,
        None if text == "consume" => {
            let message = "`consume` is read as `acquire`, as compilers read it";
            found.push(Diagnostic::warning(message, word.span).with_help("write `acquire`"));
            Ordering::Acquire
        }
        None => {
            let help = foreign(text).map(|meant| format!("write `{meant}`"));
            let help = help.or_else(|| did_you_mean(text, allowed.iter().map(|ordering| ordering.word())));
            let error = Diagnostic::error(format!("`{text}` is no ordering"), word.span);
            found.push(error.with_expected(expected).with_help_if(help));
            return None;
        }
    };
    if allowed.contains(&ordering) {
        return Some(ordering);
    }
    let error = Diagnostic::error(format!("{called} cannot be `{ordering}`"), word.span).with_expected(expected);
    found.push(error.with_help(advice(called, ordering)));
    None
}

/// What to do about an ordering that an operation cannot have.
fn advice(called: &str, ordering: Ordering) -> &'static str {
    match (called, ordering) {
        ("a store", Ordering::Acquire) => "a store releases: `release`; the load on the other side acquires",
        ("a load", Ordering::Release) => "a load acquires: `acquire`; the store on the other side releases",
        ("a store", _) => "`release` orders what comes before the store",
        ("a load" | "the load of one that fails", _) => "`acquire` orders what comes behind the load",
        ("a fence", _) => "a fence without an order does nothing: leave it out",
        _ => "an update is atomic: `relaxed` is the weakest",
    }
}

/// Gives an instruction the ordering of the text; where it gives none, that of plain data if the
/// address is only of such.
pub(crate) fn state(instruction: &mut Instruction, given: Option<Orderings>, is_plain: impl Fn(&Expression) -> bool) {
    let Some(mut operation) = instruction.operation() else { return };
    let plain = || match &operation {
        Operation::Load { address, .. } | Operation::Store { address, .. } => is_plain(address),
        Operation::Update { .. } | Operation::Fence { .. } => false,
    };
    let Some(Orderings { success, failure }) = given.or_else(|| plain().then(|| Orderings::one(Ordering::Plain)))
    else {
        return;
    };
    operation.set_orderings(success, failure);
    instruction.set_operation(operation);
}
