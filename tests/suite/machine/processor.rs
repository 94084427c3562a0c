//! Lifted roles against the processor: each role is compiled, run alone by the machine at hand, and
//! run alone as it was lifted from the same file. Every cell that the program has must then hold
//! what the processor has left in memory.

use crate::environment::sample;
use palisade::program::{Action, ByLabel, Thread, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The sources in the folder of images, with roles that end when they run alone.
const ROLES: [(&str, &[&str], &str); 11] = [
    ("spin", &[], "worker"),
    ("peterson", &[], "lock_left"),
    ("peterson", &["-DSTORE=memory_order_release", "-DLOAD=memory_order_acquire"], "lock_right"),
    ("wake", &[], "waker"),
    ("wake", &["-DFENCE"], "waker"),
    ("deque", &["-DFENCE"], "owner"),
    ("deque", &[], "thief"),
    ("halves", &[], "worker"),
    ("traps", &[], "counted"),
    ("numbers", &[], "numbers"),
    ("ways", &[], "ways"),
];

/// A program that runs the role so many times and writes its static data, from the first address
/// on.
fn driver(source: &str, role: &str, times: usize) -> String {
    format!(
        "#define main unused\n#include \"{source}.c\"\n#undef main\n#include <stdio.h>\nextern char __data_start[], _end[];\nint main(void) {{\n    \
         for (int i = 0; i < {times}; i++) {role}();\n    char *start = __data_start;\n    \
         fwrite(&start, 8, 1, stdout);\n    fwrite(start, 1, _end - start, stdout);\n    return 0;\n}}\n"
    )
}

/// Runs a thread alone.
pub(crate) struct Runner<'p> {
    thread: &'p Thread,
    by_label: ByLabel,
}

impl<'p> Runner<'p> {
    /// A thread that ends when it runs alone.
    pub(crate) fn new(thread: &'p Thread) -> Self {
        Self { thread, by_label: thread.instructions_by_label() }
    }

    /// Runs it to its end from what memory holds at first; the memory that it leaves.
    pub(crate) fn run(&self, mut memory: BTreeMap<Value, Value>) -> BTreeMap<Value, Value> {
        let (mut label, mut registers) = (self.thread.initial, self.thread.initial_registers());
        for _ in 0..100_000 {
            let mut open = self.by_label[label.index()].iter().map(|id| self.thread.instruction(*id));
            let next = open.find(|it| match &it.action {
                Action::Assume(condition) => condition.holds(&registers, None).expect("conditions have values"),
                _ => true,
            });
            let Some(instruction) = next else { return memory };
            let address = instruction.action.address().map(|it| it.evaluate_address(&registers).expect("an address"));
            let old = address.map_or(0, |address| memory.get(&address).copied().unwrap_or(0));
            let value =
                |it: &palisade::program::Expression| it.evaluate_with_old(&registers, old, None).expect("a value");
            let mut stored = None;
            let mut written = instruction.action.written_register().map(|register| (register, old));
            match &instruction.action {
                Action::Store { value: it, .. } => stored = Some(value(it)),
                Action::Rmw { new, .. } => stored = Some(value(new)),
                Action::Cas { expected, new, .. } => stored = (value(expected) == old).then(|| value(new)),
                Action::Assign { register, value: it } => written = Some((*register, value(it))),
                Action::Load { .. } | Action::Assume(_) | Action::Fence | Action::Nop => {}
                other => panic!("a role that runs alone does not come to {other:?}"),
            }
            if let (Some(address), Some(value)) = (address, stored) {
                memory.insert(address, value);
            }
            if let Some((register, value)) = written {
                registers[register.index()] = value;
            }
            label = instruction.target;
        }
        panic!("the role does not end");
    }
}

/// The bytes of the cells in these sources.
fn size_of(source: &str, name: &str) -> usize {
    match (source, name) {
        ("wake", "done") => 1,
        ("deque", "top" | "bottom") | ("numbers" | "ways", _) => 8,
        _ => 4,
    }
}

#[needs::command("gcc --version")]
#[test]
fn roles_alone_leave_what_the_processor_leaves() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images");
    let folder = tempfile::tempdir().expect("a folder");
    let mut compared = 0;
    for (source, options, role) in ROLES {
        for level in sample(vec!["-O0", "-O1", "-O2", "-O3", "-Os"], 2) {
            let (text, image) = (folder.path().join("driver.c"), folder.path().join("image"));
            std::fs::write(&text, driver(source, role, 1)).expect("the folder is writable");
            let built = Command::new("gcc")
                .args([level, "-g", "-no-pie", "-fno-pie", "-fno-stack-protector", "-fno-jump-tables", "-I"])
                .arg(&sources)
                .args(options)
                .arg(&text)
                .arg("-o")
                .arg(&image)
                .output()
                .expect("gcc starts");
            assert!(built.status.success(), "{source}: {}", String::from_utf8_lossy(&built.stderr));
            let output = Command::new(&image).output().expect("the program starts");
            let (start, data) = output.stdout.split_at(8);
            let start = i64::from_le_bytes(start.try_into().expect("8 bytes"));
            let roles = folder.path().join("roles.toml");
            std::fs::write(&roles, format!("image = \"image\"\n[[role]]\nfunction = \"{role}\"\n"))
                .expect("is writable");
            let program = palisade::machine::read(&roles.display().to_string())
                .unwrap_or_else(|error| panic!("{source} {level}: {}", error.render(false)));
            let memory = Runner::new(&program.threads[0]).run(program.initial_memory.clone());
            for cell in &program.addresses {
                // Tables of constants lie before the data, and nobody writes them.
                let Ok(offset) = usize::try_from(cell.address - start) else { continue };
                let left = memory.get(&cell.address).copied().unwrap_or(0);
                let bytes = data[offset..].iter().take(size_of(source, &cell.name)).rev();
                let expected = bytes.fold(0u64, |sum, byte| sum << 8 | u64::from(*byte)).cast_signed();
                assert_eq!(left, expected, "{source} {level} {role}: `{}`", cell.name);
                compared += 1;
            }
        }
    }
    assert!(compared >= 25, "{compared} cells");
}
