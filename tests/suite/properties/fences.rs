//! Fences for properties: the cheapest sets of the programs of [FM15], and of the looping models.

use crate::environment::{corpus, is_long_run};
use crate::fences::corpus::{read_program, read_text};
use palisade::fences::Measure;
use palisade::program::Program;
use palisade::properties::placement::{Placed, PlacementOptions, PropertyPlacement, place};
use palisade::semantics::Model;
use palisade::syntax::Format;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The cheapest sets for a program with fragments of any size, and how many rows prove them
/// cheapest.
struct Expected {
    name: &'static str,
    tso: &'static [&'static str],
    tso_rows: usize,
    /// One of the cheapest sets under PSO.
    pso: &'static [&'static str],
    pso_rows: usize,
    pso_optima: usize,
}

const EXPECTED: [Expected; 7] = [
    Expected {
        name: "dekker",
        tso: &["t1.look", "t2.look"],
        tso_rows: 2,
        pso: &["t1.look", "sfence t1.yield_turn", "t2.look", "sfence t2.yield_turn"],
        pso_rows: 4,
        pso_optima: 4,
    },
    Expected {
        name: "peterson",
        tso: &["t1.look", "t2.look"],
        tso_rows: 2,
        pso: &["sfence t1.give_way", "t1.look", "sfence t1.leave", "sfence t2.give_way", "t2.look", "sfence t2.leave"],
        pso_rows: 6,
        pso_optima: 1,
    },
    Expected {
        name: "lamport",
        tso: &["t1.gate", "t1.contended", "t2.gate", "t2.contended"],
        tso_rows: 4,
        pso: &["t1.gate", "t1.contended", "sfence t1.open", "t2.gate", "t2.contended", "sfence t2.open"],
        pso_rows: 6,
        pso_optima: 1,
    },
    Expected {
        name: "dijkstra",
        tso: &["t1.other", "t2.other"],
        tso_rows: 2,
        pso: &["t1.other", "sfence t1.leave", "t2.other", "sfence t2.leave"],
        pso_rows: 4,
        pso_optima: 1,
    },
    Expected {
        name: "szymanski",
        tso: &["t1.door", "t2.look"],
        tso_rows: 2,
        pso: &["t1.door", "sfence t1.leave", "t2.look", "sfence t2.leave"],
        pso_rows: 4,
        pso_optima: 3,
    },
    Expected {
        name: "chaselev",
        tso: &["owner.read_top1"],
        tso_rows: 1,
        pso: &["sfence owner.publish1", "sfence owner.publish2", "owner.read_top1"],
        pso_rows: 3,
        pso_optima: 1,
    },
    Expected {
        name: "cilk",
        tso: &["owner.read_head1", "owner.read_head2", "thief.read_tail1", "thief.read_tail2"],
        tso_rows: 4,
        pso: &[
            "sfence owner.publish1",
            "sfence owner.publish2",
            "owner.read_head1",
            "owner.read_head2",
            "sfence owner.won2",
            "thief.read_tail1",
            "thief.read_tail2",
        ],
        pso_rows: 7,
        pso_optima: 3,
    },
];

fn measure_name(program: &Program, measure: Measure) -> String {
    let name = measure.name(program);
    if matches!(measure, Measure::StoreFence { .. }) { format!("sfence {name}") } else { name }
}

fn names(program: &Program, set: &[Measure]) -> Vec<String> {
    let mut names: Vec<String> = set.iter().map(|measure| measure_name(program, *measure)).collect();
    names.sort();
    names
}

fn placed(program: &Program, options: &PlacementOptions) -> PropertyPlacement {
    match place(program, None, options) {
        Ok(Placed::Valid(placement)) => *placement,
        other => panic!("{}: {other:?}", program.source.name),
    }
}

/// Places fences and compares with what is expected.
fn compare(file: &Path, expected: &Expected, model: Model) {
    let program = read_program(file);
    let placement = placed(&program, &PlacementOptions { alternatives: 100, ..PlacementOptions::new(model) });
    let name = file.display();
    assert_eq!(placement.open, None, "{name}: every set is proved");
    assert!(placement.alternatives_complete);
    let (set, rows, optima) = match model {
        Model::Pso => (expected.pso, expected.pso_rows, expected.pso_optima),
        _ => (expected.tso, expected.tso_rows, 1),
    };
    let mut set: Vec<String> = set.iter().map(|name| (*name).to_owned()).collect();
    set.sort();
    let all: Vec<Vec<String>> = placement.alternatives.iter().map(|set| names(&program, set)).collect();
    assert!(all.contains(&set), "{name}: {set:?} is none of {all:?}");
    assert_eq!(all.len(), optima, "{name}: {all:?}");
    assert_eq!(placement.rows.len(), rows, "{name}");
    assert_eq!(placement.lower_bound, placement.cost, "{name}");
}

