//! Instructions on registers of 16 bytes against the processor: each is assembled, run by the
//! processor on random operands, and read from the same file as machine code. So what decodes it
//! and what puts its halves together are compared as well. By default each form gets 100 states,
//! with `PALISADE_FULL_TESTS=1` 10,000.

use super::states::Random;
use crate::machine::processor::Runner;
use palisade::program::{Program, Value};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Two operands of 16 bytes.
type State = [u64; 4];

/// What a form leaves: the first operand, a general-purpose register, 8 bytes in memory and 4.
type Left = [u64; 5];

/// The places that a form leaves something in, with the word of [`Left`].
const PLACES: [&str; 5] = ["out", "out+0x8", "general", "stored", "brief"];

/// The operations that have a second operand in a register or in memory.
const OPERATIONS: [&str; 50] = [
    "pand",
    "andps",
    "andpd",
    "pandn",
    "andnps",
    "andnpd",
    "por",
    "orps",
    "orpd",
    "pxor",
    "xorps",
    "xorpd",
    "paddb",
    "paddw",
    "paddd",
    "paddq",
    "psubb",
    "psubw",
    "psubd",
    "psubq",
    "pcmpeqb",
    "pcmpeqw",
    "pcmpeqd",
    "pcmpgtb",
    "pcmpgtw",
    "pcmpgtd",
    "punpcklbw",
    "punpcklwd",
    "punpckldq",
    "punpcklqdq",
    "punpckhbw",
    "punpckhwd",
    "punpckhdq",
    "punpckhqdq",
    "unpcklps",
    "unpcklpd",
    "unpckhps",
    "unpckhpd",
    "movups",
    "movaps",
    "movupd",
    "movapd",
    "movdqa",
    "movdqu",
    "pshufd $0x4e,",
    "pshufd $0x1b,",
    "pshuflw $0x27,",
    "pshufhw $0x93,",
    "shufps $0xd8,",
    "shufpd $0x1,",
];

/// Forms of their own.
const FORMS: [&str; 41] = [
    "movq %xmm2,%xmm1",
    "movsd %xmm2,%xmm1",
    "movss %xmm2,%xmm1",
    "movhlps %xmm2,%xmm1",
    "movlhps %xmm2,%xmm1",
    "movq right(%rip),%xmm1",
    "movd right(%rip),%xmm1",
    "movsd right(%rip),%xmm1",
    "movss right(%rip),%xmm1",
    "movlps right(%rip),%xmm1",
    "movlpd right(%rip),%xmm1",
    "movhps right(%rip),%xmm1",
    "movhpd right(%rip),%xmm1",
    "movq %xmm1,stored(%rip)",
    "movd %xmm1,brief(%rip)",
    "movsd %xmm1,stored(%rip)",
    "movss %xmm1,brief(%rip)",
    "movlps %xmm1,stored(%rip)",
    "movlpd %xmm1,stored(%rip)",
    "movhps %xmm1,stored(%rip)",
    "movhpd %xmm1,stored(%rip)",
    "movq %xmm1,%rax",
    "movd %xmm1,%eax",
    "pmovmskb %xmm1,%eax",
    "movmskps %xmm1,%eax",
    "movmskpd %xmm1,%eax",
    "pxor %xmm1,%xmm1",
    "pcmpeqb %xmm1,%xmm1",
    "pslldq $3,%xmm1",
    "pslldq $8,%xmm1",
    "pslldq $11,%xmm1",
    "pslldq $16,%xmm1",
    "psrldq $3,%xmm1",
    "psrldq $8,%xmm1",
    "psrldq $11,%xmm1",
    "psrldq $0,%xmm1",
    "pshufd $0xee,%xmm1,%xmm1",
    "shufps $0x4e,%xmm1,%xmm1",
    "punpcklbw %xmm1,%xmm1",
    "xorps %xmm2,%xmm1",
    "psubb %xmm1,%xmm2",
];

/// Shifts of lanes by a number.
const SHIFTS: [(&str, u8); 8] = [
    ("psllw", 16),
    ("pslld", 32),
    ("psllq", 64),
    ("psrlw", 16),
    ("psrld", 32),
    ("psrlq", 64),
    ("psraw", 16),
    ("psrad", 32),
];

/// All forms.
fn forms() -> Vec<String> {
    let mut forms: Vec<String> = FORMS.map(str::to_owned).to_vec();
    for operation in OPERATIONS {
        forms.extend(["%xmm2", "right(%rip)"].map(|from| format!("{operation} {from},%xmm1")));
    }
    for (shift, bits) in SHIFTS {
        forms.extend([0, 1, bits / 2 + 1, bits - 1, bits, 255].map(|by| format!("{shift} ${by},%xmm1")));
    }
    forms
}

const DRIVER: &str = r"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MODE (char[]){114, 98, 0}
typedef unsigned long long word;
extern word left[2], right[2], out[2], general, stored, brief;
extern void (*forms[])(void);
extern int count;
int main(int arguments, char **argument) {
    FILE *file = arguments == 2 ? fopen(argument[1], MODE) : 0;
    if (!file) return 2;
    fseek(file, 0, SEEK_END);
    long rows = ftell(file) / 32;
    rewind(file);
    word *states = malloc(rows * 32);
    if (!states || fread(states, 32, rows, file) != (size_t)rows) return 3;
    for (int form = 0; form < count; form++) {
        for (long row = 0; row < rows; row++) {
            memcpy(left, states + 4 * row, 16);
            memcpy(right, states + 4 * row + 2, 16);
            out[0] = out[1] = general = stored = brief = 0;
            forms[form]();
            word after[5] = {out[0], out[1], general, stored, brief};
            if (fwrite(after, 40, 1, stdout) != 1) return 4;
        }
    }
    return 0;
}
";

