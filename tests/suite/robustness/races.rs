//! Triangular races: the definition on small programs, the models, evidence that is bent, and what
//! the command says.

use crate::checked::{check, races};
use crate::environment::{corpus, is_long_run};
use palisade::cli::ProgramOptions;
use palisade::evidence::{BufferInvariant, RaceWitness};
use palisade::fences::{CostFunction, Measure, with_measures};
use palisade::limits::Limits;
use palisade::program::{LabelId, Program, SourceText};
use palisade::properties::races::{Race, RaceOptions, RaceVerdict, race_fences};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::Instance;
use palisade::semantics::race_oracle::has_race;
use palisade::semantics::random::{self, Shape};
use palisade::syntax::{Format, read, read_text};
use palisade::verify::{check_race, check_race_free};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Two threads as a program, or one with its copies.
fn program(threads: &[&str]) -> Program {
    let text = threads.iter().enumerate().map(|(index, body)| {
        let (copies, body) = body.split_once(": ").expect("copies and body");
        format!("thread t{index} {copies} regs r, s init a begin\n{body}\nend\n")
    });
    let text = format!("program P\naddress x, y\n{}", text.collect::<String>());
    read(SourceText::new("p.pal", text), Format::Native).expect("it can be read").program
}

fn race(program: &Program) -> Option<Box<Race>> {
    match races(program, &RaceOptions::default()).expect("no value grows").verdict {
        RaceVerdict::Racy(race) => Some(race),
        RaceVerdict::Free(_) => None,
        RaceVerdict::Unknown(reason) => panic!("{reason}"),
    }
}

fn closed_set(program: &Program) -> BufferInvariant {
    match races(program, &RaceOptions::default()).expect("no value grows").verdict {
        RaceVerdict::Free(set) => set,
        other => panic!("{other:?}"),
    }
}

const READER: &str = "[1]: a: mem[x] <- 1; b: r <- mem[y];";

#[test]
fn the_definition_on_small_programs() {
    for (threads, is_racy) in [
        // A store, a load, a store of another thread to what is loaded.
        (vec![READER, "[1]: a: mem[y] <- 1;"], true),
        // Nobody stores, or only the loading thread itself.
        (vec![READER, "[1]: a: r <- mem[y];"], false),
        (vec![READER], false),
        // With another copy of the same thread.
        (vec!["[2]: a: mem[x] <- 1; b: r <- mem[y]; c: mem[y] <- 1;"], true),
        (vec!["[1]: a: mem[x] <- 1; b: r <- mem[y]; c: mem[y] <- 1;"], false),
        (vec!["[*]: a: mem[x] <- 1; b: r <- mem[y]; c: mem[y] <- 1;"], true),
        // Everything that drains the buffer in between.
        (vec!["[1]: a: mem[x] <- 1; f: mfence; b: r <- mem[y];", "[1]: a: mem[y] <- 1;"], false),
        (vec!["[1]: a: mem[x] <- 1; f: s <- xchg(mem[x], 1); b: r <- mem[y];", "[1]: a: mem[y] <- 1;"], false),
        (vec!["[1]: a: mem[x] <- 1; f: s <- cas(mem[x], 7, 1); b: r <- mem[y];", "[1]: a: mem[y] <- 1;"], false),
        (vec!["[1]: a: mem[x] <- 1; f: lock; g: unlock; b: r <- mem[y];", "[1]: a: mem[y] <- 1;"], false),
        (vec!["[1]: a: mem[x] <- 1; f: sfence; b: r <- mem[y];", "[1]: a: mem[y] <- 1;"], true),
        // The store before the load is to the same address, or one of several is.
        (vec!["[1]: a: mem[y] <- 1; b: r <- mem[y];", "[1]: a: mem[y] <- 2;"], false),
        (vec!["[1]: a: mem[x] <- 1; c: mem[y] <- 1; b: r <- mem[y];", "[1]: a: mem[y] <- 2;"], true),
        // A locked load drains the buffer; a locked store races if it stores.
        (vec!["[1]: a: mem[x] <- 1; b: r <- cas(mem[y], 0, 1);", "[1]: a: mem[y] <- 1;"], false),
        (vec![READER, "[1]: a: s <- xchg(mem[y], 1);"], true),
        (vec![READER, "[1]: a: s <- cas(mem[y], 5, 1);"], false),
        // A section is one step: a store anywhere in it races.
        (vec![READER, "[1]: a: lock; b: r <- mem[x]; c: mem[y] <- 1; d: unlock;"], true),
        (vec!["[1]: a: lock; c: mem[x] <- 1; b: r <- mem[y]; d: unlock;", "[1]: a: mem[y] <- 1;"], false),
        // The load is after the other thread's store alone.
        (vec!["[1]: a: mem[x] <- 1; c: s <- mem[x]; b: assert s = 5; d: r <- mem[y];", "[1]: a: mem[y] <- 1;"], false),
    ] {
        let program = program(&threads);
        assert_eq!(race(&program).is_some(), is_racy, "{threads:?}");
    }
}

