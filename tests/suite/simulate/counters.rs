//! `palisade simulate` of programs with counters: an answer for real widths and integers, in words
//! and in JSON, and what grows.

use crate::documents;
use std::process::{Command, Output};

fn simulate(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("simulate").args(arguments.split_whitespace());
    command.output().expect("the command starts")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

#[test]
fn ticket_locks_of_real_widths_have_answers() {
    for domain in ["0..65535 --wrap", "0..4294967295 --wrap", "none"] {
        for (model, word, status) in [("sc", "holds", 0), ("tso", "holds", 0), ("pso", "fails", 1)] {
            let output =
                simulate(&format!("--model {model} --threads worker=2 --domain {domain} models/ticket-lock.pal"));
            let text = text(&output);
            assert!(text.starts_with(&format!("models/ticket-lock.pal: {word}")), "{domain}, {model}: {text}");
            assert!(text.contains("counters `next_ticket`, `now_serving`: states that differ by one number"), "{text}");
            assert_eq!(output.status.code(), Some(status), "{domain}, {model}");
        }
    }
    // With few values all states are told apart.
    let few = text(&simulate("--threads worker=2 models/ticket-lock.pal"));
    assert!(!few.contains("counters"), "{few}");
}

#[test]
fn models_stand_side_by_side_up_to_the_same_turns() {
    let output = simulate("--model sc,tso --threads worker=2 --domain none models/ticket-lock.pal");
    assert!(text(&output).contains("counters `next_ticket`, `now_serving`"), "{}", text(&output));
    let output = simulate("--model sc,tso --threads worker=2 --domain none --json models/ticket-lock.pal");
    let document = documents::read(text(&output));
    assert_eq!(document["counters"][0]["addresses"], serde_json::json!(["next_ticket", "now_serving"]));
}

/// A file with a program.
fn file(folder: &tempfile::TempDir, program: &str) -> String {
    let path = folder.path().join("program.pal");
    std::fs::write(&path, program).expect("it is written");
    path.display().to_string()
}

/// Final states are listed up to turns, and the members say what turns.
#[test]
fn members_are_named() {
    let program = "program Tickets
address next, serving
thread a [2] regs mine, now, again init draw begin
  draw: mine <- fetch_add(mem[next], 1);
  wait: now <- mem[serving];
  served: assert now = mine; goto serve;
  served: assert now != mine; goto wait;
  serve: mem[serving] <- now + 1; goto draw;
  serve: mem[serving] <- now + 1; goto leave;
  leave: again <- 0;
end
";
    let folder = tempfile::tempdir().expect("a folder");
    let path = file(&folder, program);
    let domain = "--model sc --domain 0..4095 --wrap";
    let document = documents::read(text(&simulate(&format!("{path} {domain} --json"))));
    let members = serde_json::json!(["[next]", "[serving]", "0:mine", "0:now", "1:mine", "1:now"]);
    assert_eq!((&document["counters"][0]["members"], &document["counters"][0]["step"]), (&members, &1.into()));
    let text = text(&simulate(&format!("{path} {domain}")));
    let each = "  Each stands for all that come of it by one number (modulo 4096) added to next, serving, a#1.mine, a#1.now, \
                a#2.mine, a#2.now; at least one of these is reached.";
    assert!(text.lines().any(|line| line == each), "{text}");
}

#[test]
fn what_grows_up_to_turns_is_named() {
    let program = "program Rounds
address round
thread a [2] regs mine init go begin
  go: mine <- fetch_add(mem[round], 1); goto go;
  go: mine <- fetch_add(mem[round], 1); goto done;
end
";
    let folder = tempfile::tempdir().expect("a folder");
    // The round at the end of one copy and what the other one makes of it may lie apart as far as
    // they like.
    let grown = simulate(&format!("{} --model sc", file(&folder, program)));
    let message = String::from_utf8_lossy(&grown.stderr).into_owned();
    assert_eq!(grown.status.code(), Some(3), "{message}");
    assert!(message.contains("`mine` of thread `a` grows: it takes more than 64 values"), "{message}");
    assert!(message.contains("but come ever further apart"), "{message}");
}

/// What is violated before values grow is shown.
#[test]
fn what_fails_among_the_first_values_is_shown() {
    let program = "program Rounds
address round, seen
thread a [2] regs mine init go begin
  go: mine <- fetch_add(mem[round], 1); goto go;
  go: mine <- fetch_add(mem[round], 1); goto done;
end
thread b regs r init look begin
  look: mem[seen] <- 1;
  read: r <- mem[seen];
  check: ensure r = 0;
end
";
    let folder = tempfile::tempdir().expect("a folder");
    let output = simulate(&format!("{} --model sc", file(&folder, program)));
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("`mine` of thread `a` grows: it takes more than 64 values"), "{said}");
    assert!(said.contains("violation: `ensure r = 0` at b check"), "{said}");
}