fn files(prefix: &str, wanted: impl Fn(usize) -> bool) -> Vec<PathBuf> {
    let sizes = (0..=40).filter(|size| wanted(*size));
    let path = |size| corpus().join("reorder-bounded").join(format!("{prefix}-{size:02}.pal"));
    sizes.map(path).filter(|path| path.exists()).collect()
}

/// The programs without fragments and with the largest; the long run has all 147: fragments that do
/// not matter change nothing.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn the_programs_of_reorder_bounded_model_checking() {
    let wanted = |size: usize| is_long_run() || size == 0 || size == 40;
    let all: Vec<(&Expected, PathBuf)> = EXPECTED
        .iter()
        .flat_map(|expected| files(expected.name, wanted).into_iter().map(move |file| (expected, file)))
        .collect();
    assert!(all.len() >= 14);
    all.par_iter().for_each(|(expected, file)| {
        for model in [Model::Tso, Model::Pso] {
            compare(file, expected, model);
        }
    });
}

/// How many fences the looping models need for `ensure others = 0` under TSO.
#[test]
fn looping_models() {
    for (name, fences) in [("simple-dekker", 2), ("peterson", 2), ("dekker", 2), ("burns", 2), ("szymanski", 3)] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(format!("{name}.pal"));
        let program = read_program(&file);
        let placement = placed(&program, &PlacementOptions::new(Model::Tso));
        assert_eq!(placement.measures.len(), fences, "{name}: {:?}", placement.measures);
        assert_eq!(placement.open, None, "{name}");
    }
}

/// Only a proof looks into buffers of five stores. In the program it passes a load that the slice
/// leaves out, of what the slice leaves out.
#[test]
fn a_run_that_needs_long_buffers() {
    let stores: String = (1..=5).map(|number| format!("s{number}: mem[x{number}] <- 1;\n")).collect();
    let next = |number: usize| if number == 5 { "enter".to_owned() } else { format!("l{}", number + 1) };
    let load = |number| format!("l{number}: r <- mem[x{number}];\n f{number}: assert r = 0; goto {};\n", next(number));
    let loads: String = (1..=5).map(load).collect();
    let text = format!(
        "program Long
        address x1, x2, x3, x4, x5, y, junk, inside
        thread t1 regs r, o init s0 begin
          s0: mem[junk] <- 1;
          {stores}
          look: r <- mem[y];
          free: assert r = 0; goto enter;
          enter: o <- fetch_add(mem[inside], 1);
          alone: ensure o = 0;
        end
        thread t2 regs r, o init begin_t2 begin
          begin_t2: r <- mem[junk];
          s: mem[y] <- 1;
          {loads}
          enter: o <- fetch_add(mem[inside], 1);
          alone: ensure o = 0;
        end"
    );
    let program = read_text("long.pal", &text, Format::Native);
    for model in [Model::Tso, Model::Pso] {
        let placement = placed(&program, &PlacementOptions::new(model));
        assert_eq!((placement.measures.len(), placement.open), (2, None), "{model:?}: {:?}", placement.measures);
    }
}

/// A load that leaves the array it names: what the slice left out matters after all.
#[test]
fn a_load_that_leaves_its_array() {
    let text = "program Leaves
        address x, i, inside, a, y
        thread t1 regs k, r, o init s begin
          s: mem[x] <- 1;
          index: k <- mem[i];
          known: assert k != 0; goto look;
          look: r <- mem[a + k];
          free: assert r = 0; goto enter;
          enter: o <- fetch_add(mem[inside], 1);
          alone: ensure o = 0;
        end
        thread t2 regs r, o init s begin
          s: mem[y] <- 1;
          look: r <- mem[x];
          free: assert r = 0; goto enter;
          enter: o <- fetch_add(mem[inside], 1);
          alone: ensure o = 0;
        end
        thread writer regs k init get begin
          get: k <- mem[i];
          put: mem[i] <- k + 1;
        end";
    let program = read_text("leaves.pal", text, Format::Native);
    for model in [Model::Tso, Model::Pso] {
        let placement = placed(&program, &PlacementOptions { alternatives: 100, ..PlacementOptions::new(model) });
        let all: Vec<Vec<String>> = placement.alternatives.iter().map(|set| names(&program, set)).collect();
        assert!(all.contains(&vec!["t1.look".to_owned(), "t2.look".to_owned()]), "{model:?}: {all:?}");
        assert_eq!((placement.measures.len(), placement.rows.len(), placement.open), (2, 2, None), "{model:?}");
    }
}
