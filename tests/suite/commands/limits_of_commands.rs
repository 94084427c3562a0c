//! Limits, as the command line holds them: from the first byte of the input to the last check of
//! the evidence.
//!
//! Times are asserted generously, as machines are busy: what these tests are about took minutes, or
//! had no end.

use crate::documents;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// Within this time ends what has a limit of two seconds, on a machine that does much else.
const SOON: Duration = Duration::from_mins(1);

fn palisade(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(folder).args(arguments);
    command
}

/// The output of a run in a folder with one file, which ends soon.
fn run(file: &str, content: &[u8], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(file), content).expect("a file");
    let begin = Instant::now();
    let output = palisade(folder.path(), arguments).output().expect("the command runs");
    assert!(begin.elapsed() < SOON, "{arguments:?} took {:?}", begin.elapsed());
    output
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(output: &Output) -> Value {
    documents::read(&output.stdout)
}

/// A net in which a transition has to fire as often as the target says.
fn counter(target: &str) -> String {
    format!("vars\n a b\nrules\n a >= 1 -> b' = b + 1;\ninit\n a = 1, b = 0\ntarget\n b >= {target}\n")
}

#[test]
fn a_target_beyond_all_replaying_is_covered_by_a_counted_run() {
    for target in ["20000000", "9223372036854775808", "123456789012345678901234567890"] {
        for strategy in ["auto", "karp-miller", "shared-state"] {
            let arguments = ["cover", "--json", "--verify", "--timeout", "20s", "--strategy", strategy, "a.spec"];
            let output = run("a.spec", counter(target).as_bytes(), &arguments);
            let document = json(&output);
            assert_eq!(document["verdict"], "coverable", "{strategy}: {document}");
            assert_eq!(document["evidence"]["verdict"], "accepted", "{strategy}: {document}");
            let times = &document["run"][0]["times"];
            assert_eq!(times.as_str().map_or_else(|| times.to_string(), str::to_owned), target, "{document}");
        }
    }
}

/// Each round puts two tokens on `b` and takes one from it: no order of the rounds' firings repeats
/// a single transition so often.
const ROUNDS: &str = "vars
 p q b
rules
 p >= 1 -> p' = p - 1, q' = q + 1, b' = b + 2;
 q >= 1, b >= 1 -> q' = q - 1, p' = p + 1, b' = b - 1;
init
 p = 1, q = 0, b = 0
target
 b >= 9223372036854775808
";

#[test]
fn rounds_of_several_transitions_are_repeated_as_sequences() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("rounds.spec"), ROUNDS).expect("a file");
    for strategy in ["auto", "karp-miller", "shared-state"] {
        let begin = Instant::now();
        let arguments =
            ["cover", "--strategy", strategy, "--timeout", "20s", "--certificate", "run.json", "--json", "rounds.spec"];
        let document = json(&palisade(folder.path(), &arguments).output().expect("the command runs"));
        assert!(begin.elapsed() < SOON, "{strategy}");
        assert_eq!(document["verdict"], "coverable", "{strategy}: {document}");
        let repeated = document["run"].as_array().expect("a run").iter().find(|step| step["run"].is_array());
        let length = repeated.map(|step| step["run"].as_array().map_or(0, Vec::len));
        assert_eq!(length, Some(2), "{strategy}: {document}");
        let verify = |file: &str| palisade(folder.path(), &["verify", file]).output().expect("the command runs");
        assert_eq!(verify("run.json").status.code(), Some(0), "{strategy}");
        // The checker accepts neither one round fewer than it takes, nor a sequence without
        // repetition.
        let evidence = std::fs::read_to_string(folder.path().join("run.json")).expect("evidence");
        let firings = evidence.find("\"firings\"").expect("a run");
        let end = evidence[firings..].find("]],").map(|place| firings + place + 3).expect("a sequence");
        let digits = evidence[end..].find(']').map(|length| end + length).expect("its count");
        for times in ["1", "0"] {
            let forged = format!("{}{times}{}", &evidence[..end], &evidence[digits..]);
            std::fs::write(folder.path().join("forged.json"), forged).expect("a file");
            assert_eq!(verify("forged.json").status.code(), Some(4), "{strategy}: {times}");
        }
    }
}

/// Store buffering by many copies of one thread and one of another.
const BUFFERING: &str = "program buffering
address x, y
thread many regs r init a begin
  a: mem[x] <- 1; goto b;
  b: r <- mem[y]; goto c;
end
thread one regs r init a begin
  a: mem[y] <- 1; goto b;
  b: r <- mem[x]; goto c;
end
";