/// The forms as functions, and one that stores to their operands, so that these are no constants.
fn assembly(forms: &[String]) -> String {
    let mut text = ".text\n.globl writer\n.type writer,@function\nwriter:\n".to_owned();
    for place in ["left", "8+left", "right", "8+right"] {
        writeln!(text, "\tmovq $1,{place}(%rip)").expect("text can be written to");
    }
    text += "\tret\n.size writer,.-writer\n";
    for (number, form) in forms.iter().enumerate() {
        writeln!(
            text,
            ".globl form{number}\n.type form{number},@function\nform{number}:\n\tmovups left(%rip),%xmm1\n\tmovups right(%rip),%xmm2\n\tmovl $0,%eax\n\
             \t{form}\n\tmovups %xmm1,out(%rip)\n\tmovq %rax,general(%rip)\n\tret\n.size form{number},.-form{number}"
        )
        .expect("text can be written to");
    }
    text += "\t.data\n\t.balign 16\n";
    for (name, bytes) in [("left", 16), ("right", 16), ("out", 16), ("general", 8), ("stored", 8), ("brief", 8)] {
        writeln!(text, "\t.globl {name}\n\t.type {name},@object\n\t.size {name},{bytes}\n{name}:\t.zero {bytes}")
            .expect("text can be written to");
    }
    writeln!(text, "\t.globl count\ncount:\t.long {}\n\t.balign 8\n\t.globl forms\nforms:", forms.len())
        .expect("text can be written to");
    for number in 0..forms.len() {
        writeln!(text, "\t.quad form{number}").expect("text can be written to");
    }
    text + "\t.section .note.GNU-stack,\"\",@progbits\n"
}

/// Builds the program and asks the processor; the program's path is `vectors` in the folder.
fn native(folder: &Path, forms: &[String], states: &[State]) -> Vec<Left> {
    let at = |name: &str| folder.join(name);
    let bytes: Vec<u8> = states.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    for (name, content) in
        [("driver.c", DRIVER.as_bytes()), ("forms.s", assembly(forms).as_bytes()), ("states", &bytes)]
    {
        std::fs::write(at(name), content).expect("the file can be written");
    }
    let run = |command: &mut Command| -> Output {
        let output = command.stderr(Stdio::piped()).output().expect("it starts");
        assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        output
    };
    run(Command::new("gcc").args(["-O1", "-no-pie", "-o"]).args([at("vectors"), at("driver.c"), at("forms.s")]));
    let output = run(Command::new(at("vectors")).arg(at("states")));
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let left = |bytes: &[u8]| [0, 8, 16, 24, 32].map(|from| word(&bytes[from..from + 8]));
    output.stdout.chunks_exact(40).map(left).collect()
}

/// The program with a role for each form.
fn read(folder: &Path, forms: &[String]) -> Program {
    let mut text = "image = \"vectors\"\n[[role]]\nfunction = \"writer\"\n".to_owned();
    for number in 0..forms.len() {
        writeln!(text, "[[role]]\nfunction = \"form{number}\"").expect("text can be written to");
    }
    let roles = folder.join("roles.toml");
    std::fs::write(&roles, text).expect("the file can be written");
    palisade::machine::read(&roles.display().to_string()).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Compares all forms on so many random states.
fn compare(count: usize, seed: u64) {
    let (forms, folder) = (forms(), tempfile::tempdir().expect("a folder"));
    let mut random = Random(seed);
    let states: Vec<State> =
        (0..count).map(|_| random.state().registers).map(|[a, b, c, d, ..]| [a, b, c, d]).collect();
    let left = native(folder.path(), &forms, &states);
    assert_eq!(left.len(), forms.len() * count, "the processor answers for all forms");
    let program = read(folder.path(), &forms);
    let address = |name: &str| -> Option<Value> {
        program.addresses.iter().find(|cell| cell.name == name).map(|cell| cell.address)
    };
    let operands = ["left", "left+0x8", "right", "right+0x8"].map(|name| address(name).expect("a cell"));
    let places = PLACES.map(address);
    let wrong = |(number, form): (usize, &String)| -> Option<String> {
        let runner = Runner::new(&program.threads[number + 1]);
        for (state, left) in states.iter().zip(&left[number * count..]) {
            let values = state.map(u64::cast_signed);
            let memory: BTreeMap<Value, Value> = operands.into_iter().zip(values).collect();
            let after = runner.run(memory);
            let value = |place: &Option<Value>| place.and_then(|at| after.get(&at)).copied().unwrap_or(0);
            let found = [0, 1, 2, 3, 4].map(|place| value(&places[place]).cast_unsigned());
            if found != *left {
                return Some(format!("{form}\n  from {state:x?}\n  read {found:x?}\n  is   {left:x?}"));
            }
        }
        None
    };
    let objections: Vec<String> = forms.par_iter().enumerate().filter_map(wrong).collect();
    println!("{} forms, {count} states each", forms.len());
    assert!(objections.is_empty(), "{} of {} forms:\n{}", objections.len(), forms.len(), objections.join("\n"));
}

#[needs::command("gcc --version")]
#[needs::variable("PALISADE_FULL_TESTS")]
#[test]
fn every_form_of_vectors_is_the_processors() {
    compare(10_000, 22);
}

#[needs::command("gcc --version")]
#[test]
fn every_form_of_vectors_on_few_states() {
    compare(100, 23);
}
