//! Limits end in `unknown`, faults of programs in an error that says what grows.

use crate::checked::check;
use palisade::limits::{Limits, StopReason};
use palisade::program::{Program, SourceText};
use palisade::robustness::{CheckOptions, Fault, Verdict};
use palisade::syntax::{self, Format};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const COUNTERS: &str = "program counters
thread worker [3] regs r, s init a begin
  a: r <- mem[x]; goto b;
  b: mem[x] <- r + 1; goto c;
  c: s <- mem[y]; goto d;
  d: mem[y] <- s + 1; goto a;
end
";

fn program(text: &str) -> Program {
    let source = SourceText::new("counters.pal", text);
    let mut program = syntax::parse(source, Format::Native).expect("the text parses").program;
    syntax::check(&mut program).expect("the program is in order");
    program
}

fn decide(text: &str, options: &CheckOptions) -> Result<Verdict, Fault> {
    check(&program(text), options).map(|checked| checked.verdict)
}

/// `x` and `y` change together, so that the reader never counts; but a search that looks at one
/// thread after the other does not see that. The other threads make more configurations than
/// anybody waits for.
pub(crate) fn seemingly_growing() -> String {
    let mut text = "program seems
thread both init a begin
  a: lock; goto b;
  b: mem[x] <- 1; goto c;
  c: mem[y] <- 1; goto d;
  d: unlock; goto e;
  e: lock; goto f;
  f: mem[x] <- 0; goto g;
  g: mem[y] <- 0; goto h;
  h: unlock; goto a;
end
thread reader regs r, s init a begin
  a: lock; goto b;
  b: r <- mem[x]; goto c;
  c: s <- mem[y]; goto d;
  d: unlock; goto e;
  e: assert r != s; goto f;
  e: assert r = s; goto a;
  f: mem[x] <- r + 1; goto a;
end
"
    .to_owned();
    for toggled in 0..16 {
        text += &format!(
            "thread t{toggled} regs r init a begin
  a: mem[z{toggled}] <- 1; goto b;
  b: r <- mem[w]; goto c;
  c: mem[z{toggled}] <- 0; goto a;
end
"
        );
    }
    text
}

#[test]
fn where_there_is_no_verdict_what_may_grow_is_said() {
    let program = program(&seemingly_growing());
    // A machine that does much else may take longer until the values look so.
    let suspect = [4, 16, 64].into_iter().find_map(|seconds| {
        let limits = Limits::none().with_timeout(Duration::from_secs(seconds));
        let checked = check(&program, &CheckOptions { limits, ..CheckOptions::default() }).expect("nothing is faulty");
        assert_eq!(checked.verdict, Verdict::Unknown(StopReason::Timeout));
        checked.suspect
    });
    let said = suspect.expect("value sets grow").describe_suspicion(&program);
    assert!(said.starts_with("address `x` may grow: "), "{said}");
}

#[test]
fn an_interrupted_check_is_unknown() {
    let limits = Limits::none().with_interrupt(Arc::new(AtomicBool::new(true)));
    let options = CheckOptions { limits, ..CheckOptions::default() };
    assert_eq!(decide(COUNTERS, &options), Ok(Verdict::Unknown(StopReason::Interrupted)));
}

#[test]
fn a_check_out_of_time_or_memory_is_unknown() {
    let timeout = Limits::none().with_timeout(Duration::ZERO);
    let options = CheckOptions { limits: timeout, ..CheckOptions::default() };
    assert_eq!(decide(COUNTERS, &options), Ok(Verdict::Unknown(StopReason::Timeout)));
    if palisade::limits::resident_bytes().is_some() {
        let options = CheckOptions { limits: Limits::none().with_memory(1), ..CheckOptions::default() };
        assert_eq!(decide(COUNTERS, &options), Ok(Verdict::Unknown(StopReason::Memory)));
    }
}

/// A store and a fenced load: robust, and the values grow for ever. The product keeps them from
/// being counters, and from stopping anywhere.
const FENCED: &str = "program fenced
thread worker [2] regs r, s init a begin
  a: r <- fetch_add(mem[x], 1); goto b;
  b: mem[y] <- r * 3 % 5; goto c;
  c: mfence; goto d;
  d: s <- mem[z]; goto a;
end
thread reader regs r, s init a begin
  a: mem[z] <- 1; goto b;
  b: r <- mem[z]; goto a;
end
";

#[test]
fn growing_values_are_named_and_a_domain_mends_it() {
    let fault = decide(FENCED, &CheckOptions::default()).expect_err("the values grow");
    assert!(fault.is_growth());
    let wrapped = FENCED.replace("program fenced\n", "program fenced\ndomain 0..7 wrap\n");
    assert_eq!(decide(&wrapped, &CheckOptions::default()), Ok(Verdict::Robust));
}
