//! What somebody meets who has never used the command: usual names, wrong options, files of another
//! kind.

use std::path::Path;
use std::process::Command;

fn run(folder: &Path, line: &[&str]) -> (Option<i32>, String) {
    let command = Path::new(env!("CARGO_BIN_EXE_palisade"));
    let output = Command::new(command).args(line).current_dir(folder).output().expect("it runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).expect("UTF-8"))
}

fn with(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(name), text).expect("it is written");
    folder
}

#[test]
fn procedures_may_have_the_names_of_fences() {
    let text = "program P\naddress x, y\nproc barrier() { mfence; }\nproc smp_mb() { mfence; }\nproc fence(l) { mfence; }\n\
                thread t { x = 1; barrier(); let r = y; smp_mb(); fence(x); }\nthread u { y = 1; smp_mb(); let r = x; }\n";
    let (exit, said) = run(with("p.pal", text).path(), &["check", "p.pal"]);
    assert!(exit == Some(0) && said.starts_with("p.pal: robust"), "{said}");
}

#[test]
fn addresses_registers_and_labels_may_be_called_lock() {
    let braces = "program P\naddress lock, inside\nproc unlock(l) { l = 0; }\nthread t [2] {\n  lock(lock);\n  \
                  ensure inside == 0;\n  inside = 1;\n  inside = 0;\n  lock(lock);\n}\n"
        .replace("  lock(lock);\n}", "  unlock(lock);\n}");
    let automata = "program P address lock thread t regs unlock init lock begin\n\
                    lock: lock; goto a; a: unlock <- mem[lock]; goto b; b: mem[lock] <- unlock + 1; goto c; c: unlock; end\n";
    for text in [braces.as_str(), automata] {
        let (exit, said) = run(with("p.pal", text).path(), &["check", "p.pal"]);
        assert!(exit == Some(0) && said.starts_with("p.pal: "), "{said}");
        let folder = with("p.pal", text);
        assert_eq!(run(folder.path(), &["fmt", "p.pal"]).0, Some(0));
        let (exit, said) = run(folder.path(), &["check", "p.pal"]);
        assert!(exit == Some(0) && said.starts_with("p.pal: "), "{said}");
    }
    // Alone it is a word of automata.
    let (_, said) = run(with("p.pal", "program P\nthread t { lock; }\n").path(), &["check", "p.pal"]);
    assert!(said.contains("a locked section is `atomic { … }`"), "{said}");
}

#[test]
fn words_of_other_languages_say_what_to_write() {
    for (text, help) in [
        ("int x;\nprogram P\n", "a text begins with `program` and a name; memory that threads share is declared by"),
        ("program P\nint x;\n", "memory that threads share is declared by `address x, slot[4]`"),
        ("program P\nthread t { int r; }\n", "write `let r = …;`"),
        ("program P\naddress x\nthread t [*] { x = tid; }\n", "the number of the copy, from 0, is `self`"),
    ] {
        let (exit, said) = run(with("p.pal", text).path(), &["check", "p.pal"]);
        assert!(exit == Some(2) && said.contains(help), "{text}: {said}");
    }
}

/// Whatever is asked: where values grow there is no answer, and what is said names the line.
#[test]
fn growing_values_are_unknown() {
    let threads = "program P\naddress x, y\nthread t {\n  loop { let r = x; x = r + 1; let q = y; }\n}\n\
                   thread u { y = 1; let s = x; }\n";
    let events = "program P\naddress x\nevent e [*] { spawn work(); }\ntask work() { let r = fetch_add(x, 1); }\n";
    let asked = [
        (threads, &["check --ask hangs", "fences --ask hangs", "simulate"][..]),
        (events, &["check", "check --ask concurrency", "check --ask robustness"]),
    ];
    for (text, lines) in asked {
        let folder = with("p.pal", text);
        for line in lines {
            let words: Vec<&str> = line.split(' ').chain(["--timeout", "20s", "p.pal"]).collect();
            let (exit, said) = run(folder.path(), &words);
            assert!(exit == Some(3) && said.contains("grows: it takes more than 64 values, at "), "{line}: {said}");
            assert!(said.contains(" (line ") && !said.contains("`L"), "{line}: {said}");
        }
    }
}

#[test]
fn options_in_other_words_say_which_are_meant() {
    let folder = with("p.pal", "program P\naddress x\nthread t { x = 1; }\n");
    for (line, message) in [
        (&["check", "--threads", "3", "p.pal"][..], "write `all=3`, or a thread's name in place of `all`"),
        (&["check", "--memory", "2", "p.pal"], "say `2M` or `2G`"),
        (&["check", "--timeout", "soon", "p.pal"], "try `90s`, `2m` or `500ms`"),
        (&["check", "q.pal"], "did you mean `p.pal`?"),
        (&["check", "nowhere/p.pal"], "there is no folder `nowhere`"),
    ] {
        let (exit, said) = run(folder.path(), line);
        assert!(exit == Some(2) && said.contains(message), "{line:?}: {said}");
    }
}

#[test]
fn files_of_other_kinds_say_what_to_do() {
    let folder = with("queue.c", "int main() { return 0; }\n");
    std::fs::write(folder.path().join("main.rs"), "fn main() {}\n").expect("it is written");
    for (name, message) in [
        ("queue.c", "compile it with `-g`, name its functions in a file of roles"),
        ("main.rs", "type `cargo palisade`"),
        (env!("CARGO_BIN_EXE_palisade"), "name its functions in a file of roles"),
    ] {
        let (exit, said) = run(folder.path(), &["check", name]);
        assert!(exit == Some(2) && said.contains(message), "{name}: {said}");
    }
}

/// Values that grow do not hide what a small instance violates already.
#[test]
fn what_few_occurrences_violate_is_found_though_values_grow() {
    let text = "program P\naddress x\nevent e0 [*] { spawn work(); }\n\
                task work() { let r = fetch_add(x, 1); ensure r == 0; }\n";
    let (exit, said) = run(with("p.pal", text).path(), &["check", "p.pal"]);
    assert!(exit == Some(1) && said.starts_with("p.pal: violated under TSO"), "{said}");
    assert!(said.contains("2 e0") || said.contains("e0#1 occurs"), "{said}");
}

#[test]
fn numbers_of_addresses_are_told_from_what_is_stored() {
    let text = "program P\naddress x = 0, y\nthread t { x = 1; }\n";
    let (_, said) = run(with("p.pal", text).path(), &["check", "p.pal"]);
    assert!(said.contains("the value at the start is `initial x = 0`"), "{said}");
}

#[test]
fn programs_are_no_nets() {
    let folder = with("p.pal", "program P\nthread t { skip; }\n");
    for line in [&["cover", "p.pal"][..], &["cover", "p.pal", "--ask", "deadlock"]] {
        let (exit, said) = run(folder.path(), line);
        assert_eq!(exit, Some(2), "{said}");
        assert!(said.contains("no format of nets") && said.contains("`palisade check`"), "{said}");
    }
}
