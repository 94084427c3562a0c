//! Does anybody wait for ever: is there a *stuck state*, in which nobody goes on and somebody waits
//! who must not?

use super::delay::line;
use super::{About, Evident, Question};
use crate::evidence::Evidence;
use crate::hangs::{HangOptions, Hangs, Method, Stuck, Verdict, Waiter, hangs, hopeless};
use crate::limits::Limits;
use crate::program::{Action, FinalClaim, Instruction, Patience, Program, Thread, ThreadId};
use crate::report::account::{Account, Answer, Mark, Proof, Rule, Run, Shown};
use crate::report::computation::{ComputationReport, Marks, address_text};
use crate::report::context::instance_words;
use crate::report::models::model_name;
use crate::report::place::{claim_text, doing_at};
use crate::report::subject::program_words;
use crate::robustness::Fault;
use crate::semantics::Effect;
use crate::semantics::graphs::Axioms;
use std::collections::BTreeSet;

/// The question, for programs of threads.
pub struct WaitsForEver<'p> {
    /// The program.
    pub about: About<'p>,
    /// Whether it is asked who waits whom no way lets go on, whatever others do.
    pub is_of_one: bool,
    /// The language whose executions the answer is carried to, from interleavings or from x86.
    pub language: Option<Axioms>,
    /// How to look for stuck states.
    pub options: HangOptions,
}

impl Evident for Hangs {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        let found = match &self.verdict {
            Verdict::Free(certificate) if certificate.is_hopeful => {
                ("hopeful", Evidence::Free(about.subject(), certificate.clone()))
            }
            Verdict::Stuck(stuck) if stuck.hopeless.is_some() => {
                ("hopeless", Evidence::Stuck(about.subject(), stuck.witness()))
            }
            Verdict::Free(certificate) => ("free", Evidence::Free(about.subject(), certificate.clone())),
            Verdict::Stuck(stuck) => ("stuck", Evidence::Stuck(about.subject(), stuck.witness())),
            Verdict::Unknown(_) => return Vec::new(),
        };
        vec![(found.0.to_owned(), found.1)]
    }
}

