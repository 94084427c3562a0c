//! Running roles on real threads for a moment.

use super::Copies;
use super::role::{Body, Role};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long copies that begin again do so.
const MOMENT: Duration = Duration::from_millis(20);
/// How many copies run in the place of any number.
const SOME: u64 = 3;

/// How a copy ends that an assumption stops.
struct Stopped;

/// Ends this copy.
pub(crate) fn stop() {
    std::panic::resume_unwind(Box::new(Stopped));
}

/// Says that a copy has ended, however it did.
struct Ended {
    number: usize,
    sender: Sender<usize>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        // Nobody listens any more when another copy has panicked, or the time was up.
        let _ = self.sender.send(self.number);
    }
}

/// Runs the roles, no longer than until a deadline: a copy may wait for ever for what another one
/// does that has panicked. What still runs then is left to itself.
pub(crate) fn on_threads(roles: Vec<Role>, repeats: bool, deadline: Duration) {
    let (begin, start) = (Arc::new(AtomicBool::new(false)), Instant::now());
    let (sender, ended) = channel();
    let mut running: BTreeMap<usize, (String, JoinHandle<()>)> = BTreeMap::new();
    for role in roles {
        let count = match role.copies {
            Copies::Exactly(count) => count,
            Copies::Any => SOME,
        };
        let mut bodies: Vec<Box<dyn FnMut() + Send>> = Vec::new();
        match role.body {
            Body::Owned(body) => bodies.push(body),
            Body::Shared(body) => bodies.extend((0..count).map(|_| {
                let body = body.clone();
                Box::new(move || body()) as Box<dyn FnMut() + Send>
            })),
        }
        for mut body in bodies {
            let (number, begin) = (running.len(), begin.clone());
            let ended = Ended { number, sender: sender.clone() };
            let thread = std::thread::spawn(move || {
                let _ended = ended;
                wait_for(&begin);
                body();
                while repeats && start.elapsed() < MOMENT {
                    body();
                }
            });
            running.insert(number, (role.name.clone(), thread));
        }
    }
    begin.store(true, Ordering::Release);
    while !running.is_empty() {
        match ended.recv_timeout(deadline.saturating_sub(start.elapsed())) {
            Ok(number) => {
                let (_, thread) = running.remove(&number).expect("a copy ends once");
                if let Err(panic) = thread.join()
                    && !panic.is::<Stopped>()
                {
                    std::panic::resume_unwind(panic);
                }
            }
            Err(RecvTimeoutError::Disconnected) => unreachable!("this function has a sender"),
            Err(RecvTimeoutError::Timeout) => {
                let mut names: Vec<String> = running.into_values().map(|(name, _)| format!("`{name}`")).collect();
                names.dedup();
                panic!(
                    "after {deadline:?} some copies have not returned, of {}; `Harness::deadline` sets that time",
                    names.join(", ")
                );
            }
        }
    }
}

fn wait_for(begin: &AtomicBool) {
    while !begin.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}
