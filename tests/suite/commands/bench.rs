//! `palisade bench` from outside: tables of several tools, files, resuming, limits.

use crate::documents;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs")
}

fn json(output: &Output) -> Value {
    documents::read(&output.stdout)
}

/// Two nets: one uncoverable, one coverable.
fn nets() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("nets")).expect("a folder inside");
    for (name, demand) in [("safe.spec", 2), ("unsafe.spec", 1)] {
        let text =
            format!("vars a b\nrules\na >= 1 -> a' = a - 1, b' = b + 1;\ninit a = 1, b = 0\ntarget b >= {demand}\n");
        std::fs::write(folder.path().join("nets").join(name), text).expect("it is written");
    }
    std::fs::write(folder.path().join("known.tsv"), "file\texpected\nsafe.spec\tsafe\nunsafe.spec\tunsafe\n")
        .expect("it is written");
    folder
}

/// Two threads that store and load `n` times more than they need, each of which one bug needs.
fn growing(size: usize) -> String {
    let more: String =
        (0..size).map(|index| format!("  m{index}: mem[z{index}] <- 1;\n  n{index}: s <- mem[w];\n")).collect();
    let names: String = (0..size).map(|index| format!(", z{index}")).collect();
    format!(
        "program Growing\naddress x, y, w, done{names}\nthread a regs r, s init m begin\n  m: nop;\n{more}  a: mem[x] <- 1;\n  \
         b: r <- mem[y];\n  c: mem[done] <- r + 1;\nend\nthread b regs r, s init a begin\n  a: mem[y] <- 1;\n  b: r <- mem[x];\n  \
         c: s <- mem[done];\n  d: ensure s = 0 || r + s > 1;\nend\n"
    )
}

