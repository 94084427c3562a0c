//! Checks of evidence, each on a thread of its own: where one breaks off, that is its answer, and
//! nothing else ends.
//!
//! A release build has no code to unwind, so a panic would end the whole process, with a status
//! that is no answer. But a panicking thread first calls the panic hook, and the hook need not
//! return. The one installed here sends off what went wrong and then lets the thread sleep for
//! ever: nothing that the check has left half done is ever looked at, and the other threads never
//! notice. The system takes back what the thread holds when the process ends. It must hold no lock
//! that others want, and must not be waited for; checks of evidence take no locks, and their caller
//! waits for the answer. A build that unwinds sends off the same and then unwinds.

use crate::limits::{Limits, StopReason};
use std::cell::Cell;
use std::io;
use std::panic::PanicHookInfo;
use std::sync::Once;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The stack of a check: evidence may nest deeply, and what is not touched costs nothing.
const STACK_BYTES: usize = 64 << 20;

/// What takes the place of a panic's message on standard error.
type Report = Box<dyn FnOnce(Broken)>;

thread_local! {
    /// On the thread of a check, how to say that it broke off.
    static REPORT: Cell<Option<Report>> = const { Cell::new(None) };
}

/// A check that broke off: what the panic says, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken(String);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the checker broke off: {}; please report this", self.0)
    }
}

/// Starts the check of the evidence called `name`; its answer comes through the channel.
pub(super) fn start<T: Send + 'static>(
    name: &str,
    check: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Receiver<Result<T, Broken>>> {
    install_hook();
    let (sender, receiver) = channel();
    let planted = is_planted(name);
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let own = sender.clone();
        // Nobody listens any more when a limit was reached; then the answer does not matter.
        REPORT.set(Some(Box::new(move |broken| drop(own.send(Err(broken))))));
        assert!(!planted, "planted");
        let answer = check();
        REPORT.set(None);
        drop(sender.send(Ok(answer)));
    })?;
    Ok(receiver)
}

/// How long to wait for an answer before looking at the limits.
const PATIENCE: Duration = Duration::from_millis(2);

/// Makes a check and waits for its answer, as long as the limits allow.
pub(super) fn within<T: Send + 'static>(
    name: &str,
    limits: &Limits,
    check: impl FnOnce() -> T + Send + 'static,
) -> Result<Result<T, Broken>, StopReason> {
    let receiver = match start(name, check) {
        Ok(receiver) => receiver,
        Err(error) => return Ok(Err(Broken(format!("there is no thread for it: {error}")))),
    };
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => limits.check()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(Err(Broken("its thread has ended".to_owned()))),
        }
    }
}

/// Sees to it that panics of checks are reported; other threads' panics go on as before.
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match REPORT.try_with(Cell::take) {
            Ok(Some(report)) => {
                report(described(info));
                // A build that unwinds does so from here.
                while cfg!(panic = "abort") {
                    std::thread::park();
                }
            }
            _ => usual(info),
        }));
    });
}

fn described(info: &PanicHookInfo<'_>) -> Broken {
    let what = info.payload_as_str().unwrap_or("a panic without a message");
    let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
    Broken(what.to_owned() + &place.unwrap_or_default())
}

/// Whether a test wants the check of this evidence to break off. Tests of debug builds say so;
/// other builds do not ask.
fn is_planted(name: &str) -> bool {
    cfg!(debug_assertions) && std::env::var_os("PALISADE_PLANTED_PANIC").is_some_and(|planted| planted == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_answer_of_its_check_alone() {
        let outside = std::thread::spawn(|| {
            within("one", &Limits::none(), || [1, 2].into_iter().find(|n| *n > 2).expect("a number"))
        });
        let broken = outside
            .join()
            .expect("the thread that asks goes on")
            .expect("there are no limits")
            .expect_err("it breaks off");
        assert!(broken.to_string().starts_with("the checker broke off: a number (src/cli/guard.rs:"), "{broken}");
        assert_eq!(within("two", &Limits::none(), || 3), Ok(Ok(3)));
        // A panic elsewhere is as it was.
        assert!(std::thread::spawn(|| panic!("planted")).join().is_err());
    }
}
