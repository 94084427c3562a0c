//! What holds in the end: as the oracle's enumeration says, and as a thread says that waits until
//! it holds.

use super::stuck::{answered, is_stuck};
use super::{Amount, Compared, compare_generated, of_class};
use palisade::hangs::{Verdict, Why};
use palisade::program::Program;
use palisade::semantics::random::{Randomness, WaitShape, waiting_program};
use palisade::semantics::{Instance, Model};
use palisade::syntax::{Format, parse, print};
use palisade::text::SourceText;

/// Claims about two addresses of random programs.
const CLAIMS: [&str; 6] =
    ["mem[1] == 0", "mem[1] == 1", "mem[1] != 0", "mem[1] == mem[2]", "mem[2] < 2", "mem[1] + mem[2] == 1"];

fn read(text: &str) -> Program {
    let parsed = parse(SourceText::new("ends.pal", text.to_owned()), Format::Native);
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

fn text_of(program: &Program) -> String {
    print(program, Format::Native).expect("the language has all programs").text
}

fn claiming(seed: u64) -> Program {
    let shape = WaitShape { copies: 2, statements: 2, marks: 25, loops: 4, ..WaitShape::default() };
    let claim = CLAIMS[Randomness::new(seed ^ 0x5eed).below(CLAIMS.len())];
    read(&format!("{}\nfinally {{ ensure {claim}; }}\n", text_of(&waiting_program(seed, &shape))))
}

fn compare(program: &Program) -> Compared {
    // A shrunk program is printed and read as well.
    let program = &read(&text_of(program));
    if program.finally.is_empty() || program.threads.is_empty() {
        return Ok("nothing claimed");
    }
    let text = text_of(program);
    let Some((threads, claims)) = text.split_once("finally {") else { return Err("no claims are printed".to_owned()) };
    let claim = claims.trim().trim_end_matches('}').trim().trim_start_matches("ensure ").trim_end_matches(';');
    // It waits until the claim holds, so it hangs in an end of which the claim does not hold.
    let waiting = read(&format!("{threads}\nthread claimant {{ while (!({claim})) {{ pause; }} }}\n"));
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let with_claimant = Instance::of(&waiting).ok_or("the copies are not fixed")?;
    let mut class = "holds";
    for model in [Model::Sc, Model::Tso] {
        let Some(found) = answered(program, model)? else { return Ok("no meaning") };
        let one = is_stuck(program, &instance, model, 4_000);
        let other = is_stuck(&waiting, &with_claimant, model, 20_000);
        match (&found.verdict, one, other) {
            (_, None, _) | (_, _, None) => return Ok("too large"),
            (Verdict::Unknown(Why::Stopped(_) | Why::BuffersLonger(_)), ..) => return Ok("too large"),
            (Verdict::Stuck(stuck), Some(true), Some(true)) => {
                class = if stuck.broken.is_empty() { "stuck" } else { "broken" };
            }
            (Verdict::Free(_), Some(false), Some(false)) => {}
            (verdict, one, other) => {
                return Err(format!("under {model:?}: {verdict:?}, the oracle says {one:?}, of a thread {other:?}"));
            }
        }
    }
    Ok(class)
}

#[test]
fn ends_are_those_of_the_oracle_and_of_a_thread_that_waits() {
    let amount = Amount { default: 60, long: 8_000 };
    let counts = compare_generated("finally", 3_300_000, amount, claiming, compare);
    assert!(of_class(&counts, "broken") > 3 && of_class(&counts, "holds") > 1, "{counts:?}");
}
