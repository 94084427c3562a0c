//! Event-driven programs against TSO: the corpus with verdicts by brute force, any number of
//! events, posts of both kinds.

use crate::checked::check_tasks;
use crate::environment::corpus;
use palisade::program::{Copies, CopiesOverride, Posts, Program, SourceText};
use palisade::robustness::{TaskCheck, Verdict};
use palisade::syntax::{Format, read};

/// Distinct values admitted without a domain.
const VALUES: usize = 64;

fn program(text: &str) -> Program {
    read(SourceText::new("test.pal", text), Format::Native).expect("a program").program
}

fn checked(program: &Program) -> TaskCheck {
    check_tasks(program, VALUES).expect("no value grows")
}

fn word(program: &Program) -> &'static str {
    match checked(program).verdict {
        Verdict::Robust => "robust",
        Verdict::NotRobust => "not-robust",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The lines of the table, each as its cells in these columns.
fn rows<const N: usize>(columns: [&str; N]) -> Vec<[String; N]> {
    let table = std::fs::read_to_string(corpus().join("events/expected.tsv")).expect("the table is there");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let places = columns.map(|name| header.iter().position(|column| *column == name).expect("the column is there"));
    lines.map(|line| places.map(|place| line.split('\t').nth(place).expect("a cell").to_owned())).collect()
}

fn corpus_program(file: &str) -> Program {
    program(&std::fs::read_to_string(corpus().join("events").join(file)).expect("the program is there"))
}

/// The program in which events occur as often as `counts` says.
fn with_counts(program: &Program, counts: &str) -> Program {
    let mut program = program.clone();
    let overrides: Vec<CopiesOverride> = counts.split(',').map(|text| text.parse().expect("a count")).collect();
    program.override_events(&overrides).expect("the events are there");
    program
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn the_counts_of_the_file_with_both_kinds_of_posts() {
    for [file, events, drain, plain] in rows(["file", "events", "tso_drain", "tso_plain"]) {
        let mut program = with_counts(&corpus_program(&file), &events);
        for (posts, expected) in [(Posts::Drain, drain), (Posts::Plain, plain)] {
            program.posts = posts;
            assert_eq!(word(&program), expected, "{file}, posts {}", posts.word());
        }
    }
}

/// What any number does, every instance does; a violation is one of the instance that it names, and
/// of no smaller one.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn any_number_of_events() {
    for [file, events] in rows(["file", "events"]) {
        let mut program = corpus_program(&file);
        for posts in [Posts::Drain, Posts::Plain] {
            program.posts = posts;
            let any = with_counts(&program, "all=*");
            let found = checked(&any);
            for counts in [events.as_str(), "all=1", "all=2"] {
                let instance = with_counts(&program, counts);
                assert!(
                    found.verdict == Verdict::NotRobust || word(&instance) == "robust",
                    "{file}, posts {}: {counts}",
                    posts.word()
                );
            }
            if let Some(witness) = found.witness {
                assert!(found.is_minimal, "{file}: small instances are searched in order");
                names_its_instance(&any, &witness.instance);
            }
        }
    }
}

/// The instance has a violation, and without any one of its occurrences it has none.
fn names_its_instance(program: &Program, counts: &[u64]) {
    let instance = |counts: &[u64]| {
        let mut instance = program.clone();
        let templates = instance.threads.iter_mut().zip(counts).filter(|(template, _)| !template.is_task());
        templates.for_each(|(template, count)| template.copies = Copies::Exactly(*count));
        instance
    };
    assert_eq!(word(&instance(counts)), "not-robust");
    for (index, _) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let mut fewer = counts.to_vec();
        fewer[index] -= 1;
        if fewer.iter().any(|count| *count > 0) {
            assert_eq!(word(&instance(&fewer)), "robust", "{counts:?} without one of {index}");
        }
    }
}

