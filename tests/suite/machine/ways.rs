//! Ways that are kept apart: random functions whose addresses lead to the stack or to shared memory
//! by the way that control has taken, run by the machine at hand and as they are lifted.

use super::parts::Random;
use super::processor::Runner;
use crate::environment::seeds;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// What the functions read their ways from.
const SEED: i64 = 0x5a3;

/// Places on the stack and in shared memory.
const PLACES: [&str; 5] = ["(%rsp)", "8(%rsp)", "16(%rsp)", "memory+24(%rip)", "memory+32(%rip)"];

/// A number is added at a place that depends on the lowest bit of `%edx`.
fn step(random: &mut Random) -> String {
    let (one, other) = (PLACES[random.below(5)], PLACES[random.below(5)]);
    let more = random.below(90) + 1;
    let chosen = |one: &str, other: &str, used: &str| {
        format!("\ttest $1,%dl\n\tjz 1f\n\t{one}\n\tjmp 2f\n1:\t{other}\n2:{used}\tshr $1,%rdx\n")
    };
    let add = format!("\taddq ${more},");
    match random.below(4) {
        0 => chosen(&format!("lea {one},%rax"), &format!("lea {other},%rax"), &format!("{add}(%rax)\n")),
        1 => chosen("mov $8,%eax", "mov $16,%eax", &format!("{add}(%rsp,%rax)\n")),
        2 => {
            let used = format!("\ttest %rax,%rax\n\tjz 3f\n{add}(%rax)\n3:");
            chosen(&format!("lea {one},%rax"), "xor %eax,%eax", &used)
        }
        _ => {
            // Another choice lies between the first one and where it matters.
            let between = "\ttest $2,%dl\n\tjz 3f\n\tincq memory+24(%rip)\n3:";
            let used = format!("{between}{add}(%rax)\n");
            chosen(&format!("lea {one},%rax"), &format!("lea {other},%rax"), &used)
        }
    }
}

/// A function of some steps, perhaps in a loop, that leaves its part of the stack in shared memory.
fn function(random: &mut Random) -> String {
    let mut text = "\tsub $40,%rsp\n\tmovq $1,(%rsp)\n\tmovq $2,8(%rsp)\n\tmovq $3,16(%rsp)\n".to_owned();
    text += "\tmov seed(%rip),%rdx\n";
    let loops = random.below(3) == 0;
    if loops {
        text += "\tmov $3,%ecx\n9:";
    }
    (0..1 + random.below(5)).for_each(|_| text += &step(random));
    if loops {
        text += "\tdec %ecx\n\tjnz 9b\n";
    }
    for place in [0, 8, 16] {
        let _ = writeln!(text, "\tmov {place}(%rsp),%rax\n\tmov %rax,memory+{place}(%rip)");
    }
    text + "\tincq seed(%rip)\n\tadd $40,%rsp\n\tret\n"
}

/// An executable that runs so many functions, each on fresh memory, and writes what each leaves
/// there.
fn build(folder: &Path, functions: &[String]) {
    let mut code = ".text\n".to_owned();
    let mut calls = String::new();
    for (number, body) in functions.iter().enumerate() {
        let _ = writeln!(
            code,
            ".globl f{number}\n.type f{number},@function\nf{number}:\n{body}.size f{number},.-f{number}"
        );
        let _ =
            writeln!(calls, "void f{number}(void); seed = {SEED}; memset(memory, 0, 40); f{number}(); write_all();");
    }
    code += "\t.section .note.GNU-stack,\"\",@progbits\n";
    let driver = format!(
        "#include <stdio.h>\n#include <string.h>\nlong seed = {SEED}; long memory[5];\n\
         static void write_all(void) {{ fwrite(memory, 8, 5, stdout); }}\nint main(void) {{\n{calls}return 0;\n}}\n"
    );
    std::fs::write(folder.join("code.s"), code).expect("the folder is writable");
    std::fs::write(folder.join("driver.c"), driver).expect("the folder is writable");
    let arguments = ["-no-pie", "-fno-pie", "code.s", "driver.c", "-o", "image"];
    let output = Command::new("gcc").args(arguments).current_dir(folder).output().expect("gcc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn read(folder: &Path, function: &str) -> Result<palisade::program::Program, String> {
    let path = folder.join("roles.toml");
    std::fs::write(&path, format!("image = \"image\"\n[[role]]\nfunction = {function:?}\n")).expect("is writable");
    palisade::machine::read(&path.display().to_string()).map_err(|error| error.render(false))
}

#[needs::command("gcc --version")]
#[test]
fn what_is_kept_apart_is_as_the_processor_does_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let functions: Vec<String> = seeds(60, 4_000).map(|seed| function(&mut Random(seed * 0x9e37_79b9 + 77))).collect();
    build(folder.path(), &functions);
    let output = Command::new(folder.path().join("image")).output().expect("the program starts");
    let mut left = output.stdout.chunks_exact(40);
    let mut on_stack = 0;
    for (number, text) in functions.iter().enumerate() {
        let words = left.next().expect("each function has left its memory").chunks_exact(8);
        let expected: Vec<i64> = words.map(|word| i64::from_le_bytes(word.try_into().expect("8 bytes"))).collect();
        let program = read(folder.path(), &format!("f{number}")).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let memory = Runner::new(&program.threads[0]).run(program.initial_memory.clone());
        let cells = program.addresses.iter().filter(|cell| cell.name.starts_with("memory"));
        let start = cells.map(|cell| cell.address).min().expect("the function writes there");
        let found: Vec<i64> = (0..5).map(|word| memory.get(&(start + 8 * word)).copied().unwrap_or(0)).collect();
        assert_eq!(found, expected, "{text}\n{}", program.source.text);
        on_stack += usize::from(expected[..3] != [1, 2, 3]);
    }
    assert!(on_stack * 2 > functions.len(), "{on_stack}");
}

/// Where no way tells an address on the stack from another one, the code is refused.
#[needs::command("gcc --version")]
#[test]
fn what_no_way_tells_apart_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let chosen = "\tlea -8(%rsp),%rax\n\tlea memory(%rip),%rcx\n\ttestb $1,seed(%rip)\n\tcmovz %rcx,%rax\n";
    build(folder.path(), &[format!("{chosen}\tmovq $1,(%rax)\n\tincq seed(%rip)\n\tret\n")]);
    let error = read(folder.path(), "f0").expect_err("the address is not known");
    assert!(error.contains("may point into the role's own stack frame or not"), "{error}");
}