impl WaitsForEver<'_> {
    /// Whether a program of threads means to have this question: it sleeps or wakes sleepers, takes
    /// mutexes or semaphores, says who may wait, or states what holds in the end. Machine code
    /// sleeps for many reasons, and means it where it says who may wait.
    pub fn is_meant(program: &Program) -> bool {
        let is_listing = program.source.is_listing;
        let says = |own: &Instruction| {
            let takes = own.until().is_some() && matches!(own.action, Action::Cas { .. } | Action::Rmw { .. });
            let sleeps = own.queue().is_some() || own.patience() == Patience::Timed || takes;
            own.patience() == Patience::Idle || (sleeps && !is_listing)
        };
        let is_said = |thread: &Thread| thread.is_daemon || thread.instructions.iter().any(says);
        let states_the_end = !program.finally.is_empty();
        let may_be = !program.is_event_driven() && !program.has_grace_periods();
        may_be && (states_the_end || program.threads.iter().any(is_said))
    }

    /// Whether a program of threads has this question though it does not mean to: it waits for
    /// values, or goes round a loop that it may leave and that changes nothing; of machine code, it
    /// sleeps or waits for a lock. Where the answer takes long it is left out.
    pub fn is_implied(program: &Program) -> bool {
        let spins = || program.says_waits() || program.threads.iter().any(Thread::may_spin);
        let waits = if program.source.is_listing { program.waits_for_others() } else { spins() };
        Self::may_be_asked(program) && waits && !Self::is_meant(program)
    }

    fn may_be_asked(program: &Program) -> bool {
        !program.is_event_driven() && !program.states_orderings() && !program.has_grace_periods()
    }

    /// The memory model, by its name.
    fn under(&self) -> &'static str {
        self.language.map_or(model_name(self.options.model), Axioms::name)
    }

    /// The memory model that a computation is one of, by its name.
    fn shows_under(&self, stuck: &Stuck) -> &'static str {
        stuck.graph.as_ref().map_or(model_name(self.options.model), |(graph, _)| graph.axioms.name())
    }

    /// Where less than what is asked about shows a stuck state already.
    fn already(&self, stuck: &Stuck, under_sc: Option<bool>) -> &'static str {
        match under_sc {
            Some(true) => " under SC already",
            _ if self.language.is_some() => {
                if stuck.graph.is_none() {
                    " on x86 already"
                } else {
                    ""
                }
            }
            Some(false) => ", not under SC",
            None => ", not known whether under SC",
        }
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

    /// A state in which a copy waits whom no way lets go on.
    fn tell_hopeless<'a>(&'a self, account: &mut Account<'a>, stuck: &'a Stuck) {
        let program = self.about.program;
        let Some(waiter) = stuck.waiters.first() else { return };
        let (thread, instruction) = (waiter.copy.thread, waiter.instruction);
        let name = stuck.instance.copy_name(program, waiter.copy);
        let short = format!("`{name}` waits for ever{}, whatever others do", doing_at(program, thread, instruction));
        "hopeless".clone_into(&mut account.verdict);
        let under_sc = if stuck.is_interleaving { " under SC already" } else { "" };
        account.phrase = format!("hopeless{under_sc}, {short}");
        account.message = format!("hopeless under {}: {short}", model_name(self.options.model));
        account.place.get_or_insert(program.thread(thread).instruction(instruction).span);
        account.marks.push((line(program, thread, instruction), Mark::Waiting, "waits for ever".to_owned()));
        let below = vec![
            "from here on nothing that others do lets it go on:".to_owned(),
            format!("  {}", self.waiter_words(stuck, waiter)),
        ];
        account.answer = Answer::Violated(self.shown(stuck, format!("hopeless: {short}"), below));
    }

    /// A state in which nobody waits who must not, and memory is not as it must be.
    fn tell_broken<'a>(&'a self, account: &mut Account<'a>, stuck: &'a Stuck) {
        let program = self.about.program;
        let last = &stuck.last;
        let broken: Vec<&FinalClaim> = stuck.broken.iter().filter_map(|index| program.finally.get(*index)).collect();
        let said = |claim: &FinalClaim| {
            let line = program.source.position(claim.span.start).line;
            let held = claim.reads.iter();
            let held = held.map(|at| format!("`{}` holds {}", address_text(program, *at), last.memory(*at)));
            let held: Vec<String> = held.collect();
            let held = if held.is_empty() { String::new() } else { format!(": {}", held.join(", ")) };
            format!("`{}` (line {line}) does not hold{held}", claim_text(program, claim))
        };
        let claims: Vec<String> = broken.iter().map(|claim| said(claim)).collect();
        let short = format!("in the end {}", claims.first().map_or("", String::as_str));
        for claim in broken {
            account.place.get_or_insert(claim.span);
            let line = program.source.position(claim.span.start).line;
            account.marks.push((line, Mark::Violated, "does not hold in the end".to_owned()));
        }
        account.rule = Rule::PROPERTY_VIOLATED;
        account.heading = "finally";
        "`finally` violated".clone_into(&mut account.verdict);
        account.phrase = format!("violated{}, {short}", self.already(stuck, account.under_sc));
        account.message = format!("`finally` violated under {}: {short}", self.shows_under(stuck));
        let waiters = stuck.waiters.iter().map(|waiter| self.waiter_words(stuck, waiter));
        let others: Vec<String> = claims.into_iter().skip(1).chain(waiters).map(|words| format!("  {words}")).collect();
        let heading = (!others.is_empty()).then(|| "and in the end:".to_owned());
        let below = heading.into_iter().chain(others).collect();
        account.answer = Answer::Violated(self.shown(stuck, short, below));
    }

    /// The computation, to be shown.
    fn shown<'a>(&'a self, stuck: &'a Stuck, headline: String, below: Vec<String>) -> Shown<'a> {
        let program = self.about.program;
        let instance = instance_words(program, &stuck.instance, false);
        let copies = program.threads.iter().zip(stuck.instance.counts());
        let graph = stuck.graph.as_ref().map(|(graph, _)| graph);
        let marks = graph.map_or(Marks::Nothing, |graph| Marks::Orderings(graph.axioms));
        let run = ComputationReport::new(stuck.machine(program), &stuck.instance, &stuck.events, marks);
        let older = graph.into_iter().flat_map(|graph| &graph.older).map(|(step, write)| {
            let written =
                write.map_or("what was there at first".to_owned(), |write| format!("what step {} wrote", write + 1));
            format!("step {} reads {written}: it need not see what came later", step + 1)
        });
        let is_of_x86 = self.language.is_some() && graph.is_none() && !stuck.is_interleaving;
        let on_x86 = is_of_x86.then(|| format!("this is an execution on x86, which {} has as well", self.under()));
        let instance = instance.map(|words| format!("instance: {words}"));
        Shown {
            headline,
            above: instance.into_iter().chain(on_x86).chain(older).collect(),
            run: Run::Threads(run),
            below,
            cycle: None,
            instance: copies.map(|(thread, count)| (thread.name.as_str(), *count)).collect(),
            instance_minimal: None,
            shortest: false,
            attacker: None,
            related: Vec::new(),
        }
    }

    /// Of machine code, who has failed: what a panic does next is not in the computation.
    fn failures(&self, stuck: &Stuck) -> Option<String> {
        let program = self.about.program;
        let event = stuck.events.iter().find(|event| event.effect == Effect::Failure)?;
        let (name, instruction) = (stuck.instance.copy_name(program, event.step.copy), event.step.kind.instruction()?);
        let at = doing_at(program, event.step.copy.thread, instruction);
        program.source.is_listing.then(|| {
            format!(
                "  `{name}` has failed{at} and stops there: a panic that drops guards, or wakes who waits, is not \
                 followed, so the failure is what to correct first"
            )
        })
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
        let failed = if self.failures(stuck).is_some() { ", once a role has failed" } else { "" };
        account.phrase = format!("stuck{}{failed}, {short}", self.already(stuck, account.under_sc));
        account.message = format!("stuck under {}: {short}", self.shows_under(stuck));
        for waiter in stuck.waiters.iter().filter(|waiter| !waiter.is_idle) {
            let (thread, instruction) = (waiter.copy.thread, waiter.instruction);
            let span = program.thread(thread).instruction(instruction).span;
            account.place.get_or_insert(span);
            account.marks.push((line(program, thread, instruction), Mark::Waiting, "waits for ever".to_owned()));
        }
        let waiters = waiters.into_iter().map(|words| format!("  {words}"));
        let failures = self.failures(stuck).into_iter();
        let below = std::iter::once("nobody goes on:".to_owned()).chain(waiters).chain(failures).collect();
        account.answer = Answer::Violated(self.shown(stuck, format!("stuck: {short}"), below));
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
        let under = self.under();
        let ends = if self.about.program.finally.is_empty() { "" } else { ", and `finally` holds" };
        let (ask, question) = match self.is_of_one {
            true => ("hopeless", format!("whoever waits may go on under {under}")),
            false => ("hangs", format!("nobody waits for ever under {under}{ends}")),
        };
        let account = Account::new(ask, Rule::HANG, question, subject);
        let model = self.language.map_or(self.options.model.into(), Into::into);
        let unknown = if self.is_of_one { "who is hopeless is unknown" } else { "hangs are unknown" };
        vec![Account { model: Some(model), verdict: unknown.to_owned(), ..account }]
    }

    fn decide(&self, limits: &Limits) -> Result<Hangs, Fault> {
        let options = HangOptions { limits: limits.clone(), ..self.options.clone() };
        if self.is_of_one { hopeless(self.about.program, &options) } else { hangs(self.about.program, &options) }
    }

    fn tell<'a>(&'a self, found: &'a Hangs, accounts: &mut [Account<'a>]) {
        let [account] = accounts else { return };
        account.explored = found.states;
        match &found.verdict {
            Verdict::Free(certificate) if certificate.is_hopeful => {
                "whoever waits may go on".clone_into(&mut account.verdict);
                let by = hope_words(found.by);
                account.phrase = format!("proved ({by})");
                account.message = "some way lets each thread go on that waits".to_owned();
                account.answer = Answer::Holds(Proof { by: Some(found.by.name()), example: None });
                account.note(1, "by", by.to_owned());
            }
            Verdict::Free(_) => {
                let program = self.about.program;
                let ends = match found.is_endless {
                    _ if program.finally.is_empty() => "",
                    true => ", and no end of which `finally` could hold",
                    false => ", and `finally` holds",
                };
                let names = endless(program, &found.never_resting);
                // Who waits while others go on is no part of the question.
                let free = if names.is_empty() { "nobody waits for ever" } else { "no stuck state" };
                account.verdict = format!("{free}{ends}");
                account.question = format!("{free} under {}{ends}", self.under());
                account.phrase = format!("proved ({})", method_words(found.by));
                account.message = format!("no stuck state{ends}");
                account.answer = Answer::Holds(Proof { by: Some(found.by.name()), example: None });
                account.note(1, "by", method_words(found.by));
                let idle = idle_threads(program);
                if !idle.is_empty() {
                    account.note(0, "may wait", format!("{}: that this waits for ever is no hang", idle.join(", ")));
                }
                if found.is_endless && !program.finally.is_empty() {
                    let words = "no computation comes to an end, so what `finally` states was asked of none";
                    account.note(0, "finally", words);
                }
                if !names.is_empty() {
                    let [never, go] =
                        if names.len() == 1 { ["never ends", "it goes"] } else { ["never end", "they go"] };
                    let others = format!("who waits for ever while {go} on is not seen");
                    let mut all = program.threads.iter().flat_map(|thread| &thread.instructions);
                    let is_seen = !program.is_parameterized() && all.all(|own| own.action != Action::Lock);
                    let ask = if is_seen { "; `--ask hopeless` sees it" } else { "" };
                    account.note(0, "note", format!("{} {never}: {others}{ask}", names.join(", ")));
                }
            }
            Verdict::Stuck(stuck) => {
                account.under_sc = found.under_sc(self.about.program);
                if stuck.hopeless.is_some() {
                    self.tell_hopeless(account, stuck);
                } else if stuck.broken.is_empty() {
                    self.tell_stuck(account, stuck);
                } else {
                    self.tell_broken(account, stuck);
                }
            }
            Verdict::Unknown(why) => {
                account.leave_open(account.verdict.clone(), why.words());
                account.note(0, "reason", why.words());
            }
        }
    }
}

