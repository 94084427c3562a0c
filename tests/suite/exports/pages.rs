//! One-page reports: what they show of the answer, and that a browser steps through them.

use crate::documents;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn palisade(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(root()).output().expect("it runs")
}

/// The page that a command writes.
fn page(folder: &Path, arguments: &[&str]) -> String {
    let path = folder.join("page.html");
    let _ = std::fs::remove_file(&path);
    let run = palisade(&[arguments, &["--report", path.to_str().expect("a plain path")]].concat());
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {run:?}"))
}

/// The document in a page.
fn document(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"document\">").expect("a document");
    let (text, _) = rest.split_once("</script>").expect("its end");
    documents::read(text)
}

/// Whether a page loads nothing and closes what it opens.
fn is_whole(page: &str) {
    for word in ["src=", "@import", "url(http", "<link", "href=\"http"] {
        assert!(!page.contains(word), "{word} in {page}");
    }
    for name in ["section", "table", "div", "details", "script", "svg", "tbody", "tr", "td"] {
        let opened = page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count();
        assert_eq!(opened, page.matches(&format!("</{name}>")).count(), "{name}: {page}");
    }
}

/// Commands with words that their pages show.
const PAGES: [(&[&str], &[&str]); 26] = [
    (
        &["check", "models/peterson-fenced.pal", "--model", "pso", "--verify"],
        &["not robust against PSO", "happens-before cycle", "delayed past line 20", "accepted the evidence"],
    ),
    (&["check", "models/test-and-set.pal", "--model", "pso"], &["robust against PSO", "accepted the evidence"]),
    (
        &["check", "models/peterson.pal"],
        &[
            "violated under TSO, not robust",
            "happens-before cycle",
            "delayed past line 20",
            "violated property",
            "palisade verify",
        ],
    ),
    (
        &["check", "models/mcs-lock.pal", "--threads", "worker=*", "--verify"],
        &["robust against x86-TSO", "accepted the evidence", "ruled out by control flow"],
    ),
    (&["check", "models/ticket-lock.pal", "--domain", "0..3", "--wrap"], &["worker × 5", "worker#5"]),
    (
        &["check", "models/events/pause-request.pal"],
        &["not robust against TSO", "delayed store", "class=\"scene\"", "cycle: "],
    ),
    (
        &["check", "models/events/search-as-you-type.pal", "--ask", "concurrency", "--verify"],
        &["not robust against concurrency", "class=\"scene\"", "search of onText#0", "accepted the evidence"],
    ),
    (&["check", "models/events/pause-request-fenced.pal", "--events", "all=*"], &["robust against TSO", "posts drain"]),
    (&["prove", "models/dekker.pal"], &["violated under TSO", "How it happens: <code>ensure", "buffer of"]),
    (&["prove", "models/dekker.pal", "--model", "sc"], &["holds under SC"]),
    (
        &["fences", "models/peterson.pal"],
        &["2 changes needed, none cheaper", "Every valid set costs at least 2", "class=\"added\""],
    ),
    (&["fences", "models/chase-lev-fenced.pal", "--redundant"], &["robust as it is", "Fences that are there already"]),
    (
        &["fences", "--ask", "properties", "models/dekker.pal"],
        &["2 changes needed, none cheaper", "violated otherwise", "proved by", "class=\"added\""],
    ),
    (&["fences", "--ask", "properties", "models/spsc-ring-buffer.pal"], &["no fence needed", "proved by"]),
    (
        &[
            "fences",
            "--ask",
            "properties",
            "models/ticket-lock.pal",
            "--domain",
            "0..1",
            "--wrap",
            "--threads",
            "worker=3",
        ],
        &["no fence helps: violated under SC", "Why none helps", "class=\"states\""],
    ),
    (&["fences", "models/peterson.pal", "--never", "*"], &["no valid set under the restrictions", "stays feasible"]),
    (
        &["orderings", "models/c11/treiber-stack.pal"],
        &[
            "robust against C11",
            "ordering that is needed",
            "With weaker orderings",
            "class=\"lanes\"",
            "for every claim",
        ],
    ),
    (
        &["orderings", "models/c11/publish-then-look.pal"],
        &["not robust against C11 with its own orderings", "How it happens", "class=\"cycle\""],
    ),
    (
        &["fences", "models/c11/publish-then-look.pal", "--model", "c11", "--all"],
        &["for robustness against C11", "Why nothing less will do"],
    ),
    (
        &["fences", "models/events/pause-request.pal"],
        &["2 changes for robustness against TSO, cost 2, none cheaper", "one of", "class=\"added\""],
    ),
    (
        &["fences", "models/events/pause-request.pal", "--never", "*"],
        &["no valid set under the restrictions", "Why none helps", "class=\"scene\""],
    ),
    (
        &["check", "--ask", "races", "models/peterson.pal", "--verify"],
        &["triangular-race", "store that races with it", "accepted the evidence", "class=\"lanes\""],
    ),
    (&["check", "--ask", "races", "models/burns-fenced.pal"], &["free of triangular races", "robust: no load shows"]),
    (
        &["fences", "--ask", "races", "models/peterson.pal"],
        &["2 fences against all triangular races, none cheaper", "otherwise races", "mfence before this"],
    ),
    (
        &["fences", "--ask", "properties", "--objective", "pairs", "models/peterson.pal"],
        &["2 pairs to ban, no fewer do", "must not be delayed", "reordered together", "the searches are closed"],
    ),
    (
        &[
            "fences",
            "--ask",
            "properties",
            "--objective",
            "pairs",
            "models/ticket-lock.pal",
            "--domain",
            "0..1",
            "--wrap",
            "--threads",
            "worker=3",
        ],
        &["no ban helps: violated without any reordering", "Why none helps"],
    ),
];

