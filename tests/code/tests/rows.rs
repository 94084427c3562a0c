//! One harness for each piece of code that Palisade is to read as it is published.

use palisade_harness::{Copies, Harness, share};
use std::cell::{Cell, UnsafeCell};
use std::collections::HashMap;
use std::hint::black_box;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, RwLock, mpsc};
use std::task::{Wake, Waker};
use std::thread::Thread;

#[test]
fn spin_mutex() {
    let lock = share(spin::Mutex::new(0u32));
    Harness::new().role("worker", .., || *lock.lock() = 1).repeat().check();
}

#[test]
fn spin_rwlock() {
    let lock = share(spin::RwLock::new(0u32));
    Harness::new()
        .role("reader", .., || _ = black_box(*lock.read()))
        .role("writer", .., || *lock.write() = 1)
        .repeat()
        .check();
}

#[test]
fn spin_ticket_mutex() {
    let lock = share(spin::mutex::TicketMutex::<u32>::new(0));
    Harness::new().role("worker", .., || *lock.lock() = 1).repeat().check();
}

#[test]
fn spin_once() {
    let once = share(spin::Once::<u32>::new());
    Harness::new().role("caller", .., || _ = black_box(*once.call_once(|| 5))).check();
}

#[test]
fn std_mutex() {
    let lock = share(Mutex::new(0u32));
    Harness::new().role("worker", .., || *lock.lock().unwrap() = 1).repeat().check();
}

#[test]
fn std_once() {
    let (once, cell) = (share(Once::new()), share(AtomicU32::new(0)));
    Harness::new().role("caller", .., || once.call_once(|| cell.store(1, Ordering::Relaxed))).check();
}

#[test]
fn std_once_lock() {
    let once = share(OnceLock::<u32>::new());
    Harness::new().role("caller", .., || _ = black_box(*once.get_or_init(|| 5))).check();
}

#[test]
fn parking() {
    let (parker, unparker) = parking::pair();
    Harness::new()
        .role_once("parker", move || parker.park())
        .role("unparker", .., move || _ = unparker.unpark())
        .check();
}

#[test]
fn try_lock() {
    let lock = share(try_lock::TryLock::new(0u32));
    let role = || _ = lock.try_lock().map(|mut value| *value = 1);
    Harness::new().role("worker", .., role).repeat().check();
}

#[test]
fn race_once() {
    let once = share(once_cell::race::OnceNonZeroUsize::new());
    Harness::new().role("caller", .., || _ = black_box(once.get_or_init(|| 5.try_into().unwrap()))).check();
}

fn array_queue_of_two() -> Harness {
    let queue = share(crossbeam_queue::ArrayQueue::<u64>::new(2));
    Harness::new().role("producer", .., || _ = queue.push(1)).role("consumer", .., || _ = queue.pop())
}

#[test]
fn array_queue_once() {
    array_queue_of_two().narrow(["queue.head", "queue.tail"], 4).check();
}

#[test]
fn array_queue_by_low_bits() {
    array_queue_of_two().check();
}

#[test]
fn array_queue_again() {
    array_queue_of_two().repeat().check();
}

fn heapless_queue_of_two() -> Harness {
    #[expect(deprecated, reason = "the queue is asked about as it is")]
    let queue = share(heapless::mpmc::Queue::<u64, 2>::new());
    Harness::new().role("producer", .., || _ = queue.enqueue(1)).role("consumer", .., || _ = queue.dequeue())
}

#[test]
fn heapless_once() {
    heapless_queue_of_two().narrow(["queue.enqueue_pos", "queue.dequeue_pos"], 3).check();
}

#[test]
fn heapless_by_low_bits() {
    heapless_queue_of_two().check();
}

#[test]
fn heapless_again() {
    heapless_queue_of_two().repeat().check();
}

#[test]
fn bounded_channel_by_low_bits() {
    let (sender, receiver) = mpsc::sync_channel::<u64>(2);
    Harness::new()
        .role("sender", .., move || _ = sender.try_send(1))
        .role_once("receiver", move || _ = black_box(receiver.try_recv()))
        .check();
}

#[test]
fn arc_of_any_number() {
    let arc = share(Arc::new(7u64));
    Harness::new().role("owner", .., || _ = black_box(**black_box(&arc.clone()))).repeat().check();
}

fn ring_of_two() -> Harness {
    let (mut producer, mut consumer) = rtrb::RingBuffer::<u64>::new(2);
    Harness::new().role_once("producer", move || _ = producer.push(1)).role_once("consumer", move || _ = consumer.pop())
}

