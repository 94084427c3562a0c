//! Is a program of threads robust against TSO: does every computation have the trace of an
//! interleaving?

use super::{About, Evident, Question, delay};
use crate::evidence::Evidence;
use crate::limits::{Limits, StopReason};
use crate::program::Program;
use crate::report::account::{Account, Answer, CountersKnown, Mark, Proof, Rule};
use crate::report::documents::{AttackAnswer, LabelPlace};
use crate::report::subject::program_words;
use crate::report::verdict::outcome_words;
use crate::report::{counted, missing, unreached, widths};
use crate::robustness::{
    Abstraction, AttackOutcome, Check, CheckOptions, Fault, Observer, Verdict, certificate, check_observed, check_part,
    witness_evidence,
};
use crate::semantics::Model;
use std::ops::Range;

/// The question.
pub struct Robustness<'p> {
    /// The program.
    pub about: About<'p>,
    /// How to search.
    pub options: CheckOptions,
    /// Some of the attacks, by their positions from 0, where not all are asked about.
    pub part: Option<Range<usize>>,
    /// Who follows the search.
    pub observer: &'p dyn Observer,
}

/// What is found: a check, or the evidence about a part of the attacks with it.
pub struct Found<'p> {
    /// The check.
    pub check: Check<'p>,
    /// Of a part in which no attack is feasible, the evidence.
    part: Option<crate::evidence::RobustCertificate>,
}

/// What the names of files with evidence about a part of the attacks end in, before `.json`.
pub const PART: &str = "part";

impl Evident for Check<'_> {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        let found = if let Some(violation) = &self.violation {
            Some(("violation", Evidence::NotRobust(about.subject(), witness_evidence(violation))))
        } else {
            certificate(about.program, self).map(|own| ("robust", Evidence::Robust(about.subject(), own)))
        };
        found.into_iter().map(|(word, evidence)| (word.to_owned(), evidence)).collect()
    }
}

impl Evident for Found<'_> {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        match &self.part {
            Some(part) => vec![(PART.to_owned(), Evidence::Robust(about.subject(), part.clone()))],
            None => self.check.evidence(about),
        }
    }
}

impl<'p> Question for Robustness<'p> {
    type Found = Found<'p>;

    fn about(&self) -> About<'_> {
        self.about
    }

    fn asked(&self) -> Vec<Account<'_>> {
        let subject = program_words(self.about.program, self.about.changed);
        let account = Account::new("robustness", Rule::NOT_ROBUST, "robust against x86-TSO", subject);
        vec![Account { heading: "robust", model: Some(Model::Tso.into()), ..account }]
    }

    fn decide(&self, _: &Limits) -> Result<Self::Found, Fault> {
        match &self.part {
            Some(range) => check_part(self.about.program, range.clone(), &self.options, self.observer)
                .map(|found| Found { check: found.check, part: found.evidence }),
            None => check_observed(self.about.program, &self.options, self.observer)
                .map(|check| Found { check, part: None }),
        }
    }

    fn tell<'a>(&'a self, found: &'a Self::Found, accounts: &mut [Account<'a>]) {
        let [account] = accounts else { return };
        let (program, check) = (self.about.program, &found.check);
        account.explored = check.markings;
        let known = check.abstraction.as_ref().map(Abstraction::certificate);
        account.counters = known.map_or_else(CountersKnown::default, |known| CountersKnown::of(program, known));
        if let Some((heading, words)) = known.and_then(|known| widths::known(program, known)) {
            account.note(0, heading, words);
        }
        if let Some(words) = check.violation.as_ref().and_then(|found| widths::around(program, found)) {
            account.note(0, "counters", words);
        }
        match (&check.verdict, &check.violation) {
            (Verdict::Robust, _) => {
                account.verdict = verdict_words(program);
                account.phrase = account.verdict.replacen("robust", "proved", 1) + " (no store/load pair breaks it)";
                account.message = format!("{} against x86-TSO", account.verdict);
                account.answer = Answer::Holds(Proof::default());
            }
            (Verdict::NotRobust, Some(violation)) => {
                "not robust".clone_into(&mut account.verdict);
                delay::tell(&self.about, account, violation);
            }
            (Verdict::NotRobust, None) => account.leave_open("unknown", "the violation is not at hand"),
            (Verdict::Unknown(reason), _) => account.leave_open("unknown", reason.to_string()),
        }
        // Where a limit came first, they may not have been looked for.
        if !matches!(check.verdict, Verdict::Unknown(_)) || !check.attacks.is_empty() {
            account.note(0, "pairs", attacks_words(check));
        }
        if let Verdict::Unknown(reason) = check.verdict {
            account.note(0, "reason", reason.to_string());
        }
        notes(account, check, program);
        account.attacks =
            check.attacks.iter().zip(1..).map(|(report, id)| AttackAnswer::new(program, id, report)).collect();
        let unreached = account.unreached.iter().flat_map(|labels| LabelPlace::all(program, labels));
        let marks = unreached.map(|label| {
            (label.line, Mark::Unreached, label.name.map_or_else(String::new, |name| format!("{name} is not reached")))
        });
        let feasible = check.attacks.iter().filter(|report| report.outcome == AttackOutcome::Feasible);
        let feasible = feasible.flat_map(|report| {
            let at = |instruction| delay::line(program, report.attack.thread, instruction);
            let (store, load) = (at(report.attack.store), at(report.attack.load));
            let words = [format!("delayed past line {load}"), format!("overtakes line {store}")];
            let [delayed, overtakes] = words;
            [(store, Mark::Delayed, delayed), (load, Mark::Overtaking, overtakes)]
        });
        account.marks.extend(marks.chain(feasible));
    }
}

