//! Memory from the heap, against an oracle that knows nothing of machine code: threads that take,
//! publish, read and free blocks at random, compiled from C, have the outcomes and the failures
//! that all interleavings of their operations have, with and without store buffers. And harnesses
//! of known answers.

use crate::{checked, environment};
use palisade::limits::Limits;
use palisade::program::Program;
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::{FinalStates, Instance, Model, final_states};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// What a thread does next. It has a pointer `p` to the block that it took last, and `q` to one
/// that it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// It takes a block.
    Take,
    /// It writes a number to its own block.
    Fill(u64),
    /// It puts a pointer to its own block where others find it.
    Publish(usize),
    /// It finds a pointer.
    Find(usize),
    /// It finds one and takes it away, by a locked instruction.
    Catch(usize),
    /// It reads what it has found.
    Read,
    /// It writes to what it has found.
    Write(u64),
    /// It frees what it has found.
    Free,
    /// It frees its own block.
    FreeOwn,
    /// It sets a flag.
    Set(usize),
    /// It reads a flag.
    Get(usize),
    /// It waits until its stores are in memory.
    Fence,
}

use Operation::{Catch, Fence, Fill, Find, Free, FreeOwn, Get, Publish, Read, Set, Take, Write};

/// New blocks that a thread may take.
const NEW: usize = 2;

struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    fn index(&mut self) -> usize {
        usize::from(self.below(3) == 0)
    }

    fn thread(&mut self, length: u64, is_first: bool) -> Vec<Operation> {
        let index = self.index();
        let mut operations = match if is_first { 0 } else { self.below(6) } {
            0 | 1 => vec![Take, Fill(1 + self.below(3)), Publish(index)],
            2 => vec![Find(index), Read],
            3 => vec![Find(index), Free],
            4 => vec![Catch(index), Free],
            _ => vec![Set(index)],
        };
        let mut taken = usize::from(operations[0] == Take);
        while operations.len() < usize::try_from(length).expect("few") {
            let next = match self.below(22) {
                0..=3 if taken < NEW => {
                    taken += 1;
                    operations.push(Take);
                    if self.below(6) > 0 { Fill(1 + self.below(3)) } else { Publish(self.index()) }
                }
                4..=6 if taken > 0 => Publish(self.index()),
                7 if taken > 0 => FreeOwn,
                8 | 9 => Find(self.index()),
                10..=12 => Catch(self.index()),
                13 | 14 => Read,
                15 => Write(4 + self.below(2)),
                16 | 17 => Free,
                18 => Set(self.index()),
                19 | 20 => Get(self.index()),
                21 => Fence,
                _ => continue,
            };
            operations.push(next);
        }
        operations
    }
}

/// The threads in C.
fn source(threads: &[Vec<Operation>]) -> String {
    let mut text = "typedef volatile unsigned long word;\n\
        __attribute__((noipa)) void *malloc(unsigned long n) { asm volatile(\"\" : \"+r\"(n)); return (void *)n; }\n\
        __attribute__((noipa)) void free(void *p) { asm volatile(\"\" :: \"r\"(p)); }\n\
        word flags[2], out[3]; word *volatile shared[2];\n"
        .to_owned();
    for (number, operations) in threads.iter().enumerate() {
        let _ = writeln!(text, "void t{number}(void) {{ unsigned long sum = 0; word *p = 0, *q = 0;");
        for operation in operations {
            let _ = match operation {
                Take => writeln!(text, "p = malloc(16);"),
                Fill(value) => writeln!(text, "*p = {value};"),
                Publish(index) => writeln!(text, "shared[{index}] = p;"),
                Find(index) => writeln!(text, "q = shared[{index}];"),
                Catch(index) => writeln!(text, "q = __atomic_exchange_n(&shared[{index}], 0, __ATOMIC_SEQ_CST);"),
                Read => writeln!(text, "if (q) sum = 8 * sum + *q;"),
                Write(value) => writeln!(text, "if (q) *q = {value};"),
                Free => writeln!(text, "if (q) free((void *)q);"),
                FreeOwn => writeln!(text, "free((void *)p);"),
                Set(index) => writeln!(text, "flags[{index}] = 1;"),
                Get(index) => writeln!(text, "sum = 8 * sum + flags[{index}];"),
                Fence => writeln!(text, "__atomic_thread_fence(__ATOMIC_SEQ_CST);"),
            };
        }
        let _ = writeln!(text, "out[{number}] = sum + {DONE}; }}");
    }
    text
}