#[test]
fn rtrb_once() {
    ring_of_two().check();
}

#[test]
fn rtrb_again() {
    ring_of_two().repeat().check();
}

#[test]
fn triple_buffer() {
    let (mut input, mut output) = triple_buffer::triple_buffer(&0u64);
    Harness::new()
        .role_once("writer", move || input.write(1))
        .role_once("reader", move || _ = black_box(*output.read()))
        .repeat()
        .check();
}

/// Whom an `AtomicWaker` wakes.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn atomic_waker() {
    let cell = share(atomic_waker::AtomicWaker::new());
    Harness::new().role("registrant", 1, || cell.register(Waker::noop())).role("waker", .., || cell.wake()).check();
}

#[test]
fn atomic_waker_of_an_arc() {
    let (cell, waker) = (share(atomic_waker::AtomicWaker::new()), share(Waker::from(Arc::new(Flag(false.into())))));
    Harness::new().role("registrant", 1, || cell.register(waker)).role("waker", .., || cell.wake()).check();
}

/// One operation of a `left_right` map: to count.
struct Count;

impl left_right::Absorb<Count> for u64 {
    fn absorb_first(&mut self, _: &mut Count, _: &Self) {
        *self += 1;
    }

    fn sync_with(&mut self, first: &Self) {
        *self = *first;
    }
}

#[test]
fn left_right_readers() {
    let (write, read) = left_right::new::<u64, Count>();
    let other = read.clone();
    share(Mutex::new(write));
    Harness::new()
        .role_once("one", move || _ = black_box(read.enter().map(|value| *value)))
        .role_once("other", move || _ = black_box(other.enter().map(|value| *value)))
        .check();
}

#[test]
fn left_right_writer() {
    let (mut write, read) = left_right::new::<u64, Count>();
    write.append(Count).publish();
    Harness::new()
        .role_once("reader", move || _ = black_box(read.enter().map(|value| *value)))
        .role_once("writer", move || _ = write.publish())
        .check();
}

#[test]
fn atomic_cell_of_two_words() {
    let cell = share(crossbeam_utils::atomic::AtomicCell::new([1u64, 2]));
    Harness::new().role("storer", 1, || cell.store([4, 5])).role("loader", 1, || _ = black_box(cell.load())).check();
}

#[test]
fn map_behind_a_lock() {
    let map = share(RwLock::new(HashMap::from([(1u32, 10u32), (2, 20)])));
    Harness::new().role("reader", 2, || _ = black_box(map.read().unwrap().get(&1).copied())).check();
}

#[test]
fn boxcar() {
    let vector = share(boxcar::Vec::<u64>::new());
    vector.push(1);
    Harness::new()
        .role("pusher", 2, || _ = vector.push(7))
        .role("reader", 1, || _ = black_box(vector.get(1).copied()))
        .check();
}

#[test]
fn parked_thread() {
    let (flag, parked) = (share(AtomicBool::new(false)), share(OnceLock::<Thread>::new()));
    Harness::new()
        .role("parker", 1, || {
            while !flag.load(Ordering::Acquire) {
                std::thread::park();
            }
        })
        .role("unparker", 1, || {
            flag.store(true, Ordering::Release);
            parked.get().expect("the first thread has said who it is").unpark();
        })
        .warm_threads_by(|| _ = parked.set(std::thread::current()))
        .check();
}

#[test]
fn arc_swap() {
    let value = share(arc_swap::ArcSwap::from_pointee(5u64));
    Harness::new().role("reader", 2, || _ = black_box(**value.load())).warm_threads().check();
}

#[test]
fn arc_swap_without_threads() {
    let value = share(arc_swap::ArcSwap::from_pointee(5u64));
    Harness::new().role("reader", .., || _ = black_box(**value.load())).check();
}

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Store buffering of what each thread counts for itself.
#[test]
fn buffered_beside_own_data() {
    let (one, other) = (share(AtomicU64::new(0)), share(AtomicU64::new(0)));
    let role = |stored: &AtomicU64, loaded: &AtomicU64| {
        COUNT.set(COUNT.get() + 1);
        stored.store(COUNT.get(), Ordering::Release);
        black_box(loaded.load(Ordering::Acquire));
    };
    Harness::new()
        .role("left", 1, move || role(one, other))
        .role("right", 1, move || role(other, one))
        .warm_threads()
        .check();
}

