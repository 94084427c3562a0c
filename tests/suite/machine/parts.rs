//! Accesses of different sizes to the same bytes, taken in parts: compared with an oracle that
//! knows stores of all sizes.
//!
//! The oracle explores all executions of straight-line programs whose stores reach memory at once,
//! whatever their size, with loads that find each byte in their own buffer or in memory. If the
//! code as it is read is robust, no such execution may have a cycle.

use crate::environment::seeds;
use crate::{checked, documents};
use palisade::program::Program;
use palisade::robustness::{CheckOptions, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// An access of a thread: what it does, where it begins, how many bytes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    kind: Kind,
    at: usize,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Exchange,
    Fence,
}

/// How many bytes of memory there are.
const BYTES: usize = 16;

type Threads = Vec<Vec<Access>>;

/// A state of the oracle: how far each thread is, its buffer, who has written each byte, and the
/// edges so far.
#[derive(Clone)]
struct State {
    next: Vec<usize>,
    buffers: Vec<Vec<usize>>,
    /// The events that have written each byte, in their order.
    written: Vec<Vec<Event>>,
    /// For each byte that a load has found: the load, and how many had written the byte before what
    /// it found.
    found: Vec<(Event, usize, Option<Event>)>,
}

/// A thread and the number of its access.
type Event = (usize, usize);

/// Whether some execution of the threads has a cycle of program order, reads-from, coherence and
/// from-reads.
fn has_cycle(threads: &Threads) -> bool {
    let state = State {
        next: vec![0; threads.len()],
        buffers: vec![Vec::new(); threads.len()],
        written: vec![Vec::new(); BYTES],
        found: Vec::new(),
    };
    explored(threads, state)
}

fn explored(threads: &Threads, state: State) -> bool {
    let mut has_ended = true;
    for thread in 0..threads.len() {
        if let Some(oldest) = state.buffers[thread].first().copied() {
            has_ended = false;
            let mut after = state.clone();
            after.buffers[thread].remove(0);
            after.write((thread, oldest), threads[thread][oldest]);
            if explored(threads, after) {
                return true;
            }
        }
        let number = state.next[thread];
        let Some(access) = threads[thread].get(number).copied() else { continue };
        has_ended = false;
        if matches!(access.kind, Kind::Exchange | Kind::Fence) && !state.buffers[thread].is_empty() {
            continue;
        }
        let (mut after, event) = (state.clone(), (thread, number));
        after.next[thread] += 1;
        if matches!(access.kind, Kind::Load | Kind::Exchange) {
            for byte in access.at..access.at + access.bytes {
                let covers = |own: &&usize| covers(threads[thread][**own], byte);
                let own = state.buffers[thread].iter().rev().find(covers).map(|own| (thread, *own));
                after.found.push((event, byte, own.or_else(|| state.written[byte].last().copied())));
            }
        }
        match access.kind {
            Kind::Store => after.buffers[thread].push(number),
            Kind::Exchange => after.write(event, access),
            Kind::Load | Kind::Fence => {}
        }
        if explored(threads, after) {
            return true;
        }
    }
    has_ended && state.is_cyclic(threads)
}

fn covers(access: Access, byte: usize) -> bool {
    (access.at..access.at + access.bytes).contains(&byte)
}

impl State {
    fn write(&mut self, event: Event, access: Access) {
        self.written[access.at..access.at + access.bytes].iter_mut().for_each(|byte| byte.push(event));
    }

    fn is_cyclic(&self, threads: &Threads) -> bool {
        let mut edges: BTreeMap<Event, BTreeSet<Event>> = BTreeMap::new();
        let mut edge = |from: Event, to: Event| {
            if from != to {
                edges.entry(from).or_default().insert(to);
            }
        };
        for (thread, accesses) in threads.iter().enumerate() {
            (1..accesses.len()).for_each(|number| edge((thread, number - 1), (thread, number)));
        }
        for order in &self.written {
            order.windows(2).for_each(|pair| edge(pair[0], pair[1]));
        }
        for (load, byte, found) in &self.found {
            let order = &self.written[*byte];
            let after =
                found.map_or(0, |found| 1 + order.iter().position(|own| *own == found).expect("all reach memory"));
            found.iter().for_each(|found| edge(*found, *load));
            order.get(after).iter().for_each(|later| edge(*load, **later));
        }
        // A cycle is left when what nothing leads to is taken away again and again.
        loop {
            let led_to: BTreeSet<Event> = edges.values().flatten().copied().collect();
            let before = edges.len();
            edges.retain(|from, _| led_to.contains(from));
            if edges.len() == before {
                return !edges.is_empty();
            }
        }
    }
}

