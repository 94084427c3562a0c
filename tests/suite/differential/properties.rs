//! Properties: what `prove` says under SC, TSO and PSO is what the oracle enumerates, and no rung
//! contradicts it or another one.

use super::any_number::instances;
use super::{Amount, Compared, compare_all, of_class};
use crate::checked::prove;
use palisade::program::{Copies, Program};
use palisade::properties::{Answer, Proof, ProveOptions, Rung, Why};
use palisade::robustness::Fault;
use palisade::semantics::property_oracle::{Effort, Reached, Unanswered, reached, targets};
use palisade::semantics::random::Shape;
use palisade::semantics::{Instance, Model, Target};
use std::collections::BTreeSet;

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

/// The rungs, each asked alone.
const RUNGS: [Rung; 6] = [Rung::Values, Rung::Sc, Rung::ScRobust, Rung::Buffers, Rung::Snapshots, Rung::Enriched];

/// How far the oracle goes.
const EFFORT: Effort = Effort { capacity: 6, states: 60_000 };

/// Explorations have so many configurations at most.
const MOST_CONFIGURATIONS: u64 = 200_000;

/// Instances have so many copies of each replicated thread at most, and so many in all.
const MOST_COPIES: (u64, u64) = (4, 5);

/// Ways of asking: all rungs together, with slices and without, and each rung alone.
fn ways(model: Model) -> Vec<ProveOptions> {
    let all = ProveOptions { shorten: false, buffer: 8, most: MOST_CONFIGURATIONS, ..ProveOptions::new(model) };
    let whole = ProveOptions { slice: false, ..all.clone() };
    let alone = RUNGS.map(|rung| ProveOptions { by: Some(rung), ..all.clone() });
    [all, whole].into_iter().chain(alone).collect()
}

/// What several ways of asking have said of one program under one model.
#[derive(Debug, Default)]
struct Said {
    /// Targets that are never reached, as some way says.
    held: BTreeSet<Target>,
    /// Targets that are reached, as some way says; each has been replayed.
    violated: BTreeSet<Target>,
    /// Targets that all rungs together have left open.
    open: BTreeSet<Target>,
    /// Whether values grow, as some way says.
    grows: bool,
    /// Whether a step has no value, as some way says.
    faulty: bool,
}

impl Said {
    fn note(&mut self, options: &ProveOptions, answer: &Result<Proof, Fault>) -> Result<(), String> {
        let proof = match answer {
            Ok(proof) => proof,
            Err(fault) if fault.is_growth() => {
                self.grows = true;
                return Ok(());
            }
            Err(_) => {
                self.faulty = true;
                return Ok(());
            }
        };
        for answer in &proof.answers {
            match &answer.answer {
                Answer::Holds(_) => self.held.insert(answer.target),
                Answer::Violated(_) => self.violated.insert(answer.target),
                Answer::Open(Why::NotReplayed) => return Err(format!("{options:?}: {answer:?}")),
                Answer::Open(_) if options.by.is_none() => self.open.insert(answer.target),
                Answer::Open(_) => false,
            };
        }
        match self.held.intersection(&self.violated).next() {
            Some(target) => Err(format!("{target:?} holds and is violated: {options:?} {answer:?}")),
            None => Ok(()),
        }
    }
}

/// Asks in all ways.
fn ask(program: &Program, model: Model) -> Result<Said, String> {
    let mut said = Said::default();
    for options in ways(model) {
        said.note(&options, &prove(program, None, &options))?;
    }
    Ok(said)
}

/// How what was said differs from what the oracle found.
fn objection(said: &Said, found: &Reached) -> Option<String> {
    if let Some(target) = said.held.intersection(&found.targets).next() {
        return Some(format!("{target:?} holds, but is reached"));
    }
    let missing = said.violated.difference(&found.targets).next().filter(|_| found.closed);
    missing.map(|target| format!("{target:?} is violated, but not reached"))
}

fn compare(program: &Program) -> Compared {
    if targets(program, None).is_empty() {
        return Ok("without properties");
    }
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let (mut reached_by, mut is_open, mut is_beyond) = (Vec::new(), false, false);
    for model in MODELS {
        let said = ask(program, model)?;
        if said.grows {
            return Ok("growing");
        }
        match reached(program, &instance, None, model, EFFORT) {
            Ok(found) => {
                if let Some(objection) = objection(&said, &found) {
                    return Err(format!("{model:?}: {objection}"));
                }
                is_beyond |= !found.closed && found.targets.is_empty();
                reached_by.push(found.targets);
            }
            Err(Unanswered::Value(_)) => return Ok("a step has no value"),
            Err(_) => is_beyond = true,
        }
        if said.faulty {
            return Err(format!("{model:?}: a step has no value, but the oracle sees none"));
        }
        is_open |= !said.open.is_empty();
    }
    Ok(match &reached_by[..] {
        _ if is_open => "open",
        _ if is_beyond => "beyond the oracle",
        [sc, tso, _] if sc != tso => "TSO reaches more than SC",
        [_, tso, pso] if tso != pso => "PSO reaches more than TSO",
        [sc, ..] if sc.is_empty() => "never reached",
        _ => "reached under SC",
    })
}

