//! Fences for the models and for the public corpus: optimal by exhaustive search where that is feasible, as few as the
//! published tool needs, irreducible.

use palisade::fences::{
    Cost, CostFunction, FenceOptions, Measure, Placement, Profile, Repair, Silent, offered, place, with_measures,
};
use palisade::program::{Copies, Program, SourceText};
use palisade::robustness::{CheckOptions, Outcome, Verdict, check};
use palisade::semantics::random::Randomness;
use palisade::syntax::{Format, read};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

fn read_program(file: &Path) -> Program {
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let format = Format::of_path(file).expect("the extension tells the format");
    let source = SourceText::new(file.display().to_string(), text);
    read(source, format).unwrap_or_else(|errors| panic!("{}: {errors:?}", file.display())).program
}

fn uniform() -> FenceOptions {
    FenceOptions { cost: CostFunction::Uniform, ..FenceOptions::default() }
}

fn placed(program: &Program, options: &FenceOptions) -> Placement {
    match place(program, options, &Silent) {
        Ok(Repair::Valid(placement)) => *placement,
        other => panic!("{}: {other:?}", program.source.name),
    }
}

fn verdict(program: &Program) -> Verdict {
    check(program, &CheckOptions::default()).expect("the program has a meaning").verdict
}

/// The changed program is robust, and without any one change the attack named comes back.
fn is_irreducible(program: &Program, placement: &Placement) {
    let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
    assert!(placement.confirmed && placement.proof.is_some());
    assert_eq!(verdict(&with_measures(program, &measures)), Verdict::Robust);
    assert_eq!(placement.returning.len(), measures.len());
    for returning in &placement.returning {
        let rest: Vec<Measure> = measures.iter().copied().filter(|measure| *measure != returning.measure).collect();
        let changed = with_measures(program, &rest);
        let options = CheckOptions { all: true, ..CheckOptions::default() };
        let checked = check(&changed, &options).expect("the changed program has a meaning");
        assert_eq!(checked.verdict, Verdict::NotRobust);
        let report = checked.attacks.iter().find(|report| report.attack == returning.attack);
        assert_eq!(report.map(|report| report.outcome), Some(Outcome::Feasible));
    }
}

#[test]
fn as_few_fences_as_published() {
    let Some(corpus) = std::env::var_os("PALISADE_CORPUS").map(PathBuf::from) else {
        println!("skipped: PALISADE_CORPUS is not set");
        return;
    };
    let folder = corpus.join("trencher");
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the table can be read");
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let Ok(expected) = fields[2].parse::<usize>() else { continue };
        let program = read_program(&folder.join(fields[0]));
        let placement = placed(&program, &uniform());
        // Each fence costs 1, and the bound is proved; so fewer would be evidence against the published number.
        assert_eq!(placement.measures.len(), expected, "{}", fields[0]);
        is_irreducible(&program, &placement);
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} programs compared");
}

/// Labels tried exhaustively at most.
const LARGEST: usize = 12;

/// Configurations that the checks of all sets of labels together may explore, about, unless `PALISADE_EXHAUSTIVE` is set.
const CONFIGURATIONS: usize = 100_000;

/// Costs `1` to `4.99` for all labels.
fn random_costs(program: &Program, random: &mut Randomness) -> CostFunction {
    let mut text = String::new();
    for thread in &program.threads {
        for label in &thread.labels {
            text += &format!("{},{},{}.{:02}\n", thread.name, label.name, 1 + random.below(4), random.below(100));
        }
    }
    CostFunction::Profile(Profile::read(&text, program).expect("the profile is well formed"))
}

/// Compares the optima under uniform and random costs with the verdicts on all sets of labels; whether that was feasible.
fn compare(program: &Program, random: &mut Randomness) -> bool {
    let labels: Vec<Measure> = offered(program, &uniform())
        .expect("uniform costs are costs")
        .into_iter()
        .map(|(measure, _)| measure)
        .collect();
    if labels.len() > LARGEST || labels.is_empty() {
        return false;
    }
    let Ok(Repair::Valid(placement)) = place(program, &uniform(), &Silent) else { return false };
    let repair: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
    let repaired = with_measures(program, &repair);
    let explored = check(&repaired, &CheckOptions::default()).expect("the repaired program has a meaning").markings;
    let work = (explored + placement.markings) << labels.len();
    if work > CONFIGURATIONS && std::env::var_os("PALISADE_EXHAUSTIVE").is_none() {
        return false;
    }
    let set_of = |bits: usize| -> Vec<Measure> {
        (0..labels.len()).filter(|bit| bits >> bit & 1 == 1).map(|bit| labels[bit]).collect()
    };
    let valid: Vec<Vec<Measure>> = (0..1usize << labels.len())
        .into_par_iter()
        .map(set_of)
        .filter(|set| verdict(&with_measures(program, set)) == Verdict::Robust)
        .collect();
    is_irreducible(program, &placement);
    for round in 0..4 {
        let cost = if round == 0 { CostFunction::Uniform } else { random_costs(program, random) };
        let options = FenceOptions { cost, alternatives: 1000, confirm: round == 0, ..FenceOptions::default() };
        let costs = offered(program, &options).expect("the costs are costs");
        let cost_of = |set: &Vec<Measure>| -> Cost {
            costs.iter().filter(|(measure, _)| set.contains(measure)).map(|(_, cost)| cost.clone()).sum()
        };
        let least = valid.iter().map(cost_of).min().expect("fences everywhere make every program robust");
        let mut optima: Vec<Vec<Measure>> = valid.iter().filter(|set| cost_of(set) == least).cloned().collect();
        optima.sort();
        let placement = placed(program, &options);
        assert_eq!(placement.cost, least, "{}", program.source.name);
        let mut alternatives = placement.alternatives;
        alternatives.sort();
        assert_eq!(alternatives, optima, "{}", program.source.name);
    }
    true
}

#[test]
fn models_agree_with_exhaustive_search() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("there are models")
        .map(|entry| entry.expect("the entry can be read").path())
        .filter(|path| Format::of_path(path).is_some())
        .collect();
    files.sort();
    let mut random = Randomness::new(7);
    let (mut fixed, mut any) = (0, 0);
    let long = std::env::var_os("PALISADE_EXHAUSTIVE").is_some();
    for file in files {
        let mut program = read_program(&file);
        // Exhaustive search over searches for any number of copies is for long runs; random programs have it by default.
        let declared = program.clone();
        for thread in program.threads.iter_mut().filter(|thread| thread.copies == Copies::Any) {
            thread.copies = Copies::Exactly(2);
        }
        fixed += usize::from(compare(&program, &mut random));
        if long {
            program = declared;
            program.threads.iter_mut().for_each(|thread| thread.copies = Copies::Any);
            any += usize::from(compare(&program, &mut random));
        }
    }
    println!("compared {fixed} models with fixed and {any} with any number of copies");
    assert!(fixed >= 3 && (any >= 5 || !long), "only {fixed} and {any} models compared");
}
