//! Verdicts on programs of events and tasks: the shipped models, families that grow, and the
//! published examples where `PALISADE_CORPUS` says where they are.

use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use palisade::concurrency::{ConcurrencyOptions, check};
use palisade::limits::Limits;
use palisade::program::{Copies, Posts, Program, SourceText};
use palisade::questions::{About, confirm};
use palisade::robustness::check_tasks;
use palisade::syntax::{Format, read};
use std::fmt::Write;
use std::hint::black_box;
use std::path::{Path, PathBuf};

/// Distinct values admitted without a domain.
const VALUES: usize = 64;

fn program(text: &str) -> Program {
    read(SourceText::new("bench.pal", text), Format::Native).expect("the text is a program").program
}

fn any_number(program: &Program) -> Program {
    let mut program = program.clone();
    program.threads.iter_mut().filter(|thread| thread.is_event()).for_each(|event| event.copies = Copies::Any);
    program
}

fn with_posts(program: &Program, posts: Posts) -> Program {
    Program { posts, ..program.clone() }
}

/// [NETYS18, Fig. 2] on the right, for n events that occur once each: each is enabled by the one
/// before, and n tasks read around a ring.
fn ring(n: usize) -> Program {
    let mut text = String::from("program Ring\naddress y0");
    (1..=n).for_each(|i| write!(text, ", x{i}, y{i}").expect("a string takes all"));
    text += "\ninitial y0 = 1\n";
    for i in 1..=n {
        let (before, next) = (i - 1, i % n + 1);
        writeln!(
            text,
            "event e{i} [1] when mem[y{before}] = 1 begin a: post any p{i}(); end
            task p{i}() regs a begin a: mem[x{i}] <- 1; b: a <- mem[x{next}]; c: post any q{i}(); end
            task q{i}() begin a: mem[y{i}] <- 1; end"
        )
        .expect("a string takes all");
    }
    program(&text)
}

/// Eight events, twelve tasks and twelve addresses over 0..3: each event writes an input, its tasks
/// pass it on, and the last one clears what they wrote. One event at a time if `guarded`; else they
/// meet.
fn office(guarded: bool) -> Program {
    let mut text = String::from("program Office\ndomain 0..3\naddress busy");
    (1..12).for_each(|i| write!(text, ", x{i}").expect("a string takes all"));
    text.push('\n');
    for i in 0..8 {
        let (guard, input, worker) = (if guarded { "when mem[busy] = 0" } else { "" }, 1 + i, i % 6);
        writeln!(
            text,
            "event e{i} [*] {guard} regs q begin
              a: mem[busy] <- 1; b: q <- *; c: mem[x{input}] <- q; d: post any work{worker}(q);
            end"
        )
        .expect("a string takes all");
    }
    for i in 0..6 {
        writeln!(
            text,
            "task work{i}(q) regs r begin a: r <- mem[x{}]; b: mem[x{}] <- r; c: post main show{i}(q); end
            task show{i}(q) begin {} d: mem[busy] <- 0; end",
            1 + i,
            9 + i % 3,
            (1..12).map(|x| format!("a{x}: mem[x{x}] <- 0; ")).collect::<String>(),
        )
        .expect("a string takes all");
    }
    program(&text)
}

/// Measures the verdict about concurrency, whose evidence is checked first.
fn concurrency(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, program: &Program) {
    let options = ConcurrencyOptions { values: VALUES, ..ConcurrencyOptions::default() };
    let checked = check(program, &options).expect("no value grows");
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        panic!("{name}: {failure}");
    }
    group.bench_function(name, |bencher| bencher.iter(|| black_box(check(black_box(program), &options)).is_ok()));
}

/// Measures the verdict about TSO, whose evidence is checked first. Some programs leave their
/// domain when events occur more often than is written.
fn tso(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, program: &Program) {
    let Ok(checked) = check_tasks(program, VALUES, &Limits::none()) else { return };
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        panic!("{name}: {failure}");
    }
    let ask = || check_tasks(black_box(program), VALUES, &Limits::none());
    group.bench_function(name, |bencher| bencher.iter(|| black_box(ask()).is_ok()));
}

fn files(folder: &Path) -> Vec<(String, Program)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == "pal")).collect();
    paths.sort();
    let named = |path: PathBuf| {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (name, program(&std::fs::read_to_string(path).expect("the file can be read")))
    };
    paths.into_iter().map(named).collect()
}

fn bench_folder(criterion: &mut Criterion, name: &str, folder: &Path) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    for (name, program) in files(folder) {
        concurrency(&mut group, &format!("{name}, concurrency"), &program);
        for (counts, program) in [("as written", program.clone()), ("any number", any_number(&program))] {
            for posts in [Posts::Drain, Posts::Plain] {
                let name = format!("{name}, TSO, {counts}, {}", posts.word());
                tso(&mut group, &name, &with_posts(&program, posts));
            }
        }
    }
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    bench_folder(criterion, "events", &Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/events"));
    if let Some(corpus) = std::env::var_os("PALISADE_CORPUS").map(PathBuf::from) {
        bench_folder(criterion, "examples", &corpus.join("events"));
    }
    let mut group = criterion.benchmark_group("families");
    group.sample_size(10);
    for n in [4, 8, 12] {
        concurrency(&mut group, &format!("ring {n}, concurrency"), &ring(n));
    }
    tso(&mut group, "ring 6, TSO, any number, plain", &with_posts(&any_number(&ring(6)), Posts::Plain));
    for guarded in [true, false] {
        let name = if guarded { "office, one at a time" } else { "office" };
        concurrency(&mut group, &format!("{name}, concurrency"), &office(guarded));
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
