//! What the tests find around them: the corpus, and whether there is time for a long run.

use std::ops::Range;
use std::path::PathBuf;

/// The folder with the corpus. Tests that use it stand under
/// `#[needs::variable("PALISADE_CORPUS")]`.
pub(crate) fn corpus() -> PathBuf {
    std::env::var_os("PALISADE_CORPUS").expect("PALISADE_CORPUS says where the corpus is").into()
}

/// Whether to take hours where a default run takes seconds (`PALISADE_FULL_TESTS` set).
pub(crate) fn is_long_run() -> bool {
    std::env::var_os("PALISADE_FULL_TESTS").is_some()
}

/// Every so many-th of the cases by default, all of them in a long run.
pub(crate) fn sample<T>(cases: Vec<T>, every: usize) -> Vec<T> {
    cases.into_iter().step_by(if is_long_run() { 1 } else { every }).collect()
}

/// The seeds of a test that takes so many by default, and so many in a long run:
/// `PALISADE_FULL_TESTS=2/8` asks for the second eighth of these, `9/8` for one more eighth.
pub(crate) fn seeds(default: u64, long: u64) -> Range<u64> {
    let Ok(wanted) = std::env::var("PALISADE_FULL_TESTS") else { return 0..default };
    let Some((piece, of)) = wanted.split_once('/') else { return 0..long };
    let number = |text: &str| text.parse::<u64>().expect("PALISADE_FULL_TESTS is 1, or a piece like 2/8");
    let (piece, of) = (number(piece), number(of));
    assert!(piece >= 1 && of >= 1, "there is no piece {piece} of {of}");
    long * (piece - 1) / of..long * piece / of
}