/// The same without a violation: each side looks at what nobody stores. Control flow does not rule
/// that out.
const APART: &str = "program apart
address x, y, z
thread many regs r init a begin
  a: mem[x] <- 1; goto b;
  b: r <- mem[z]; goto c;
  c: mem[x] <- r; goto a;
end
thread one regs r init a begin
  a: mem[y] <- 1; goto b;
  b: r <- mem[x]; goto a;
end
";

const MANY: [&str; 4] = ["300000", "1000000", "5000000000", "1000000000000000"];

#[test]
fn a_violation_among_very_many_copies_shows_the_two_that_act() {
    for copies in MANY {
        let threads = format!("many={copies}");
        let arguments = ["check", "--json", "--verify", "--timeout", "20s", "--threads", &threads, "b.pal"];
        let output = run("b.pal", BUFFERING.as_bytes(), &arguments);
        let document = json(&output);
        assert_eq!(document["verdict"], "violated", "{copies}: {document}");
        assert_eq!(document["answers"][0]["evidence"]["verdict"], "accepted", "{copies}: {document}");
        assert_eq!(document["answers"][0]["witness"]["instance"]["many"].to_string(), copies);
        let steps = document["answers"][0]["witness"]["steps"].as_array().expect("steps");
        assert!(steps.len() < 10, "{copies}: {document}");
        let memory = document["statistics"]["peak_memory_bytes"].as_u64();
        assert!(memory.is_none_or(|bytes| bytes < 400 << 20), "{copies}: {memory:?}");
    }
}

#[test]
fn evidence_about_very_many_copies_is_written_and_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, program, exit) in [("buffering.pal", BUFFERING, 1), ("apart.pal", APART, 0)] {
        std::fs::write(folder.path().join(name), program).expect("a file");
        let evidence = folder.path().join(format!("evidence-{exit}"));
        let evidence = evidence.to_str().expect("a plain path");
        let arguments = ["check", "--timeout", "30s", "--threads", "many=1000000", "--certificate", evidence, name];
        let output = palisade(folder.path(), &arguments).output().expect("the command runs");
        assert_eq!(output.status.code(), Some(exit), "{name}: {output:?}");
        let file = std::fs::read_dir(evidence).expect("a folder").next().expect("a file").expect("readable").path();
        assert!(file.metadata().expect("a file").len() < 100_000, "{name}");
        let verified = palisade(folder.path(), &["verify", "--timeout", "30s", file.to_str().expect("a plain path")]);
        assert_eq!({ verified }.output().expect("the command runs").status.code(), Some(0), "{name}");
    }
}

/// A thread that settles in two ways: so many copies have as many initial configurations.
const CHOOSING: &str = "program choosing
domain 0..1
address x, y
thread many regs r, s init a begin
  a: s <- *; goto b;
  b: mem[x] <- s; goto c;
  c: mfence; goto d;
  d: r <- mem[y]; goto e;
  e: mem[y] <- 1; goto f;
  f: r <- mem[x]; goto g;
end
";

#[test]
fn every_split_of_very_many_copies_is_not_listed() {
    let arguments = ["check", "--json", "--verify", "--timeout", "20s", "--threads", "many=1000000", "c.pal"];
    let output = run("c.pal", CHOOSING.as_bytes(), &arguments);
    let document = json(&output);
    assert_eq!(document["verdict"], "violated", "{document}");
    assert_eq!(document["answers"][0]["evidence"]["verdict"], "accepted", "{document}");
}

