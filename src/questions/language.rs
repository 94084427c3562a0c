//! Is a program of threads robust against a language: is every execution graph that C11, or
//! release/acquire, admits one of an interleaving, without races?

use super::{About, Evident, Question};
use crate::evidence::{Evidence, StaleClaim};
use crate::hangs::Method;
use crate::limits::{Limits, StopReason};
use crate::program::{Heading, Instruction, InstructionId, Operation, Program, ThreadId};
use crate::report::account::{Account, Answer, Mark, Proof, Rule, Shown, Standing};
use crate::report::graph::GraphWords;
use crate::report::subject::program_words;
use crate::robustness::{Fault, GraphViolation, StaleCheck, StaleOptions, StaleVerdict, check_stale, load_buffering};
use crate::semantics::graphs::{Axioms, by_language, not_in_language};
use crate::semantics::{Model, Quantifier};
use crate::syntax::{Diagnostic, Format, litmus};

/// What asks for robustness on the command line.
const ROBUSTNESS: &str = "robustness";

/// The verdict about a program with a race.
const RACY: &str = "racy, which is undefined behaviour";

/// The question, for programs that `graphs::not_in_language` has nothing against.
pub struct LanguageRobustness<'p> {
    /// The program.
    pub about: About<'p>,
    /// The same by its language.
    stated: Program,
    /// Against what.
    axioms: Axioms,
    /// Distinct values of a register or an address admitted in a program without a domain.
    values: usize,
}

impl<'p> LanguageRobustness<'p> {
    /// The question about a program.
    pub fn new(about: About<'p>, axioms: Axioms, values: usize) -> Self {
        Self { stated: by_language(about.program), about, axioms, values }
    }

    /// Why a program does not have this question; nothing where it has.
    pub fn objection(about: &About<'_>, axioms: Axioms) -> Option<Diagnostic> {
        let program = about.program;
        let first = program.threads.first().map(|thread| thread.span).unwrap_or_default();
        if about.format == Format::Machine && !Heading::of(&program.source).is_some_and(|own| own.is_by_language) {
            let error = Diagnostic::error("machine code is that of x86, and has no orderings of a language", first);
            let help = "`cargo palisade --model c11` reads them in a build of Rust sources without optimisation, and \
                        `orderings = true` in one of C with palisade_atomics.h";
            return Some(error.with_help(help.to_owned()));
        }
        if let Some(reason) = not_in_language(program) {
            let span = |(thread, instruction)| program.thread(thread).instruction(instruction).span;
            let error = Diagnostic::error(reason.describe(), reason.instruction().map_or(first, span));
            let help = reason.advice().map_or_else(|| "`--model tso` is about x86".to_owned(), Into::into);
            return Some(error.with_help(help));
        }
        let mut instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
        let is_about_orderings = axioms == Axioms::Ra
            || program.states_orderings()
            || !instructions.any(|own| own.action.address().is_some());
        if is_about_orderings {
            return None;
        }
        let error = Diagnostic::error("the program states no orderings: it is about x86, not about C11", first);
        Some(error.with_help("state them, as in `store(x, 1, release)` and `load(x, acquire)`".to_owned()))
    }

    /// Why a program is not asked about store buffers, and what to do; nothing where it is. Machine
    /// code that was read for the orderings of its sources is not what runs: what wakes sleepers is
    /// a fence there.
    pub fn other_models(program: &Program, model: Model) -> Option<(&'static str, &'static str)> {
        let is_by_language = Heading::of(&program.source).is_some_and(|own| own.is_by_language);
        (is_by_language && model > Model::Sc).then_some((
            "`orderings = true` reads the orderings of the sources, which say nothing of the store buffers of x86",
            "say `--model c11`; about x86, ask about the build that you ship, without `orderings`",
        ))
    }

    /// What answers about a program say besides, each with its heading: what they say of machines
    /// and of the kernel's tests, and which accesses count as relaxed.
    pub fn notes(program: &Program, axioms: Axioms) -> Vec<(&'static str, String)> {
        let kernel = litmus::is_of_kernel(&program.source).then(|| ("claim", KERNEL.to_owned()));
        let machines = ("machines", Self::machines(program, axioms));
        let relaxed = relaxed(program).map(|words| ("as relaxed", words));
        kernel.into_iter().chain([machines]).chain(relaxed).collect()
    }

    /// What the answer says of machines: by which mappings it holds there, or what stands in the
    /// way.
    fn machines(program: &Program, axioms: Axioms) -> String {
        if axioms == Axioms::Ra {
            return "not said: every access counts as acquire and release; `--model c11` takes the text's orderings"
                .to_owned();
        }
        if litmus::is_of_kernel(&program.source) {
            return "not said: some of the kernel's functions order less than what C11 has nearest".to_owned();
        }
        let Some(pair) = load_buffering(program) else {
            return "holds on x86, ARMv8, RISC-V and POWER by the standard mappings [IMM19]".to_owned();
        };
        let at = |instruction| program.place(pair.thread, instruction);
        let (read, write) = (at(pair.read), at(pair.write));
        if pair.is_one_address {
            return format!(
                "holds on x86, ARMv8 and RISC-V by the standard mappings [IMM19]; on POWER load buffering is not \
                 excluded: {write} before {read}"
            );
        }
        format!("holds for RC11 and on x86; elsewhere load buffering is not excluded: {write} before {read}")
    }

