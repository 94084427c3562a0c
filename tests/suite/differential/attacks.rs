//! One attack three ways: by search, on its net, and on its net written in every format and read
//! again.

use super::{Amount, Compared, compare_all, of_class};
use crate::checked::{check, solve};
use palisade::coverability::{Options, Outcome as NetOutcome};
use palisade::limits::Limits;
use palisade::net::{Document, Format, Problem, read_with_query, write};
use palisade::program::Program;
use palisade::robustness::{AttackOutcome, CheckOptions, attack_net};
use palisade::semantics::random::Shape;
use std::time::Duration;

/// Formats that a net of an attack is written in. Nets that are no thread transition systems are
/// refused by `.tts`.
const FORMATS: [Format; 5] = [Format::Spec, Format::Pnml, Format::Lola, Format::Tina, Format::Tts];

/// Whether a net's target can be covered; nothing when it takes too long.
fn coverable(problem: &Problem) -> Option<bool> {
    let limits = Limits::none().with_timeout(Duration::from_secs(20));
    match solve(problem, &Options { limits, jobs: 1, ..Options::default() }).outcome {
        NetOutcome::Coverable(_) => Some(true),
        NetOutcome::Uncoverable(_) => Some(false),
        NetOutcome::Unknown(_) => None,
    }
}

/// What is read of a net that was written, where the format can hold it.
fn exported(problem: &Problem, format: Format) -> Result<Option<Problem>, String> {
    let Ok(written) = write(problem, format) else { return Ok(None) };
    let net = Document { name: "attack", bytes: written.net.as_bytes(), format: Some(format) };
    let query = written.query.as_ref().map(|text| Document {
        name: "question",
        bytes: text.as_bytes(),
        format: format.query(),
    });
    read_with_query(net, query, None).map(Some).map_err(|error| format!("{format:?}: {error}"))
}

fn compare(program: &Program) -> Compared {
    let limits = Limits::none().with_timeout(Duration::from_secs(30));
    let options = CheckOptions { all: true, prune: false, limits, ..CheckOptions::default() };
    let Ok(checked) = check(program, &options) else { return Ok("growing") };
    let (mut asked, mut feasible) = (0, 0);
    for report in &checked.attacks {
        let searched = match report.outcome {
            AttackOutcome::Feasible => true,
            AttackOutcome::Infeasible => false,
            _ => continue,
        };
        // Value sets of single threads may grow where those of the program do not.
        let Ok(problem) = attack_net(program, &report.attack, 32, &Limits::none()) else { continue };
        for format in FORMATS {
            let Some(again) = exported(&problem, format)? else { continue };
            if coverable(&again).is_some_and(|answer| answer != searched) {
                return Err(format!("{format:?} of {:?}: feasible by search is {searched}", report.attack));
            }
        }
        if coverable(&problem).is_some_and(|answer| answer != searched) {
            return Err(format!("net of {:?}: feasible by search is {searched}", report.attack));
        }
        asked += 1;
        feasible += usize::from(searched);
    }
    Ok(match (asked, feasible) {
        (0, _) => "no attacks",
        (_, 0) => "all infeasible",
        _ => "some feasible",
    })
}

#[test]
fn searches_nets_and_exported_nets_agree() {
    let shape =
        Shape { labels: 4, total_labels: 7, domains: 60, overtaken: 95, fences: 2, rmws: 4, ..Shape::default() };
    let shapes = [
        shape.clone(),
        Shape { any: 60, sections: 40, ..shape.clone() },
        Shape { addresses: 3, indirect: 30, ..shape.clone() },
        Shape { domains: 100, choices: 10, loops: 15, any: 30, copies: 2, ..shape },
    ];
    let amount = Amount { default: 96, long: 12_000 };
    let counts = compare_all("attacks", 4_000_000, amount, &shapes, compare);
    assert!(of_class(&counts, "all infeasible") > 9 && of_class(&counts, "some feasible") > 2, "{counts:?}");
}