/// Random numbers, by an xorshift.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % count as u64).expect("a small number")
    }

    fn threads(&mut self) -> Threads {
        (0..2).map(|_| (0..2 + self.below(2)).map(|_| self.access()).collect()).collect()
    }

    fn access(&mut self) -> Access {
        let kind = [
            Kind::Load,
            Kind::Load,
            Kind::Load,
            Kind::Store,
            Kind::Store,
            Kind::Store,
            Kind::Store,
            Kind::Exchange,
            Kind::Fence,
        ][self.below(9)];
        let bytes = match kind {
            Kind::Exchange => [1, 4, 8][self.below(3)],
            _ => [1, 1, 2, 4, 8, 8, 16][self.below(7)],
        };
        // Sometimes what a compiler has merged: not aligned.
        let step = if kind != Kind::Exchange && self.below(4) == 0 { 1 } else { bytes };
        Access { kind, at: self.below((BYTES - bytes) / step + 1) * step, bytes }
    }
}

/// What a thread does first whose addresses are computed: a pointer comes from memory, which no
/// other thread accesses.
fn pointed(thread: usize) -> String {
    let own = format!("pointers+{}(%rip)", 8 * thread);
    format!("\tleaq memory(%rip),%rdi\n\tmovq %rdi,{own}\n\tmovq {own},%rdi\n")
}

fn instruction(access: Access, number: usize, is_pointed: bool) -> String {
    let place = format!("{}{}", access.at, if is_pointed { "(%rdi)" } else { "+memory(%rip)" });
    let number = number % 100 + 1;
    let (suffix, register) = match access.bytes {
        1 => ("b", "%al"),
        2 => ("w", "%ax"),
        4 => ("l", "%eax"),
        _ => ("q", "%rax"),
    };
    match (access.kind, access.bytes) {
        (Kind::Load, 16) => format!("movups {place},%xmm0"),
        (Kind::Store, 16) => format!("movups %xmm1,{place}"),
        (Kind::Load, _) => format!("mov{suffix} {place},{register}"),
        (Kind::Store, _) => format!("mov{suffix} ${number},{place}"),
        (Kind::Exchange, _) => format!("movl ${number},%eax\n\txchg{suffix} {register},{place}"),
        (Kind::Fence, _) => "mfence".to_owned(),
    }
}

