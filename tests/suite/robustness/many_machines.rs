//! `palisade plan`, `run` and `merge`: whoever does the jobs, and however often he is stopped, the
//! answers are those of the commands themselves.

use crate::documents::read;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const BROKEN: &str = "program Broken
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
end
thread b [2] regs r init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: r <- mem[x]; goto l2;
end
";

/// Several attacks that only a search decides, none of them feasible.
const ROBUST: &str = "program Robust
thread one [*] regs r init a begin
  a: mem[x] <- 1; goto b;
  b: r <- mem[x]; goto c;
  c: mem[y] <- 1; goto d;
  d: r <- mem[y]; goto e;
end
thread two regs r init a begin
  a: mem[z] <- 1; goto b;
  b: r <- mem[z]; goto c;
  c: mem[w] <- 1; goto d;
  d: r <- mem[w]; goto a;
end
";

const STATED: &str = "program Stated
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[x]; goto l2;
  l2: ensure r = 1; goto l3;
end
";

const NET: &str = "vars\n p q\nrules\n p >= 1 -> p' = p - 1, q' = q + 1;\ninit\n p = 1, q = 0\ntarget\n q >= TOKENS\n";

/// A folder with programs and nets.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..6 {
        let name = |word: &str| format!("programs/{word}-{number}.pal");
        let fenced = BROKEN.replace("goto l1;", "goto f;\n  f: mfence; goto l1;");
        for (name, text) in [(name("broken"), BROKEN), (name("fenced"), &fenced), (name("robust"), ROBUST)] {
            write(folder.path(), &name, &format!("# {number}\n{text}"));
        }
    }
    write(folder.path(), "stated.pal", STATED);
    write(folder.path(), "nets/covered.spec", &NET.replace("TOKENS", "1"));
    write(folder.path(), "nets/safe.spec", &NET.replace("TOKENS", "2"));
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
    fs::write(path, text).expect("it is written");
}

fn palisade(folder: &Path, line: &str) -> Output {
    let words = line.split(' ').map(|word| word.replace('+', " "));
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(words).current_dir(folder).output().expect("it runs")
}

/// The document that a command prints, and its exit status.
fn asked(folder: &Path, line: &str) -> (Value, i32) {
    let output = palisade(folder, &format!("{line} --json"));
    (read(&output.stdout), output.status.code().expect("it exits"))
}

/// Runs a command that is to succeed.
fn succeed(folder: &Path, line: &str) {
    let output = palisade(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The verdicts of merged answers, by the path of the input.
fn verdicts(merged: &Value) -> Vec<(String, String)> {
    let answers = merged["answers"].as_array().expect("answers");
    let word = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    answers.iter().map(|answer| (word(&answer["arguments"][1]), word(&answer["verdict"]))).collect()
}

/// The verdicts of `check` itself on a folder.
fn known(folder: &Path) -> Vec<(String, String)> {
    let (documents, _) = asked(folder, "check programs");
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let documents = documents.as_array().expect("several");
    documents.iter().map(|document| (word(&document["file"]), word(&document["headline"]))).collect()
}

/// Every line of a file is a document of its kind.
fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).expect("a file").lines().map(read).collect()
}

#[test]
fn shards_have_the_answers_of_the_command_itself() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, "plan check programs -o jobs.jsonl");
    assert_eq!(lines(&folder.join("jobs.jsonl")).len(), 18);
    for shard in 1..=3 {
        succeed(folder, &format!("run jobs.jsonl --shard {shard}/3 --jobs 2"));
        let results = lines(&folder.join(format!("jobs.{shard}-of-3.results.jsonl")));
        assert_eq!(results.len(), 6);
    }
    let (merged, exit) = asked(folder, "merge jobs.jsonl --certificate kept");
    assert_eq!((verdicts(&merged), exit), (known(folder), 1));
    // Each answer has evidence, which `verify` accepts where it was put.
    for answer in merged["answers"].as_array().expect("answers") {
        let path = answer["certificates"][0].as_str().expect("evidence");
        let verified = palisade(folder, &format!("verify {path}"));
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    }
    // What is done is not done again.
    let (ran, exit) = asked(folder, "run jobs.jsonl --shard 1/3");
    assert_eq!((&ran["done"], &ran["done_before"], exit), (&0.into(), &6.into(), 0));
}

