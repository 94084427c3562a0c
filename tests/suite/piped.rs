//! Commands that are given text on standard input.

use std::io::{ErrorKind, Write};
use std::process::{Command, Output, Stdio};

/// Runs `palisade` with a text on standard input, which it need not read: it may refuse its
/// arguments first.
pub(crate) fn palisade_reading(arguments: &[&str], text: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("palisade starts");
    match child.stdin.take().expect("a pipe").write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => panic!("the text cannot be written: {error}"),
        _ => {}
    }
    child.wait_with_output().expect("palisade ends")
}
