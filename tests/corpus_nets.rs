//! The nets of the literature are read with the numbers of places and transitions they are known to have.

use std::path::{Path, PathBuf};

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("PALISADE_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: PALISADE_CORPUS is not set");
    }
    folder
}

fn check_folder(folder: &Path) {
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the table of answers");
    for line in table.lines().skip(1) {
        let mut columns = line.split('\t');
        let (Some(file), Some(places), Some(transitions)) = (columns.next(), columns.next(), columns.next()) else {
            panic!("a short line: {line}");
        };
        let bytes = std::fs::read(folder.join(file)).expect(file);
        let problem = palisade::net::read(file, &bytes, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(problem.net.places.len().to_string(), places, "{file}");
        assert_eq!(problem.net.transitions.len().to_string(), transitions, "{file}");
    }
}

#[test]
fn literature() {
    if let Some(corpus) = corpus() {
        check_folder(&corpus.join("coverability"));
    }
}

#[test]
fn any_number_of_threads() {
    if let Some(corpus) = corpus() {
        check_folder(&corpus.join("anynumber-nets"));
    }
}
