//! What can be asked about a program. Each question is a room: what is asked, how it is decided,
//! what shows its answer, and what there is to tell about it.
//!
//! A question that implements [`Question`] reaches decision, evidence, its check, text, JSON,
//! SARIF, JUnit and pages: these are made of its [`Account`], and know no kinds of questions.

mod about;
mod ask;
mod concurrency;
mod delay;
mod events;
mod hangs;
mod language;
mod properties;
mod pso;
mod races;
mod robustness;

pub use about::About;
pub use ask::{Asked, Named, ask, check_evidence, confirm};
pub use concurrency::{Concurrency, QueueOrder};
pub use events::EventRobustness;
pub use hangs::WaitsForEver;
pub use language::{LanguageRobustness, carry_to_language, says_all_of_interleavings};
pub use properties::{Properties, PropertyOptions};
pub use pso::PsoRobustness;
pub use races::TriangularRaces;
pub use robustness::{PART, Robustness};

use crate::evidence::Evidence;
use crate::limits::Limits;
use crate::report::account::Account;
use crate::report::context::fault_error;
use crate::robustness::Fault;
use crate::syntax::InputError;

/// An answer that carries what shows it.
pub trait Evident {
    /// The evidence about a program, each piece with the word that names its file; nothing where
    /// there is no answer.
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)>;
}

/// A question about a program.
pub trait Question {
    /// What deciding it finds.
    type Found: Evident;

    /// What it is about: the program that evidence is checked against.
    fn about(&self) -> About<'_>;

    /// What is asked: an account for each answer, none of which is known.
    fn asked(&self) -> Vec<Account<'_>>;

    /// Decides it.
    ///
    /// # Errors
    ///
    /// A [`Fault`] when a step that is reached has no meaning, or values grow.
    fn decide(&self, limits: &Limits) -> Result<Self::Found, Fault>;

    /// Tells the answers in the accounts of what is asked.
    fn tell<'a>(&'a self, found: &'a Self::Found, accounts: &mut [Account<'a>]);

    /// A fault as an error of the input.
    fn refusal(&self, fault: &Fault) -> InputError {
        fault_error(self.about().program, fault)
    }
}
