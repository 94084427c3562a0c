//! Fences for the public corpus: as few as the published tool needs, irreducible.

use crate::checked::check;
use crate::environment::corpus;
use palisade::fences::{CostFunction, FenceOptions, Measure, Placement, Repair, Silent, place, with_measures};
use palisade::program::{Program, SourceText};
use palisade::robustness::{AttackOutcome, CheckOptions, Verdict};
use palisade::syntax::{Format, read};
use std::path::Path;

pub(crate) fn read_program(file: &Path) -> Program {
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let format = Format::of_path(file).expect("the extension tells the format");
    read_text(&file.display().to_string(), text, format)
}

/// The program of a text.
pub(crate) fn read_text(name: &str, text: impl Into<String>, format: Format) -> Program {
    read(SourceText::new(name.to_owned(), text.into()), format)
        .unwrap_or_else(|errors| panic!("{name}: {errors:?}"))
        .program
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
pub(crate) fn is_irreducible(program: &Program, placement: &Placement) {
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
        assert_eq!(report.map(|report| report.outcome), Some(AttackOutcome::Feasible));
    }
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn as_few_fences_as_published() {
    let folder = corpus().join("trencher");
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the table can be read");
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let Ok(expected) = fields[2].parse::<usize>() else { continue };
        let program = read_program(&folder.join(fields[0]));
        let placement = placed(&program, &uniform());
        // Each fence costs 1, and the bound is proved; so fewer would be evidence against the
        // published number.
        assert_eq!(placement.measures.len(), expected, "{}", fields[0]);
        is_irreducible(&program, &placement);
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} programs compared");
}