#[test]
fn what_lists_all_copies_refuses_too_many() {
    let threads = ["--threads", "many=1000000"];
    for command in [&["simulate"][..], &["convert", "--to", "trencher"], &["convert", "--to", "litmus"]] {
        let arguments = [command, &threads, &["b.pal"]].concat();
        let output = run("b.pal", BUFFERING.as_bytes(), &arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains("too many"), "{command:?}: {said}");
    }
    for copies in ["many=1000000000000001", "many=99999999999999999999"] {
        let output = run("b.pal", BUFFERING.as_bytes(), &["check", "--threads", copies, "b.pal"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

#[test]
fn pairs_of_very_many_copies_are_not_listed() {
    let text = CHOOSING
        .replace("thread many", "thread many [1099511627776]")
        .replace("goto g;", "goto g;\n  g: ensure r = 0; goto h;");
    let arguments = ["fences", "--ask", "properties", "--objective", "pairs", "--timeout", "20s", "c.pal"];
    let output = run("c.pal", text.as_bytes(), &arguments);
    let said = self::text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("copies are not listed"), "{said}");
}

#[test]
fn names_are_as_long_as_they_like() {
    // Columns of tables are as wide; a width in a format string has 16 bits.
    let name = "n".repeat(70_000);
    let program = format!(
        "program p\ndomain 0..3\naddress x, {name}\nthread one [2] {{ x = 1; let r{name} = {name}; ensure r{name} <= 1; }}\n\
         thread t{name} {{ {name} = 1; let seen = x; }}\n"
    );
    let net = format!(
        "vars {name} q\nrules {name} >= 1 -> {name}' = {name} - 1, q' = q + 1;\ninit {name} = 1, q = 0\ntarget q >= 1\n"
    );
    let of_programs = [
        "check -v",
        "check --ask races",
        "fences --diff",
        "witness",
        "witness --svg",
        "simulate",
        "convert --to native",
    ];
    let lines = of_programs.iter().map(|line| (*line, "n.pal", &program)).chain([("cover -v", "n.spec", &net)]);
    for (line, file, text) in lines {
        let arguments: Vec<&str> = line.split(' ').chain([file]).collect();
        let output = run(file, text.as_bytes(), &arguments);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{line}: {:?}",
            complaint.chars().take(500).collect::<String>()
        );
    }
}

/// A thread of so many labels, each with one of these instructions in turn.
fn long(labels: usize, instructions: &[&str]) -> String {
    let mut text = String::from("program long\naddress x, y\nthread t regs r init l0 begin\n");
    for label in 0..labels {
        let instruction = instructions[label % instructions.len()];
        let _ = writeln!(text, "  l{label}: {instruction}; goto l{};", label + 1);
    }
    text + "end\n"
}

/// The processor time that setting up a long thread takes.
fn set_up(labels: usize, instructions: &[&str]) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("long.pal"), long(labels, instructions)).expect("a file");
    let mut command = palisade(folder.path(), &["check", "--quiet", "--timeout", "300s", "long.pal"]);
    let child = command.stdout(Stdio::null()).spawn().expect("the command runs");
    let ended = child.wait4().expect("it ends");
    assert_eq!(ended.status.code(), Some(0), "{instructions:?}");
    (ended.rusage.utime + ended.rusage.stime).as_secs_f64()
}

#[test]
fn setting_up_a_long_thread_is_linear() {
    for instructions in [&["mem[x] <- 1", "mfence"][..], &["r <- x"], &["r <- mem[y]", "mfence"]] {
        let (short, long) = (set_up(5_000, instructions), set_up(40_000, instructions));
        // Eight times as much, or 64 times where each label is compared with each.
        assert!(long < 24.0 * short + 1.0, "{instructions:?}: {short} s, {long} s");
    }
}

#[test]
fn listing_more_attacks_than_there_is_memory_for_ends_in_unknown() {
    let text = long(40_000, &["mem[x] <- 1", "r <- mem[y]"]);
    for command in ["check", "fences"] {
        let arguments = [command, "--json", "--timeout", "30s", "--memory", "400M", "long.pal"];
        let document = json(&run("long.pal", text.as_bytes(), &arguments));
        assert_eq!(document["verdict"], "unknown", "{document}");
        assert!(peak(&document).is_none_or(|bytes| bytes < 600 << 20), "{document}");
    }
}

/// One configuration has thousands of successors, each with thousands of tokens.
#[test]
fn successors_that_are_kept_are_inside_the_limits() {
    let text = "program choice\ndomain 0..4095\naddress x, y\n\
        thread a [*] { let r = *; x = r; let s = y; } thread b { y = 1; let t = x; }";
    let arguments = ["check", "--one-query", "--json", "--timeout", "30s", "--memory", "150M", "choice.pal"];
    let document = json(&run("choice.pal", text.as_bytes(), &arguments));
    assert_eq!(document["verdict"], "unknown", "{document}");
    // The watchdog, which says nothing of this, would end it at 165 MB.
    assert!(peak(&document).is_some_and(|bytes| bytes < 200 << 20), "{document}");
}

/// Three choices of 256 values that all stay alive have sixteen million outcomes, and a table of
/// them doubles in one step. The watchdog would end that at 330 MB: it is not there.
#[test]
fn tables_of_choices_double_inside_the_limits() {
    let text = "program choices\ndomain 0..255 wrap\naddress x, y\n\
        thread a { let r = *; let s = *; let t = *; x = r + s + t; let u = 1; while (u != 0) { u = y; } }\n\
        thread b { y = 1; let v = x; }\n";
    for question in ["robustness", "hangs"] {
        let arguments = ["check", "--ask", question, "--json", "--timeout", "100s", "--memory", "300M", "choices.pal"];
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("choices.pal"), text).expect("a file");
        let output = palisade(folder.path(), &arguments).env("PALISADE_WITHOUT_WATCHDOG", "1").output();
        let document = json(&output.expect("the command runs"));
        assert_eq!(document["verdict"], "unknown", "{document}");
        assert!(peak(&document).is_some_and(|bytes| bytes < 330 << 20), "{document}");
    }
}

