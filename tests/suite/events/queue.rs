//! `--queue fifo`: violations with an ordinary queue, and the label of those that need another
//! order.

use crate::checked::{check_concurrency, check_tasks};
use crate::documents;
use palisade::concurrency::{ConcurrencyOptions, ConcurrencyVerdict, in_order, is_in_order};
use palisade::limits::Limits;
use palisade::program::{Copies, Program};
use palisade::robustness::{is_task_witness_in_order, tasks_in_order};
use palisade::semantics::random::{EventShape, Shape, event_program};
use palisade::semantics::tasks::oracle::{Answer, Kind, TaskBounds, concurrency as all_interleavings, tso};
use palisade::verify::{check_concurrency_witness, check_task_witness};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Two callbacks of one event, of which the second is to win.
const CALLBACKS: &str = "program Callbacks
address x
event e [1] begin a: post main first(); b: post main second(); end
task first() begin a: mem[x] <- 1; end
task second() begin a: mem[x] <- 2; end
";

/// A callback posts another one, which is to come before its sibling, and comes behind it in an
/// ordinary queue.
const NESTED: &str = "program Nested
address x
event e [1] begin a: post main first(); b: post main second(); end
task first() begin a: mem[x] <- 1; b: post main third(); end
task second() begin a: mem[x] <- 2; end
task third() begin a: mem[x] <- 3; end
";

/// A program in which callbacks are many.
fn program_of(seed: u64) -> Program {
    let body = Shape { labels: 2, addresses: 2, ..EventShape::default().body };
    event_program(seed, &EventShape { body, tasks: 3, posts: 50, main: 80, ..EventShape::default() })
}

/// Store buffering between two callbacks with plain posts and a background task, in whichever order
/// the callbacks come.
const BUFFERED: &str = "program Buffered
posts plain
address x, y
event e [1] begin a: post main write(); b: post main read(); end
event f [1] begin a: post any other(); end
task write() begin a: mem[x] <- 1; end
task read() regs r begin a: r <- mem[y]; end
task other() regs r begin a: mem[y] <- 1; f: mfence; b: r <- mem[x]; end
";

fn run(folder: &Path, line: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_palisade")).args(line.split(' ')).current_dir(folder).output();
    let output = output.expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it ends"), text(output.stdout), text(output.stderr))
}

#[test]
fn only_another_order_violates() {
    let folder = tempfile::tempdir().expect("a folder");
    let threads = "program Threads address x thread t init a begin a: mem[x] <- 1; end";
    for (name, text) in [("callbacks", CALLBACKS), ("nested", NESTED), ("buffered", BUFFERED), ("threads", threads)] {
        std::fs::write(folder.path().join(format!("{name}.pal")), text).expect("it is written");
    }
    let run = |line: &str| run(folder.path(), line);
    let (exit, text, errors) = run("check --ask concurrency callbacks.pal");
    assert!(exit == 1 && text.contains("takes a task before one that was posted earlier"), "{text}{errors}");
    let (exit, text, errors) = run("check --ask concurrency --queue fifo callbacks.pal");
    assert!(
        exit == 3 && text.contains("needs tasks taken in another order than that of their posts"),
        "{text}{errors}"
    );
    let (_, json, _) = run("check --ask concurrency --queue fifo --json callbacks.pal");
    assert_eq!(documents::read(json.as_bytes())["verdict"], "unknown", "{json}");
    // What is robust for any order is robust for an ordinary queue.
    assert_eq!(run("check --ask robustness --queue fifo callbacks.pal").0, 0);
    let (exit, text, errors) = run("check --ask concurrency --queue fifo --verify nested.pal");
    assert!(exit == 1 && text.contains("first in, first out is enough"), "{text}{errors}");
    let (exit, text, errors) = run("check --ask robustness --queue fifo --verify buffered.pal");
    assert!(exit == 1 && text.contains("queue: first in, first out is enough"), "{text}{errors}");
    let (exit, _, errors) = run("check --queue fifo threads.pal");
    assert!(exit == 2 && errors.contains("`--queue` is about events and tasks"), "{errors}");
}

fn with_counts<'a>(program: &Program, counts: impl Iterator<Item = &'a u64>) -> Program {
    let mut instance = program.clone();
    instance.threads.iter_mut().zip(counts).for_each(|(it, count)| it.copies = Copies::Exactly(*count));
    instance
}

/// Where the order can be put right, the checker accepts the violation; where it cannot, no
/// interleaving in order violates robustness.
#[test]
fn violations_are_put_in_order_where_that_can_be() {
    let (mut mended, mut in_no_order) = (0, 0);
    let bounds = TaskBounds { configurations: 100_000, in_order: true, ..TaskBounds::default() };
    let limits = || Limits::none().with_timeout(Duration::from_secs(5));
    for seed in 0..if crate::environment::is_long_run() { 20_000 } else { 500 } {
        let program = program_of(seed);
        let options = ConcurrencyOptions { limits: limits(), ..ConcurrencyOptions::default() };
        if let Ok(checked) = check_concurrency(&program, &options)
            && let ConcurrencyVerdict::NotRobust(violation) = &checked.verdict
            && !is_in_order(&program, violation)
        {
            if let Some(found) = in_order(&program, violation, 20_000, &limits()) {
                check_concurrency_witness(&program, &found.witness).expect("it is a violation");
                assert!(is_in_order(&program, &found), "seed {seed}");
                mended += 1;
            } else {
                let counts: Vec<u64> = program
                    .thread_ids()
                    .map(|(id, _)| violation.instance.iter().find(|(event, _)| *event == id).map_or(1, |it| it.1))
                    .collect();
                let kinds = [Kind::Serializability, Kind::Determinism];
                if let Ok(answer) = all_interleavings(&with_counts(&program, counts.iter()), &kinds, &bounds) {
                    in_no_order += usize::from(matches!(answer, Answer::Robust { .. }));
                }
            }
        }
        if let Ok(checked) = check_tasks(&program, 64)
            && let Some(witness) = &checked.witness
            && !is_task_witness_in_order(&program, witness)
        {
            if let Some(found) = tasks_in_order(&program, witness, 20_000, &limits()) {
                check_task_witness(&program, &found).expect("it is a violation");
                assert!(is_task_witness_in_order(&program, &found), "seed {seed}");
                mended += 1;
            } else if let Ok(answer) = tso(&with_counts(&program, witness.instance.iter()), &bounds) {
                in_no_order += usize::from(answer.is_robust());
            }
        }
    }
    assert!(mended > 3 && in_no_order > 3, "{mended} {in_no_order}");
}
