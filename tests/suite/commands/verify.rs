//! `palisade verify` as a command: exit status, messages, where it looks for inputs.

use crate::documents;
use crate::environment::{is_long_run, sample};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

const ROBUST: &str = "program Fenced
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: mfence; goto l2;
  l2: r <- mem[y]; goto l3;
end
thread b regs r init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
end
";

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().unwrap()
}

/// The exit status and standard output of `palisade verify`.
fn verify(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = palisade(folder, &[&["verify"], arguments].concat());
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// A folder with a robust and a violated program, and the names of the evidence that `check` writes
/// about them.
fn folder() -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("fenced.pal"), ROBUST).unwrap();
    let open = ROBUST.replace("mfence", "nop").replace("l1: r <- mem[y]", "l1: r <- mem[x]");
    std::fs::write(folder.path().join("open.pal"), open).unwrap();
    for (program, status) in [("fenced.pal", 0), ("open.pal", 1)] {
        let output = palisade(folder.path(), &["check", program, "--threads", "b=2", "--certificate", "out"]);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
    }
    let mut evidence: Vec<String> = std::fs::read_dir(folder.path().join("out"))
        .unwrap()
        .map(|entry| format!("out/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect();
    evidence.sort();
    assert_eq!(evidence.len(), 2);
    (folder, evidence)
}

#[test]
fn evidence_of_check_is_accepted_and_changed_inputs_are_not() {
    let (folder, evidence) = folder();
    let path = folder.path();
    let all: Vec<&str> = evidence.iter().map(String::as_str).collect();
    assert_eq!(verify(path, &all).0, 0);

    let (status, json) = verify(path, &["--json", all[0]]);
    let document = documents::read(json);
    assert_eq!((status, &document["verdict"]), (0, &"accepted".into()));

    // Another text, said to be the input.
    let (status, text) = verify(path, &[all[0], "--program", "open.pal"]);
    assert_eq!(status, 4);
    assert!(text.contains("SHA-256"), "{text}");

    // The input moved, and the evidence with it.
    std::fs::create_dir(path.join("elsewhere")).unwrap();
    for name in ["fenced.pal", "open.pal"] {
        std::fs::rename(path.join(name), path.join("elsewhere").join(name)).unwrap();
    }
    assert_eq!(verify(path, &[all[0]]).0, 2);
    assert_eq!(verify(path, &[all[0], "--program", "elsewhere/fenced.pal"]).0, 0);
    std::fs::rename(path.join(all[0]), path.join("elsewhere/evidence.json")).unwrap();
    assert_eq!(verify(path, &["elsewhere/evidence.json"]).0, 0);
}

/// Models that are looked at for many seconds, with any number of each thread at least.
const SLOW: [&str; 5] =
    ["array-queue.pal", "chase-lev.pal", "chase-lev-fenced.pal", "chase-lev-size-check.pal", "vyukov-queue-4.pal"];

/// The paths of all models.
fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let entries = [folder.clone(), folder.join("events")].map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "pal"));
    let mut paths: Vec<String> = paths.map(|path| path.to_str().expect("a plain path").to_owned()).collect();
    paths.sort();
    paths
}