/// The net of one attack, whatever its number, needs no list of the others.
#[test]
fn the_net_of_one_attack_takes_no_memory_for_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = long(40_000, &["mem[x] <- 1", "r <- mem[y]"]);
    std::fs::write(folder.path().join("long.pal"), text).expect("a file");
    for number in ["1", "399990000", "400000001"] {
        let mut command = palisade(folder.path(), &["net", "--attack", number, "--timeout", "2s", "long.pal"]);
        command.env("PALISADE_WITHOUT_WATCHDOG", "1").stdout(Stdio::null()).stderr(Stdio::null());
        let ended = command.spawn().expect("the command runs").wait4().expect("it ends");
        assert!(matches!(ended.status.code(), Some(0 | 2 | 3)), "{number}: {:?}", ended.status);
        assert!(ended.rusage.maxrss < 500 << 20, "{number}: {} bytes", ended.rusage.maxrss);
    }
}

#[test]
fn listing_the_measures_against_many_attacks_is_inside_the_limits() {
    let text = long(6_000, &["mem[x] <- 1", "r <- mem[y]"]);
    let output = run("long.pal", text.as_bytes(), &["fences", "--timeout", "2s", "long.pal"]);
    assert_eq!(output.status.code(), Some(3), "{}", self::text(&output));
}

fn peak(document: &Value) -> Option<u64> {
    document["statistics"]["peak_memory_bytes"].as_u64()
}

/// As many blanks as this, packed.
fn packed_blanks(length: usize) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let blanks = vec![b' '; 1 << 20];
    (0..length >> 20).for_each(|_| packed.write_all(&blanks).expect("memory takes all"));
    packed.finish().expect("memory takes all")
}

#[test]
fn unpacking_is_inside_the_limits() {
    let packed = packed_blanks(1 << 30);
    let output = run("blanks.spec.gz", &packed, &["cover", "--json", "--memory", "200M", "blanks.spec.gz"]);
    let document = json(&output);
    assert_eq!((output.status.code(), &document["verdict"]), (Some(3), &"unknown".into()), "{document}");
    assert!(document["reason"].as_str().is_some_and(|reason| reason.contains("memory")), "{document}");
    assert!(peak(&document).is_none_or(|bytes| bytes < 500 << 20), "{document}");
}

