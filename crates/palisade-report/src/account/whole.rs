//! What there is to tell about one file.

use super::{Account, Standing};
use crate::context::Context;
use crate::models::ModelWord;
use palisade_model::program::{DomainOrigin, Heading};
use palisade_syntax::litmus;

/// The accounts of all questions about a file.
#[derive(Debug)]
pub struct Told<'a> {
    /// The file, and what is said of it besides.
    pub context: Context<'a>,
    /// What is said of it where nothing is asked.
    pub nothing: &'static str,
    /// The accounts, in the order in which they are told.
    pub accounts: Vec<Account<'a>>,
}

impl<'a> Told<'a> {
    /// The verdict on the file: it is violated if any question is, and unknown if any is.
    pub fn standing(&self) -> Standing {
        self.accounts.iter().map(Account::standing).max().unwrap_or(Standing::Holds)
    }

    /// How the `exists` of a litmus test is answered, which claims nothing.
    pub fn often(&self) -> Option<&'static str> {
        self.accounts.iter().find_map(|account| account.often)
    }

    /// The most serious answer, which says what is wrong or not known.
    pub fn most_serious(&self) -> Option<&Account<'a>> {
        let rank = |account: &Account<'a>| (account.standing(), account.under_sc == Some(true));
        // The first of the worst: questions are told in the order of what they mean for a user.
        self.accounts.iter().rev().max_by_key(|account| rank(account))
    }

    /// The verdicts in a line, the most serious one of each kind of question.
    pub fn headline(&self) -> String {
        let mut asks: Vec<&str> = self.accounts.iter().map(|account| account.ask).collect();
        asks.dedup();
        let worst = |ask: &&str| {
            let own = self.accounts.iter().rev().filter(|account| account.ask == *ask);
            let worst = own.max_by_key(|account| account.standing())?;
            // Beside other words it has to say what is unknown.
            let is_bare = worst.verdict == "unknown" && asks.len() > 1;
            let verdict = if is_bare { format!("{ask} unknown") } else { worst.verdict.clone() };
            Some((worst.standing() == Standing::Unknown, verdict))
        };
        let mut words: Vec<(bool, String)> = asks.iter().filter_map(worst).collect();
        // What is violated stands before what is not known.
        if self.standing() == Standing::Violated {
            words.sort_by_key(|(is_unknown, _)| *is_unknown);
        }
        let words: Vec<String> = words.into_iter().map(|(_, words)| words).collect();
        let words = if words.is_empty() { self.nothing.to_owned() } else { words.join(", ") };
        // The text has other values, of which nothing is said, unless a proof is about counters of
        // all widths.
        let is_of_option = self.context.program.domain.is_some_and(|domain| domain.origin == DomainOrigin::Option);
        let is_narrowed = is_of_option && self.accounts.iter().all(|account| account.counters.counters.is_none());
        let heading = Heading::of(&self.context.program.source);
        let has_narrow_counters = heading.is_some_and(|heading| !heading.narrowed.is_empty());
        match () {
            () if is_narrowed => format!("{words}, for the values of `--domain` alone"),
            () if has_narrow_counters => format!("{words}, for narrowed counters"),
            () => words,
        }
    }

    /// Whether it is about the language that a litmus test in C is in, and not about the x86
    /// program made of it.
    pub fn is_of_language(&self) -> bool {
        let is_of_language = |account: &Account<'_>| matches!(account.model, Some(ModelWord::C11 | ModelWord::Ra));
        litmus::is_in_c(&self.context.program.source) && self.accounts.iter().any(is_of_language)
    }

    /// Whether the answer alone is the report: there is one, and it is about the whole program.
    pub(super) fn is_one(&self) -> bool {
        matches!(self.accounts.as_slice(), [only] if only.about.is_empty())
    }
}