/// The program that Palisade reads of the compiled threads.
fn lifted(threads: &[Vec<Operation>], folder: &Path) -> Program {
    std::fs::write(folder.join("heap.c"), source(threads)).expect("the folder is writable");
    let options = ["-O1", "-g", "-ffreestanding", "-fno-builtin", "-fcf-protection=none", "-fno-stack-protector"];
    let linked = ["-fno-pie", "-no-pie", "-nostdlib", "-static", "-Wl,-e,0", "heap.c", "-o", "heap"];
    let built = Command::new("gcc").args(options).args(linked).current_dir(folder).output().expect("gcc starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut text = format!("image = \"heap\"\nheap = {NEW}\n");
    for number in 0..threads.len() {
        let _ = write!(text, "[[role]]\nfunction = \"t{number}\"\n");
    }
    let roles = folder.join("roles.toml");
    std::fs::write(&roles, text).expect("the folder is writable");
    palisade::machine::read(&roles.display().to_string()).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// A place of the oracle's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Flag(usize),
    Shared(usize),
    /// What is in a block.
    Data(usize),
    /// Whether a block is in use.
    Life(usize),
    Out(usize),
}

/// A thread that comes to its end adds this to its sum.
const DONE: u64 = 1 << 40;

const POISON: u64 = u64::MAX;
const LIVE: u64 = 0;
const FREE: u64 = 1;
const DEAD: u64 = 2;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Thread {
    at: usize,
    own: Option<usize>,
    found: Option<usize>,
    sum: u64,
    new: usize,
    kept: BTreeSet<usize>,
    buffer: Vec<(Place, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<Thread>,
    memory: BTreeMap<Place, u64>,
}

impl State {
    fn read(&self, thread: usize, place: Place) -> u64 {
        let waiting = self.threads[thread].buffer.iter().rev().find(|(own, _)| *own == place);
        let initial = if matches!(place, Place::Data(_)) { POISON } else { 0 };
        waiting.map(|(_, value)| *value).or_else(|| self.memory.get(&place).copied()).unwrap_or(initial)
    }

    fn store(&mut self, thread: usize, place: Place, value: u64, buffers: bool) {
        if buffers {
            self.threads[thread].buffer.push((place, value));
        } else {
            self.memory.insert(place, value);
        }
    }

    fn is_live(&self, thread: usize, block: usize) -> bool {
        self.read(thread, Place::Life(block)) == LIVE
    }
}

/// The outcomes of all threads that come to their ends, and whether one fails.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcomes {
    sums: BTreeSet<Vec<u64>>,
    fails: bool,
}

/// All interleavings, with or without store buffers.
fn interleavings(threads: &[Vec<Operation>], buffers: bool) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let start = State { threads: vec![Thread::default(); threads.len()], memory: BTreeMap::new() };
    let (mut met, mut open) = (HashSet::from([start.clone()]), vec![start]);
    while let Some(state) = open.pop() {
        let mut next = Vec::new();
        for (number, operations) in threads.iter().enumerate() {
            if !state.threads[number].buffer.is_empty() {
                let mut after = state.clone();
                let (place, value) = after.threads[number].buffer.remove(0);
                after.memory.insert(place, value);
                next.push(after);
            }
            match step(&state, number, operations, buffers) {
                Some(after) => next.extend(after),
                None => outcomes.fails = true,
            }
        }
        let is_done = |(thread, own): (&Thread, &Vec<Operation>)| thread.at > own.len() && thread.buffer.is_empty();
        if state.threads.iter().zip(threads).all(is_done) {
            outcomes.sums.insert((0..threads.len()).map(|number| state.read(number, Place::Out(number))).collect());
        }
        open.extend(next.into_iter().filter(|state| met.insert(state.clone())));
    }
    outcomes
}