#[test]
fn reading_is_inside_the_limits() {
    for command in ["check", "cover", "simulate", "fences"] {
        // Standard input that never ends, and never says anything.
        let from = if command == "cover" { "spec" } else { "native" };
        let folder = tempfile::tempdir().expect("a folder");
        let begin = Instant::now();
        let mut child = palisade(folder.path(), &[command, "--timeout", "1s", "--from", from, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let open = child.stdin.take();
        let status = child.wait().expect("it ends");
        drop(open);
        assert_eq!(status.code(), Some(3), "{command} of {from}");
        assert!(begin.elapsed() < SOON, "{command} of {from}");
    }
}

/// A pipe with a name, into which nobody writes.
#[needs::command("mkfifo --version")]
#[test]
fn reading_from_a_pipe_is_inside_the_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = Command::new("mkfifo").arg("pipe.pal").current_dir(folder.path()).status().expect("mkfifo runs");
    assert!(made.success());
    for command in ["check", "fences", "simulate"] {
        let begin = Instant::now();
        let output = palisade(folder.path(), &[command, "--timeout", "1s", "pipe.pal"]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(3), "{command}");
        assert!(begin.elapsed() < SOON, "{command}");
    }
}

/// Two locked sections that access many addresses: a net has a transition for each way in which
/// these may have been accessed before.
fn wide_sections() -> String {
    const ADDRESSES: usize = 14;
    let names: Vec<String> = (0..ADDRESSES).map(|address| format!("z{address}")).collect();
    let mut text = format!("program sections\naddress x, y, {}\n", names.join(", "));
    text += "thread attacker regs r init a begin\n  a: mem[x] <- 1; goto b;\n  b: r <- mem[y]; goto c;\nend\n";
    for thread in 0..2 {
        let _ = writeln!(text, "thread t{thread} regs r init a begin\n  a: lock; goto s0;");
        for (index, name) in names.iter().enumerate() {
            let _ = writeln!(text, "  s{index}: mem[{name}] <- 1; goto s{};", index + 1);
        }
        let _ = writeln!(text, "  s{ADDRESSES}: mem[y] <- 1; goto u;\n  u: unlock; goto l0;");
        for (index, name) in names.iter().enumerate() {
            let _ = writeln!(text, "  l{index}: r <- mem[{name}]; goto l{};", index + 1);
        }
        text += "end\n";
    }
    text
}

#[test]
fn listing_nets_is_inside_the_limits() {
    let arguments = ["check", "--nets", "--json", "--timeout", "20s", "--memory", "100M", "wide.pal"];
    let document = json(&run("wide.pal", wide_sections().as_bytes(), &arguments));
    assert_eq!(document["verdict"], "unknown", "{document}");
    assert!(peak(&document).is_none_or(|bytes| bytes < 200 << 20), "{document}");
}

/// A property that fails at once, and more states than anybody waits for.
const FAILING: &str = "program failing
domain 0..999 wrap
thread hasty init a begin
  a: ensure 0 = 1; goto b;
end
thread counter [6] regs r init a begin
  a: r <- mem[x]; goto b;
  b: mem[x] <- r + 1; goto a;
end
";

#[test]
fn a_simulation_at_a_limit_says_which_violations_it_has_found() {
    let output = run("failing.pal", FAILING.as_bytes(), &["simulate", "--timeout", "2s", "failing.pal"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output).starts_with("failing.pal: fails under TSO: the time limit was reached\n"), "{output:?}");
    assert!(text(&output).contains("violation: `ensure 0 = 1` at hasty a"), "{}", text(&output));
    let passing = FAILING.replace("0 = 1", "1 = 1");
    let output = run("passing.pal", passing.as_bytes(), &["simulate", "--timeout", "2s", "passing.pal"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(text(&output).contains(" explored; nothing fails in them.\n"), "{output:?}");
    let output = run("failing.pal", FAILING.as_bytes(), &["simulate", "--json", "--timeout", "2s", "failing.pal"]);
    let document = json(&output);
    assert_eq!(document["verdict"], "fails");
    assert_eq!(document["violations"].as_array().map(Vec::len), Some(1), "{document}");
}

/// Runs a command on a program that has no end, sends it a signal, and gives the exit status and
/// standard output.
#[cfg(unix)]
fn signalled(signal: &str, command: &str, program: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("endless.pal"), program).expect("a file");
    let child =
        palisade(folder.path(), &[command, "endless.pal"]).stdout(Stdio::piped()).spawn().expect("the command runs");
    // Signals are heard before anything is read, a few milliseconds after the start.
    std::thread::sleep(Duration::from_secs(2));
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let begin = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    assert!(begin.elapsed() < SOON, "{signal} {command}");
    (output.status.code(), text(&output))
}

#[cfg(unix)]
#[test]
fn signals_that_end_a_process_leave_what_is_known() {
    let check = |signal| {
        let (status, said) = signalled(signal, "check", &crate::commands::limits::seemingly_growing());
        assert_eq!(status, Some(3), "{signal}: {said}");
        assert!(said.contains("interrupted"), "{signal}: {said}");
    };
    let simulate = |signal| {
        // What fails until then fails.
        let (status, said) = signalled(signal, "simulate", FAILING);
        assert_eq!(status, Some(1), "{signal}: {said}");
        assert!(said.contains("endless.pal: fails under TSO: "), "{signal}: {said}");
        assert!(said.contains("violation: `ensure 0 = 1` at hasty a"), "{signal}: {said}");
    };
    std::thread::scope(|scope| {
        for signal in ["-TERM", "-HUP", "-INT"] {
            // Whoever runs the tests under `nohup` has asked that this one be ignored.
            if signal == "-HUP" && ignores_hangups() {
                continue;
            }
            scope.spawn(move || check(signal));
            scope.spawn(move || simulate(signal));
        }
    });
}

/// Whether this process and those that it starts ignore SIGHUP, where the system says so.
#[cfg(unix)]
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// What is started to ignore the end of the terminal goes on, as `nohup` asks.
#[cfg(target_os = "linux")]
#[test]
fn an_ignored_signal_is_ignored() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("endless.pal"), FAILING).expect("a file");
    let command = format!("trap '' HUP; exec {} simulate --timeout 4s endless.pal", env!("CARGO_BIN_EXE_palisade"));
    let mut shell = Command::new("sh");
    let child =
        shell.args(["-c", &command]).current_dir(folder.path()).stdout(Stdio::piped()).spawn().expect("a shell");
    std::thread::sleep(Duration::from_secs(1));
    let sent = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let output = child.wait_with_output().expect("it ends");
    let said = text(&output);
    assert!(said.contains("the time limit was reached"), "{said}");
}
