//! The nets of the Model Checking Contest with the consensus of its tools: no formula is answered
//! wrongly, all evidence is checked. Needs `PALISADE_CORPUS`; with `PALISADE_FULL_TESTS` all nets
//! have the time of a benchmark.

use crate::environment::{corpus, is_long_run, sample};
use palisade::coverability::{Options, ReachOutcome, reach_all};
use palisade::limits::Limits;
use palisade::net::{Document, Formula, Net, Quantifier, read_properties};
use palisade::verify::{check_reaching_run, check_unreachable};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Net files that are larger are left to long runs.
const LARGEST: u64 = 2_500;

/// A condition with whether a marking that satisfies it can be reached.
type Expected = (String, Formula, bool);

/// The net and the conditions of its properties.
fn conditions(folder: &Path, expected: &BTreeMap<String, bool>, deadlock: Option<bool>) -> (Net, Vec<Expected>) {
    let mut all: Vec<Expected> =
        deadlock.map(|it| ("deadlock".to_owned(), Formula::Deadlock, it)).into_iter().collect();
    let mut net = Net::default();
    for name in ["ReachabilityCardinality.xml.gz", "ReachabilityFireability.xml.gz"] {
        let (model, query) = (folder.join("model.pnml.gz"), folder.join(name));
        let (model_name, query_name) = (model.to_string_lossy(), query.to_string_lossy());
        let bytes = (std::fs::read(&model).expect("the net"), std::fs::read(&query).expect("its properties"));
        let model = Document { name: &model_name, bytes: &bytes.0, format: None };
        let read = read_properties(model, Document { name: &query_name, bytes: &bytes.1, format: None });
        let read = read.expect("they are well formed");
        for property in read.properties {
            let Some(holds) = expected.get(&property.id) else { continue };
            let questions = property.claim.questions();
            assert_eq!(questions.len(), 1, "{}", property.id);
            let is_reached = *holds == (questions[0].quantifier() == Quantifier::Eventually);
            all.push((property.id.clone(), questions[0].goal(), is_reached));
        }
        net = read.net;
    }
    (net, all)
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn no_formula_of_the_contest_is_answered_wrongly() {
    let root = corpus().join("nets-2025");
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("what is expected");
    let (mut expected, mut deadlocks, mut folders) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for cells in table.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>()) {
        let Some(folder) = cells[0].strip_suffix("/model.pnml.gz") else { continue };
        folders.insert(folder.to_owned());
        if cells[1] == "ReachabilityDeadlock" {
            deadlocks.insert(folder.to_owned(), cells[3] == "TRUE");
        } else {
            expected.insert(cells[2].to_owned(), cells[3] == "TRUE");
        }
    }
    let (mut asked, mut answered) = (0, 0);
    for folder in sample(folders.into_iter().collect(), 2) {
        let path = root.join(&folder);
        let Ok(size) = std::fs::metadata(path.join("model.pnml.gz")).map(|metadata| metadata.len()) else { continue };
        if size > LARGEST && !is_long_run() {
            continue;
        }
        let (net, conditions) = conditions(&path, &expected, deadlocks.get(&folder).copied());
        let goals: Vec<Formula> = conditions.iter().map(|(_, goal, _)| goal.clone()).collect();
        let seconds = if is_long_run() { 10.0 } else { 1.0 };
        let limits = Limits::none().with_timeout(Duration::from_secs_f64(seconds)).with_memory(4 << 30);
        asked += goals.len();
        let options = Options { limits, jobs: 1, ..Options::default() };
        reach_all(&net, &goals, &options, |number, answer| {
            let (id, goal, is_reached) = &conditions[number];
            let checked = match &answer.outcome {
                ReachOutcome::Reachable(run) => check_reaching_run(&net, goal, run),
                ReachOutcome::Unreachable(certificate) => check_unreachable(&net, goal, certificate),
                ReachOutcome::Unknown(_) => return,
            };
            checked.unwrap_or_else(|failure| panic!("{folder}, {id}: {failure}"));
            assert_eq!(answer.outcome.is_reachable(), Some(*is_reached), "{folder}, {id}, {}", answer.strategy);
            answered += 1;
        });
    }
    assert!(answered * 10 > asked * 7, "{answered} of {asked} answered");
}
