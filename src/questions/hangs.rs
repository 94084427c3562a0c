//! Does anybody wait for ever: is there a *stuck state*, in which nobody goes on and somebody waits who must not?

use super::delay::line;
use super::{About, Evident, Question};
use crate::evidence::Evidence;
use crate::hangs::{HangOptions, Hangs, Method, Stuck, Verdict, Waiter, hangs};
use crate::limits::Limits;
use crate::program::{Action, Instruction, Patience, Program, Thread};
use crate::report::account::{Account, Answer, Mark, Proof, Rule, Run, Shown};
use crate::report::computation::{ComputationReport, Marks, address_text};
use crate::report::context::instance_words;
use crate::report::models::model_name;
use crate::report::place::doing_at;
use crate::report::subject::program_words;
use crate::robustness::Fault;
use crate::semantics::graphs::Axioms;

/// The question, for programs of threads.
pub struct WaitsForEver<'p> {
    /// The program.
    pub about: About<'p>,
    /// The language whose executions the answer is carried to, from interleavings.
    pub language: Option<Axioms>,
    /// How to look for stuck states.
    pub options: HangOptions,
}

impl Evident for Hangs {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        let found = match &self.verdict {
            Verdict::Free(certificate) => ("free", Evidence::Free(about.subject(), certificate.clone())),
            Verdict::Stuck(stuck) => ("stuck", Evidence::Stuck(about.subject(), stuck.witness())),
            Verdict::Unknown(_) => return Vec::new(),
        };
        vec![(found.0.to_owned(), found.1)]
    }
}

impl WaitsForEver<'_> {
    /// Whether a program of threads means to have this question: it sleeps or wakes sleepers, takes mutexes or semaphores, or says who may wait.
    /// Machine code sleeps for many reasons,
    /// and means it where it says who may wait.
    pub fn is_meant(program: &Program) -> bool {
        let is_listing = program.source.is_listing;
        let says = |own: &Instruction| {
            let takes = own.until().is_some() && matches!(own.action, Action::Cas { .. } | Action::Rmw { .. });
            let sleeps = own.queue().is_some() || own.patience() == Patience::Timed || takes;
            own.patience() == Patience::Idle || (sleeps && !is_listing)
        };
        let is_said = |thread: &Thread| thread.is_daemon || thread.instructions.iter().any(says);
        Self::may_be_asked(program) && program.threads.iter().any(is_said)
    }

    /// Whether a program of threads has this question though it does not mean to: it waits for
    /// values, or goes round a loop that it may leave and that changes nothing; of machine code, it
    /// sleeps. Where the answer takes long it is left out.
    pub fn is_implied(program: &Program) -> bool {
        let spins = || program.says_waits() || program.threads.iter().any(Thread::may_spin);
        let waits = if program.source.is_listing { program.has_sleepers() } else { spins() };
        Self::may_be_asked(program) && waits && !Self::is_meant(program)
    }

    fn may_be_asked(program: &Program) -> bool {
        !program.is_event_driven() && !program.states_orderings()
    }

    /// A copy that waits, for what, and what would let it go on.
    fn waiter_words(&self, stuck: &Stuck, waiter: &Waiter) -> String {
        let program = self.about.program;
        let name = stuck.instance.copy_name(program, waiter.copy);
        let at = doing_at(program, waiter.copy.thread, waiter.instruction);
        if waiter.is_locked_out {
            return format!("`{name}` waits{at} for the lock, which is never given back");
        }
        let may = if waiter.is_idle { " (it may)" } else { "" };
        if let Some(address) = waiter.sleeps_at {
            return format!("`{name}` sleeps on `{}`{at}, and nobody wakes it{may}", address_text(program, address));
        }
        let held = waiter
            .looks_at
            .iter()
            .map(|(address, value)| format!("`{}` holds {value}", address_text(program, *address)));
        let held: Vec<String> = held.collect();
        let held = if held.is_empty() {
            "it goes round, and nobody changes what it reads".to_owned()
        } else {
            held.join(", ")
        };
        let released = waiter.released_by.map_or(String::new(), |(address, value)| {
            format!("; {value} in `{}` would let it go on", address_text(program, address))
        });
        format!("`{name}` waits{at}{may}: {held}{released}")
    }

    fn tell_stuck<'a>(&'a self, account: &mut Account<'a>, stuck: &'a Stuck) {
        let program = self.about.program;
        let waiters: Vec<String> = stuck.waiters.iter().map(|waiter| self.waiter_words(stuck, waiter)).collect();
        let first = stuck.waiters.iter().find(|waiter| !waiter.is_idle);
        let short = first.map_or_else(String::new, |waiter| {
            let name = stuck.instance.copy_name(program, waiter.copy);
            format!("`{name}` waits for ever{}", doing_at(program, waiter.copy.thread, waiter.instruction))
        });
        let others = stuck.waiters.iter().filter(|waiter| !waiter.is_idle).count().saturating_sub(1);
        let short = if others > 0 { format!("{short}, and so {}", more(others)) } else { short };
        "stuck".clone_into(&mut account.verdict);
        let under_sc = stuck.is_interleaving.then_some("under SC already");
        account.phrase = format!("stuck{}, {short}", under_sc.map_or(String::new(), |words| format!(" {words}")));
        account.message = format!("stuck under {}: {short}", model_name(self.options.model));
        account.under_sc = Some(stuck.is_interleaving).filter(|under_sc| *under_sc);
        for waiter in stuck.waiters.iter().filter(|waiter| !waiter.is_idle) {
            let (thread, instruction) = (waiter.copy.thread, waiter.instruction);
            let span = program.thread(thread).instruction(instruction).span;
            account.place.get_or_insert(span);
            account.marks.push((line(program, thread, instruction), Mark::Waiting, "waits for ever".to_owned()));
        }
        let copies = program.threads.iter().zip(stuck.instance.counts());
        let instance = instance_words(program, &stuck.instance, false);
        account.answer = Answer::Violated(Shown {
            headline: format!("stuck: {short}"),
            above: instance.map(|words| format!("instance: {words}")).into_iter().collect(),
            run: Run::Threads(ComputationReport {
                program,
                instance: &stuck.instance,
                copies: stuck.copies.clone(),
                events: &stuck.events,
                states: &stuck.states,
                marks: Marks::Nothing,
            }),
            below: std::iter::once("nobody goes on:".to_owned())
                .chain(waiters.into_iter().map(|words| format!("  {words}")))
                .collect(),
            cycle: None,
            instance: copies.map(|(thread, count)| (thread.name.as_str(), *count)).collect(),
            instance_minimal: None,
            shortest: false,
            attacker: None,
            related: Vec::new(),
        });
    }
}