#[test]
fn evidence_that_is_bent_is_rejected() {
    let racy = program(&[READER, "[1]: a: r <- mem[x]; b: mem[y] <- 1;"]);
    let witness = race(&racy).expect("it has one").witness();
    let last = witness.steps.len() - 1;
    let without = |step: usize| {
        let mut steps = witness.steps.clone();
        steps.remove(step);
        RaceWitness { steps, load_step: witness.load_step - usize::from(step < witness.load_step), ..witness.clone() }
    };
    for step in 0..=last {
        assert!(check_race(&racy, &without(step)).is_err(), "without step {step}");
    }
    for load_step in (0..=last + 1).filter(|step| *step != witness.load_step) {
        assert!(check_race(&racy, &RaceWitness { load_step, ..witness.clone() }).is_err(), "load at {load_step}");
    }
    // The closed set of a program in which a fence stands between is none of the program without
    // it.
    let fenced = program(&["[*]: a: mem[x] <- 1; f: mfence; b: r <- mem[y];", "[2]: a: mem[y] <- 1;"]);
    let set = closed_set(&fenced);
    check_race_free(&fenced, &set).expect("it shows what it claims");
    for index in 0..set.configurations.len() {
        let mut less = set.clone();
        less.configurations.remove(index);
        assert!(check_race_free(&fenced, &less).is_err(), "without configuration {index}");
    }
    for index in 0..set.locals.len() {
        let mut forgetful = set.clone();
        if forgetful.locals[index].buffer.is_empty() {
            continue;
        }
        forgetful.locals[index].buffer.clear();
        assert!(check_race_free(&fenced, &forgetful).is_err(), "nothing noted in local state {index}");
    }
    let bare = program(&["[*]: a: mem[x] <- 1; f: nop; b: r <- mem[y];", "[2]: a: mem[y] <- 1;"]);
    assert!(check_race_free(&bare, &set).is_err());
}

/// Models whose interleavings take too long for a test.
const LARGE: [&str; 8] = [
    "epoch-pin",
    "epoch-pin-fenced",
    "epoch-pin-published",
    "filter-lock",
    "peterson-tree",
    "rcu",
    "rcu-fenced",
    "rcu-published",
];

/// Models whose counters grow, of which freedom from races, which knows them value by value, has no
/// answer.
const GROWING: [&str; 9] = [
    "arc-upgrade",
    "array-queue",
    "bounded-channel",
    "reader-count-lock",
    "slab-slot",
    "spsc-ring",
    "vyukov-queue",
    "vyukov-queue-1",
    "vyukov-queue-4",
];

/// The models, without the largest and those that grow, by name.
fn models() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let files = std::fs::read_dir(folder).expect("the models").map(|entry| entry.expect("a file").path());
    let named = files.filter(|file| file.extension().is_some_and(|extension| extension == "pal"));
    let mut models: Vec<(String, PathBuf)> = named
        .map(|file| (file.file_stem().and_then(|stem| stem.to_str()).expect("plain names").to_owned(), file))
        .filter(|(name, _)| !LARGE.contains(&name.as_str()) && !GROWING.contains(&name.as_str()))
        .collect();
    models.sort();
    models
}

