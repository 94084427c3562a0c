//! Commands that search folders enter each once, whatever links there are.

use crate::documents;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const PROGRAM: &str = "program Own\nthread a regs r init l0 begin\n  l0: mem[x] <- 1; goto l1;\nend\n";
const NET: &str = "vars p q\nrules\n p >= 1 -> p' = p - 1, q' = q + 1;\ninit p = 1, q = 0\ntarget q >= 2\n";

/// A command that is ended when it does not end.
fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    const PATIENCE: Duration = Duration::from_secs(20);
    let out = tempfile::NamedTempFile::new().expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(arguments).current_dir(folder).stdout(out.reopen().expect("it can be opened again"));
    let mut child = command.spawn().expect("it runs");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("it can be ended");
            child.wait().expect("it has ended");
            panic!("{arguments:?} goes on and on");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output { status, stdout: std::fs::read(out.path()).expect("it was written"), stderr: Vec::new() }
}

#[test]
fn links_that_go_round_in_circles_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("root");
    std::fs::create_dir_all(root.join("deep")).expect("a folder");
    for name in ["p.pal", "deep/p.pal"] {
        std::fs::write(root.join(name), PROGRAM).expect("a file");
    }
    for name in ["n.spec", "deep/n.spec"] {
        std::fs::write(root.join(name), NET).expect("a file");
    }
    for (link, target) in [("deep/up", ".."), ("deep/self", "."), ("again", "deep"), ("a", "b"), ("b", "a")] {
        symlink(target, root.join(link)).expect("a link");
    }
    let output = palisade(folder.path(), &["check", "root", "--json"]);
    let documents = documents::read(&output.stdout);
    let found = documents.as_array().into_iter().flatten().filter_map(|document| document["file"].as_str());
    assert_eq!(found.collect::<Vec<_>>(), ["root/deep/p.pal", "root/p.pal"]);
    let output = palisade(folder.path(), &["bench", "root", "--json"]);
    let document = documents::read(&output.stdout);
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(2), "{document}");
}