/// `1 other`, `2 others`.
fn more(others: usize) -> String {
    if others == 1 { "does 1 other".to_owned() } else { format!("do {others} others") }
}

impl Question for WaitsForEver<'_> {
    type Found = Hangs;

    fn about(&self) -> About<'_> {
        self.about
    }

    fn asked(&self) -> Vec<Account<'_>> {
        let subject = program_words(self.about.program, self.about.changed);
        let under = self.language.map_or(model_name(self.options.model), Axioms::name);
        let question = format!("nobody waits for ever under {under}");
        let account = Account::new("hangs", Rule::HANG, question, subject);
        let model = self.language.map_or(self.options.model.into(), Into::into);
        vec![Account { model: Some(model), verdict: "hangs are unknown".to_owned(), ..account }]
    }

    fn decide(&self, limits: &Limits) -> Result<Hangs, Fault> {
        hangs(self.about.program, &HangOptions { limits: limits.clone(), ..self.options.clone() })
    }

    fn tell<'a>(&'a self, found: &'a Hangs, accounts: &mut [Account<'a>]) {
        let [account] = accounts else { return };
        account.explored = found.states;
        match &found.verdict {
            Verdict::Free(_) => {
                "nobody waits for ever".clone_into(&mut account.verdict);
                account.phrase = format!("proved ({})", method_words(found.by));
                "no stuck state".clone_into(&mut account.message);
                account.answer = Answer::Holds(Proof { by: Some(found.by.name()), example: None });
                account.note(1, "by", method_words(found.by));
                let names =
                    found.never_resting.iter().map(|thread| format!("`{}`", self.about.program.thread(*thread).name));
                let names: Vec<String> = names.collect();
                if !names.is_empty() {
                    let rest = if names.len() == 1 { "neither ends nor waits" } else { "neither end nor wait" };
                    let words = format!("{} {rest}: hangs of others are seen only when all rest", names.join(", "));
                    account.note(0, "note", words);
                }
            }
            Verdict::Stuck(stuck) => self.tell_stuck(account, stuck),
            Verdict::Unknown(why) => {
                account.leave_open(account.verdict.clone(), why.words());
                account.note(0, "reason", why.words());
            }
        }
    }
}

/// Why there is no stuck state.
fn method_words(method: Method) -> String {
    match method {
        Method::Sc => "no stuck state in any interleaving".to_owned(),
        Method::Buffers => "no stuck state, whatever waits in store buffers".to_owned(),
        Method::ScRobust => "robust, and no stuck state in any interleaving".to_owned(),
        Method::Counts(0) => "no stuck state, copies counted as none or some".to_owned(),
        Method::Counts(most) => format!("no stuck state, copies counted up to {most}"),
    }
}
