//! Questions of all kinds, asked alike: decided, their evidence at hand and checked, their accounts
//! told.

use super::{About, Evident, Question};
use crate::evidence::Evidence;
use crate::limits::Limits;
use crate::program::{Heading, Program};
use crate::report::account::{Account, Standing};
use crate::report::bounds::advice;
use crate::robustness::Fault;
use crate::semantics;
use crate::syntax::InputError;
use crate::verify::{CheckFailure, check_program_evidence, check_property_evidence};

/// Evidence with the word that names its file.
pub type Named = (String, Evidence);

/// A question with what deciding it has found.
pub trait Asked {
    /// What it is about.
    fn about(&self) -> About<'_>;
    /// Why it could not be decided.
    fn fault(&self) -> Option<(&Fault, InputError)>;
    /// The evidence for its answers.
    fn evidence(&self) -> Vec<Named>;
    /// What there is to tell.
    fn accounts(&self) -> Vec<Account<'_>>;
}

struct Answered<Q: Question> {
    question: Q,
    found: Result<Q::Found, Fault>,
}

/// Asks a question.
pub fn ask<'q, Q: Question + 'q>(question: Q, limits: &Limits) -> Box<dyn Asked + 'q>
where
    Q::Found: 'q,
{
    let found = question.decide(limits);
    Box::new(Answered { question, found })
}

impl<Q: Question> Asked for Answered<Q> {
    fn about(&self) -> About<'_> {
        self.question.about()
    }

    fn fault(&self) -> Option<(&Fault, InputError)> {
        self.found.as_ref().err().map(|fault| (fault, self.question.refusal(fault)))
    }

    fn evidence(&self) -> Vec<Named> {
        if self.is_violated_in_parts() {
            return Vec::new();
        }
        self.found.as_ref().map_or_else(|_| Vec::new(), |found| found.evidence(&self.question.about()))
    }

    fn accounts(&self) -> Vec<Account<'_>> {
        let mut accounts = self.told();
        if let Some(place) = place_in_parts(self.question.about().program) {
            for account in accounts.iter_mut().filter(|account| account.standing() == Standing::Violated) {
                let words = format!(
                    "a violation is found where the access at {place} is taken in parts, but the processor makes it at once"
                );
                account.leave_open("unknown", words.clone());
                account.note(0, "reason", words);
            }
        }
        accounts
    }
}

/// An access that the processor makes at once, and the program in parts: what the program shows
/// need not be.
fn place_in_parts(program: &Program) -> Option<&str> {
    Heading::of(&program.source)?.parts.first().copied()
}

impl<Q: Question> Answered<Q> {
    /// Whether what is found is a violation of a program that is more than the code.
    fn is_violated_in_parts(&self) -> bool {
        place_in_parts(self.question.about().program).is_some()
            && self.told().iter().any(|account| account.standing() == Standing::Violated)
    }

    /// What was found, about the program.
    fn told(&self) -> Vec<Account<'_>> {
        let mut accounts = self.question.asked();
        match &self.found {
            Ok(found) => self.question.tell(found, &mut accounts),
            Err(fault) => {
                let program = self.question.about().program;
                for account in &mut accounts {
                    account.leave_open(account.verdict.clone(), fault.describe(program));
                }
                if let Some(last) = accounts.last_mut() {
                    last.note(0, "help", advice(program, fault));
                    if let Some(reason) = fault.describe_counter(program) {
                        last.note(0, "note", reason);
                    }
                }
            }
        }
        accounts
    }
}

/// Checks the evidence for an answer; nothing where there is none.
pub fn confirm(about: &About<'_>, answer: &impl Evident) -> Option<Result<(), CheckFailure>> {
    let evidence = answer.evidence(about);
    let check = |(_, evidence): &Named| check_evidence(about.program, about.condition, evidence);
    (!evidence.is_empty()).then(|| evidence.iter().try_for_each(check))
}

/// Checks evidence about a program, as `palisade verify` does.
pub fn check_evidence(
    program: &Program,
    condition: Option<&semantics::Question>,
    evidence: &Evidence,
) -> Result<(), CheckFailure> {
    match evidence {
        Evidence::Property(..) | Evidence::PropertyWitness(..) => {
            check_property_evidence(program, condition, evidence).map(drop)
        }
        _ => check_program_evidence(program, evidence),
    }
}
