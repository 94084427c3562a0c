//! Robustness against PSO: the claim that one delayed store is enough to show that a program is not
//! robust [NETYS17], by brute force.

use super::{Amount, Compared, compare_all, of_class};
use palisade::program::{Action, Program, SourceText};
use palisade::robustness::{DEFAULT_VALUES, NotForPso, Verdict, not_for_pso};
use palisade::semantics::random::Shape;
use palisade::semantics::{Bounds, Instance, Model, is_cyclic, pso_oracle, replay};
use palisade::syntax::{Format, read};

/// Points that the search for singular computations visits at most.
const POINTS: usize = 60_000;

fn shape() -> Shape {
    Shape {
        copies: 3,
        labels: 4,
        total_labels: 7,
        addresses: 3,
        sections: 0,
        rmws: 6,
        fences: 4,
        stores_first: 40,
        ..Shape::default()
    }
}

/// Whether both sides of the claim agree on a program.
fn compare(program: &Program) -> Compared {
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let Ok(is_robust) = pso_oracle::robust(program, &instance, &Bounds::default()) else { return Ok("no meaning") };
    let Ok(singular) = pso_oracle::singular_violation(program, &instance, POINTS) else { return Ok("too large") };
    let has_store_fence = program
        .threads
        .iter()
        .any(|thread| thread.instructions.iter().any(|instruction| instruction.action == Action::StoreFence));
    match (is_robust, singular) {
        (true, None) => Ok("robust"),
        (false, Some(steps)) => {
            let replayed = replay(program, &instance, Model::Pso, &steps).map_err(|error| error.to_string())?;
            if is_cyclic(&replayed.trace) { Ok("not robust") } else { Err("the computation has no cycle".to_owned()) }
        }
        (true, Some(_)) => Err("robust, but a computation with one delayed store has a cycle".to_owned()),
        (false, None) if has_store_fence => Ok("not robust, but no single store shows it"),
        (false, None) => Err("not robust, but no single store shows it".to_owned()),
    }
}

#[test]
fn a_single_delayed_store_shows_that_a_program_is_not_robust_against_pso() {
    let shapes = [
        shape(),
        Shape { stores_first: 0, overtaken: 80, branches: 20, ..shape() },
        Shape { rmws: 20, fences: 10, addresses: 2, ..shape() },
        Shape { sections: 40, labels: 5, ..shape() },
        Shape { domains: 100, choices: 10, indirect: 30, ..shape() },
    ];
    let amount = Amount { default: 120, long: 20_000 };
    let counts = compare_all("one delayed store under PSO", 5_000_000, amount, &shapes, compare);
    assert!(of_class(&counts, "robust") > 30 && of_class(&counts, "not robust") > 3, "{counts:?}");
}

/// Random programs with fences that order stores alone: where one delayed store does not suffice,
/// the class tells.
#[test]
fn programs_with_store_fences() {
    let shape = Shape { store_fences: 25, fences: 0, rmws: 0, stores_first: 80, ..shape() };
    let amount = Amount { default: 120, long: 20_000 };
    let counts = compare_all("store fences under PSO", 6_000_000, amount, &[shape], compare);
    assert!(of_class(&counts, "not robust") > 4, "{counts:?}");
}

/// With an `sfence` one delayed store does not suffice: the store behind it has to wait as well.
#[test]
fn a_store_fence_asks_for_two_delayed_stores() {
    let text = |fence: &str| {
        format!(
            "program P\naddress x, y, z\nthread a regs r init a begin\n  a: mem[x] <- 1;\n  b: {fence};\n  c: mem[y] <- 1;\n  \
             d: r <- mem[z];\nend\nthread b regs s init a begin\n  a: mem[z] <- 1;\n  b: mfence;\n  c: s <- mem[x];\nend\n"
        )
    };
    let read_text = |text| read(SourceText::new("p.pal", text), Format::Native).expect("it can be read").program;
    for (fence, is_robust, has_singular) in [("nop", false, true), ("sfence", false, false), ("mfence", true, false)] {
        let program = read_text(text(fence));
        let instance = Instance::of(&program).expect("fixed copies");
        let robust = pso_oracle::robust(&program, &instance, &Bounds::default()).expect("no loops");
        let singular = pso_oracle::singular_violation(&program, &instance, POINTS).expect("it is small");
        assert_eq!((robust, singular.is_some()), (is_robust, has_singular), "{fence}");
    }
}

/// The store to x is delayed past the one to y, which begins the path; and the path comes back to
/// the thread that delays, by v, and goes on from there by z. So an attacker cannot rest behind the
/// access at which the path begins, as it can under TSO.
#[test]
fn a_path_leads_through_the_delaying_thread() {
    let text = "program P
address x, y, z, v
thread a regs r init a begin
  a: mem[x] <- 1;
  b: mem[y] <- 1;
  c: r <- mem[v];
  d: assert r = 1;
  e: mem[z] <- 1;
end
thread b regs s init a begin
  a: s <- mem[y];
  b: assert s = 1;
  c: mem[v] <- 1;
end
thread c regs t, u init a begin
  a: t <- mem[z];
  b: assert t = 1;
  c: u <- mem[x];
end
";
    let program = read(SourceText::new("p.pal", text), Format::Native).expect("it can be read").program;
    assert_eq!(compare(&program), Ok("not robust"));
    let checked = crate::checked::check_pso(&program, DEFAULT_VALUES).expect("no value grows");
    assert_eq!(checked.verdict, Verdict::NotRobust);
}

/// The section of `d` reads x and w before y, which both paths lead to. So the stores to x and w
/// have to wait both, and with sections one delayed store does not suffice.
#[test]
fn a_section_asks_for_two_delayed_stores() {
    let text = |thread: &str| {
        format!(
            "program P
address x, w, p, v, y
thread a init a begin
  a: mem[x] <- 1;
  b: mem[p] <- 1;
end
thread b init a begin
  a: mem[w] <- 1;
  b: mem[v] <- 1;
end
thread c regs r, s init a begin
  a: r <- mem[p];
  b: assert r = 1;
  c: s <- mem[v];
  d: assert s = 1;
  e: mem[y] <- 1;
end
thread d regs r, s, t init a begin
{thread}end
"
        )
    };
    let section = "  a: lock;\n  b: r <- mem[x];\n  c: assert r = 0;\n  d: s <- mem[w];\n  e: assert s = 0;\n  f: t <- mem[y];\n  g: assert t = 1;\n  h: unlock;\n";
    let program = read(SourceText::new("p.pal", text(section)), Format::Native).expect("it can be read").program;
    let instance = Instance::of(&program).expect("fixed copies");
    assert_eq!(pso_oracle::robust(&program, &instance, &Bounds::default()), Ok(false));
    assert_eq!(pso_oracle::singular_violation(&program, &instance, 10 * POINTS), Ok(None));
    assert!(matches!(not_for_pso(&program), Some(NotForPso::Section(..))));
}
