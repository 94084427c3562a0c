//! Files are written whole or not at all: where one does not fit, nothing of it stays and the old
//! one survives, for every option that names a file or a folder to write.

use crate::documents;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program whose text and evidence do not fit a block of the disk.
fn program() -> String {
    let mut text = "program Long\n".to_owned();
    for (name, own, other) in [("first", "x", "y"), ("second", "y", "x")] {
        text.push_str(&format!("thread {name} regs r init l0 begin\n"));
        for label in 0..30 {
            text.push_str(&format!("  l{label}: r <- {label}; goto l{};\n", label + 1));
        }
        text.push_str(&format!("  l30: mem[{own}] <- 1; goto l31;\n  l31: r <- mem[{other}]; goto l32;\nend\n"));
    }
    text
}

/// A net whose evidence does not fit a block of the disk.
fn net() -> String {
    let names: Vec<String> = (0..80).map(|number| format!("a_place_with_the_number_{number}")).collect();
    let step = |pair: &[String]| format!(" {0} >= 1 -> {0}' = {0} - 1, {1}' = {1} + 1;\n", pair[0], pair[1]);
    let rules: String = names.windows(2).map(step).collect();
    let init: Vec<String> = names.iter().map(|name| format!("{name} = {}", u8::from(*name == names[0]))).collect();
    format!("vars {}\nrules\n{rules}init {}\ntarget {} >= 1\n", names.join(" "), init.join(", "), names[79])
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.pal"), program()).expect("a file");
    std::fs::write(folder.path().join("n.spec"), net()).expect("a file");
    let made = palisade(folder.path(), &["check", "p.pal", "--threads", "second=0", "--certificate", "made"]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    folder
}

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs")
}

/// The same in a process whose files end after the first block.
fn limited(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -c 0; ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_palisade")]);
    command.args(arguments).current_dir(folder).output().expect("it runs")
}

/// All files in a folder and the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// What each command writes. Each file holds more than a block.
const WRITES: &[(&[&str], &[&str])] = &[
    (&["convert", "p.pal", "--to", "trencher", "-o", "out.txt"], &["out.txt"]),
    (&["witness", "p.pal", "--svg", "-o", "out.svg"], &["out.svg"]),
    (&["net", "p.pal", "-o", "out.pnml"], &["out.pnml", "out.xml"]),
    (&["cover", "n.spec", "--write", "out.lola"], &["out.lola", "out.formula"]),
    (&["cover", "n.spec", "--certificate", "out.json"], &["out.json"]),
    (&["check", "p.pal", "--certificate", "out"], &["out/p.pal.violation.json"]),
    (&["fences", "p.pal", "--certificate", "out"], &["out/p.repaired.pal", "out/out_p.repaired.pal.robust.json"]),
    (&["fences", "p.pal", "--apply"], &["p.pal"]),
    (
        &["verify", "made/p.pal.robust.json", "--smtlib", "out"],
        &["out/p.pal.robust.tables.smt2", "out/p.pal.robust.safe.smt2"],
    ),
    (&["man", "--folder", "out"], &["out/palisade.1", "out/palisade-check.1"]),
    (&["bench", "n.spec", "--html", "out.html"], &["out.html"]),
    (&["bench", "n.spec", "--repeat", "20", "--csv", "out.csv"], &["out.csv"]),
];

#[test]
fn what_does_not_fit_leaves_the_old_file() {
    for (arguments, written) in WRITES {
        let folder = folder();
        let path = folder.path();
        let before = files(path);
        let missing: Vec<&&str> = written.iter().filter(|name| !path.join(name).exists()).collect();

        let failed = limited(path, arguments);
        assert_eq!(failed.status.code(), Some(2), "{arguments:?}: {failed:?}");
        assert!(String::from_utf8_lossy(&failed.stderr).contains("written"), "{arguments:?}: {failed:?}");
        assert_eq!(files(path), before, "{arguments:?}: nothing stays of a new file");

        for name in &missing {
            let file = path.join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, "old").expect("a file");
        }
        let before: Vec<(PathBuf, Vec<u8>)> =
            files(path).into_iter().map(|file| (file.clone(), std::fs::read(file).expect("a file"))).collect();
        let failed = limited(path, arguments);
        assert_eq!(failed.status.code(), Some(2), "{arguments:?}: {failed:?}");
        let after: Vec<(PathBuf, Vec<u8>)> =
            files(path).into_iter().map(|file| (file.clone(), std::fs::read(file).expect("a file"))).collect();
        assert_eq!(after, before, "{arguments:?}: the old file survives");

        let done = palisade(path, arguments);
        assert!(matches!(done.status.code(), Some(0 | 1)), "{arguments:?}: {done:?}");
        for name in *written {
            let file = path.join(name);
            assert_ne!(std::fs::read(&file).expect("it was written"), b"old", "{arguments:?}: {name}");
        }
        let hidden =
            |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".palisade"));
        assert!(!files(path).iter().any(hidden), "{arguments:?}: nothing is left beside it");
    }
}

/// The file of finished runs grows by whole lines.
#[test]
fn a_log_of_runs_ends_with_a_whole_line() {
    let folder = folder();
    let failed = limited(folder.path(), &["bench", "n.spec", "--repeat", "20", "--resume", "log"]);
    assert_eq!(failed.status.code(), Some(2), "{failed:?}");
    let log = std::fs::read_to_string(folder.path().join("log")).expect("it was begun");
    assert!(log.ends_with('\n') || log.is_empty(), "{log}");
    assert!(log.lines().all(documents::is_json), "{log}");
}

/// A file system that is full but for one block, where such a one can be made.
#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = folder();
    let script = "mount -t tmpfs -o size=16k tmpfs disk && cp p.pal disk/old.pal && cd disk || exit 99
        head -c 8192 /dev/zero > filling; cp old.pal p.pal; \"$0\" convert ../p.pal --to native -o old.pal; echo \"status $?\"
        \"$0\" check ../p.pal --certificate .; echo \"status $?\"; cmp old.pal p.pal && ls -A";
    std::fs::create_dir(folder.path().join("disk")).expect("a folder");
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_palisade")]).current_dir(folder.path());
    let output = match command.output() {
        Ok(output) if output.status.code() == Some(0) => output,
        other => {
            println!("skipped: no small file system can be mounted: {other:?}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "status 2\nstatus 2\nfilling\nold.pal\np.pal\n", "{output:?}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.matches("No space left on device").count(), 2, "{errors}");
}

/// Standard output on a full device.
#[test]
fn a_full_device_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        println!("skipped: there is no /dev/full");
        return;
    };
    let folder = folder();
    let stdout = full.try_clone().expect("it can be shared");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output =
        command.args(["convert", "p.pal", "--to", "litmus"]).current_dir(folder.path()).stdout(stdout).output();
    assert_eq!(output.expect("it runs").status.code(), Some(2));
    for arguments in [&["witness", "p.pal", "-o", "/dev/full"][..], &["cover", "n.spec", "--certificate", "/dev/full"]]
    {
        let output = palisade(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("No space left on device"), "{output:?}");
    }
    // What is no file is written in place.
    let output = palisade(folder.path(), &["convert", "p.pal", "--to", "trencher", "-o", "/dev/stdout"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!output.stdout.is_empty());
}