    /// Which accesses count as relaxed, as their orderings are not known.
    fn say_what_is_relaxed(&self, account: &mut Account<'_>) {
        relaxed(self.about.program).for_each(|words| account.note(0, "as relaxed", words));
    }

    /// Whether a violation comes to a final state that answers the condition of the text; then also
    /// how it goes on from what is shown. A guessed ordering may be stronger in truth.
    fn answers_condition(&self, found: &GraphViolation) -> Option<&'static str> {
        let question = self.about.condition.filter(|_| relaxed(self.about.program).next().is_none())?;
        let (state, goes_on) = found.final_state(&self.stated)?;
        let is_met = question.is_satisfied(&self.stated, &found.instance, &state)?;
        let is_found = is_met == (question.condition().quantifier != Quantifier::ForAll);
        let words = if goes_on { "then each thread goes on to its end, and loads read the last stores" } else { "" };
        is_found.then_some(words)
    }

    fn not_robust<'a>(&'a self, account: &mut Account<'a>, found: &'a GraphViolation) {
        let GraphWords { words, first, last } = GraphWords::of(&self.stated, found);
        let span = |(thread, id): (ThreadId, InstructionId)| self.stated.thread(thread).instruction(id).span;
        let line = |at| self.stated.source.position(span(at).start).line;
        account.place = Some(span(last));
        account.phrase = format!("violated, {words}");
        account.message.clone_from(&words);
        let (first, last) = (line(first), line(last));
        let words = match found.claim {
            StaleClaim::BeyondSc => [format!("before line {last}"), format!("not ordered behind line {first}")],
            StaleClaim::Race => [last, first].map(|other| format!("races with line {other}")),
        };
        let marks = [(first, Mark::Earlier), (last, Mark::Later)].into_iter().zip(words);
        account.marks.extend(marks.map(|((line, mark), words)| (line, mark, words)));
        account.answer = Answer::Violated(Shown::of_graph(&self.stated, found));
    }
}

/// What answers about tests of the kernel are for.
const KERNEL: &str = "for what C11 has nearest to the kernel's functions; not for the kernel's memory model";

/// The accesses of machine code that count as relaxed, each with the reason.
fn relaxed(program: &Program) -> impl Iterator<Item = String> {
    let heading = Heading::of(&program.source).unwrap_or_default();
    heading.relaxed.into_iter().map(|(place, why)| format!("{place}: {why}"))
}

/// Has answers about the interleavings of a program say what follows for a language: the same where
/// the program is robust, and else nothing of what holds for all of them.
///
/// Of hangs that is so for the same reason as under TSO ([`crate::hangs`]), as the order of stores
/// is part of an execution graph: a thread that waits reads the last store of an address in the
/// end. The language has no sleepers.
pub fn carry_to_language(program: &Program, accounts: &mut [Account<'_>]) {
    let robustness = accounts.iter().find(|account| account.ask == ROBUSTNESS);
    let standing = robustness.map_or(Standing::Unknown, Account::standing);
    let is_racy = robustness.is_some_and(|account| account.verdict == RACY);
    let final_state = robustness
        .and_then(|account| Some((account.shown()?.clone(), account.answers_condition?, account.evidence.clone())));
    let is_whole = says_all_of_interleavings(program);
    for account in accounts.iter_mut().filter(|account| matches!(account.ask, "properties" | "hangs")) {
        let Answer::Holds(Proof { example: None, by }) = account.answer else { continue };
        // It is about all executions already.
        if by == Some(Method::Graphs.name()) {
            continue;
        }
        if let (Some((shown, goes_on, evidence)), "exists" | "~exists" | "forall") = (&final_state, account.heading) {
            let headline = format!("final state: {} {}", account.heading, account.about);
            let below = (!goes_on.is_empty()).then(|| format!("  ({goes_on})")).into_iter().collect();
            show_beyond_sc(account, Shown { headline, below, cycle: None, ..shown.clone() });
            account.evidence.clone_from(evidence);
            continue;
        }
        let what =
            if account.verdict.starts_with("Never") { "no interleaving has it" } else { "all interleavings keep it" };
        let why = match standing {
            Standing::Violated | Standing::Holds if !is_whole => {
                "but in none a weak compare-exchange fails for no reason: with a strong one there is an answer"
            }
            Standing::Violated if is_racy => "but the program has a race, which is undefined behaviour",
            Standing::Violated => "but the program has other executions",
            Standing::Unknown => "but whether there are other executions is not known",
            Standing::Holds => {
                account.phrase.push_str(", and all executions are interleavings");
                continue;
            }
        };
        let reason = format!("{what}, {why}");
        if account.ask == "hangs" {
            account.note(0, "reason", reason.clone());
            account.leave_open("hangs are unknown".to_owned(), reason);
            continue;
        }
        // Whatever the word was, `holds`, or `Never` of a litmus test: it is one about
        // interleavings.
        let model = account.verdict.split_once(" under ").map_or("", |(_, model)| model);
        account.leave_open(format!("unknown under {model}"), reason);
    }
}

/// Answers the condition of a text by an execution that is no interleaving.
fn show_beyond_sc<'a>(account: &mut Account<'a>, shown: Shown<'a>) {
    let (word, standing) = match account.heading {
        "exists" => ("Sometimes", "Sometimes"),
        "~exists" => ("violated, Sometimes", "violated"),
        _ => ("violated, not Always", "violated"),
    };
    account.phrase = format!("{word}, not under SC");
    account.message = format!("{}: {word}", account.question);
    account.under_sc = Some(false);
    let model = account.verdict.split_once(" under ").map_or("", |(_, model)| model);
    account.verdict = format!("{standing} under {model}");
    account.answer = match account.heading {
        "exists" => Answer::Holds(Proof { by: None, example: Some(Box::new(shown)) }),
        _ => Answer::Violated(shown),
    };
}