/// The states after the next operation of a thread; nothing where it fails.
fn step(state: &State, number: usize, operations: &[Operation], buffers: bool) -> Option<Vec<State>> {
    let mut after = state.clone();
    let thread = &mut after.threads[number];
    let is_drained = thread.buffer.is_empty();
    let (own, found) = (thread.own, thread.found);
    thread.at += 1;
    let Some(operation) = operations.get(state.threads[number].at) else {
        if thread.at > operations.len() + 1 {
            return Some(Vec::new());
        }
        let sum = thread.sum + DONE;
        after.store(number, Place::Out(number), sum, buffers);
        return Some(vec![after]);
    };
    let pointer = |block: Option<usize>| block.map_or(0, |block| block as u64 + 1);
    match *operation {
        Take => return Some(takes(state, &after, number, buffers)),
        Fill(value) => {
            let block = own.expect("it has taken one");
            if !state.is_live(number, block) {
                return None;
            }
            after.store(number, Place::Data(block), value, buffers);
        }
        Publish(index) => after.store(number, Place::Shared(index), pointer(own), buffers),
        Find(index) => {
            let value = state.read(number, Place::Shared(index));
            after.threads[number].found = usize::try_from(value).expect("a few blocks").checked_sub(1);
        }
        Catch(_) | Fence if !is_drained => return Some(Vec::new()),
        Catch(index) => {
            let value = after.memory.insert(Place::Shared(index), 0).unwrap_or(0);
            after.threads[number].found = usize::try_from(value).expect("a few blocks").checked_sub(1);
        }
        Fence => {}
        Read => {
            if let Some(block) = found {
                let value = state.read(number, Place::Data(block));
                if !state.is_live(number, block) || value == POISON {
                    return None;
                }
                after.threads[number].sum = 8 * after.threads[number].sum + value;
            }
        }
        Write(value) => {
            if let Some(block) = found {
                if !state.is_live(number, block) {
                    return None;
                }
                after.store(number, Place::Data(block), value, buffers);
            }
        }
        Free | FreeOwn => {
            let block = if *operation == Free { found } else { own };
            return match block {
                None => Some(vec![after]),
                Some(block) => frees(state, after, number, block, buffers),
            };
        }
        Set(index) => after.store(number, Place::Flag(index), 1, buffers),
        Get(index) => {
            after.threads[number].sum = 8 * after.threads[number].sum + state.read(number, Place::Flag(index));
        }
    }
    Some(vec![after])
}

/// A block is taken: a new one, one that the thread has kept, or one that is free in memory, for
/// which its own stores have to be there as well.
fn takes(state: &State, after: &State, number: usize, buffers: bool) -> Vec<State> {
    let mut all = Vec::new();
    let thread = &state.threads[number];
    if thread.new < NEW {
        let mut after = after.clone();
        after.threads[number].own = Some(number * NEW + thread.new);
        after.threads[number].new += 1;
        all.push(after);
    }
    for block in &thread.kept {
        let mut after = after.clone();
        after.threads[number].own = Some(*block);
        after.threads[number].kept.remove(block);
        after.store(number, Place::Life(*block), LIVE, buffers);
        all.push(after);
    }
    if thread.buffer.is_empty() {
        for block in 0..state.threads.len() * NEW {
            if state.read(number, Place::Life(block)) == FREE {
                let mut after = after.clone();
                after.threads[number].own = Some(block);
                after.memory.insert(Place::Life(block), LIVE);
                all.push(after);
            }
        }
    }
    all
}

/// A block is freed, and kept or left to others; nothing where it was freed before.
fn frees(state: &State, mut after: State, number: usize, block: usize, buffers: bool) -> Option<Vec<State>> {
    if !state.is_live(number, block) {
        return None;
    }
    after.store(number, Place::Life(block), DEAD, buffers);
    after.store(number, Place::Data(block), POISON, buffers);
    let mut kept = after.clone();
    kept.threads[number].kept.insert(block);
    after.store(number, Place::Life(block), FREE, buffers);
    Some(vec![kept, after])
}

/// The outcomes of the program that was read.
fn of_program(program: &Program, found: &FinalStates, threads: usize) -> Outcomes {
    Outcomes { sums: sums(program, found, threads), fails: !found.violations.is_empty() }
}

