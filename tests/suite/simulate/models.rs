//! `simulate --model sc,tso`: the final states of several models side by side.

use crate::documents;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const STORE_BUFFERING: &str =
    "X86 SB\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

fn run(folder: &Path, line: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_palisade")).args(line.split(' ')).current_dir(folder).output();
    let output = output.expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it ends"), text(output.stdout), text(output.stderr))
}

#[test]
fn what_only_the_weaker_model_reaches_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("SB.litmus"), STORE_BUFFERING).expect("it is written");
    let (exit, text, errors) = run(folder.path(), "simulate --model tso,sc SB.litmus");
    // The exit status is that of TSO, under which what `exists` asks for exists.
    assert_eq!(exit, 0, "{text}{errors}");
    let expected = "\
SB.litmus: final states under SC, TSO
  SC  TSO  state
  -   yes  0:EAX = 0, 1:EAX = 0
  yes  yes  0:EAX = 0, 1:EAX = 1
";
    let lines =
        |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert!(lines(&text).starts_with(&lines(expected)), "{text}");
    assert!(text.contains("SC   3 final states; exists (0:EAX=0 /\\ 1:EAX=0) does not hold: 0 of 3"), "{text}");
    assert!(text.contains("TSO  4 final states; exists (0:EAX=0 /\\ 1:EAX=0) holds: 1 of 4"), "{text}");
    let (exit, _, errors) = run(folder.path(), "simulate --model serial,sc SB.litmus");
    assert!(exit == 2 && errors.contains("`serial` runs one event after the other"), "{errors}");
    let events = "program E address x event e [1] begin a: mem[x] <- 1; end";
    std::fs::write(folder.path().join("events.pal"), events).expect("it is written");
    let (exit, _, errors) = run(folder.path(), "simulate --model sc,tso events.pal");
    assert!(exit == 2 && errors.contains("under one model at a time"), "{errors}");
}

/// Registers that no text has make no states of their own, and names are those of one model.
#[test]
fn states_are_counted_as_the_table_shows_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program MP\naddress data, flag\nthread producer { data = 42; flag = 1; }\n\
                thread consumer { await (flag == 1); ensure data == 42; }\n";
    std::fs::write(folder.path().join("mp.pal"), text).expect("it is written");
    let (_, text, errors) = run(folder.path(), "simulate --model sc,pso mp.pal");
    assert!(text.contains("  yes  yes  data = 42, flag = 1\n"), "{text}{errors}");
    assert!(text.contains("  SC   1 final state\n") && text.contains("  PSO  1 final state\n"), "{text}");
    let (_, text, _) = run(folder.path(), "simulate --model sc,pso -v mp.pal");
    assert!(text.contains("consumer.data' = "), "{text}");
}

/// Each model says what it says alone.
#[test]
fn models_say_what_they_say_alone() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let folder = tempfile::tempdir().expect("a folder");
    let litmus = folder.path().join("SB.litmus");
    std::fs::write(&litmus, STORE_BUFFERING).expect("it is written");
    let mut differences = 0;
    for name in ["simple-dekker.pal", "seqlock.pal", "spsc-ring-buffer.pal", &litmus.display().to_string()] {
        let line = |model: &str| format!("simulate --threads all=1 --timeout 20s --json --model {model} {name}");
        let (exit, text, _) = run(&models, &line("sc,tso,pso"));
        let all = documents::read(text.as_bytes());
        assert_eq!(all["schema"], "palisade/simulate-models/1", "{text}");
        for (position, model) in ["sc", "tso", "pso"].into_iter().enumerate() {
            let (alone_exit, text, _) = run(&models, &line(model));
            let alone = documents::read(text.as_bytes());
            let under = &all["models"][position];
            for key in ["model", "condition_holds", "holds", "satisfying", "others", "stuck", "bounded"] {
                assert_eq!(under[key], alone[key], "{name} {model} {key}");
            }
            let states = all["states"].as_array().expect("states");
            let reached =
                states.iter().filter(|it| it["models"].as_array().is_some_and(|by| by.contains(&model.into())));
            let reached: BTreeSet<String> = reached.map(|it| it["values"].to_string()).collect();
            let expected: BTreeSet<String> =
                alone["states"].as_array().expect("states").iter().map(ToString::to_string).collect();
            assert_eq!(reached, expected, "{name} {model}");
            differences += usize::from(reached.len() < states.len());
            assert!(model != "pso" || exit == alone_exit, "{name}");
        }
    }
    let (exit, text, errors) = run(&models, "simulate --timeout 0s --model sc,tso,pso peterson.pal");
    // What is found before the limit fails all the same.
    let word = if exit == 1 { "fails" } else { "unknown" };
    assert!([1, 3].contains(&exit) && text.starts_with(&format!("peterson.pal: {word} under ")), "{text}{errors}");
    assert!(differences > 0, "some model reaches more than another");
}