#[test]
fn a_killed_worker_and_damaged_lines_lose_nothing() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, "plan check programs -o jobs.jsonl");
    let results = folder.join("jobs.results.jsonl");
    let mut worker = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let worker = worker.args(["run", "jobs.jsonl", "--jobs", "1", "--quiet"]).current_dir(folder);
    let mut worker = worker.stdout(Stdio::null()).spawn().expect("it runs");
    let begin = Instant::now();
    let done = || fs::read_to_string(&results).map_or(0, |text| text.lines().count());
    while done() < 3 && begin.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(1));
    }
    worker.kill().expect("it can be killed");
    worker.wait().expect("it ends");
    let text = fs::read_to_string(&results).expect("results");
    assert!(text.lines().count() >= 3);
    // The last line is cut off; the first one is there twice, and once with its beginning lost.
    let first = text.lines().next().expect("a line").to_owned();
    let cut = &text[..text.trim_end().len() - 20];
    fs::write(&results, format!("{first}\n{}\n{cut}", &first[40..])).expect("it is written");
    succeed(folder, "run jobs.jsonl --jobs 2");
    let (merged, exit) = asked(folder, "merge jobs.jsonl");
    assert_eq!((verdicts(&merged), exit), (known(folder), 1));
    assert_eq!((&merged["lines"]["damaged"], &merged["lines"]["repeated"]), (&2.into(), &1.into()));
}

#[test]
fn missing_and_contradicting_results_are_refused() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, "plan check programs/broken-0.pal programs/fenced-0.pal -o jobs.jsonl");
    succeed(folder, "run jobs.jsonl");
    let results = folder.join("jobs.results.jsonl");
    let text = fs::read_to_string(&results).expect("results");
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&results, format!("{}\n", lines[0])).expect("it is written");
    let (error, exit) = asked(folder, "merge jobs.jsonl");
    assert_eq!(exit, 2);
    assert!(error.to_string().contains("1 of 2 jobs have no result"), "{error}");
    // A second result for the same job that says the contrary.
    let is_broken = |line: &&&str| line.contains("\"headline\":\"not robust\"");
    let broken = lines.iter().find(is_broken).expect("it is not robust");
    let forged = broken.replace("\"exit\":1", "\"exit\":0").replace("not robust", "robust");
    fs::write(&results, format!("{text}{forged}\n")).expect("it is written");
    let (error, exit) = asked(folder, "merge jobs.jsonl");
    assert_eq!(exit, 2);
    assert!(error.to_string().contains("is not robust in"), "{error}");
}

#[test]
fn verdicts_count_only_with_evidence_about_their_own_question() {
    let folder = folder();
    let folder = folder.path();
    let plan = "plan check programs/broken-0.pal programs/fenced-0.pal --each --threads=b=3 --each --threads=b=4";
    succeed(folder, &format!("{plan} -o jobs.jsonl"));
    succeed(folder, "run jobs.jsonl");
    let path = folder.join("jobs.results.jsonl");
    let text = fs::read_to_string(&path).expect("results");
    let all: Vec<Value> = lines(&path);
    let plan = lines(&folder.join("jobs.jsonl"));
    let of = |number: usize| all.iter().find(|result| result["job"] == plan[number]["job"]).expect("a result").clone();
    // Without evidence, with that of other options, of another program, and with evidence for the
    // contrary.
    let mut bare = of(1);
    bare["evidence"] = Value::Array(Vec::new());
    let mut of_other_options = of(1);
    of_other_options["evidence"] = of(3)["evidence"].clone();
    let mut of_another = of(1);
    of_another["evidence"] = of(0)["evidence"].clone();
    let mut contrary = of(0);
    (contrary["exit"], contrary["document"]["verdict"]) = (0.into(), "robust".into());
    let mut corrupted = of(1);
    let broken = corrupted["evidence"][0]["text"].as_str().expect("a text").replacen("\"sc\":[", "\"sc\":[[0,0],", 1);
    corrupted["evidence"][0]["text"] = broken.into();
    for (number, forged) in [(1, bare), (1, of_other_options), (1, of_another), (0, contrary), (1, corrupted)] {
        let job = plan[number]["job"].as_str().expect("a hash");
        let kept = text.lines().filter(|line| !line.contains(&format!("\"job\":\"{job}\"")));
        let lines: Vec<String> = kept.map(str::to_owned).chain([forged.to_string()]).collect();
        fs::write(&path, lines.join("\n")).expect("it is written");
        let (merged, exit) = asked(folder, "merge jobs.jsonl");
        assert_eq!(exit, 4, "{forged}");
        assert_eq!(merged["answers"][number]["verdict"], Value::Null, "{forged}");
    }
    // An input that has changed has no answer.
    fs::write(&path, text).expect("it is written");
    write(folder, "programs/fenced-0.pal", BROKEN);
    let (error, exit) = asked(folder, "merge jobs.jsonl");
    assert_eq!(exit, 2);
    assert!(error.to_string().contains("is not what it was"), "{error}");
}