#[test]
fn pages_show_the_answer_and_load_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for (command, words) in PAGES {
        let page = page(folder.path(), command);
        is_whole(&page);
        for word in words {
            assert!(page.contains(word), "{command:?}: no `{word}` in {page}");
        }
        let file = document(&page)["file"].as_str().map(str::to_owned);
        assert_eq!(file.as_deref(), command.iter().copied().find(|word| word.starts_with("models/")));
    }
}

#[test]
fn nets_have_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = folder.path().join("net.spec");
    let text = "vars\n p q\nrules\n p >= 1 -> p' = p - 1, q' = q + 1;\ninit\n p = 40, q = 0\ntarget\n q >= 30\n";
    std::fs::write(&net, text).expect("it is written");
    let page = page(folder.path(), &["cover", net.to_str().expect("a plain path")]);
    is_whole(&page);
    for word in ["coverable", "<code>q</code> ≥ 30", "2 places, 1 transition"] {
        assert!(page.contains(word), "{word}: {page}");
    }
}

/// A page with words in it.
fn says(page: &str, words: &[&str]) {
    is_whole(page);
    for word in words {
        assert!(page.contains(word), "no `{word}` in {page}");
    }
}

#[test]
fn questions_of_reachability_have_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = folder.path().join("net.lola");
    let text = "PLACE p, q, free; MARKING p: 2, free: 1; TRANSITION t CONSUME p: 1, free: 1; PRODUCE q: 1, free: 1;";
    std::fs::write(&net, text).expect("it is written");
    let net = net.to_str().expect("a plain path");
    let deadlock = page(folder.path(), &["cover", net, "--ask", "deadlock", "--verify"]);
    says(&deadlock, &["1 of 1 answered", "<b>TRUE</b>", "accepted one piece of evidence", "3 places, 1 transition"]);
    let again = format!("palisade cover --ask deadlock {net} --certificate evidence\npalisade verify evidence/*.json");
    says(&deadlock, &[&again]);
    let query = folder.path().join("net.formula");
    let query = query.to_str().expect("a plain path");
    for (formula, words) in [
        ("EF (p = 0 AND q <= 1)", &["unreachable", "Proved unreachable by", "p = 0 and q ≤ 1"][..]),
        ("EF (p = 0 AND q <= 2)", &["reachable", "A run that comes there", "p = 0 and q ≤ 2"][..]),
    ] {
        std::fs::write(query, formula).expect("it is written");
        let page = page(folder.path(), &["cover", net, "--query", query]);
        let again = format!("palisade cover --query {query} {net} --certificate evidence.json");
        says(&page, words);
        says(&page, &[&again, "palisade verify evidence.json"]);
    }
}