/// Every model, with the copies in its text and with any number of each thread: whatever has a
/// verdict has evidence, and the evidence as it was written is accepted.
#[test]
fn evidence_of_every_model_is_accepted() {
    for threads in [&[][..], &["--threads", "all=*"]] {
        let folder = tempfile::tempdir().unwrap();
        let is_asked = |path: &&String| is_long_run() || !SLOW.iter().any(|slow| path.ends_with(slow));
        let models = models();
        let every = if threads.is_empty() { 7 } else { 15 };
        let models = sample(models.iter().filter(is_asked).map(String::as_str).collect(), every);
        let check = [&["check"], models.as_slice(), &["--json", "--certificate", "out"], threads].concat();
        let output = palisade(folder.path(), &check);
        let documents = documents::read(&output.stdout);
        let documents = documents.as_array().expect("an array for a folder");
        let answered = documents.iter().filter(|document| document["verdict"].is_string()).count();
        // One owner's values grow where any number of owners run.
        assert!(answered + 1 >= documents.len() && answered > 3, "{answered} of {}", documents.len());
        // A verdict has one file, and each answer about a property of a program that is not robust
        // has one.
        let named = |document: &Value| -> Vec<String> {
            let files = document["certificates"].as_array().map_or(&[][..], Vec::as_slice);
            files.iter().map(|file| file.as_str().expect("a path").to_owned()).collect()
        };
        let decided = documents.iter().filter(|document| document["verdict"].is_string());
        assert!(decided.clone().all(|document| !named(document).is_empty()));
        let mut evidence: Vec<String> = decided.flat_map(named).collect();
        evidence.sort();
        let written = std::fs::read_dir(folder.path().join("out")).unwrap();
        let mut files: Vec<String> =
            written.map(|entry| format!("out/{}", entry.unwrap().file_name().to_str().unwrap())).collect();
        files.sort();
        assert_eq!(files, evidence);
        let (status, text) = verify(folder.path(), &evidence.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((status, text.matches(": accepted: ").count()), (0, evidence.len()), "{text}");
    }
}

#[test]
fn bad_evidence_gets_an_answer() {
    let (folder, evidence) = folder();
    let path = folder.path();
    let text = std::fs::read_to_string(path.join(&evidence[0])).unwrap();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();

    write("empty.json", "");
    write("text.json", "no evidence");
    write("cut.json", &text[..text.len() / 2]);
    write("copies.json", &text.replacen("\"copies\":2", "\"copies\":3", 1));
    write("deep.json", &format!("{{\"format\":{}", "[".repeat(1 << 20)));
    write("numbers.json", &text.replacen("\"sc\":[[", "\"sc\":[[99999999999999999999,", 1));
    for name in ["empty.json", "text.json", "cut.json", "copies.json", "deep.json", "numbers.json"] {
        let (status, message) = verify(path, &[name]);
        assert_eq!(status, 4, "{name}: {message}");
        assert!(message.contains("rejected"), "{name}: {message}");
    }
    let violation = std::fs::read_to_string(path.join(&evidence[1])).unwrap();
    let replaced = |from: &str, to: &str| {
        let changed = violation.replacen(from, to, 1);
        assert_ne!(changed, violation, "{from}");
        changed
    };
    let odd = [
        ("blank", " ".repeat(1 << 16)),
        ("null", "null".to_owned()),
        ("list", "[]".to_owned()),
        ("two", text.repeat(2)),
        ("twice", text.replacen("\"kind\"", "\"kind\":\"robust\",\"kind\"", 1)),
        ("version", text.replacen("\"version\":1", "\"version\":2", 1)),
        ("digits", text.replacen("\"version\":1", &format!("\"version\":{}", "1".repeat(1 << 20)), 1)),
        ("unbounded", text.replacen("\"version\":1", "\"version\":1e999", 1)),
        ("mark", format!("\u{feff}{text}")),
        ("nested", replaced("\"steps\":[", &format!("\"steps\":[{}", "[".repeat(1 << 20)))),
        ("instance", replaced("\"instance\":[1,2]", "\"instance\":[4000000000,4000000000]")),
        ("endless", replaced("\"instance\":[1,2]", &format!("\"instance\":[1{}]", ",1".repeat(1 << 20)))),
        ("negative", replaced("\"instance\":[1,2]", "\"instance\":[-1,2]")),
        ("far", replaced("\"steps\":[[", "\"steps\":[[4294967295,4294967295],[")),
        // An edge from a node to itself, and to one that is not there: nothing is ever followed
        // round and round.
        ("circular", replaced("\"cycle\":[[", "\"cycle\":[[\"po\",[0,0],[0,0],null],[")),
        ("nowhere", replaced("\"cycle\":[[", "\"cycle\":[[\"po\",[9,18446744073709551615],[9,0],null],[")),
    ];
    for (name, text) in &odd {
        write("odd.json", text);
        let (status, message) = verify(path, &["odd.json"]);
        assert_eq!(status, 4, "{name}: {message}");
    }
    std::fs::write(path.join("bytes.json"), b"{\"format\":\"\xff\xfe\"}").unwrap();
    assert_eq!(verify(path, &["bytes.json"]).0, 4);
    // Mostly holes: short enough to be read, and long, and longer than any evidence.
    let mut file = std::fs::File::create(path.join("sparse.json")).unwrap();
    file.write_all(b"{\"format\":").unwrap();
    file.set_len(1 << 26).unwrap();
    assert_eq!(verify(path, &["sparse.json"]).0, 4);
    std::fs::File::create(path.join("huge.json")).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(verify(path, &["huge.json"]).0, 4);
    assert_eq!(verify(path, &["missing.json"]).0, 2);
    assert_eq!(verify(path, &["."]).0, 2);
    // The worst of several: an unreadable one before a rejected one before an accepted one.
    assert_eq!(verify(path, &[&evidence[0], "empty.json"]).0, 4);
    assert_eq!(verify(path, &[&evidence[0], "empty.json", "missing.json"]).0, 2);
}
