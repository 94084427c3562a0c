//! Functions that copy, fill and compare memory: what the library's do, for every number of bytes
//! that is followed, and what is read of calls of them.

use super::processor::Runner;
use palisade::program::{Program, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Calls, each in a function of its own. They copy between `from` and `to`, or through a variable
/// of their own.
const CALLS: [&str; 16] = [
    "memcpy(to, from, 16);",
    "memcpy(to, from, 13);",
    "memcpy(to + 5, from, 1);",
    "memcpy(to, from + 4, 6);",
    "memmove(to + 3, to, 8);",
    "memmove(to, to + 2, 6);",
    "memset(to, from[0], 16);",
    "memset(to + 4, 0x181, 12);",
    "char own[40]; memset(own, 7, 40); memcpy(own + 9, from, 11); memmove(own + 8, own + 1, 30); memcpy(to, own + 12, 16);",
    "char own[16]; memcpy(own, from, 12); result = memcmp(own, to, 12) < 0;",
    "result = memcmp(from, to, 1) > 0;",
    "char own[16]; memcpy(own, from + 8, 7); result = memcmp(own, to, 7) == 0;",
    "char own[16]; memcpy(own, from, 16); result = bcmp(own, to, 16) != 0;",
    "char own[16]; memcpy(own, from, 3); result = bcmp(own, to, 3) != 0;",
    "char own[8]; memcpy(own, from, 8); result = memcmp(own, to, 8) < 0;",
    "result = (char *)memcpy(to, from, 8) == (char *)to;",
];

const DATA: &str = "#include <stdio.h>\n#include <string.h>\n#include <strings.h>\ntypedef unsigned char byte;\n\
    struct { byte from[16], to[16]; unsigned long result; } data __attribute__((aligned(16)));\n\
    #define from data.from\n#define to data.to\n#define result data.result\n\
    void writer(void) { *(volatile unsigned long *)from = 1; *(volatile unsigned long *)(from + 8) = 2;\n    \
    *(volatile unsigned long *)to = 3; *(volatile unsigned long *)(to + 8) = 4; }\n";

/// The functions, and a program that runs each of them on all states.
fn source() -> String {
    let mut text = DATA.to_owned();
    for (number, call) in CALLS.iter().enumerate() {
        writeln!(text, "void call{number}(void) {{ {call} }}").expect("text can be written to");
    }
    text += "static void (*const calls[])(void) = {";
    (0..CALLS.len()).for_each(|number| write!(text, "call{number}, ").expect("text can be written to"));
    text + "};\nint main(int count, char **arguments) {\n    static byte state[32];\n    \
         for (unsigned call = 0; call < sizeof calls / sizeof *calls; call++) {\n        \
         FILE *file = fopen(arguments[1], \"rb\");\n        if (!file) return 2;\n        \
         while (fread(state, 32, 1, file) == 1) {\n            memcpy(&data, state, 32);\n            result = 0;\n            \
         calls[call]();\n            fwrite(&data, 40, 1, stdout);\n        }\n        fclose(file);\n    }\n    return 0;\n}\n"
}

/// Random bytes of both, the same ones often.
fn states(count: u64) -> Vec<[u8; 32]> {
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let state = |_| {
        let mut state = [0; 32];
        for index in 0..32 {
            let same = if index >= 16 { state[index - 16] } else { 0 };
            state[index] = if next() % 8 < 7 && index >= 16 { same } else { next().to_le_bytes()[3] };
        }
        state
    };
    (0..count).map(state).collect()
}

fn read(folder: &Path, number: usize) -> Program {
    let roles = folder.join("roles.toml");
    let text = format!("image = \"copies\"\n[[role]]\nfunction = \"call{number}\"\n[[role]]\nfunction = \"writer\"\n");
    std::fs::write(&roles, text).expect("the folder is writable");
    palisade::machine::read(&roles.display().to_string()).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

#[needs::command("gcc --version")]
#[test]
fn copies_fills_and_comparisons_are_the_librarys() {
    let (folder, states) = (tempfile::tempdir().expect("a folder"), states(60));
    std::fs::write(folder.path().join("copies.c"), source()).expect("the folder is writable");
    std::fs::write(folder.path().join("states"), states.concat()).expect("the folder is writable");
    let options = ["-O1", "-g", "-fno-builtin", "-fno-stack-protector", "-no-pie", "-fno-pie", "-fcf-protection=none"];
    let built =
        Command::new("gcc").args(options).args(["copies.c", "-o", "copies"]).current_dir(folder.path()).output();
    let built = built.expect("gcc starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let left =
        Command::new(folder.path().join("copies")).arg(folder.path().join("states")).output().expect("it starts");
    assert_eq!(left.stdout.len(), CALLS.len() * states.len() * 40, "{}", left.status);
    for (number, left) in left.stdout.chunks_exact(states.len() * 40).enumerate() {
        let program = read(folder.path(), number);
        let runner = Runner::new(&program.threads[0]);
        let first = program.addresses.iter().map(|cell| cell.address).min().expect("a cell") & !15;
        // The writer stores to all bytes but the result, so that none of them is constant.
        for (state, left) in states.iter().zip(left.chunks_exact(40)) {
            let cells: Vec<Value> = program.addresses.iter().map(|cell| cell.address).collect();
            let size = |at: Value| cells.iter().filter(|other| **other > at).min().map_or(8, |next| (next - at).min(8));
            let bytes = |at: Value, from: &[u8]| {
                let place = usize::try_from(at - first).expect("within the object");
                let all = from[place..].iter().take(usize::try_from(size(at)).expect("at most 8")).rev();
                all.fold(0u64, |sum, byte| sum << 8 | u64::from(*byte)).cast_signed()
            };
            let before: Vec<u8> = state.iter().copied().chain([0; 8]).collect();
            let memory: BTreeMap<Value, Value> = cells.iter().map(|at| (*at, bytes(*at, &before))).collect();
            let after = runner.run(memory);
            for (byte, place) in (0..40).zip(first..) {
                let Some(at) = cells.iter().copied().filter(|at| *at <= place).max() else { continue };
                // Behind a cell there may be bytes that no call accesses: these do not change.
                if at == place || left[byte] != before[byte] {
                    let found = after[&at].to_le_bytes()[usize::try_from(place - at).expect("within a cell")];
                    assert_eq!(found, left[byte], "{}: {state:x?}, byte {byte}", CALLS[number]);
                }
            }
        }
    }
}
