//! What a file of roles leaves out is said.

use std::path::Path;
use std::process::Command;

const CODE: &str = "
static int shared[2];
static int turn;
__attribute__((noinline)) void worker(long number, long step) { shared[number & 1] = (int)(turn + step); }
__attribute__((noinline)) void other(void) { turn = 1; }
int main(void) { worker(0, 1); other(); return 0; }
";

fn claim(folder: &Path, arguments: &str) -> String {
    let text =
        format!("image = \"roles\"\n[[role]]\nfunction = \"worker\"\n{arguments}\n[[role]]\nfunction = \"other\"\n");
    std::fs::write(folder.join("roles.toml"), text).expect("the folder is writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.args(["check", "roles.toml"]).current_dir(folder).output().expect("it runs");
    let said = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{said}");
    said.lines().find(|line| line.starts_with("  claim ")).expect("there is one").to_owned()
}

#[needs::command("gcc --version")]
#[test]
fn arguments_that_a_role_does_not_give_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("roles.c"), CODE).expect("the folder is writable");
    let options = ["-O1", "-g", "-fcf-protection=none", "-no-pie", "-fno-pie", "roles.c", "-o", "roles"];
    let built = Command::new("gcc").args(options).current_dir(folder.path()).output().expect("gcc starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    assert!(!claim(folder.path(), "args = [1, 2]").contains("given"));
    assert!(claim(folder.path(), "args = [1]").ends_with("with 0 for step of worker, not given"));
    assert!(claim(folder.path(), "").ends_with("with 0 for number of worker and step of worker, not given"));
}