#[test]
fn the_command_on_a_page_asks_the_same_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "models/simple-dekker-fenced.pal";
    let options = ["--threads", "all=2", "--domain", "0..7", "--wrap"];
    for command in [&["check", "--ask", "robustness"][..], &["fences"]] {
        let page = page(folder.path(), &[command, &options, &[file, "--timeout", "60s"]].concat());
        let head = format!("palisade {}", command[0]);
        let ask = if command.len() > 1 { " --ask robustness" } else { "" };
        let input = " --threads all=2 --domain 0..7 --wrap";
        let line = page.lines().find(|line| line.contains(&head)).unwrap_or_else(|| panic!("a command: {page}"));
        assert!(
            line.contains(input) && line.contains(ask) && line.contains(&format!("{file} --certificate evidence")),
            "{line}"
        );
        assert!(!line.contains("--report") && !line.contains("--timeout"), "{line}");
    }
}

/// A page of a text.
fn page_of(name: &str, text: &str, options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    std::fs::write(&file, text).expect("it is written");
    page(folder.path(), &[&["check", file.to_str().expect("a plain path")], options].concat())
}

const IN_C: &str = "C SB\n{ }\nP0(atomic_int *x, atomic_int *y) {\n  atomic_store_explicit(x, 1, memory_order_relaxed);\n  \
                    int r0 = atomic_load_explicit(y, memory_order_relaxed);\n}\nP1(atomic_int *x, atomic_int *y) {\n  \
                    atomic_store_explicit(y, 1, memory_order_relaxed);\n  \
                    int r0 = atomic_load_explicit(x, memory_order_relaxed);\n}\n";

/// An `exists` claims nothing, so that no answer to it is good news; and a page says what it is
/// about.
#[test]
fn what_exists_asks_is_answered_in_its_words() {
    for (condition, word) in [("0:r0=0 /\\ 1:r0=0", "Sometimes"), ("0:r0=2 /\\ 1:r0=0", "Never")] {
        let text = format!("{IN_C}exists ({condition})\n");
        let page = page_of("sb.litmus", &text, &["--ask", "properties"]);
        says(&page, &["<header class=\"neutral\">", &format!("<span class=\"word neutral\">{word}</span>")]);
        says(&page, &["<dt>claim</dt><dd>for the x86 program that the usual mapping makes of this C"]);
        assert!(!page.contains("class=\"word good\""), "{page}");
        let page = page_of("sb.litmus", &text, &["--model", "c11"]);
        assert!(!page.contains("for the x86 program"), "{page}");
    }
    let page = page_of("sb.litmus", &format!("{IN_C}~exists (0:r0=2)\n"), &["--ask", "properties"]);
    says(&page, &["<header class=\"good\">", "<span class=\"word good\">holds</span>", "<td>Never, proved"]);
}

