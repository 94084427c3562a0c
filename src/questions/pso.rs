//! Is a program of threads robust against PSO?

use super::{About, Evident, Question, delay};
use crate::evidence::Evidence;
use crate::limits::Limits;
use crate::program::Program;
use crate::report::account::{Account, Answer, Proof, Rule};
use crate::report::context::pso_fault_error;
use crate::report::subject::program_words;
use crate::robustness::{Fault, PsoCheck, Verdict, check_pso, not_for_pso, witness_evidence};
use crate::semantics::Model;
use crate::syntax::{Diagnostic, Format, InputError};

/// The question, for programs that `robustness::not_for_pso` has nothing against.
pub struct PsoRobustness<'p> {
    /// The program.
    pub about: About<'p>,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
}

impl PsoRobustness<'_> {
    /// Why nothing about a program is asked under other models than SC and TSO, and what to ask
    /// instead; nothing where it can be.
    pub fn other_models(program: &Program, format: Format) -> Option<(&'static str, &'static str)> {
        if program.is_event_driven() {
            return Some(("events and tasks run under SC or under TSO", "say `--model sc` or `--model tso`"));
        }
        (format == Format::Machine).then_some(("machine code is that of x86, which has TSO alone", "say `--model tso`"))
    }

    /// Why a program does not have this question; nothing where it has.
    pub fn objection(program: &Program) -> Option<Diagnostic> {
        let reason = not_for_pso(program)?;
        let span = |(thread, instruction)| program.thread(thread).instruction(instruction).span;
        let span = reason.instruction().map(span).or(program.threads.first().map(|thread| thread.span));
        let error = Diagnostic::error(reason.describe(), span.unwrap_or_default());
        let help = reason.advice().map_or_else(|| "`--ask properties` leaves robustness out".to_owned(), Into::into);
        Some(error.with_help(help))
    }
}

impl Evident for PsoCheck {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        let found = match (&self.certificate, &self.violation) {
            (Some(certificate), _) => ("pso-robust", Evidence::PsoRobust(about.subject(), certificate.clone())),
            (None, Some(violation)) => {
                ("pso-violation", Evidence::NotPsoRobust(about.subject(), witness_evidence(violation)))
            }
            (None, None) => return Vec::new(),
        };
        vec![(found.0.to_owned(), found.1)]
    }
}

impl Question for PsoRobustness<'_> {
    type Found = PsoCheck;

    fn about(&self) -> About<'_> {
        self.about
    }

    fn asked(&self) -> Vec<Account<'_>> {
        let subject = program_words(self.about.program, self.about.changed);
        let account = Account::new("robustness", Rule::NOT_ROBUST, "robust against PSO", subject);
        let verdict = "robustness against PSO is unknown".to_owned();
        vec![Account { heading: "robust", model: Some(Model::Pso.into()), verdict, ..account }]
    }

    fn decide(&self, limits: &Limits) -> Result<PsoCheck, Fault> {
        check_pso(self.about.program, self.values, limits)
    }

    fn tell<'a>(&'a self, found: &'a PsoCheck, accounts: &mut [Account<'a>]) {
        let [account] = accounts else { return };
        account.explored = found.configurations;
        match (&found.verdict, &found.violation) {
            (Verdict::Robust, _) => {
                "robust against PSO".clone_into(&mut account.verdict);
                "proved against PSO (one exploration of all delayed stores)".clone_into(&mut account.phrase);
                account.message.clone_from(&account.verdict);
                account.answer = Answer::Holds(Proof::default());
            }
            (Verdict::NotRobust, Some(violation)) => {
                "not robust against PSO".clone_into(&mut account.verdict);
                delay::tell(&self.about, account, violation);
                account.message = format!("{}: {}", account.verdict, account.message);
            }
            (Verdict::NotRobust, None) => account.leave_open(account.verdict.clone(), "the violation is not at hand"),
            (Verdict::Unknown(reason), _) => {
                account.leave_open(account.verdict.clone(), reason.to_string());
                account.note(0, "reason", reason.to_string());
            }
        }
    }

    fn refusal(&self, fault: &Fault) -> InputError {
        pso_fault_error(self.about.program, fault)
    }
}
