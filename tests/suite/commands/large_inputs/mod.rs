//! Inputs that are large in one respect, with every command and its options: each ends within its
//! limits.
//!
//! A [generator](inputs) makes programs and nets with many values, choices, copies, labels, threads
//! or properties, that nest deeply, or have long names; for nets also many arcs and tokens. What a
//! run may take is its limit and a tenth, with what fits into a third of a second. Tests run beside
//! others: a run is over the time if its processor time is, or if it takes many times as long as it
//! may.

mod inputs;

use crate::environment::{is_long_run, seeds};
use inputs::Input;
use palisade::semantics::random::Randomness;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// The limits of each run.
const TIME: Duration = Duration::from_millis(400);
const MEMORY: u64 = 300 << 20;

/// What a run may take besides, and a tenth of its limits.
const MORE_TIME: Duration = Duration::from_millis(300);

/// What is filled in that time.
const MORE_MEMORY: u64 = 300 << 20;

/// How many times as long as it may a run takes that waits for nothing but its share of the
/// processors.
const BUSY: u32 = 60;

/// What to ask of programs.
const OF_PROGRAMS: [&str; 72] = [
    "check",
    "check -v",
    "check --all",
    "check --no-prune",
    "check --nets",
    "check --one-query",
    "check --no-counters",
    "check --verify",
    "check --certificate out",
    "check --model pso",
    "check --model pso --certificate out",
    "check --ask races",
    "check --ask races --certificate out",
    "check --ask hangs",
    "check --ask hangs --certificate out",
    "check --ask hangs --model sc",
    "check --ask hopeless",
    "check --ask hopeless --certificate out",
    "check --model c11",
    "check --model c11 --certificate out",
    "check --model ra --certificate out",
    "check --attacks 1-3",
    "check --values 100000",
    "check --threads all=*",
    "check --domain 0..4294967295 --wrap",
    "check --sarif out.sarif --junit out.xml",
    "check --report out.html",
    "prove",
    "prove -v",
    "prove --model sc",
    "prove --model pso",
    "prove --by values",
    "prove --by sc",
    "prove --by sc-robust",
    "prove --by buffers --buffer 100",
    "prove --by snapshots",
    "prove --by enriched",
    "prove --by counters",
    "prove --no-slice --certificate out",
    "prove --threads all=*",
    "fences",
    "fences --all",
    "fences --diff",
    "fences --nets",
    "fences --redundant",
    "fences --with xchg",
    "fences --cost depth",
    "fences --certificate out",
    "fences --ask races",
    "fences --ask hangs",
    "fences --model c11",
    "fences --model ra",
    "fences --ask properties",
    "fences --ask properties --model pso",
    "fences --ask properties --objective pairs",
    "fences --ask properties --no-slice --certificate out",
    "orderings",
    "orderings --threads all=*",
    "orderings --certificate out",
    "witness",
    "witness --litmus",
    "witness --dot",
    "witness --svg",
    "witness --mermaid",
    "net",
    "net --format spec",
    "net --format tts",
    "simulate",
    "simulate --model sc,pso",
    "convert --to native",
    "convert --to trencher",
    "convert --to litmus",
];

/// What to ask of nets.
const OF_NETS: [&str; 22] = [
    "cover",
    "cover -v",
    "cover --verify",
    "cover --certificate out.json",
    "cover --deterministic",
    "cover --report out.html",
    "cover --strategy karp-miller",
    "cover --strategy shared-state",
    "cover --strategy backward",
    "cover --strategy directed",
    "cover --strategy continuous",
    "cover --strategy state-equation",
    "cover --strategy saturation",
    "cover --strategy enumerate",
    "cover --write out.spec",
    "cover --write out.pnml",
    "cover --write out.lola",
    "cover --all",
    "cover --ask deadlock",
    "cover --ask one-safe",
    "cover --ask quasi-live",
    "cover --ask upper-bounds --certificate out.json",
];

/// What a run took.
struct Taken {
    wall: Duration,
    processor: Duration,
    bytes: u64,
    status: Option<i32>,
    said: String,
}

fn run(folder: &Path, file: &str, line: &str, json: bool) -> Taken {
    let mut words = line.split(' ');
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.arg(words.next().expect("a command")).arg(file).args(words).args(["--jobs", "1"]);
    command.args(["--timeout", &format!("{}ms", TIME.as_millis()), "--memory", &MEMORY.to_string()]);
    command.args(json.then_some("--json")).current_dir(folder).stdin(Stdio::null());
    // Pipes would have to be read; what is said is looked at only where something is wrong.
    let output = std::fs::File::create(folder.join("said")).expect("a file");
    command.stdout(output.try_clone().expect("another handle")).stderr(output);
    let begin = Instant::now();
    let used = command.spawn().expect("it runs").wait4().expect("it ends");
    let mut said = std::fs::read(folder.join("said")).expect("a file");
    said.truncate(2000);
    Taken {
        wall: begin.elapsed(),
        processor: used.rusage.utime + used.rusage.stime,
        bytes: used.rusage.maxrss,
        status: used.status.code(),
        said: String::from_utf8_lossy(&said).into_owned(),
    }
}

impl Taken {
    /// What is wrong with it.
    fn objection(&self) -> Option<String> {
        let time = TIME + TIME / 10 + MORE_TIME;
        let memory = MEMORY + MEMORY / 10 + MORE_MEMORY;
        let Self { wall, processor, bytes, status, said } = self;
        if status.is_none_or(|status| status > 3) {
            return Some(format!("ended with {status:?}: {said}"));
        }
        if *processor > time || *wall > time * BUSY {
            return Some(format!("took {processor:?} of the processor in {wall:?}, exit {status:?}: {said}"));
        }
        (*bytes > memory).then(|| format!("held {} MB, exit {status:?}: {said}", bytes >> 20))
    }
}

/// Of what was over its limits once: evidence that was written while a check of it, given up, went
/// on; 512 properties, each told with the words for all threads; violations of thousands of stores,
/// replayed with a buffer for each step; and the evidence of a thousand answers about bounds.
const FOUND: [u64; 5] = [86894, 89838, 274721, 275102, 276646];

#[test]
fn every_command_ends_within_its_limits() {
    let (mut findings, mut statuses) = (Vec::new(), [0; 5]);
    for seed in seeds(6, 2000).chain(FOUND) {
        let mut randomness = Randomness::new(seed);
        let Input { file, text, what, beside } = inputs::input(&mut randomness);
        let lines: &[&str] = if beside.is_some() { &OF_NETS } else { &OF_PROGRAMS };
        let line = lines[randomness.below(lines.len())];
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(&file), &text).expect("it is written");
        if let Some((name, text)) = beside.filter(|(name, _)| !name.is_empty()) {
            std::fs::write(folder.path().join(name), text).expect("it is written");
        }
        let taken = run(folder.path(), &file, line, randomness.below(2) == 0);
        let status = taken.status.and_then(|status| usize::try_from(status).ok()).unwrap_or(4);
        statuses[status.min(4)] += 1;
        if let Some(objection) = taken.objection() {
            findings.push(format!("seed {seed}: `{line}` of {what}: {objection}"));
        }
        if is_long_run() && seed % 50 == 0 {
            println!("{seed} runs, {} findings", findings.len());
        }
    }
    println!("statuses 0 to 3, and others: {statuses:?}");
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    // Some sizes are refused, as some options are for some inputs.
    let all: usize = statuses.iter().sum();
    assert!(!is_long_run() || statuses[2] * 2 < all, "most inputs are asked about: {statuses:?}");
}
