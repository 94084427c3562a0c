//! Memorax's examples: what is proved about them for fixed and any numbers of copies, and the
//! fences they need, beside what its engines say.

use crate::checked::prove;
use crate::environment::{corpus, is_long_run};
use palisade::limits::Limits;
use palisade::program::{Program, SourceText};
use palisade::properties::placement::{Placed, PlacementOptions, place};
use palisade::properties::{Answer, ProveOptions};
use palisade::semantics::Model;
use palisade::syntax::{Format, read};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

/// The rows of the table, by the names of its columns.
fn table() -> Vec<BTreeMap<String, String>> {
    let table = std::fs::read_to_string(corpus().join("memorax/expected.tsv")).expect("the corpus has a table");
    let mut lines = table.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<String>>());
    let header = lines.next().expect("the table has a header");
    lines.map(|fields| header.iter().cloned().zip(fields).collect()).collect()
}

/// The program of a row, where it can be read.
fn program(row: &BTreeMap<String, String>) -> Option<Program> {
    let file = corpus().join("memorax").join(&row["file"]);
    let text = std::fs::read_to_string(&file).expect("a file of the corpus");
    read(SourceText::new(row["file"].clone(), text), Format::Memorax).ok().map(|parsed| parsed.program)
}

fn limits() -> Limits {
    Limits::none().with_timeout(Duration::from_secs(if is_long_run() { 60 } else { 1 }))
}

/// Whether the forbidden states are reached, as `prove` says with evidence; nothing where it does
/// not say.
fn reached(program: &Program, model: Model) -> Option<bool> {
    let watched = program.monitored().expect("no joint state is one inside of a section");
    let options = ProveOptions { shorten: false, limits: limits(), ..ProveOptions::new(model) };
    let proof = prove(&watched, None, &options).ok()?;
    if proof.violations().next().is_some() {
        return Some(true);
    }
    let is_open = proof.answers.iter().any(|answer| matches!(answer.answer, Answer::Open(_)));
    (!is_open).then_some(false)
}

/// Compares what `prove` says with some columns; how much was compared.
fn compare(columns: &[(&str, Model)], change: impl Fn(&mut Program) + Sync) -> usize {
    let rows = table();
    let compared: Vec<usize> = rows
        .par_iter()
        .map(|row| {
            let Some(mut program) = program(row) else { return 0 };
            change(&mut program);
            let mut compared = 0;
            for (column, model) in columns {
                let expected = match &*row[*column] {
                    "reachable" => true,
                    "unreachable" => false,
                    _ => continue,
                };
                if let Some(own) = reached(&program, *model) {
                    assert_eq!(own, expected, "{} {column}", row["file"]);
                    compared += 1;
                }
            }
            compared
        })
        .collect();
    compared.iter().sum()
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn proofs_say_what_the_table_says() {
    let compared = compare(&[("sc", Model::Sc), ("tso", Model::Tso), ("pso", Model::Pso)], |_| {});
    assert!(compared >= 60, "{compared}");
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn proofs_for_any_number_say_what_the_table_says() {
    let compared = compare(&[("sc_any", Model::Sc), ("tso_any", Model::Tso)], |program| {
        program.override_copies(&["all=*".parse().expect("copies")]).expect("the program has threads");
    });
    assert!(compared >= 6, "{compared}");
}

/// A locked write is a fence behind the write; fences at any label are never more.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn fences_are_never_more_than_locked_writes() {
    let rows = table();
    let compared: Vec<usize> = rows
        .par_iter()
        .map(|row| {
            let Some(program) = program(row) else { return 0 };
            let mut compared = 0;
            for (column, model) in [("tso_smallest", Model::Tso), ("pso_smallest", Model::Pso)] {
                let Ok(smallest) = row[column].parse::<usize>() else { continue };
                let options = PlacementOptions { limits: limits(), ..PlacementOptions::new(model) };
                let Ok(Placed::Valid(placement)) = place(&program, None, &options) else { continue };
                if placement.open.is_none() {
                    let own = placement.measures.len();
                    assert!(own <= smallest, "{} {model:?}: {own} > {smallest}", row["file"]);
                    compared += 1;
                }
            }
            compared
        })
        .collect();
    let compared: usize = compared.iter().sum();
    assert!(compared >= 30, "{compared}");
}
