//! Is a program of events robust against concurrency: can events be seen as atomic, and their tasks
//! as run one after the other?

use super::{About, Evident, Question};
use crate::concurrency::{ConcurrencyCheck, ConcurrencyOptions, ConcurrencyVerdict, check, in_order, is_in_order};
use crate::evidence::{ConcurrencyReason, Evidence};
use crate::limits::{Limits, StopReason};
use crate::program::{Copies, Program};
use crate::report::account::{Account, Answer, Proof, Rule, Run, Shown};
use crate::report::interleaving::Interleaving;
use crate::report::scene::Scene;
use crate::robustness::Fault;
use crate::syntax::Diagnostic;

/// The question.
pub struct Concurrency<'p> {
    /// The program.
    pub about: About<'p>,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// How many tasks may be pending at once before the search gives up.
    pub pending: usize,
    /// In which order the main thread takes tasks.
    pub queue: QueueOrder,
}

/// In which order the main thread takes tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueOrder {
    /// In any order, as delays, priorities and barriers have it.
    #[default]
    Bag,
    /// In the order of their posts: violations that need another order are none. A program that is
    /// robust for any order is robust for this one.
    Fifo,
}

impl QueueOrder {
    /// How many configurations to enumerate for a violation in order.
    pub(super) fn configurations(self) -> usize {
        match self {
            Self::Bag => 5_000,
            Self::Fifo => 1_000_000,
        }
    }
}

impl Concurrency<'_> {
    /// Why a program does not have this question; nothing where it has.
    pub fn objection(program: &Program) -> Option<Diagnostic> {
        if let Some(thread) = program.threads.iter().find(|thread| thread.is_thread() && !thread.is_left_out()) {
            let message = format!(
                "robustness against concurrency is about events, and the thread `{}` belongs to none",
                thread.name
            );
            let help = format!(
                "leave it out: `--threads {}=0`; or make it the handler of an event that occurs once; or ask `--ask robustness` alone",
                thread.name
            );
            return Some(Diagnostic::error(message, thread.span).with_help(help));
        }
        if program.events().all(|(_, event)| event.copies == Copies::Exactly(0)) {
            let span = program.threads.first().map(|thread| thread.span).unwrap_or_default();
            let message = "robustness against concurrency is about events, and the program has none";
            return Some(Diagnostic::error(message, span));
        }
        None
    }
}

impl Evident for ConcurrencyCheck {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        let found = match &self.verdict {
            ConcurrencyVerdict::Robust(certificate) => {
                ("concurrency-robust", Evidence::ConcurrencyRobust(about.subject(), certificate.clone()))
            }
            ConcurrencyVerdict::NotRobust(violation) => {
                ("concurrency-violation", Evidence::NotConcurrencyRobust(about.subject(), violation.witness.clone()))
            }
            ConcurrencyVerdict::Unknown(_) | ConcurrencyVerdict::TooManyPending(_) => return Vec::new(),
        };
        vec![(found.0.to_owned(), found.1)]
    }
}

impl Question for Concurrency<'_> {
    type Found = ConcurrencyCheck;

    fn about(&self) -> About<'_> {
        self.about
    }

    fn asked(&self) -> Vec<Account<'_>> {
        let events = self.about.program.events().map(|(_, event)| format!("{} × {}", event.name, event.copies));
        let subject = events.collect::<Vec<_>>().join(", ");
        let account = Account::new("concurrency", Rule::NOT_ATOMIC, "robust against concurrency", subject);
        vec![Account { heading: "atomic", verdict: "robustness against concurrency is unknown".to_owned(), ..account }]
    }

    fn decide(&self, limits: &Limits) -> Result<ConcurrencyCheck, Fault> {
        let options = ConcurrencyOptions { values: self.values, pending: self.pending, limits: limits.clone() };
        let mut checked = check(self.about.program, &options)?;
        put_in_order(&mut checked, self.about.program, self.queue, limits);
        Ok(checked)
    }

    fn tell<'a>(&'a self, found: &'a ConcurrencyCheck, accounts: &mut [Account<'a>]) {
        let [account] = accounts else { return };
        let program = self.about.program;
        account.explored = found.states;
        let reason = match &found.verdict {
            ConcurrencyVerdict::Robust(_) => {
                let words = "robust against concurrency";
                account.say(words);
                "proved (no run of the monitor accepts)".clone_into(&mut account.phrase);
                account.answer = Answer::Holds(Proof::default());
                return;
            }
            ConcurrencyVerdict::NotRobust(violation) => {
                let words = "not robust against concurrency";
                let Some(interleaving) = Interleaving::of(program, &violation.witness) else {
                    account.leave_open(account.verdict.clone(), "the violation cannot be followed");
                    return;
                };
                let reason = reason_words(&violation.witness.reason);
                let instance: Vec<(&str, u64)> =
                    violation.instance.iter().map(|(id, count)| (program.thread(*id).name.as_str(), *count)).collect();
                let occurring = instance.iter().filter(|(_, count)| *count > 0);
                let with: Vec<String> = occurring.map(|(name, count)| format!("{name} × {count}")).collect();
                account.say(words);
                account.phrase = format!("violated, {reason}");
                account.answer = Answer::Violated(Shown {
                    headline: format!("violation: {reason}"),
                    above: vec![format!("with: {}", with.join(", "))],
                    below: vec![format!("  {}", interleaving.queue())],
                    run: Run::Events(Scene::of_interleaving(&interleaving)),
                    cycle: None,
                    instance,
                    instance_minimal: None,
                    shortest: false,
                    attacker: None,
                    related: Vec::new(),
                });
                return;
            }
            ConcurrencyVerdict::Unknown(reason) => reason.to_string(),
            ConcurrencyVerdict::TooManyPending(task) => {
                format!("ever more tasks are pending at once, most of them `{}`", program.thread(*task).name)
            }
        };
        account.note(0, "reason", reason.clone());
        account.leave_open(account.verdict.clone(), reason);
    }
}

/// The kind of a violation in words.
fn reason_words(reason: &ConcurrencyReason) -> &'static str {
    match reason {
        ConcurrencyReason::Serializability(_) => "events cannot be seen as atomic (serializability)",
        ConcurrencyReason::Determinism(..) => {
            "the tasks of an event cannot be seen as run one after the other (determinism)"
        }
    }
}

/// Replaces a violation by one in order where there is one; with an ordinary queue, others do not
/// count.
fn put_in_order(checked: &mut ConcurrencyCheck, program: &Program, queue: QueueOrder, limits: &Limits) {
    let ConcurrencyVerdict::NotRobust(violation) = &mut checked.verdict else { return };
    if is_in_order(program, violation) {
        return;
    }
    match in_order(program, violation, queue.configurations(), limits) {
        Some(found) => *violation = found,
        None if queue == QueueOrder::Fifo => checked.verdict = ConcurrencyVerdict::Unknown(StopReason::Order),
        None => {}
    }
}
