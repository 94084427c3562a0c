//! Changes to a program from outside its text: other numbers of copies, another domain.

use super::{Copies, Domain, DomainOrigin, Program, Thread, Value};
use thiserror::Error;

/// Copies for one thread (or event), or for all of them, in place of what the text says:
/// `worker=3`, `t1=*`, `all=*`, `t2=0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiesOverride {
    /// The thread's name; all threads when there is none.
    pub thread: Option<String>,
    /// How many copies of it run.
    pub copies: Copies,
}

/// A range of values in place of what the text declares: `0..7`, `-4..3`, or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainOverride {
    /// A range.
    Range {
        /// The least value, at most 0.
        low: Value,
        /// The greatest value, at least 0.
        high: Value,
    },
    /// No range: values are integers.
    Integers,
}

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OverrideError {
    /// No thread has that name.
    #[error("the program has no thread named `{name}`")]
    UnknownThread {
        /// The name given.
        name: String,
    },
    /// No event has that name.
    #[error("the program has no event named `{name}`")]
    UnknownEvent {
        /// The name given.
        name: String,
    },
    /// Every thread was left out.
    #[error("every thread is left out")]
    NoThreadLeft,
    /// The options ask for wrapping and give no range to wrap into.
    #[error("there is no domain to wrap into")]
    NothingToWrapInto,
}

impl std::str::FromStr for CopiesOverride {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, copies) = text.rsplit_once('=').ok_or_else(|| {
            let is_number = text == "*" || text.bytes().all(|byte| byte.is_ascii_digit());
            match is_number {
                true => format!("`{text}` names no thread; write `all={text}`, or a thread's name in place of `all`"),
                false => format!("`{text}` gives no copies; write `{text}=3` or `{text}=*`"),
            }
        })?;
        let copies = match copies.trim() {
            "*" => Copies::Any,
            number => Copies::Exactly(count(name, number)?),
        };
        let name = name.trim();
        if name.is_empty() {
            return Err(format!("`{text}` names no thread; write `all={copies}` for all of them"));
        }
        Ok(Self { thread: (name != "all").then(|| name.to_owned()), copies })
    }
}

/// A number of copies.
fn count(name: &str, number: &str) -> Result<u64, String> {
    let digits = number.strip_prefix('+').unwrap_or(number);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(format!("`{number}` is not a number of copies; write `{name}=3`, or `{name}=*` for any number"));
    }
    let count = number.parse().ok().filter(|count| *count <= Copies::MOST);
    count.ok_or_else(|| format!("{number} copies are more than {}; write `{name}=*` for any number", Copies::MOST))
}

impl std::str::FromStr for DomainOverride {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "none" {
            return Ok(Self::Integers);
        }
        let usage = || format!("`{text}` is not a domain; write `0..7` or `-4..3`, or `none` for integers");
        let (low, high) = text.split_once("..").ok_or_else(usage)?;
        let low: Value = low.trim().parse().map_err(|_| usage())?;
        let high: Value = high.trim().parse().map_err(|_| usage())?;
        if low > 0 || high < 0 {
            return Err(format!("the domain `{text}` does not contain 0, the value everything starts with"));
        }
        Ok(Self::Range { low, high })
    }
}

impl Program {
    /// Changes the numbers of copies, one override after the other.
    pub fn override_copies(&mut self, overrides: &[CopiesOverride]) -> Result<(), OverrideError> {
        for change in overrides {
            let is_found = self.change_copies(change, Thread::is_thread);
            if let Some(name) = change.thread.as_ref().filter(|_| !is_found) {
                return Err(OverrideError::UnknownThread { name: name.clone() });
            }
        }
        self.something_runs()
    }

    /// Changes how often events may occur, one override after the other.
    pub fn override_events(&mut self, overrides: &[CopiesOverride]) -> Result<(), OverrideError> {
        for change in overrides {
            let is_found = self.change_copies(change, Thread::is_event);
            if let Some(name) = change.thread.as_ref().filter(|_| !is_found) {
                return Err(OverrideError::UnknownEvent { name: name.clone() });
            }
        }
        self.something_runs()
    }

    /// Changes the copies of those that are meant; whether there are any.
    fn change_copies(&mut self, change: &CopiesOverride, is_meant: fn(&Thread) -> bool) -> bool {
        let is_named = |thread: &Thread| change.thread.as_ref().is_none_or(|name| *name == thread.name);
        let mut found = false;
        for thread in self.threads.iter_mut().filter(|thread| is_meant(thread) && is_named(thread)) {
            thread.copies = change.copies;
            found = true;
        }
        found
    }

    fn something_runs(&self) -> Result<(), OverrideError> {
        if self.threads.iter().all(|thread| thread.copies == Copies::Exactly(0)) {
            return Err(OverrideError::NoThreadLeft);
        }
        Ok(())
    }

    /// Changes the domain, takes it away, or only lets it wrap. A domain that wraps in the text
    /// goes on wrapping under another range.
    pub fn override_domain(&mut self, range: Option<DomainOverride>, wrap: bool) -> Result<(), OverrideError> {
        let wraps = wrap || self.domain.is_some_and(|domain| domain.wrap);
        match range {
            Some(DomainOverride::Range { low, high }) => {
                self.domain = Some(Domain { low, high, wrap: wraps, origin: DomainOrigin::Option });
                return Ok(());
            }
            Some(DomainOverride::Integers) => self.domain = None,
            None => {}
        }
        if !wrap {
            return Ok(());
        }
        let domain = self.domain.as_mut().ok_or(OverrideError::NothingToWrapInto)?;
        if !domain.wrap {
            *domain = Domain { wrap: true, origin: DomainOrigin::Option, ..*domain };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_read() {
        let read = |text: &str| text.parse::<CopiesOverride>();
        assert_eq!(read("t1=*"), Ok(CopiesOverride { thread: Some("t1".into()), copies: Copies::Any }));
        assert_eq!(read("all=2"), Ok(CopiesOverride { thread: None, copies: Copies::Exactly(2) }));
        assert!(read("t1").is_err() && read("t1=-1").is_err() && read("=2").is_err());
        assert!(read("3").is_err_and(|error| error.contains("write `all=3`")));
        assert_eq!(read("t=5000000000").map(|it| it.copies), Ok(Copies::Exactly(5_000_000_000)));
        assert!(read("t=1000000000000001").is_err() && read("t=99999999999999999999").is_err());
    }

    #[test]
    fn domains_are_read() {
        let read = |text: &str| text.parse::<DomainOverride>();
        assert_eq!(read("-4..3"), Ok(DomainOverride::Range { low: -4, high: 3 }));
        assert_eq!(read("none"), Ok(DomainOverride::Integers));
        assert!(read("1..3").is_err() && read("0...3").is_err() && read("3").is_err());
    }
}