/// What one thread counts, no other one sees.
#[test]
fn own_data_is_apart() {
    let seen = share(AtomicU64::new(0));
    Harness::new()
        .role("worker", 2, move || {
            COUNT.set(COUNT.get() + 1);
            assert_eq!(COUNT.get(), 2, "the thread has counted once before");
            seen.store(COUNT.get(), Ordering::Release);
            black_box(seen.load(Ordering::Acquire));
        })
        .warm_threads_by(|| COUNT.set(1))
        .check();
}

/// A node of a stack.
struct Node {
    value: u64,
    next: *mut Node,
}

/// Treiber's stack, with boxes from the heap.
struct Stack(AtomicPtr<Node>);

impl Stack {
    fn push(&self, value: u64) {
        let node = Box::into_raw(Box::new(Node { value, next: null_mut() }));
        loop {
            let head = self.0.load(Ordering::Relaxed);
            unsafe { (*node).next = head };
            if self.0.compare_exchange(head, node, Ordering::Release, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<u64> {
        loop {
            let head = self.0.load(Ordering::Acquire);
            let next = unsafe { head.as_ref()? }.next;
            if self.0.compare_exchange(head, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Some(unsafe { Box::from_raw(head) }.value);
            }
        }
    }

    /// The same, by one of two who say which node they look at, and free none that the other one looks at.
    fn pop_with_hazards(&self, hazards: &[AtomicPtr<Node>; 2], own: usize, order: Ordering) -> Option<u64> {
        loop {
            let head = self.0.load(Ordering::Acquire);
            if head.is_null() {
                return None;
            }
            hazards[own].store(head, order);
            if self.0.load(Ordering::Acquire) != head {
                continue;
            }
            let next = unsafe { (*head).next };
            if self.0.compare_exchange(head, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                let value = unsafe { (*head).value };
                if hazards[1 - own].load(Ordering::Acquire) != head {
                    drop(unsafe { Box::from_raw(head) });
                }
                return Some(value);
            }
        }
    }
}

fn stack_of_one() -> &'static Stack {
    let stack = share(Stack(AtomicPtr::default()));
    stack.push(1);
    stack
}

#[test]
fn stack_with_one_consumer() {
    let stack = share(Stack(AtomicPtr::default()));
    Harness::new()
        .role("producer", 2, || stack.push(1))
        .role("consumer", 1, || _ = black_box(stack.pop()))
        .heap(1)
        .check();
}

#[test]
fn stack_with_two_consumers() {
    let stack = share(Stack(AtomicPtr::default()));
    Harness::new()
        .role("producer", 1, || stack.push(1))
        .role("consumer", 2, || _ = black_box(stack.pop()))
        .heap(1)
        .check();
}

#[test]
fn stack_with_hazards() {
    let (stack, hazards) = (stack_of_one(), share([AtomicPtr::default(), AtomicPtr::default()]));
    Harness::new()
        .role_each("consumer", 2, |own| _ = black_box(stack.pop_with_hazards(hazards, own, Ordering::SeqCst)))
        .heap(1)
        .check();
}

/// What one looks at waits in its buffer.
#[test]
fn stack_with_late_hazards() {
    let (stack, hazards) = (stack_of_one(), share([AtomicPtr::default(), AtomicPtr::default()]));
    Harness::new()
        .role_each("consumer", 2, |own| _ = black_box(stack.pop_with_hazards(hazards, own, Ordering::Release)))
        .heap(1)
        .check();
}

/// A box that is replaced twice, and the second new one may have the address of the first. Whoever takes a box away that
/// he has seen before takes it for unchanged; with a number in the low bits of pointers it is.
fn replaced_boxes(numbers: bool) -> Harness {
    let (cell, replacements) =
        (share(AtomicUsize::new(Box::into_raw(Box::new(1u64)).addr())), share(AtomicU64::new(0)));
    let replace = move |number: usize| {
        let new = Box::into_raw(Box::new(2u64)).addr() | if numbers { number } else { 0 };
        replacements.fetch_add(1, Ordering::Relaxed);
        let old = cell.swap(new, Ordering::AcqRel) & !7;
        if old != 0 {
            drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<u64>(old)) });
        }
    };
    Harness::new()
        .role("replacer", 1, move || {
            replace(1);
            replace(2);
        })
        .role("taker", 1, || {
            let seen = cell.load(Ordering::Acquire);
            let [one, two] = [(), ()].map(|()| replacements.load(Ordering::Acquire));
            if cell.compare_exchange(seen, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                assert!(two <= one + 1, "the box has been replaced in between");
            }
        })
        .heap(2)
}

#[test]
fn replaced_in_between() {
    replaced_boxes(false).check();
}

