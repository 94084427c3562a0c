//! What the tests find around them: the corpus, and whether there is time for a long run.

use std::path::PathBuf;

/// The folder with the corpus. Tests that use it stand under `#[needs::variable("PALISADE_CORPUS")]`.
pub(crate) fn corpus() -> PathBuf {
    std::env::var_os("PALISADE_CORPUS").expect("PALISADE_CORPUS says where the corpus is").into()
}

/// Whether to take hours where a default run takes seconds (`PALISADE_FULL_TESTS` set).
pub(crate) fn is_long_run() -> bool {
    std::env::var_os("PALISADE_FULL_TESTS").is_some()
}
