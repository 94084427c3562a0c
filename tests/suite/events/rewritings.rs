//! Programs of events and tasks said in other ways: by threads alone, where the verdict must be the
//! same, and by the two threads of the paper, where it need not be.

use crate::checked::{check, check_tasks};
use crate::environment::corpus;
use palisade::limits::Limits;
use palisade::program::{CopiesOverride, Posts, Program, SourceText};
use palisade::robustness::{CheckOptions, NotRewritten, Verdict, as_threads, two_threads};
use palisade::semantics::random::event_program_of;
use palisade::syntax::{Format, parse, print, read};
use std::time::Duration;

fn program(text: &str) -> Program {
    read(SourceText::new("test.pal", text), Format::Native).expect("it is read").program
}

/// The program read from the text of it.
fn printed(program: &Program) -> Program {
    let text = print(program, Format::Native).expect("the language says it all").text;
    parse(SourceText::new("printed.pal", text), Format::Native).expect("it is read").program
}

fn verdict_of_tasks(program: &Program) -> Verdict {
    check_tasks(program, 64).expect("no value grows").verdict
}

/// The verdict on a program of threads; nothing when it takes long.
fn verdict_of_threads(program: &Program) -> Option<Verdict> {
    let limits = Limits::none().with_timeout(Duration::from_secs(10));
    let options = CheckOptions { limits, ..CheckOptions::default() };
    let verdict = check(program, &options).expect("no value grows").verdict;
    (!matches!(verdict, Verdict::Unknown(_))).then_some(verdict)
}

const BUFFERING: &str = "program Buffering address x, y
event ea [2] when mem[y] = 0 begin a: post any p(1); end
task p(v) regs r begin a: mem[x] <- v; b: r <- mem[y]; c: post main done(r); end
task done(r) begin a: mem[y] <- r; end
event eb [1] begin a: post any q(); end
task q() regs s begin a: mem[y] <- 1; b: s <- mem[x]; end";

#[test]
fn threads_have_the_verdict_of_events() {
    for (text, expected) in
        [(BUFFERING.to_owned(), Verdict::NotRobust), (BUFFERING.replace("b: ", "f: mfence; b: "), Verdict::Robust)]
    {
        let events = program(&text);
        let threads = as_threads(&events).expect("the counts are fixed");
        assert!(threads.threads.iter().all(palisade::program::Thread::is_thread));
        assert_eq!(verdict_of_tasks(&events), expected.clone());
        assert_eq!(verdict_of_threads(&threads), Some(expected.clone()));
        assert_eq!(verdict_of_threads(&printed(&threads)), Some(expected), "as text");
    }
}

#[test]
fn random_programs_have_the_verdict_of_their_threads() {
    let (mut robust, mut not_robust) = (0, 0);
    for seed in 0..120 {
        let mut events = event_program_of(30_000_000 + seed);
        events.posts = Posts::Drain;
        let Ok(threads) = as_threads(&events) else { continue };
        let Some(found) = verdict_of_threads(&threads) else { continue };
        let Ok(expected) = check_tasks(&events, 64) else { continue };
        assert_eq!(found, expected.verdict, "seed {seed}: {}", print(&events, Format::Native).expect("a text").text);
        *(if found == Verdict::Robust { &mut robust } else { &mut not_robust }) += 1;
    }
    assert!(robust >= 20 && not_robust >= 3, "{robust} {not_robust}");
}

#[test]
fn what_cannot_be_said_is_refused() {
    let any = program(&BUFFERING.replace("[2]", "[*]"));
    assert_eq!(as_threads(&any).err(), Some(NotRewritten::AnyNumber("ea".to_owned())));
    let mut plain = program(BUFFERING);
    plain.posts = Posts::Plain;
    assert_eq!(as_threads(&plain).err(), Some(NotRewritten::PlainPosts));
    let again = program(
        "program Again address x event e [1] begin a: post any t(); end task t() begin a: mem[x] <- 1; b: post any t(); end",
    );
    assert_eq!(as_threads(&again).err(), Some(NotRewritten::Recursion("t".to_owned())));
    assert_eq!(two_threads(&again).err(), Some(NotRewritten::Recursion("t".to_owned())));
    let loops = program(
        "program Loops address x event e [1] begin a: post any t(); goto a; end task t() begin a: mem[x] <- 1; end",
    );
    assert_eq!(as_threads(&loops).err(), Some(NotRewritten::Loop("e".to_owned())));
    let mixed = program(
        "program Mixed address x event e [1] begin a: mem[x] <- 1; end thread t init a begin a: mem[x] <- 2; end",
    );
    assert_eq!(two_threads(&mixed).err(), Some(NotRewritten::Thread("t".to_owned())));
}

/// The examples, with the verdicts that the paper's program was found to have.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn the_examples_by_threads_and_by_two_of_them() {
    let read_example = |file: &str, counts: &str| {
        let text = std::fs::read_to_string(corpus().join("events").join(file)).expect("the program is there");
        let mut program = program(&text);
        let overrides: Vec<CopiesOverride> = counts.split(',').map(|count| count.parse().expect("a count")).collect();
        program.override_events(&overrides).expect("the events are there");
        program
    };
    let table = std::fs::read_to_string(corpus().join("events/expected.tsv")).expect("the table is there");
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let events = read_example(cells[0], cells[1]);
        let Ok(threads) = as_threads(&events) else { continue };
        let Some(found) = verdict_of_threads(&threads) else { continue };
        assert_eq!(found == Verdict::Robust, cells[4] == "robust", "{}", cells[0]);
        compared += 1;
    }
    assert!(compared >= 25, "{compared}");
    let of_two = |file: &str, counts: &str, posts: Posts| {
        let mut program = read_example(file, counts);
        program.posts = posts;
        verdict_of_tasks(&printed(&two_threads(&program).expect("no task posts itself")))
    };
    assert_eq!(of_two("17-theorem2-missed.pal", "all=1", Posts::Drain), Verdict::Robust);
    assert_eq!(of_two("17-theorem2-missed.pal", "all=1", Posts::Plain), Verdict::Robust);
    assert_eq!(of_two("18-theorem2-spurious.pal", "all=1", Posts::Drain), Verdict::NotRobust);
    assert_eq!(of_two("23-theorem2-missed-chain.pal", "all=1", Posts::Plain), Verdict::Robust);
}