/// The models: those without a race are robust.
#[test]
fn models_without_races_are_robust() {
    let free: usize = models()
        .par_iter()
        .map(|(name, file)| {
            let program = ProgramOptions::default().read(file.to_str().unwrap()).expect("a model").program;
            if race(&program).is_some() {
                return 0;
            }
            let checked = check(&program, &CheckOptions::default()).expect("no value grows");
            assert_eq!(checked.verdict, Verdict::Robust, "{name}");
            1
        })
        .sum();
    assert!(free > 10, "{free} models without races");
}

/// How many fences a model's header names.
fn fences_in_header(text: &str) -> Option<usize> {
    text.lines().find_map(|line| line.strip_prefix("# expect fences: ")).and_then(|count| count.parse().ok())
}

/// The models for which freedom from races takes more fences than robustness are those in the table
/// of the models' README. It never takes fewer.
#[test]
fn the_table_of_fences_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let row = |(name, file): &(String, PathBuf)| {
        let text = std::fs::read_to_string(file).expect("a model");
        let robust = fences_in_header(&text)?;
        let program = ProgramOptions::default().read(file.to_str().unwrap()).expect("a model").program;
        let limits = Limits::none().with_timeout(Duration::from_mins(2));
        let options = RaceOptions { limits, ..RaceOptions::default() };
        let found = race_fences(&program, &CostFunction::Uniform, &options);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        check_race_free(&found.fenced, &found.proof).unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let races = found.measures.len();
        assert!(races >= robust, "{name}: {races} fences against races, {robust} for robustness");
        (races > robust).then(|| format!("| {name} | {robust} | {races} |"))
    };
    let rows: Vec<String> = models().par_iter().filter_map(row).collect();
    let readme = std::fs::read_to_string(folder.join("README.md")).expect("the README can be read");
    let section = readme.split("## Triangular races").nth(1).expect("the README has the section");
    let listed: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert_eq!(listed, rows, "{}", rows.join("\n"));
}

/// Programs of the prototype of [ESOP13] that are robust and have a triangular race: its example of
/// that, and the spinlock with a non-blocking write for which its paper says so.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn robust_programs_of_the_literature_have_races() {
    for name in ["trf", "nbw-w-lr-rl"] {
        let path = corpus().join("trencher").join(format!("{name}.txt"));
        let source = read_text(&path.display().to_string()).expect("the file can be read");
        let program = read(source, Format::Trencher).expect("it can be read").program;
        assert!(race(&program).is_some(), "{name}");
        let checked = check(&program, &CheckOptions::default()).expect("no value grows");
        assert_eq!(checked.verdict, Verdict::Robust, "{name}");
    }
}

/// With sections of several instructions the theorem of [ECOOP10] does not hold: where the store of
/// x comes first, the section does not store to y.
#[test]
fn sections_without_races_need_not_be_robust() {
    let text = "program P\naddress x, y[2]\n\
                thread t regs r init a begin\n  a: mem[x] <- 1; goto b;\n  b: r <- mem[y]; goto c;\nend\n\
                thread u regs s init a begin\n  a: lock; goto b;\n  b: s <- cas(mem[x], 0, 1); goto c;\n  c: mem[y + s] <- 1; goto d;\n  d: unlock; goto e;\nend\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sections.pal");
    std::fs::write(&path, text).expect("the folder is writable");
    let palisade = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = command.args(arguments).arg(&path).output().expect("it starts");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(palisade(&["check"]).0, Some(1));
    let (status, said) = palisade(&["check", "--ask", "races"]);
    assert!(
        status == Some(0) && said.contains("free of triangular races") && !said.contains("so       robust"),
        "{said}"
    );
    assert!(said.contains("it need not be robust for that"), "{said}");
}

