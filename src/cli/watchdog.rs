//! The last resort where work does not look at its limits: a thread beside it prints `unknown`,
//! with what has been found, and ends the process.
//!
//! Work looks at its limits and ends by itself, with all that it has to tell. Where it does not,
//! nobody answers by the time, or within the memory, that was asked for. Then this thread does,
//! [somewhat later](GRACE), in the form that was asked for; at once where half as much memory again
//! is taken, unless evidence is being written. After a request to end it waits for [a
//! second](PATIENCE). What was found of other inputs is printed as well, and so is what a command
//! has [left](super::pending::found) for the case.

use super::options::interrupted;
use super::output::print_and_keep;
use super::pending::{Asked, Input, State, is_writing, lock, open, plant};
use super::{Exit, SharedOptions, files};
use crate::limits::{StopReason, processor_time, resident_bytes};
use crate::report::documents;
use crate::syntax::InputError;
use std::sync::Once;
use std::time::{Duration, Instant};

/// What is waited for behind a limit, where a tenth of the time is less: most work looks at its
/// limits far more often.
const GRACE: Duration = Duration::from_millis(250);

/// What is waited for after a request to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often to look.
const INTERVAL: Duration = Duration::from_millis(25);

/// What is waited for behind a limit while the process does not get its share of the processor,
/// where a tenth of the time is less.
const BUSY: Duration = Duration::from_secs(1);

/// Watches a command with one input until it prints something.
pub(super) fn watch_command(name: &str, leaves_findings: bool, shared: &SharedOptions) {
    watch_inputs(&[name.to_owned()], false, shared);
    open(name, true);
    if !leaves_findings {
        plant(name);
    }
}

/// Watches a command with inputs that are answered one by one.
pub(super) fn watch_inputs(names: &[String], are_several: bool, shared: &SharedOptions) {
    let input = |name: &String| Input { name: name.clone(), state: State::Waiting };
    *lock() = Asked { inputs: names.iter().map(input).collect(), are_several, is_json: shared.json };
    start(shared);
}

/// Starts the thread. Tests of debug builds can do without it, where the work is to look at its
/// limits.
fn start(shared: &SharedOptions) {
    if cfg!(debug_assertions) && std::env::var_os("PALISADE_WITHOUT_WATCHDOG").is_some() {
        return;
    }
    static STARTED: Once = Once::new();
    let limits = Watched { timeout: shared.timeout, memory: shared.memory };
    STARTED.call_once(|| {
        // Without a thread the limits are those that the work looks at.
        let _ = std::thread::Builder::new().stack_size(1 << 18).spawn(move || limits.watch());
    });
}

/// The limits that are watched.
struct Watched {
    timeout: Option<Duration>,
    memory: Option<u64>,
}

/// A limit that is behind, since then, with the processor time that was used by then.
struct Behind {
    reason: StopReason,
    since: Instant,
    used: Duration,
    /// How long evidence was written meanwhile, which does not count.
    written: Duration,
}

impl Watched {
    /// Looks at the limits until the process ends.
    fn watch(&self) {
        let mut behind: Option<Behind> = None;
        let mut looked = Instant::now();
        loop {
            std::thread::sleep(INTERVAL);
            let asked = lock();
            let now = Instant::now();
            let passed = now.saturating_duration_since(std::mem::replace(&mut looked, now));
            let begun = asked.inputs.iter().filter_map(|input| match input.state {
                State::Open { since, .. } => Some(since),
                _ => None,
            });
            let Some(begun) = begun.min() else {
                behind = None;
                continue;
            };
            let Some(reason) = self.reason(begun, now) else {
                behind = None;
                continue;
            };
            let behind = match &mut behind {
                Some(behind) if behind.reason == reason => behind,
                other => other.insert(Behind { reason, since: now, used: processor_time(), written: Duration::ZERO }),
            };
            if is_writing() && reason != StopReason::Interrupted {
                behind.written += passed;
            } else if self.takes_far_more() {
                give_up(&asked, StopReason::Memory);
            } else if self.is_due(behind, now) {
                give_up(&asked, reason);
            }
        }
    }

    /// The limit that is behind.
    fn reason(&self, begun: Instant, now: Instant) -> Option<StopReason> {
        if interrupted() {
            return Some(StopReason::Interrupted);
        }
        if self.timeout.is_some_and(|timeout| now.saturating_duration_since(begun) >= timeout) {
            return Some(StopReason::Timeout);
        }
        self.takes_more_by(10).then_some(StopReason::Memory)
    }

    /// Whether the process takes more memory than it may, by more than this part of it: a tenth for
    /// 10.
    fn takes_more_by(&self, part: u64) -> bool {
        let Some(most) = self.memory else { return false };
        resident_bytes().is_some_and(|resident| resident > most.saturating_add(most / part))
    }

    /// Whether it takes so much more that nobody can wait for it to end by itself.
    fn takes_far_more(&self) -> bool {
        self.takes_more_by(2)
    }

    /// Whether nobody will answer any more.
    fn is_due(&self, behind: &Behind, now: Instant) -> bool {
        let waited = now.saturating_duration_since(behind.since).saturating_sub(behind.written);
        let grace = match (behind.reason, self.timeout) {
            (StopReason::Interrupted, _) => PATIENCE,
            (StopReason::Timeout, Some(timeout)) => GRACE.max(timeout / 10),
            _ => GRACE,
        };
        // On a busy machine the work may not have had the time to end by itself.
        let used = processor_time().saturating_sub(behind.used);
        waited >= grace && (used >= grace / 2 || waited >= grace.max(BUSY))
    }
}

/// Prints what is known, and ends the process.
fn give_up(asked: &Asked, reason: StopReason) -> ! {
    let (mut exit, mut texts) = (Exit::Unknown, Vec::new());
    for Input { name, state } in &asked.inputs {
        let unknown = InputError::Stopped { name: name.clone(), reason };
        match state {
            State::Done { exit: own, document } => {
                exit = exit.worst(*own);
                texts.extend(document.clone());
            }
            State::Open { found: Some(found), .. } => texts.push(found.clone()),
            State::Open { .. } | State::Waiting if asked.is_json => texts.push(documents::refusal(&unknown)),
            State::Open { .. } | State::Waiting => texts.push(unknown.render(false)),
        }
    }
    let text = match texts.as_slice() {
        [only] if asked.is_json && !asked.are_several => format!("{only}\n"),
        texts if asked.is_json => format!("[{}]\n", texts.join(",")),
        texts => texts.concat(),
    };
    print_and_keep(text);
    files::remove_unfinished();
    std::process::exit(exit.code().into())
}
