//! Running roles on real threads for a moment.

use super::Copies;
use super::role::{Body, Role};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Runs the roles.
pub(crate) fn on_threads(roles: Vec<Role>, repeats: bool) {
    let (begin, end) = (Arc::new(AtomicBool::new(false)), Instant::now() + MOMENT);
    let mut threads = Vec::new();
    for role in roles {
        let count = match role.copies {
            Copies::Exactly(count) => count,
            Copies::Any => SOME,
        };
        match role.body {
            Body::Owned(mut body) => {
                let begin = begin.clone();
                threads.push(std::thread::spawn(move || {
                    wait_for(&begin);
                    body();
                    while repeats && Instant::now() < end {
                        body();
                    }
                }));
            }
            Body::Shared(body) => {
                for _ in 0..count {
                    let (body, begin) = (body.clone(), begin.clone());
                    threads.push(std::thread::spawn(move || {
                        wait_for(&begin);
                        body();
                        while repeats && Instant::now() < end {
                            body();
                        }
                    }));
                }
            }
        }
    }
    begin.store(true, Ordering::Release);
    for thread in threads {
        if let Err(panic) = thread.join()
            && !panic.is::<Stopped>()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

fn wait_for(begin: &AtomicBool) {
    while !begin.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}