/// Assembles functions with so many bytes of memory.
fn assemble(folder: &Path, functions: &[(String, String)]) {
    let mut text = ".text\n".to_owned();
    for (name, body) in functions {
        writeln!(text, ".globl {name}\n.type {name},@function\n{name}:\n{body}\tret\n.size {name},.-{name}")
            .expect("text can be written to");
    }
    for (name, bytes) in [("memory", 64), ("flag", 8), ("other", 8), ("pointers", 16)] {
        writeln!(
            text,
            ".data\n.balign 64\n.globl {name}\n.type {name},@object\n.size {name},{bytes}\n{name}:\t.zero {bytes}"
        )
        .expect("text can be written to");
    }
    text += "\t.section .note.GNU-stack,\"\",@progbits\n";
    std::fs::write(folder.join("code.s"), text).expect("the folder is writable");
    let arguments = ["-nostdlib", "-static", "-no-pie", "-Wl,-e,0", "code.s", "-o", "code"];
    let output = Command::new("gcc").args(arguments).current_dir(folder).output().expect("gcc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Reads functions as roles, one copy of each.
fn read(folder: &Path, functions: &[String]) -> Result<Program, String> {
    let roles: String = functions.iter().map(|name| format!("[[role]]\nfunction = {name:?}\n")).collect();
    let path = folder.join("roles.toml");
    std::fs::write(&path, format!("image = \"code\"\n{roles}")).expect("the folder is writable");
    palisade::machine::read(&path.display().to_string()).map_err(|error| error.render(false))
}

#[needs::command("gcc --version")]
#[test]
fn what_is_robust_in_parts_is_robust() {
    let folder = tempfile::tempdir().expect("a folder");
    let programs: Vec<Threads> = seeds(40, 6_000).map(|seed| Random(seed * 0x9e37_79b9 + 77).threads()).collect();
    let name = |program: usize, thread: usize| format!("p{program}_{thread}");
    let mut functions = Vec::new();
    for (number, threads) in programs.iter().enumerate() {
        for (thread, accesses) in threads.iter().enumerate() {
            let is_pointed = (number + thread).is_multiple_of(3);
            let mut body = if is_pointed { pointed(thread) } else { String::new() };
            for (index, access) in accesses.iter().enumerate() {
                body += &format!("\t{}\n", instruction(*access, index + 10 * thread, is_pointed));
            }
            functions.push((name(number, thread), body));
        }
    }
    assemble(folder.path(), &functions);
    let [mut robust, mut cyclic, mut alarms, mut refused, mut divided] = [0; 5];
    for (number, threads) in programs.iter().enumerate() {
        let names: Vec<String> = (0..threads.len()).map(|thread| name(number, thread)).collect();
        let program = match read(folder.path(), &names) {
            Ok(program) => program,
            Err(error) => {
                let is_known = ["at once, and nothing says in which order", "stores of different sizes", "not aligned"];
                assert!(is_known.iter().any(|why| error.contains(why)), "{threads:?}\n{error}");
                refused += 1;
                continue;
            }
        };
        let heading = palisade::program::Heading::of(&program.source).expect("a listing");
        divided += usize::from(!heading.parts.is_empty() || !heading.halves.is_empty());
        let Ok(found) = checked::check(&program, &CheckOptions::default()) else {
            // An instruction that is refused where control comes to it.
            refused += 1;
            continue;
        };
        match (found.verdict, has_cycle(threads)) {
            (Verdict::Robust, true) => panic!("{threads:?}\n{}", program.source.text),
            (Verdict::Robust, false) => robust += 1,
            (Verdict::NotRobust, true) => cyclic += 1,
            (Verdict::NotRobust, false) => {
                assert!(
                    !heading.parts.is_empty() || !heading.halves.is_empty(),
                    "{threads:?}\n{}",
                    program.source.text
                );
                alarms += 1;
            }
            (verdict, _) => panic!("{verdict:?}"),
        }
    }
    println!(
        "{robust} robust, {cyclic} not, {alarms} not robust in parts alone, {refused} refused; {divided} in parts"
    );
    assert!(robust > 5 && cyclic > 0 && divided > 5, "{robust} {cyclic} {divided}");
}

/// Functions about one thing each.
const FUNCTIONS: [(&str, &str); 10] = [
    // A message of 16 bytes behind a flag, filled by one store or two.
    ("sends", "\tmovups %xmm1,memory(%rip)\n\tmovl $1,flag(%rip)\n"),
    ("receives", "\tcmpl $0,flag(%rip)\n\tje 1f\n\tmovups memory(%rip),%xmm0\n\tmovq %xmm0,memory+32(%rip)\n1:\n"),
    // A byte beside the word that it is in.
    ("flips", "\tmovb $1,memory(%rip)\n\tmfence\n\tmovq memory(%rip),%rax\n"),
    ("writes", "\tmovq $0,memory(%rip)\n"),
    // Store buffering, of a byte beside all of its word, and of a word across two others.
    ("left", "\tmovb $1,memory(%rip)\n\tmovq other(%rip),%rax\n"),
    ("right", "\tmovq $1,other(%rip)\n\tmovq memory(%rip),%rax\n"),
    ("merged", "\tmovq $1,memory+4(%rip)\n\tmovq other(%rip),%rax\n"),
    ("unmerged", "\tmovq $1,other(%rip)\n\tmovl memory+4(%rip),%eax\n\tmovl memory+8(%rip),%ecx\n"),
    // Seven cells at once.
    (
        "bytes",
        "\tmovb $1,memory(%rip)\n\tmovb $1,memory+1(%rip)\n\tmovb $1,memory+2(%rip)\n\tmovb $1,memory+3(%rip)\n\
         \tmovb $1,memory+4(%rip)\n\tmovb $1,memory+5(%rip)\n\tmovb $1,memory+6(%rip)\n",
    ),
    ("all", "\tmovq memory(%rip),%rax\n\tmovq %rax,other(%rip)\n"),
];

fn report(folder: &Path, functions: &[&str]) -> (String, serde_json::Value) {
    let owned: Vec<String> = functions.iter().map(|name| (*name).to_owned()).collect();
    read(folder, &owned).expect("it is read");
    let ask = |arguments: &[&str]| {
        let mut palisade = Command::new(env!("CARGO_BIN_EXE_palisade"));
        palisade.args(arguments).current_dir(folder).output().expect("it starts")
    };
    let text = ask(&["check", "roles.toml"]);
    let text = format!("{}{}", String::from_utf8_lossy(&text.stdout), String::from_utf8_lossy(&text.stderr));
    (text, documents::read(&ask(&["check", "roles.toml", "--json"]).stdout))
}

#[needs::command("gcc --version")]
#[test]
fn what_is_found_in_parts_is_no_violation_of_what_is_made_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    assemble(folder.path(), &FUNCTIONS.map(|(name, body)| (name.to_owned(), body.to_owned())));
    let (text, document) = report(folder.path(), &["sends", "receives"]);
    assert_eq!(document["verdict"], "holds", "{text}");
    assert!(text.contains("as two, in any order"), "{text}");
    let (text, document) = report(folder.path(), &["flips", "writes"]);
    assert_eq!(document["verdict"], "holds", "{text}");
    let (text, document) = report(folder.path(), &["merged", "unmerged"]);
    assert_eq!(document["verdict"], "violated", "two words are no one store: {text}");
    // The violation that is found is real, and nobody has looked whether it is: there is no answer,
    // and no evidence.
    let (text, document) = report(folder.path(), &["left", "right", "writes"]);
    assert_eq!(document["verdict"], "unknown", "{text}");
    assert!(text.contains("is taken in parts, but the processor makes it at once"), "{text}");
    let why = read(folder.path(), &["bytes", "all"].map(str::to_owned)).expect_err("seven cells are too many");
    assert!(why.contains("7 cells of shared memory at once, and nothing says in which order"), "{why}");
}