#[test]
fn replaced_with_numbers() {
    replaced_boxes(true).check();
}

#[test]
fn box_made_by_each() {
    let cell = share(once_cell::race::OnceBox::<u64>::new());
    Harness::new().role("caller", 2, || _ = black_box(*cell.get_or_init(|| Box::new(5)))).heap(1).check();
}

/// Values that roles take out of a place of their own.
struct Own<T>(UnsafeCell<Option<T>>);

unsafe impl<T: Send> Sync for Own<T> {}

impl<T> Own<T> {
    fn take(&self) -> T {
        unsafe { (*self.0.get()).take().unwrap_unchecked() }
    }
}

#[test]
fn last_owner_of_an_arc() {
    let arc = Arc::new(AtomicU64::new(7));
    let owners = share([Own(UnsafeCell::new(Some(arc.clone()))), Own(UnsafeCell::new(Some(arc)))]);
    Harness::new()
        .role_each("owner", 2, |number| {
            let own = owners[number].take();
            own.fetch_add(1, Ordering::Relaxed);
            drop(own);
        })
        .heap(1)
        .check();
}

/// The count of owners is compared too late: both may free.
#[test]
fn freed_twice() {
    let (cell, owners) = (share(AtomicPtr::new(Box::into_raw(Box::new(7u64)))), share(AtomicU64::new(2)));
    Harness::new()
        .role("owner", 2, || {
            owners.fetch_sub(1, Ordering::AcqRel);
            if owners.load(Ordering::Acquire) == 0 {
                drop(unsafe { Box::from_raw(cell.load(Ordering::Relaxed)) });
            }
        })
        .heap(1)
        .check();
}

/// A message that is sent before it is written.
#[test]
fn sent_before_it_is_written() {
    let cell = share(AtomicPtr::<u64>::default());
    Harness::new()
        .role("sender", 1, || {
            let message = Box::into_raw(Box::<u64>::new_uninit()).cast::<u64>();
            cell.store(message, Ordering::Release);
            unsafe { message.write_volatile(5) };
        })
        .role("receiver", 1, || {
            if let Some(message) = unsafe { cell.load(Ordering::Acquire).as_ref() } {
                assert_eq!(*message, 5);
            }
        })
        .heap(1)
        .check();
}

/// The mutex of a group that waits tries a hundred times before it sleeps.
#[test]
fn wait_group() {
    let group = crossbeam_utils::sync::WaitGroup::new();
    let owners = share([Own(UnsafeCell::new(Some(group.clone()))), Own(UnsafeCell::new(Some(group)))]);
    Harness::new()
        .role("worker", 1, || drop(owners[0].take()))
        .role("waiter", 1, || owners[1].take().wait())
        .heap(1)
        .check();
}

/// A receiver that meets a message on its way spins, and then yields.
#[test]
fn channel_without_bounds() {
    let (sender, receiver) = mpsc::channel::<u64>();
    let (sender, receiver) = (share(sender), Own(UnsafeCell::new(Some(receiver))));
    Harness::new()
        .role("sender", 1, || _ = sender.send(1))
        .role_once("receiver", move || {
            _ = black_box(unsafe { (*receiver.0.get()).as_ref().unwrap_unchecked() }.try_recv())
        })
        .heap(1)
        .check();
}

/// Each waits at a node on his own stack.
fn nodes_on_stacks(copies: impl Into<Copies>) -> Harness {
    let lock = share(mcslock::raw::spins::Mutex::new(0u32));
    Harness::new().role("worker", copies, || {
        let mut node = mcslock::raw::MutexNode::new();
        lock.lock_with_then(&mut node, |value| *value = 1);
    })
}

#[test]
fn mcs_lock() {
    nodes_on_stacks(2).share_stacks().check();
}

#[test]
fn mcs_lock_of_many() {
    nodes_on_stacks(..).share_stacks().check();
}

/// A message that stays on its sender's stack until it has been read.
#[test]
fn message_on_a_stack() {
    let cell = share(AtomicPtr::<u64>::default());
    Harness::new()
        .role("sender", 1, || {
            let message = UnsafeCell::new(5u64);
            cell.store(message.get(), Ordering::Release);
            while !cell.load(Ordering::Acquire).is_null() {
                std::hint::spin_loop();
            }
        })
        .role("receiver", 1, || {
            if let Some(message) = unsafe { cell.load(Ordering::Acquire).as_ref() } {
                assert_eq!(*message, 5);
                cell.store(null_mut(), Ordering::Release);
            }
        })
        .share_stacks()
        .check();
}