/// What threads that come to their ends have put into `out`.
pub(super) fn sums(program: &Program, found: &FinalStates, threads: usize) -> BTreeSet<Vec<u64>> {
    let names = |number: usize| [format!("out[{number}]"), format!("out+{:#x}", 8 * number)];
    let is_out =
        |name: &str, number: usize| names(number).iter().any(|own| own == name) || number == 0 && name == "out";
    let out = |number: usize| {
        let named = program.addresses.iter().find(|own| is_out(&own.name, number));
        named.unwrap_or_else(|| panic!("where is out[{number}]? {:?}", program.addresses)).address
    };
    let sums = found
        .completed
        .iter()
        .map(|state| -> Vec<u64> { (0..threads).map(|number| state.memory(out(number)).cast_unsigned()).collect() });
    // A thread that fails ends there.
    sums.filter(|sums| sums.iter().all(|sum| *sum >= DONE)).collect()
}

/// Compares compiled threads with the oracle; the outcomes without and with store buffers.
fn compare(threads: &[Vec<Operation>], folder: &Path) -> ([Outcomes; 2], Verdict) {
    let program = lifted(threads, folder);
    let instance = Instance::of(&program).expect("the copies are fixed");
    let outcomes = [(Model::Sc, false), (Model::Tso, true)].map(|(model, buffers)| {
        let expected = interleavings(threads, buffers);
        let found = final_states(&program, &instance, model, 16, &Limits::none()).expect("all states are found");
        let found = of_program(&program, &found, threads.len());
        assert_eq!(found.fails, expected.fails, "{model:?} {threads:?}");
        // Two may free a block at the same time, and neither notice: then one fails in another
        // interleaving.
        let are_right = if found.fails { found.sums.is_superset(&expected.sums) } else { found == expected };
        assert!(are_right, "{model:?} {threads:?}: {found:?}, not {expected:?}");
        expected
    });
    let verdict = checked::check(&program, &CheckOptions::default()).expect("it has an answer").verdict;
    (outcomes, verdict)
}

#[needs::command("gcc --version")]
#[test]
fn blocks_come_and_go_as_an_oracle_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut failing, mut robust, mut broken) = (0, 0, 0);
    for seed in environment::seeds(14, 1500) {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (count, length) = if random.below(4) == 0 { (3, 4) } else { (2, 6) };
        let threads: Vec<Vec<Operation>> = (0..count).map(|number| random.thread(length, number == 0)).collect();
        let (outcomes, verdict) = compare(&threads, folder.path());
        if verdict == Verdict::Robust {
            assert_eq!(outcomes[0], outcomes[1], "{seed} {threads:?}");
            robust += 1;
        } else {
            broken += 1;
        }
        failing += usize::from(outcomes[0].fails);
    }
    println!("{robust} robust, {broken} not, {failing} with failures");
    assert!(robust >= 3 && failing >= 1, "{robust} {failing}");
}

/// Threads that show one rule of the heap each. Two new blocks are all that a thread has.
#[needs::command("gcc --version")]
#[test]
fn each_rule_of_the_heap_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let outcomes =
        |first: &[Operation], second: &[Operation]| compare(&[first.to_vec(), second.to_vec()], folder.path()).0;
    // What was in a block is gone when it is taken again.
    let again = [Take, Fill(1), Take, Fill(2), FreeOwn, Take, Publish(0), Find(0), Read];
    let [sc, _] = outcomes(&again, &[Set(1)]);
    assert!(sc.fails && sc.sums.is_empty(), "{sc:?}");
    // What nothing has written is not computed with.
    let [sc, _] = outcomes(&[Take, Publish(0)], &[Find(0), Read]);
    assert!(sc.fails, "{sc:?}");
    // Neither a new block nor one that the thread has freed itself waits for its stores.
    let new = [Set(0), Take, Fill(1), Get(1)];
    let own = [Take, Fill(1), Take, Fill(2), Set(0), FreeOwn, Take, Get(1)];
    for first in [&new[..], &own] {
        let [sc, tso] = outcomes(first, &[Set(1), Fence, Get(0)]);
        assert!(!sc.sums.contains(&vec![DONE; 2]) && tso.sums.contains(&vec![DONE; 2]), "{first:?}: {tso:?}");
    }
}