/// Whether the interleavings of a program are all of its executions where it is robust against a
/// language: in them no weak compare-exchange fails for no reason.
pub fn says_all_of_interleavings(program: &Program) -> bool {
    let is_weak = |own: &Instruction| matches!(own.operation(), Some(Operation::Update { spurious: Some(_), .. }));
    !program.threads.iter().flat_map(|thread| &thread.instructions).any(is_weak)
}

impl Evident for StaleCheck {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        let found = match (&self.certificate, &self.violation) {
            (Some(certificate), _) => {
                let word = format!("{}-robust", certificate.axioms.word());
                (word, Evidence::LanguageRobust(about.subject(), certificate.clone()))
            }
            (None, Some(violation)) => {
                let what = if violation.claim == StaleClaim::Race { "race" } else { "violation" };
                let word = format!("{}-{what}", violation.axioms.word());
                (word, Evidence::NotLanguageRobust(about.subject(), violation.witness()))
            }
            (None, None) => return Vec::new(),
        };
        vec![found]
    }
}

impl Question for LanguageRobustness<'_> {
    type Found = StaleCheck;

    fn about(&self) -> About<'_> {
        self.about
    }

    fn asked(&self) -> Vec<Account<'_>> {
        let subject = program_words(self.about.program, self.about.changed);
        let question = format!("robust against {}", self.axioms.name());
        let account = Account::new(ROBUSTNESS, Rule::NOT_ROBUST_IN_LANGUAGE, question.clone(), subject);
        vec![Account {
            heading: "robust",
            model: Some(self.axioms.into()),
            verdict: format!("robustness against {} is unknown", self.axioms.name()),
            ..account
        }]
    }

    fn decide(&self, limits: &Limits) -> Result<StaleCheck, Fault> {
        let options =
            StaleOptions { axioms: self.axioms, values: self.values, certifies: true, limits: limits.clone() };
        check_stale(self.about.program, &options)
    }

    fn tell<'a>(&'a self, found: &'a StaleCheck, accounts: &mut [Account<'a>]) {
        let [account] = accounts else { return };
        account.explored = found.configurations;
        let name = self.axioms.name();
        if litmus::is_of_kernel(&self.about.program.source) {
            account.note(0, "claim", KERNEL);
        }
        match (&found.verdict, &found.violation) {
            (StaleVerdict::Robust, _) => {
                account.verdict = format!("robust against {name}");
                account.phrase = format!("holds against {name}: every execution is one of an interleaving");
                account.message.clone_from(&account.verdict);
                account.answer = Answer::Holds(Proof::default());
                account.note(0, "machines", Self::machines(self.about.program, self.axioms));
                self.say_what_is_relaxed(account);
            }
            (StaleVerdict::NotRobust | StaleVerdict::Racy, Some(violation)) => {
                account.verdict = match violation.claim {
                    StaleClaim::BeyondSc => format!("not robust against {name}"),
                    StaleClaim::Race => RACY.to_owned(),
                };
                self.not_robust(account, violation);
                account.answers_condition = self.answers_condition(violation);
                self.say_what_is_relaxed(account);
                account.message = format!("{}: {}", account.verdict, account.message);
            }
            (StaleVerdict::Unknown(reason), _) => {
                account.leave_open(account.verdict.clone(), reason.to_string());
                account.note(0, "reason", reason.to_string());
            }
            (StaleVerdict::RestsOnUnknown, _) => {
                let reason = StopReason::Orderings.to_string();
                account.leave_open(account.verdict.clone(), reason.clone());
                account.note(0, "reason", reason);
                self.say_what_is_relaxed(account);
            }
            (StaleVerdict::NotRobust | StaleVerdict::Racy, None) => {
                account.leave_open(account.verdict.clone(), "the violation is not at hand");
            }
        }
    }
}
