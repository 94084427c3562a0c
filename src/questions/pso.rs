//! Is a program of threads robust against PSO?

use super::{About, Evident, Question, delay};
use crate::evidence::Evidence;
use crate::limits::Limits;
use crate::report::account::{Account, Answer, Proof, Rule};
use crate::report::context::pso_fault_error;
use crate::report::subject::program_words;
use crate::robustness::{Fault, PsoCheck, Verdict, check_pso, witness_evidence};
use crate::semantics::Model;
use crate::syntax::InputError;

/// The question, for programs that `robustness::not_for_pso` has nothing against.
pub struct PsoRobustness<'p> {
    /// The program.
    pub about: About<'p>,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
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
        vec![Account { heading: "robust", model: Some(Model::Pso), verdict, ..account }]
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
                "robust against PSO, by one exploration of all delayed stores".clone_into(&mut account.phrase);
                account.message.clone_from(&account.verdict);
                account.answer = Answer::Holds(Proof::default());
            }
            (Verdict::NotRobust, Some(violation)) => {
                "not robust against PSO".clone_into(&mut account.verdict);
                account.phrase.clone_from(&account.verdict);
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