/// Programs in which models differ: stores first, loads last, critical cycles, both fences, locked
/// instructions, sections.
fn shapes() -> Vec<Shape> {
    let shape = Shape {
        copies: 3,
        labels: 6,
        total_labels: 9,
        branches: 8,
        fences: 4,
        store_fences: 5,
        rmws: 8,
        sections: 10,
        indirect: 4,
        domains: 10,
        stores_first: 80,
        properties: 6,
        joined: 50,
        cycles: 50,
        ..Shape::default()
    };
    vec![
        shape.clone(),
        Shape { sections: 60, cycles: 0, ..shape.clone() },
        Shape { loops: 20, domains: 100, cycles: 0, joined: 20, properties: 15, total_labels: 7, ..shape.clone() },
        Shape { rmws: 30, indirect: 20, addresses: 3, ..shape.clone() },
        Shape { copies: 2, loops: 15, domains: 100, cycles: 40, properties: 10, total_labels: 8, ..shape },
    ]
}

#[test]
fn verdicts_are_the_oracles() {
    let amount = Amount { default: 12, long: 20_000 };
    let counts = compare_all("properties", 7_000_000, amount, &shapes(), compare);
    let asked: usize = counts.values().sum::<usize>() - of_class(&counts, "without properties");
    for class in ["TSO reaches more than SC", "PSO reaches more than TSO", "never reached", "reached under SC"] {
        assert!(of_class(&counts, class) * 50 >= asked, "{class}: {counts:?}");
    }
    assert!(of_class(&counts, "open") * 8 <= asked, "{counts:?}");
}

/// What holds for any number of copies holds in all small instances; what is violated is so in the
/// instance named, and in none with fewer copies where it is called minimal.
fn compare_any_number(program: &Program) -> Compared {
    if !program.is_parameterized() || targets(program, None).is_empty() {
        return Ok("fixed, or without properties");
    }
    let mut class = "holds";
    for model in MODELS {
        let said = ask(program, model)?;
        if said.grows || said.faulty {
            return Ok("growing, or without values");
        }
        let options = &ways(model)[0];
        let proof = prove(program, None, options).map_err(|fault| format!("{fault:?}"))?;
        for instance in instances(program, 0, MOST_COPIES.0) {
            if instance.total() == 0 || instance.total() > MOST_COPIES.1 {
                continue;
            }
            let Ok(found) = reached(program, &instance, None, model, EFFORT) else { continue };
            if let Some(target) = said.held.intersection(&found.targets).next() {
                return Err(format!("{model:?}: {target:?} holds, but not with the copies {:?}", instance.counts()));
            }
            if let Some(objection) = smaller_instance(program, &proof, &instance, &found) {
                return Err(format!("{model:?}: {objection}"));
            }
        }
        class = match class {
            _ if !said.open.is_empty() => "open",
            "holds" if !said.violated.is_empty() => "violated",
            same => same,
        };
    }
    Ok(class)
}

/// An instance that reaches a target though the one that is called minimal has more copies.
fn smaller_instance(program: &Program, proof: &Proof, instance: &Instance, found: &Reached) -> Option<String> {
    let replicated = |instance: &Instance| -> u64 {
        let counts = program.threads.iter().zip(instance.counts());
        counts.filter(|(thread, _)| thread.copies == Copies::Any).map(|(_, count)| *count).sum()
    };
    let own = replicated(instance);
    let mut minimal = proof.violations().filter(|violation| violation.instance_minimal);
    let larger = minimal.find(|it| found.targets.contains(&it.target) && replicated(&it.instance) > own)?;
    let (named, counts) = (larger.instance.counts(), instance.counts());
    Some(format!("no instance is smaller than {named:?}, but {counts:?} reaches {:?}", larger.target))
}

#[test]
fn any_number_is_what_instances_say() {
    let shapes: Vec<Shape> = shapes()
        .into_iter()
        .map(|shape| Shape { any: 60, total_labels: 6, labels: 4, cycles: 0, joined: 0, ..shape })
        .collect();
    let shapes: Vec<Shape> = shapes.into_iter().map(|shape| Shape { properties: 25, ..shape }).collect();
    let amount = Amount { default: 20, long: 2_000 };
    let counts = compare_all("properties, any number", 7_500_000, amount, &shapes, compare_any_number);
    assert!(of_class(&counts, "holds") >= 2 && of_class(&counts, "violated") >= 2, "{counts:?}");
}