#[test]
fn threads_and_events_in_one_file() {
    let text = |fence: &str| {
        format!(
            "program Mixed address x, y
            event e regs r init a begin a: mem[x] <- 1; {fence} c: r <- mem[y]; end
            thread t [*] regs r init a begin a: mem[y] <- 1; b: mfence; c: r <- mem[x]; end"
        )
    };
    assert_eq!(word(&program(&text("b: nop;"))), "not-robust");
    assert_eq!(word(&program(&text("b: mfence;"))), "robust");
}

/// An instance without `first` posts for ever, so that its search has no end; the violation needs
/// `first` once, and is found all the same.
#[test]
fn an_instance_without_end_does_not_keep_larger_ones_waiting() {
    let text = "program Endless address x, y
        event first [*] regs r init a begin a: r <- mem[y]; b: mem[x] <- 1; end
        event second [1] regs r init a begin a: post any t(); goto b; b: r <- mem[x]; goto end; b: nop; goto a; end
        task t() begin a: mem[x] <- 0; end";
    let mut endless = program(text);
    endless.posts = Posts::Plain;
    let found = checked(&endless);
    assert_eq!((found.verdict, found.is_minimal), (Verdict::NotRobust, false));
    assert_eq!(found.witness.map(|it| it.instance), Some(vec![1, 1, 0]));
}

/// Copies of one thread that come to their end before others start.
#[test]
fn copies_that_have_ended_stay_ended() {
    let text = "program Copies domain 0..7 wrap address n, x, y
        event e [1] begin end
        thread t [*] regs k, r init a begin
          a: k <- fetch_add(mem[n], 1);
          b: assume k < 2; goto end;
          b: assume k = 2; goto c;
          b: assume k = 3; goto f;
          c: mem[x] <- 1; d: r <- mem[y]; goto end;
          f: mem[y] <- 1; g: mfence; h: r <- mem[x]; goto end;
        end";
    let found = checked(&program(text));
    assert_eq!((found.verdict, found.witness.map(|it| it.instance)), (Verdict::NotRobust, Some(vec![1, 4])));
}

/// A task that is posted in a loop, and one that posts itself: any number of tasks from one
/// occurrence.
#[test]
fn tasks_without_number() {
    let text = |fence: &str| {
        format!(
            "program Loop address x, y, z
            event e [1] init a begin a: post any left(); goto a; end
            task left() regs r init a begin a: mem[x] <- 1; {fence} c: r <- mem[y]; d: post any right(); end
            task right() regs r init a begin a: mem[y] <- 1; b: mfence; c: r <- mem[x]; d: post main right(); end"
        )
    };
    assert_eq!(word(&program(&text("b: nop;"))), "not-robust");
    assert_eq!(word(&program(&text("b: mfence;"))), "robust");
}

/// With plain posts the main thread delays a store past its return, and the guard of the next event
/// is the load.
#[test]
fn a_guard_is_a_load() {
    let text = |posts: &str| {
        format!(
            "program Guard address x, y posts {posts}
            event set [1] init a begin a: mem[x] <- 1; end
            event look [1] when mem[y] = 0 begin end
            thread t regs r init a begin a: mem[y] <- 1; b: mfence; c: r <- mem[x]; end"
        )
    };
    assert_eq!(word(&program(&text("plain"))), "not-robust");
    assert_eq!(word(&program(&text("drain"))), "robust");
}

/// A task that blocks for ever keeps the main thread.
#[test]
fn a_blocked_handler_never_returns() {
    let text = |end: &str| {
        format!(
            "program Blocked address x, y
            event e [1] regs r init a begin a: r <- mem[x]; b: assume r = {end}; end
            event f [1] regs r init a begin a: mem[x] <- 1; b: r <- mem[y]; end
            thread t regs r init a begin a: mem[y] <- 1; b: mfence; c: r <- mem[x]; d: assume r = 2; end"
        )
    };
    assert_eq!(word(&program(&text("0"))), "not-robust");
    assert_eq!(word(&program(&text("0").replace("event f [1]", "event f [0]"))), "robust");
}