/// The threads that go on for ever, by control flow or as the exploration has found: in quotes.
fn endless(program: &Program, never_resting: &[ThreadId]) -> Vec<String> {
    let ends = |thread: &Thread| {
        let by_label = thread.instructions_by_label();
        let (mut seen, mut open) = (BTreeSet::from([thread.initial]), vec![thread.initial]);
        while let Some(label) = open.pop() {
            if by_label[label.index()].is_empty() {
                return true;
            }
            let targets = by_label[label.index()].iter().map(|own| thread.instruction(*own).target);
            open.extend(targets.filter(|target| seen.insert(*target)));
        }
        false
    };
    // Roles of machine code that repeat stop after any round, unless they are daemons.
    let is_endless = |(id, thread): &(ThreadId, &Thread)| {
        let may_stop = program.source.is_listing || thread.is_daemon;
        !thread.is_left_out() && (never_resting.contains(id) || !may_stop && !ends(thread))
    };
    let endless = program.thread_ids().filter(is_endless);
    endless.map(|(_, thread)| format!("`{}`", thread.name)).collect()
}

/// The threads that may wait for ever, as the program says, here or there: in quotes.
fn idle_threads(program: &Program) -> Vec<String> {
    let is_idle = |own: &Instruction| own.patience() == Patience::Idle;
    let may_wait = |thread: &&Thread| thread.is_daemon || thread.instructions.iter().any(is_idle);
    let threads = program.threads.iter().filter(|thread| !thread.is_left_out());
    threads.filter(may_wait).map(|thread| format!("`{}`", thread.name)).collect()
}

/// Why whoever waits may go on.
fn hope_words(method: Method) -> &'static str {
    match method {
        Method::Sc => "some interleaving lets it",
        Method::Buffers => "some way lets it, whatever waits in store buffers",
        Method::ScRobust | Method::Counts(_) | Method::Graphs => "robust, and some interleaving lets it",
    }
}

/// Why there is no stuck state.
fn method_words(method: Method) -> String {
    match method {
        Method::Sc => "no stuck state in any interleaving".to_owned(),
        Method::Graphs => "no stuck state in any execution".to_owned(),
        Method::Buffers => "no stuck state, whatever waits in store buffers".to_owned(),
        Method::ScRobust => "robust, and no stuck state in any interleaving".to_owned(),
        Method::Counts(0) => "no stuck state, copies counted as none or some".to_owned(),
        Method::Counts(most) => format!("no stuck state, copies counted up to {most}"),
    }
}