/// The word for a program without feasible attacks, with what is accepted.
fn verdict_words(program: &Program) -> String {
    match program.accepted.len() {
        0 => "robust".to_owned(),
        count => format!("robust but for {}", counted(count, "accepted delay")),
    }
}

/// What has become of the attacks, pairs of a store and a load behind it.
fn attacks_words(check: &Check<'_>) -> String {
    let count = |outcome| check.attacks.iter().filter(|report| report.outcome == outcome).count();
    let parts: Vec<String> = [
        AttackOutcome::Feasible,
        AttackOutcome::Infeasible,
        AttackOutcome::Pruned,
        AttackOutcome::Unknown,
        AttackOutcome::NotAsked,
    ]
    .into_iter()
    .map(|outcome| (count(outcome), outcome))
    .filter(|(pairs, _)| *pairs > 0)
    .map(|(pairs, outcome)| format!("{pairs} {}", outcome_words(outcome, pairs)))
    .collect();
    match check.attacks.len() {
        0 => "none".to_owned(),
        pairs => format!("of {}: {}", counted(pairs, "store/load pair"), parts.join(", ")),
    }
}

/// What is said besides the verdict.
fn notes(account: &mut Account<'_>, check: &Check<'_>, program: &Program) {
    if let Verdict::Unknown(StopReason::Timeout | StopReason::Memory | StopReason::TooLarge) = check.verdict {
        missing::sentences(program).into_iter().for_each(|sentence| account.note(0, "missing", sentence));
    }
    // A program that is not robust may get there with the help of its store buffers.
    let under_sc = if check.verdict == Verdict::NotRobust { " (under SC)" } else { "" };
    match &check.unreached {
        Some(labels) => account.tell_unreached(program, labels.clone(), under_sc),
        None if !matches!(check.verdict, Verdict::Unknown(_)) => {
            account.note(1, "unreached", unreached::NOT_DETERMINED.to_owned() + under_sc);
        }
        None => {}
    }
    if let Some(fault) = &check.without_nets {
        account.note(0, "note", format!("{}; a search answers in its place", fault.describe_in_net(program)));
    }
    if let Some(fault) = &check.only_under_tso {
        account.note(0, "note", format!("under TSO, not under SC: {}", fault.describe(program)));
    }
    if let Some(suspect) = &check.suspect {
        account.note(0, "note", suspect.describe_suspicion(program));
        account.note(0, "help", suspect.advice(program));
    }
    for (index, report) in check.attacks.iter().enumerate() {
        let at = |instruction| program.place(report.attack.thread, instruction);
        let (store, load) = (at(report.attack.store), at(report.attack.load));
        let outcome = outcome_words(report.outcome, 1);
        account.note(1, "attack", format!("{}: {store} past {load}: {outcome}", index + 1));
    }
}
