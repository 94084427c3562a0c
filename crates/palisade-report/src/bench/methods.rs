//! How the methods for pairs of statements grow: queries and time over the size of a program, after
//! Figs. 3 and 4 [FM15, Section 7].

use super::plots::curves;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// One run of one method on one program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodRun {
    /// The program's path.
    pub file: String,
    /// The program's name without the number at its end.
    pub family: String,
    /// That number.
    pub size: u64,
    /// The method.
    pub method: String,
    /// The memory model.
    pub model: String,
    /// Queries made; none where the method has no answer.
    pub queries: Option<u64>,
    /// How many pairs it bans.
    pub bans: Option<u64>,
    /// How many pairs may be reordered.
    pub candidates: Option<u64>,
    /// Wall time, from the start of the process to its end.
    pub seconds: f64,
    /// What it said, where it had no answer.
    pub message: Option<String>,
}

impl MethodRun {
    /// The name of a program without the number at its end, and that number: `peterson-12` is
    /// `peterson` of size 12.
    pub fn family_of(stem: &str) -> Option<(String, u64)> {
        let (family, size) = stem.rsplit_once(['-', '_'])?;
        Some((family.to_owned(), size.parse().ok()?))
    }
}

/// What is drawn over the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Queries,
    Seconds,
}

impl Measure {
    fn of(self, run: &MethodRun) -> Option<f64> {
        match self {
            Self::Queries => run.queries.and_then(|queries| u32::try_from(queries).ok()).map(f64::from),
            Self::Seconds => run.queries.map(|_| run.seconds),
        }
    }
}

/// The names of the methods, in the order of the runs.
fn methods(runs: &[MethodRun]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for run in runs {
        if !found.contains(&run.method.as_str()) {
            found.push(&run.method);
        }
    }
    found
}

/// The runs by family and size, with the method.
type Grid<'a> = BTreeMap<&'a str, BTreeMap<u64, BTreeMap<&'a str, &'a MethodRun>>>;

fn grid(runs: &[MethodRun]) -> Grid<'_> {
    let mut grid = Grid::new();
    for run in runs {
        grid.entry(&run.family).or_default().entry(run.size).or_default().insert(&run.method, run);
    }
    grid
}

/// A table for each family: a row for each size, queries and seconds for each method.
pub fn text(runs: &[MethodRun]) -> String {
    let (grid, methods) = (grid(runs), methods(runs));
    let mut out = String::new();
    for (family, sizes) in &grid {
        let model = runs.iter().find(|run| run.family == *family).map_or("", |run| &run.model);
        let _ = writeln!(out, "{family} under {model}: queries and seconds");
        let heads: Vec<String> = methods.iter().map(|method| format!("{method:>16}")).collect();
        let _ = writeln!(out, "{:>5} {:>6}{}", "n", "pairs", heads.concat());
        for (size, runs) in sizes {
            let candidates = runs.values().find_map(|run| run.candidates);
            let cells: Vec<String> = methods.iter().map(|method| format!("{:>16}", cell(runs.get(method)))).collect();
            let candidates = candidates.map_or("–".to_owned(), |count| count.to_string());
            let _ = writeln!(out, "{size:>5} {candidates:>6}{}", cells.concat());
        }
    }
    for disagreement in disagreements(runs) {
        let _ = writeln!(out, "disagreement: {disagreement}");
    }
    out
}

fn cell(run: Option<&&MethodRun>) -> String {
    match run {
        Some(MethodRun { queries: Some(queries), seconds, .. }) => format!("{queries}  {seconds:.2}"),
        _ => "–".to_owned(),
    }
}

/// Programs for which methods ban different numbers of pairs.
pub fn disagreements(runs: &[MethodRun]) -> Vec<String> {
    let mut by_file: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for run in runs {
        by_file.entry(&run.file).or_default().extend(run.bans);
    }
    let differing = by_file.into_iter().filter(|(_, bans)| bans.len() > 1);
    differing.map(|(file, bans)| format!("{file}: {bans:?} pairs banned")).collect()
}

/// One line per run.
pub fn csv(runs: &[MethodRun]) -> String {
    let mut out = String::from("file,family,n,model,method,queries,bans,candidates,seconds,message\n");
    let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    for run in runs {
        let message = run.message.as_deref().unwrap_or("").replace(['"', '\n'], " ");
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{},{},{:.6},\"{message}\"",
            run.file,
            run.family,
            run.size,
            run.model,
            run.method,
            number(run.queries),
            number(run.bans),
            number(run.candidates),
            run.seconds
        );
    }
    out
}

/// A page with two plots for each family: queries and seconds over the size.
pub fn html(runs: &[MethodRun]) -> String {
    let (grid, methods) = (grid(runs), methods(runs));
    let mut body = String::new();
    for (family, sizes) in &grid {
        let _ = writeln!(body, "<h2>{}</h2>", palisade_model::text::escaped(family));
        for (measure, title) in [(Measure::Queries, "queries"), (Measure::Seconds, "seconds")] {
            let curve = |method: &&str| {
                let point = |(size, runs): (&u64, &BTreeMap<&str, &MethodRun>)| {
                    let size = f64::from(u32::try_from(*size).ok()?);
                    Some((size, runs.get(method).and_then(|run| measure.of(run))?))
                };
                ((*method).to_owned(), sizes.iter().filter_map(point).collect::<Vec<_>>())
            };
            let series: Vec<(String, Vec<(f64, f64)>)> = methods.iter().map(curve).collect();
            body.extend(curves(&series, title).map(|svg| format!("<figure>{svg}</figure>\n")));
        }
    }
    let table = palisade_model::text::escaped(text(runs));
    super::html::page("Methods for pairs of statements", &format!("{body}<pre>{table}</pre>\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(size: u64, method: &str, queries: Option<u64>) -> MethodRun {
        MethodRun {
            file: format!("peterson-{size}.pal"),
            family: "peterson".to_owned(),
            size,
            method: method.to_owned(),
            model: "tso".to_owned(),
            queries,
            bans: queries.map(|_| 2),
            candidates: Some(size * size),
            seconds: 0.25,
            message: None,
        }
    }

    #[test]
    fn sizes_stand_at_the_end_of_names() {
        assert_eq!(MethodRun::family_of("peterson-12"), Some(("peterson".to_owned(), 12)));
        assert_eq!(MethodRun::family_of("simple-dekker"), None);
    }

    #[test]
    fn a_page_has_both_plots_of_a_family() {
        let runs = [run(2, "fi", Some(3)), run(4, "fi", Some(9)), run(2, "te", Some(5)), run(4, "te", None)];
        let page = html(&runs);
        assert_eq!(page.matches("<svg").count(), 2, "{page}");
        let table = text(&runs);
        assert!(table.contains("    4     16         9  0.25               –"), "{table}");
        assert!(disagreements(&runs).is_empty());
        let other = [run(2, "fi", Some(3)), MethodRun { bans: Some(1), ..run(2, "te", Some(3)) }];
        assert_eq!(disagreements(&other).len(), 1);
    }
}