#[test]
fn methods_for_pairs_over_the_size_of_a_program() {
    let folder = tempfile::tempdir().expect("a folder");
    for size in [0, 1, 2] {
        std::fs::write(folder.path().join(format!("growing-{size}.pal")), growing(size)).expect("it is written");
    }
    let line = "bench . --methods te,fi,robmc,robmc-et --no-slice --bound 1.. --timeout 60s --csv runs.csv --html page.html --json";
    let output = palisade(folder.path(), &line.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = json(&output);
    let runs = document["runs"].as_array().expect("runs");
    let of = |size: u64, method: &str| {
        let run = runs.iter().find(|run| run["size"] == size && run["method"] == method).expect("every run is there");
        (run["queries"].as_u64().expect("an answer"), run["bans"].as_u64(), run["candidates"].as_u64())
    };
    for method in ["te", "fi", "robmc", "robmc-et"] {
        assert!(of(2, method).2 > of(1, method).2 && of(1, method).2 > of(0, method).2, "more pairs");
        assert_eq!([0, 1, 2].map(|size| of(size, method).1), [Some(2); 3], "{method} bans the same pairs");
    }
    assert!(of(2, "te").0 >= of(0, "te").0);
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert_eq!(page.matches("<svg").count(), 2);
    let csv = std::fs::read_to_string(folder.path().join("runs.csv")).expect("a table");
    assert_eq!(csv.lines().count(), 1 + 12);
    let output = palisade(folder.path(), &["bench", ".", "--model", "pso"]);
    assert_eq!(output.status.code(), Some(2), "a model needs methods");
}

#[test]
fn tables_files_and_resuming() {
    let folder = nets();
    let arguments = [
        "bench",
        "nets",
        "--json",
        "--strategies",
        "auto,backward",
        "--repeat",
        "2",
        "--timeout",
        "20s",
        "--expected",
        "known.tsv",
        "--csv",
        "runs.csv",
        "--html",
        "page.html",
        "--resume",
        "runs.jsonl",
    ];
    let output = palisade(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = json(&output);
    assert_eq!(document["disagreements"].as_array().map(Vec::len), Some(0));
    // Repetitions go through all nets, the second one with the tools backwards.
    let runs = document["runs"].as_array().expect("runs");
    let order: Vec<(u64, &str, &str)> = runs
        .iter()
        .map(|run| {
            let word = |key: &str| run[key].as_str().expect("a word");
            (run["repetition"].as_u64().expect("a number"), word("file"), word("tool"))
        })
        .collect();
    let expected = [(1, ["auto", "backward"]), (2, ["backward", "auto"])].map(|(repetition, tools)| {
        ["nets/safe.spec", "nets/unsafe.spec"].map(|file| tools.map(|tool| (repetition, file, tool)))
    });
    assert_eq!(order, expected.as_flattened().as_flattened());
    // Processor time counts from the start of the process to its end, without the check of the
    // evidence.
    assert!(runs.iter().all(|run| run["cpu_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0)), "{runs:?}");
    assert_eq!((document["accepted"].as_u64(), document["rejections"].as_array().map(Vec::len)), (Some(8), Some(0)));
    let row = &document["summary"][0];
    assert_eq!((row["uncoverable"].as_u64(), row["coverable"].as_u64()), (Some(1), Some(1)));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    assert_eq!(read("runs.csv").lines().count(), 9);
    assert_eq!(read("runs.jsonl").lines().count(), 8);
    assert!(read("page.html").contains("<svg"));

    // Without its last two lines, one of them cut off, the benchmark goes on from there.
    let log = read("runs.jsonl");
    let kept: Vec<&str> = log.lines().collect();
    std::fs::write(folder.path().join("runs.jsonl"), format!("{}\n{}", kept[..6].join("\n"), &kept[6][..20]))
        .expect("it is written");
    let again = json(&palisade(folder.path(), &arguments));
    assert_eq!(again["runs"].as_array().map(Vec::len), Some(8));
    assert_eq!(read("runs.jsonl").lines().count(), 9);
    assert_eq!(again["runs"][0], document["runs"][0]);
}

#[test]
fn other_tools_share_the_table() {
    let folder = nets();
    let own = env!("CARGO_BIN_EXE_palisade");
    let converted = format!("'{own}' cover {{pnml}} --query {{query}}");
    let liar = "grep -q rules {spec} && echo The system is unsafe";
    let arguments = ["bench", "nets", "--json", "--against", &converted, "--against", liar, "--timeout", "20s"];
    let output = palisade(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let document = json(&output);
    let verdicts: Vec<&str> =
        document["runs"].as_array().expect("runs").iter().map(|run| run["verdict"].as_str().expect("a word")).collect();
    assert_eq!(verdicts, ["uncoverable", "uncoverable", "coverable", "coverable", "coverable", "coverable"]);
    assert_eq!(document["disagreements"].as_array().map(Vec::len), Some(1));
}

/// Rewritten nets have no form for a question of reachability: other tools would answer another.
#[test]
fn questions_of_reachability_are_not_rewritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
        <place id="p"><initialMarking><text>1</text></initialMarking></place><transition id="t"/>
        <arc id="a" source="p" target="t"/></page></net></pnml>"#;
    let query = "<property-set><property><id>few</id><formula><exists-path><finally><integer-le><tokens-count><place>p\
                 </place></tokens-count><integer-constant>0</integer-constant></integer-le></finally></exists-path>\
                 </formula></property></property-set>";
    std::fs::write(folder.path().join("net.pnml"), net).expect("it is written");
    std::fs::write(folder.path().join("net.xml"), query).expect("it is written");
    let own = format!("'{}' cover {{pnml}} --query {{query}}", env!("CARGO_BIN_EXE_palisade"));
    let document = json(&palisade(folder.path(), &["bench", "net.pnml", "--json", "--against", &own]));
    let verdicts = [0, 1].map(|run| document["runs"][run]["verdict"].as_str().expect("a word"));
    assert_eq!(verdicts, ["coverable", "unsupported"]);
    assert_eq!(document["disagreements"].as_array().map(Vec::len), Some(0));
}

#[test]
fn limits_stop_other_tools() {
    let folder = nets();
    let arguments = ["bench", "nets/safe.spec", "--json", "--against", "sleep 60; echo {}", "--timeout", "300ms"];
    let document = json(&palisade(folder.path(), &arguments));
    assert_eq!(document["runs"][1]["verdict"], "timeout");
}

#[test]
fn refused_input() {
    let folder = nets();
    assert_eq!(palisade(folder.path(), &["bench", "nowhere"]).status.code(), Some(2));
    let missing = palisade(folder.path(), &["bench", "nets", "--against", "no-such-tool {}"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("there is no command `no-such-tool`"));
    assert_eq!(palisade(folder.path(), &["bench", "nets", "--against", "true"]).status.code(), Some(2));
    assert_eq!(palisade(folder.path(), &["bench", "nets", "--strategies", "magic"]).status.code(), Some(2));
}
