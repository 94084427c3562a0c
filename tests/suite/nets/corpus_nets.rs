//! The nets of the literature are read as what they are known to be, and written so that they are
//! read back.

use crate::environment::{corpus, sample};
use palisade::net::{self, Arcs, Document, Format, OmegaCount, Problem, Target};
use std::path::Path;

fn check_folder(folder: &Path) {
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the table of answers");
    for line in sample(table.lines().skip(1).collect(), 4) {
        let mut columns = line.split('\t');
        let (Some(file), Some(places), Some(transitions)) = (columns.next(), columns.next(), columns.next()) else {
            panic!("a short line: {line}");
        };
        let bytes = std::fs::read(folder.join(file)).expect(file);
        let problem = net::read(file, &bytes, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(problem.net.places.len().to_string(), places, "{file}");
        assert_eq!(problem.net.transitions.len().to_string(), transitions, "{file}");
    }
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn literature() {
    check_folder(&corpus().join("coverability"));
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn any_number_of_threads() {
    check_folder(&corpus().join("anynumber-nets"));
}

/// Places, what they hold at first, arcs of the transitions, targets.
type Canonical = (Vec<String>, Vec<OmegaCount>, Vec<(Arcs, Arcs)>, Vec<Target>);

/// A net up to the order of its transitions and their names.
fn canonical(problem: &Problem) -> Canonical {
    let places = problem.net.places.iter().map(|place| place.name.to_string()).collect();
    let mut transitions: Vec<(Arcs, Arcs)> =
        problem.net.transitions.iter().map(|transition| (transition.pre.clone(), transition.post.clone())).collect();
    transitions.sort();
    let mut targets = problem.query.targets.clone();
    targets.sort();
    (places, problem.net.initial.clone(), transitions, targets)
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn thread_transition_systems_are_their_twins() {
    let corpus = corpus();
    let folder = corpus.join("coverability/wahl-kroening");
    let mut seen = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder").flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        let Some(stem) = name.strip_suffix(".tts.gz") else { continue };
        let load = |extension: &str| {
            let name = format!("{stem}.{extension}.gz");
            (name.clone(), std::fs::read(folder.join(&name)).expect("each system has its files"))
        };
        let ((net, net_bytes), (query, query_bytes), (twin, twin_bytes)) = (load("tts"), load("prop"), load("spec"));
        let net = Document { name: &net, bytes: &net_bytes, format: None };
        let query = Document { name: &query, bytes: &query_bytes, format: None };
        let problem = net::read_with_query(net, Some(query), None).unwrap_or_else(|error| panic!("{error}"));
        let twin = net::read(&twin, &twin_bytes, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(canonical(&problem), canonical(&twin), "{stem}");
        assert_eq!(problem.net.units.len(), 1, "{stem}");
        let written = net::write(&problem, Format::Tts).expect("it is one");
        let text = written.net.as_bytes();
        let back = net::read(&format!("{stem}.tts"), text, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(back.net, problem.net, "{stem}");
        seen += 1;
    }
    assert!(seen > 0);
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn nets_are_written_and_read_back() {
    let corpus = corpus();
    let folder = corpus.join("coverability");
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the table of answers");
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        if columns[2].parse::<usize>().expect("a number of transitions") > 2000 {
            continue;
        }
        let bytes = std::fs::read(folder.join(columns[0])).expect(columns[0]);
        let problem = net::read(columns[0], &bytes, None).unwrap_or_else(|error| panic!("{error}"));
        let finite = Problem { net: problem.net.with_spawns(), query: problem.query.clone() };
        for format in [Format::Spec, Format::Pnml, Format::Lola, Format::Tina] {
            let written = net::write(&problem, format).expect("all of these formats hold it");
            let document = Document { name: columns[0], bytes: written.net.as_bytes(), format: Some(format) };
            let query = written.query.as_ref().map(|text| Document {
                name: "question",
                bytes: text.as_bytes(),
                format: format.query(),
            });
            let mut back = net::read_with_query(document, query, None).unwrap_or_else(|error| panic!("{error}"));
            if format == Format::Tina {
                back.query = problem.query.clone();
            }
            let expected = if format == Format::Spec { &problem } else { &finite };
            assert_eq!(canonical(&back), canonical(expected), "{} as {format:?}", columns[0]);
        }
    }
}
