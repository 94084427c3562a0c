//! An outside solver for SMT-LIB scripts, where one is installed.

use palisade::report::smtlib::Script;
use std::io::Write;
use std::process::{Command, Stdio};

/// A program that reads scripts on standard input.
#[derive(Clone, Copy)]
pub(crate) struct Solver {
    name: &'static str,
    arguments: &'static [&'static str],
}

impl Solver {
    /// A solver that is installed. Tests that use it stand under
    /// `#[needs::command("z3 --version", "cvc5 --version")]`.
    pub(crate) fn installed() -> Self {
        let known = [
            Self { name: "z3", arguments: &["-in", "-T:60"] },
            Self { name: "cvc5", arguments: &["--lang=smt2", "--tlimit=60000", "-"] },
        ];
        let runs = |solver: &Self| Command::new(solver.name).arg("--version").stdout(Stdio::null()).status().is_ok();
        known.into_iter().find(runs).expect("z3 or cvc5 is installed")
    }

    /// Whether the solver finds every script unsatisfiable; nothing when it gives up on one.
    pub(crate) fn proves(self, scripts: &[Script]) -> Option<bool> {
        let texts: Vec<&str> = scripts.iter().map(|script| script.text.as_str()).collect();
        let input = texts.join("(reset)\n");
        let mut child = Command::new(self.name)
            .args(self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it is installed");
        child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads its input");
        let output = child.wait_with_output().expect("it ends").stdout;
        let output = String::from_utf8(output).expect("it answers in text");
        assert!(!output.contains("error"), "{output} for {input}");
        let answers: Vec<&str> = output.lines().collect();
        if answers.contains(&"sat") {
            return Some(false);
        }
        (answers.len() == scripts.len() && answers.iter().all(|answer| *answer == "unsat")).then_some(true)
    }
}
