//! The stories of the guide: a lock, a queue that is not robust and right, a lost wake-up and its repair.

use crossbeam_queue::ArrayQueue;
use harnesses::Event;
use palisade_harness::{Harness, share};
use std::sync::Mutex;

#[test]
fn mutex() {
    let lock = share(Mutex::new(0));
    Harness::new().role("worker", .., || *lock.lock().unwrap() += 1).repeat().check();
}

fn queue_of_two() -> Harness {
    let queue = share(ArrayQueue::<u32>::new(2));
    Harness::new()
        .role("producer", .., || _ = queue.push(1))
        .role("consumer", .., || _ = queue.pop())
        .narrow(["queue.head", "queue.tail"], 3)
}

#[test]
fn queue_once() {
    queue_of_two().check();
}

#[test]
fn queue_again() {
    queue_of_two().repeat().check();
}

#[test]
fn event() {
    let event = share(Event::new());
    Harness::new().role("sleeper", 1, || event.wait()).role("waker", .., || event.happen()).check();
}

#[test]
fn event_repaired() {
    let event = share(Event::new());
    Harness::new().role("sleeper", 1, || event.wait()).role("waker", .., || event.happen_repaired()).check();
}

#[test]
fn event_anywhere() {
    let event = share(Event::new());
    Harness::new().role("sleeper", 1, || event.wait_anywhere()).role("waker", .., || event.happen_repaired()).check();
}