#[test]
fn the_attacks_of_one_program_make_one_certificate() {
    let folder = folder();
    let folder = folder.path();
    for (options, count) in [("", 1), (" --each --nets", 2), (" --each --no-prune", 1)] {
        succeed(folder, &format!("plan check programs/robust-0.pal --attacks {count}{options} -o jobs.jsonl"));
        assert!(lines(&folder.join("jobs.jsonl")).len() > 2, "there are several parts");
        succeed(folder, "run jobs.jsonl --output all.jsonl");
        let (merged, exit) = asked(folder, "merge jobs.jsonl all.jsonl --certificate kept");
        assert_eq!((merged["answers"].as_array().map(Vec::len), exit), (Some(1), 0), "{merged}");
        let path = merged["answers"][0]["certificates"][0].as_str().expect("a certificate");
        succeed(folder, &format!("verify {path}"));
        // A part alone shows nothing.
        let (document, exit) = asked(folder, "check programs/robust-0.pal --attacks 1-1 --certificate part");
        assert_eq!((&document["verdict"], exit), (&"unknown".into(), 3));
        assert_eq!(asked(folder, "verify part/programs_robust-0.pal.part.json").1, 4);
    }
    // A program that is not robust has its violation, whichever part it is in.
    succeed(folder, "plan check programs/broken-0.pal --attacks 1 -o jobs.jsonl");
    succeed(folder, "run jobs.jsonl --output broken.jsonl");
    let (merged, exit) = asked(folder, "merge jobs.jsonl broken.jsonl");
    assert_eq!((&merged["answers"][0]["verdict"], exit), (&"not robust".into(), 1), "{merged}");
    assert_eq!(merged["answers"][0]["accepted"], serde_json::json!(["not-robust"]));
}

#[test]
fn strategies_on_nets_and_other_commands_are_jobs() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, "plan cover nets --each --strategy+backward --each --strategy+karp-miller -o nets.jsonl");
    succeed(folder, "run nets.jsonl");
    let (merged, exit) = asked(folder, "merge nets.jsonl");
    let found: Vec<String> = verdicts(&merged).into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(
        (found.as_slice(), exit),
        (["coverable", "uncoverable", "coverable", "uncoverable"].map(String::from).as_slice(), 1)
    );
    for (plan, exit) in [("prove stated.pal", 0), ("fences programs/broken-0.pal", 0), ("check missing.pal", 2)] {
        let planned = palisade(folder, &format!("plan {plan} -o other.jsonl"));
        if planned.status.success() {
            succeed(folder, "run other.jsonl");
            let (merged, found) = asked(folder, "merge other.jsonl");
            assert_eq!(found, exit, "{merged}");
            assert!(merged["answers"][0]["accepted"].as_array().is_some_and(|kinds| !kinds.is_empty()), "{merged}");
        } else {
            assert_eq!(planned.status.code(), Some(exit), "{plan}");
        }
    }
    for refused in [
        "plan check programs --each --report+page.html",
        "plan cover nets --attacks 2",
        "plan check programs --each --nonsense",
    ] {
        assert_eq!(palisade(folder, refused).status.code(), Some(2), "{refused}");
    }
}

#[needs::command("python3 -c 'import hyperqueue.cluster'")]
#[test]
fn hyperqueue_does_the_jobs() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, "plan check programs -o jobs.jsonl");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib/hyperqueue/palisade_hq.py");
    let mut command = Command::new("python3");
    command.arg(script).args(["jobs.jsonl", "--shards", "3", "--local", "2"]);
    command.args(["--palisade", env!("CARGO_BIN_EXE_palisade")]).current_dir(folder);
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shards: Vec<PathBuf> = (1..=3).map(|shard| folder.join(format!("jobs.{shard}-of-3.results.jsonl"))).collect();
    assert!(shards.iter().all(|shard| shard.is_file()));
    let (merged, exit) = asked(folder, "merge jobs.jsonl");
    assert_eq!((verdicts(&merged), exit), (known(folder), 1));
}
