//! `palisade-proved` beside `palisade verify`, which share no code: both accept the same evidence
//! about nets.

use super::proved_checker::proved;
use crate::environment::seeds;
use palisade::semantics::random::Randomness;
use std::path::Path;
use std::process::Command;

/// The files that evidence of `tests/readers/evidence_net` is about: the net, and the question.
fn subject(evidence: &str) -> Vec<String> {
    let paths = evidence.split("\"path\":\"").skip(1);
    paths.map(|rest| rest[..rest.find('"').expect("the path ends")].to_owned()).collect()
}

/// A text with one of its digits changed, left out or said twice.
fn changed(text: &str, randomness: &mut Randomness) -> String {
    let digits: Vec<usize> = text.bytes().enumerate().filter(|(_, it)| it.is_ascii_digit()).map(|(at, _)| at).collect();
    let at = digits[randomness.below(digits.len())];
    let (before, digit, after) = (&text[..at], &text[at..=at], &text[at + 1..]);
    match randomness.below(4) {
        0 => format!("{before}{after}"),
        1 => format!("{before}{digit}{digit}{after}"),
        _ => format!("{before}{}{after}", randomness.below(10)),
    }
}

/// Whether each of the two accepts the evidence in a file: `verify`, then `palisade-proved`.
fn accepted(folder: &Path, file: &str, subject: &[String]) -> (bool, bool) {
    let verify = Command::new(env!("CARGO_BIN_EXE_palisade")).args(["verify", file]).current_dir(folder).output();
    let subject = subject.iter().map(String::as_str);
    let proved = proved(folder, &std::iter::once(file).chain(subject).collect::<Vec<_>>());
    let codes = (verify.expect("it runs").status.code(), proved.status.code());
    assert!(matches!(codes, (Some(0 | 2 | 4), Some(0 | 2 | 3 | 4))), "{codes:?}");
    (codes.0 == Some(0), codes.1 == Some(0))
}

#[needs::command("ocamlopt -version")]
#[test]
fn both_checkers_accept_the_same() {
    let readers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("inputs")).expect("it is made");
    for file in std::fs::read_dir(readers.join("inputs")).expect("the inputs").flatten() {
        for place in [folder.path().to_owned(), folder.path().join("inputs")] {
            std::fs::copy(file.path(), place.join(file.file_name())).expect("it is copied");
        }
    }
    let mut pieces: Vec<String> = std::fs::read_dir(readers.join("evidence_net"))
        .expect("the evidence")
        .map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("it is a text"))
        .collect();
    pieces.sort_unstable();
    let write = |text: &str| std::fs::write(folder.path().join("e.json"), text).expect("it is written");
    for piece in &pieces {
        write(piece);
        assert_eq!(accepted(folder.path(), "e.json", &subject(piece)), (true, true), "{piece}");
    }
    let (mut both, mut none) = (0, 0);
    for seed in seeds(60, 20_000) {
        let mut randomness = Randomness::new(seed);
        let piece = &pieces[randomness.below(pieces.len())];
        let text = changed(piece, &mut randomness);
        write(&text);
        let (verify, proved) = accepted(folder.path(), "e.json", &subject(piece));
        assert_eq!(verify, proved, "seed {seed}: {text}");
        *if verify { &mut both } else { &mut none } += 1;
    }
    println!("{both} accepted by both, {none} by none");
    assert!(both > 0 && none > both, "{both}, {none}");
}
