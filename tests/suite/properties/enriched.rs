//! Proofs by enriched programs: where few loads overtake stores to some effect, for fixed and any
//! numbers of copies.

use crate::evidence::form::about_properties;
use crate::properties::rungs::{answer, assert_left_to_buffers, program, why_open};
use palisade::program::Program;
use palisade::properties::{Answer, ProveOptions, Rung, Why};
use palisade::semantics::Model;
use palisade::syntax::Format;

/// Two threads enter as in store buffering, which makes the program not robust. Then the first one
/// tells for ever how far it is, looks for news, and never drains its buffer; nothing comes of
/// that.
pub(crate) fn entering(others: &str, condition: &str) -> Program {
    program(&format!(
        "program Entering
address x, y, z, w
thread teller regs seen, done, new init enter begin
  enter: mem[x] <- 1;
  look: seen <- mem[y];
  tell: mem[z] <- done + seen + new;
  turn: done <- 1 - done;
  news: new <- mem[w]; goto tell;
end
thread other [{others}] regs told, entered init enter begin
  enter: mem[y] <- 1;
  listen: told <- mem[z];
  look: entered <- mem[x];
  after: ensure {condition};
  answer: mem[w] <- 1; goto done;
end
"
    ))
}

#[test]
fn few_loads_are_enough() {
    for others in ["1", "2", "*"] {
        let program = entering(others, "told = 0 || entered = 1");
        assert_eq!(why_open(&program, Rung::Buffers), Why::BuffersLonger(8), "{others}");
        assert_eq!(why_open(&program, Rung::ScRobust), Why::NotRobust, "{others}");
        let found = answer(&program, Some(Rung::Enriched));
        assert!(matches!(found.answer, Answer::Holds(_)), "{others}: {found:?}");
        assert_eq!((found.rung, found.buffer), (Rung::Enriched, Some(2)), "{others}");
        assert!(matches!(answer(&program, None).answer, Answer::Holds(_)), "{others}");
    }
}

/// What an enriched program reaches is left to the rung that gives a computation.
#[test]
fn violations_are_left_to_buffers() {
    for others in ["1", "*"] {
        assert_left_to_buffers(&entering(others, "told = 0 || entered = 0"), Rung::Enriched);
    }
}

/// A thread that has to keep store after store has no room for them.
#[test]
fn room_ends() {
    let program = program(
        "program Progress
address work, news
thread worker regs done, new, old init tell begin
  tell: mem[work] <- done;
  go_on: done <- 3 - done;
  look: new <- mem[news];
  forward: ensure new >= old;
  keep: old <- new; goto tell;
end
thread watcher regs seen init begin_watch begin
  begin_watch: mem[news] <- 1;
  watch: seen <- mem[work];
  report: mem[news] <- seen + 1; goto done;
end
",
    );
    assert_eq!(why_open(&program, Rung::Enriched), Why::BuffersLonger(8));
}

/// Loads see what their thread keeps, by constants, by equal addresses, and past stores to other
/// ones.
#[test]
fn own_stores_are_seen() {
    let text = |condition: &str| {
        format!(
            "program Cells
address x, y, cells[2]
thread a regs place, own, seen, of init enter begin
  enter: place <- mem[y];
  first: mem[cells + place] <- 3;
  second: mem[x] <- 1;
  third: mem[cells + 1] <- 2;
  own: own <- mem[x];
  look: seen <- mem[y];
  back: of <- mem[cells + place];
  after: ensure {condition};
end
thread b regs seen init enter begin
  enter: mem[y] <- 1;
  look: seen <- mem[x];
  overwrite: mem[x] <- 1 + seen; goto done;
end
"
        )
    };
    // Under SC `own` may be 2, and so it may under TSO.
    for (condition, holds) in [
        ("own >= 1 && of = 3 - place", true),
        ("own != 2", false),
        ("place = 0 || seen = 1", true),
        ("seen = 1 || own = 1", true),
    ] {
        let program = program(&text(condition));
        let alone = answer(&program, Some(Rung::Enriched));
        assert_eq!(matches!(alone.answer, Answer::Holds(_)), holds, "{condition}: {alone:?}");
        let all = answer(&program, None);
        assert_eq!(matches!(all.answer, Answer::Violated(_)), !holds, "{condition}: {all:?}");
    }
}

/// The enriched program is no part of the evidence; all that is has to be as it is.
#[test]
fn changed_evidence_is_rejected() {
    let text = "program Entering
thread a regs seen, own init a begin
  a: mem[x] <- 1; goto b;
  b: seen <- mem[y]; goto c;
  c: own <- mem[x]; goto d;
  d: ensure own = 1; goto e;
  e: mem[z] <- seen; goto f;
end
thread b regs seen, told init a begin
  a: mem[y] <- 1; goto b;
  b: told <- mem[z]; goto c;
  c: seen <- mem[x]; goto d;
  d: ensure told = 0 || seen = 1; goto e;
end
";
    let options = ProveOptions { by: Some(Rung::Enriched), ..ProveOptions::new(Model::Tso) };
    let good = about_properties("enriched", text, Format::Native, &options);
    let written = good.evidence.to_text();
    assert!(written.contains("\"room\""), "{written}");
    assert!(good.change_everything() > 100);
}