/// Steps have the numbers that they have in the terminal's table: a store that reaches memory at
/// once is one step.
#[test]
fn steps_are_numbered_as_in_the_table() {
    let dekker = std::fs::read_to_string(root().join("models/simple-dekker.pal")).expect("a model");
    let page = page_of("d.pal", &dekker, &["--ask", "robustness"]);
    says(&page, &["<output>5 steps</output>", "flag1 ← 1 into its buffer (delayed) <small>"]);
    let states = page.matches("\"buffers\":").count();
    assert_eq!(states, 6, "one for each step, and the first: {page}");
    assert!(!page.contains("flag2 ← 1 into its buffer <small>"), "{page}");
    let waits = "program w\naddress x\nthread t { await (x == 1); }\n";
    let page = page_of("w.pal", waits, &["--ask", "hangs"]);
    says(&page, &["<p>no step: it is so from the beginning</p>"]);
    assert!(!page.contains("class=\"stepper\""), "{page}");
}

#[test]
fn answers_on_a_page_are_told_apart() {
    let twice = "program t\naddress x, y[2]\nthread t [2] { y[self] = 1;\n  ensure x == 0;\n  x = 1;\n}\n";
    let page = page_of("t.pal", twice, &["--ask", "properties"]);
    for thread in ["t_0", "t_1"] {
        says(&page, &[&format!("<td>{thread} <a href=\"#L4\">line 4</a></td>"), &format!("under TSO, {thread}</h2>")]);
    }
    says(&page, &["<td>under SC already</td>"]);
    // Evidence that there is not is not to be verified.
    let grows = "program g\naddress x\nthread t { loop { x = x + 3; } }\nthread u { let a = x; let b = x; ensure b >= a * a - a * a + a; }\n";
    let page = page_of("g.pal", grows, &["--ask", "properties"]);
    assert!(page.contains("There is no evidence for this answer.") && !page.contains("palisade verify"), "{page}");
    let late = "program l\naddress x, y\nthread a { store(x, 1, relaxed); store(y, 1, relaxed); }\n\
                thread b { let r = load(y, relaxed); let s = load(x, relaxed); if (r == 1) { if (s == 0) { x = 2; } } }\n\
                finally { ensure x < 2; }\n";
    let page = page_of("l.pal", late, &["--model", "c11", "--ask", "hangs"]);
    says(&page, &["reads what was there at first: it need not see what came later"]);
    let race = "program r\nplain x\naddress y\nthread a { x = 1; }\nthread b { let r = x; }\n";
    let page = page_of("r.pal", race, &["--model", "c11", "--ask", "robustness"]);
    says(&page, &["racy", "races with line 5", "races with line 4"]);
    assert!(!page.contains("comes first"), "{page}");
}

#[test]
fn a_page_is_about_one_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    let run = palisade(&["check", "models", "--report", path.to_str().expect("a plain path")]);
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    assert!(!path.exists());
}

/// What a browser makes of a page.
fn rendered(folder: &Path, fragment: &str, width: u32) -> String {
    let address = format!("file://{}{fragment}", folder.join("page.html").display());
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]);
    browser
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()));
    let run = browser.arg(address).output().expect("it runs");
    String::from_utf8(run.stdout).expect("UTF-8")
}

#[needs::command("chromium --version")]
#[test]
fn a_browser_steps_through_the_computation() {
    let folder = tempfile::tempdir().expect("a folder");
    page(folder.path(), &["check", "models/simple-dekker.pal"]);
    let text = rendered(folder.path(), "#step-2", 1280);
    assert!(text.contains("step 2 of "), "{text}");
    let current = text.split("<tr").find(|row| row.contains("class=\"current\"")).expect("a current row");
    assert!(current.contains("data-step=\"2\"") && current.contains("flag2 = 0"), "{current}");
    let (_, boxes) = text.split_once("class=\"boxes\"").expect("boxes");
    assert!(boxes.contains("<span>flag1 = 1</span>"), "the store waits: {boxes}");
    assert!(text.split("<div").any(|line| line.contains(" at\"") && line.contains("flag2")), "the line is marked");
    let text = rendered(folder.path(), "#step-99", 390);
    let (_, boxes) = text.split_once("class=\"boxes\"").expect("boxes");
    assert!(boxes.contains("empty"), "the buffer is empty at the end: {boxes}");
}
