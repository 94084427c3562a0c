//! Small programs in which one rule of a search decides, each with its verdict.

use crate::checked::{check_concurrency, check_tasks};
use palisade::concurrency::{ConcurrencyOptions, ConcurrencyVerdict};
use palisade::program::{Posts, Program, SourceText};
use palisade::robustness::Verdict;
use palisade::semantics::tasks::oracle::{Kind, TaskBounds, concurrency, tso};
use palisade::syntax::{Format, read};

/// Programs with their verdicts: against concurrency, and against TSO with posts that drain and
/// with plain ones.
const CORNERS: [(&str, [bool; 3]); 9] = [
    // What happens after the cut handler is followed through a background task: e3 runs only after
    // e1 has returned.
    (
        "program ThroughBackground address x, y, z
        event e1 [1] begin a: mem[x] <- 1; b: mem[y] <- 1; end
        event e2 [1] begin a: post any b(); end
        task b() regs r begin a: r <- mem[x]; b: assume r = 1; goto c; c: mem[z] <- 1; end
        event e3 [1] regs s, t begin a: s <- mem[z]; b: assume s = 1; goto c; b: assume s != 1; goto end; c: t <- mem[y]; end",
        [true, true, false],
    ),
    // e3 would close the cycle only if it returned the main thread to e1.
    (
        "program HandlerNeverReturns address x, y, w
        event e1 [1] begin a: mem[x] <- 1; b: mem[y] <- 1; end
        event e2 [1] begin a: post any b(); end
        task b() regs r begin a: mem[w] <- 1; b: r <- mem[x]; end
        event e3 [1] regs v, t begin
          a: v <- mem[w]; b: assume v = 1; goto c; b: assume v != 1; goto end; c: t <- mem[y]; d: assume 0 = 1;
        end",
        [true, false, false],
    ),
    // A callback runs after the handler that posted it has returned.
    (
        "program CallbackOfCutHandler address q, w, a, c
        event e1 [1] begin a: post main m(); b: mem[w] <- 1; end
        task m() begin a: mem[q] <- 1; end
        event e2 [1] begin a: post any b(); end
        task b() regs p, s, r begin
          a: p <- mem[q]; b: assume p = 1; goto c; c: s <- mem[w]; d: assume s = 0; goto e; e: mem[a] <- 1; f: r <- mem[c];
        end
        event e3 [1] begin a: post any d(); end
        task d() regs r begin a: mem[c] <- 1; b: r <- mem[a]; end",
        [true, true, false],
    ),
    // Nor does such a callback post anything before.
    (
        "program PostOfACallback address q, w, a, c
        event e1 [1] begin a: post main m(); b: mem[w] <- 1; end
        task m() begin a: post any t(); end
        task t() begin a: mem[q] <- 1; end
        event e2 [1] begin a: post any b(); end
        task b() regs p, s, r begin
          a: p <- mem[q]; b: assume p = 1; goto c; c: s <- mem[w]; d: assume s = 0; goto e; e: mem[a] <- 1; f: r <- mem[c];
        end
        event e3 [1] begin a: post any d(); end
        task d() regs r begin a: mem[c] <- 1; b: r <- mem[a]; end",
        [true, true, false],
    ),
    // The path of the attack goes through a callback.
    (
        "program ThroughAPost address x, y
        event ea [1] begin a: post any A(); end
        task A() regs a begin a: mem[x] <- 1; b: a <- mem[y]; end
        event eb [1] begin a: post any B(); end
        task B() begin a: mem[y] <- 1; b: post main m(); end
        task m() regs d begin a: d <- mem[x]; end",
        [false, false, false],
    ),
    // The main thread delays stores and reads what a task has written meanwhile that it has posted
    // since.
    (
        "program HelperInsideTheDelay address x, y, z
        event e0 [1] begin a: mem[x] <- 1; end
        event e1 [1] when mem[y] = 1 begin a: post any t1(); end
        task t1() regs c, d begin a: c <- mem[z]; b: assume c = 1; goto e; e: d <- mem[x]; end
        event e2 [1] when mem[x] = 1 begin a: post any t2(); end
        task t2() begin a: mem[z] <- 1; b: mem[y] <- 1; end",
        [true, true, false],
    ),
    // An event is on the path with all its accesses, those before the one by which it joins
    // included.
    (
        "program FourEvents address x, y, z, w
        event e1 [1] begin a: post any A(); end
        task A() begin a: mem[x] <- 1; b: mem[y] <- 1; end
        event e2 [1] begin a: post any B(); end
        task B() regs r begin a: mem[z] <- 1; b: r <- mem[x]; end
        event e3 [1] begin a: post any C(); end
        task C() regs s begin a: mem[w] <- 1; b: s <- mem[z]; end
        event e4 [1] begin a: post any D(); end
        task D() regs v, t begin a: v <- mem[w]; b: assume v = 1; goto c; c: t <- mem[y]; end",
        [false, true, true],
    ),
    // The main thread stays on the path from one callback to the next.
    (
        "program CallbackOrder address x, y
        event ea [1] begin a: post any A(); end
        task A() regs a begin a: mem[x] <- 1; b: a <- mem[y]; end
        event eb [1] begin a: post main m1(); b: post main m2(); end
        task m1() begin a: mem[y] <- 1; end
        task m2() regs d begin a: d <- mem[x]; end",
        [false, false, false],
    ),
    // A store stays in the main thread's buffer when its handler has returned.
    (
        "program BufferOfMain address x, y
        event e1 [1] begin a: mem[x] <- 1; end
        event e2 [1] regs r begin a: r <- mem[y]; end
        event e3 [1] begin a: post any t(); end
        task t() regs s begin a: mem[y] <- 1; b: mfence; c: s <- mem[x]; end",
        [true, true, false],
    ),
];

fn program(text: &str) -> Program {
    read(SourceText::new("test.pal", text), Format::Native).expect("a program").program
}

#[test]
fn one_rule_decides() {
    for (text, [against_concurrency, drain, plain]) in CORNERS {
        let mut program = program(text);
        let checked = check_concurrency(&program, &ConcurrencyOptions::default()).expect("no value grows");
        let is_robust = matches!(checked.verdict, ConcurrencyVerdict::Robust(_));
        assert_eq!(is_robust, against_concurrency, "{} against concurrency", program.name);
        for (posts, expected) in [(Posts::Drain, drain), (Posts::Plain, plain)] {
            program.posts = posts;
            let checked = check_tasks(&program, 64).expect("no value grows");
            assert_eq!(checked.verdict == Verdict::Robust, expected, "{}, posts {}", program.name, posts.word());
        }
    }
}

#[test]
fn brute_force_says_the_same() {
    let kinds = [Kind::Serializability, Kind::Determinism];
    for (text, [against_concurrency, drain, plain]) in CORNERS {
        let mut program = program(text);
        let answer = concurrency(&program, &kinds, &TaskBounds::default()).expect("it is small");
        assert_eq!(answer.is_robust(), against_concurrency, "{} against concurrency", program.name);
        for (posts, expected) in [(Posts::Drain, drain), (Posts::Plain, plain)] {
            program.posts = posts;
            let answer = tso(&program, &TaskBounds::default()).expect("it is small");
            assert_eq!(answer.is_robust(), expected, "{}, posts {}", program.name, posts.word());
        }
    }
}