/// A cheapest set of fences is one among all sets.
#[test]
fn fences_are_a_cheapest_set() {
    let shape =
        Shape { copies: 2, labels: 4, total_labels: 6, overtaken: 90, fences: 2, branches: 25, ..Shape::default() };
    let fenced: usize = (0..if is_long_run() { 4000 } else { 200 })
        .into_par_iter()
        .map(|seed| {
            let program = random::program(3_000_000 + seed, &shape);
            let instance = Instance::of(&program).expect("fixed copies");
            let Ok(Some(is_racy)) = has_race(&program, &instance, 50_000) else { return 0 };
            let found = race_fences(&program, &CostFunction::Uniform, &RaceOptions::default()).expect("it is finite");
            check_race_free(&found.fenced, &found.proof).expect("the proof is accepted");
            assert_eq!(is_racy, !found.measures.is_empty(), "seed {seed}");
            let measures: Vec<Measure> = program
                .thread_ids()
                .flat_map(|(thread, template)| {
                    let labels = (0..template.labels.len()).map(LabelId::from_index);
                    labels.map(move |label| Measure::Fence { thread, label })
                })
                .collect();
            // No set with one fence less does.
            let size = found.measures.len();
            for set in 0u32..1 << measures.len() {
                if set.count_ones() as usize + 1 != size {
                    continue;
                }
                let chosen = measures.iter().enumerate().filter(|(index, _)| set >> index & 1 == 1);
                let smaller = with_measures(&program, &chosen.map(|(_, measure)| *measure).collect::<Vec<_>>());
                assert_eq!(has_race(&smaller, &instance, 200_000), Ok(Some(true)), "seed {seed}: {set:b}");
            }
            usize::from(size > 1)
        })
        .sum();
    assert!(fenced > 3, "{fenced} programs need more than one fence");
}

fn said(folder: &Path, line: &str) -> (i32, String, String) {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.args(line.split(' ')).current_dir(folder).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it ends"), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_shows_the_race() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program Flag\naddress x, y\nthread t [*] regs r init a begin\n  a: mem[x] <- 1;\n  b: r <- mem[y];\n  \
                c: mem[y] <- 1;\nend\n";
    std::fs::write(folder.path().join("flag.pal"), text).expect("it is written");
    std::fs::write(folder.path().join("fenced.pal"), text.replace("  b:", "  f: mfence;\n  b:"))
        .expect("it is written");
    let wanted = "\
flag.pal: triangular-race
  threads  t × *
  load     t b (line 5)
  after    t a (line 4)
  with     t c (line 6)
  evidence e/flag.pal.race.json

race: the load at t b (line 5) reads `y` immediately before the store at t c (line 6)
instance: t × 2 (no smaller instance has one)
    │ t#1        │ t#2
  ──┼────────────┼───────────
  1 │ a: x ← 1   │
  2 │            │ a: x ← 1
  3 │            │ b: r ← y = 0
  4 │ b: r ← y = 0 │
  5 │            │ c: y ← 1
";
    let (status, report, _) = said(folder.path(), "check --ask races flag.pal --certificate e");
    assert_eq!(status, 1);
    println!("{report}");
    assert_eq!(report.lines().take(7).collect::<Vec<_>>(), wanted.lines().take(7).collect::<Vec<_>>());
    assert!(report.contains("instance: t × 2 (no smaller instance has one)"), "{report}");
    let (status, report, _) = said(folder.path(), "check --ask races fenced.pal --certificate e");
    assert_eq!((status, report.lines().next()), (0, Some("fenced.pal: free of triangular races")));
    let (status, report, _) = said(folder.path(), "verify e/flag.pal.race.json e/fenced.pal.race-free.json");
    assert_eq!(status, 0, "{report}");
    assert!(
        report.contains("flag.pal has a triangular race") && report.contains("fenced.pal is race-free"),
        "{report}"
    );
    let (status, _, error) = said(folder.path(), "check --ask races flag.pal --nets");
    assert_eq!(status, 2);
    assert!(error.contains("`--nets` is about attacks"), "{error}");
}
