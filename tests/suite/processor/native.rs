//! The forms on the processor: a program is written, built with the system's compiler and asked.

use super::forms::{Form, Mode};
use super::states::{REGISTERS, State};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What the processor left of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) state: State,
    pub(super) flags: u64,
}

/// The program that runs the forms.
pub(super) struct Native {
    folder: TempDir,
    program: PathBuf,
}

/// Runs the forms from one number to another, each on all states of its file: the states' file,
/// first, last.
const DRIVER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
typedef unsigned long long word;
extern void run_form(const word *before, word *after, void *body);
extern void *bodies[];
int main(int count, char **arguments) {
    if (count != 4) return 2;
    FILE *file = fopen(arguments[1], "rb");
    if (!file) return 3;
    fseek(file, 0, SEEK_END);
    long rows = ftell(file) / 56;
    rewind(file);
    word *before = malloc(rows * 56), *after = malloc(rows * 64);
    if (!before || !after || fread(before, 56, rows, file) != (size_t)rows) return 4;
    for (int form = atoi(arguments[2]); form < atoi(arguments[3]); form++) {
        for (long row = 0; row < rows; row++) run_form(before + 7 * row, after + 8 * row, bodies[form]);
        if (fwrite(after, 64, rows, stdout) != (size_t)rows) return 5;
    }
    return 0;
}
"#;

/// Loads a state, calls a form, and stores what is left with the flags.
const FRAME: &str = "\t.text
\t.globl run_form
run_form:
\tpushq %rbx
\tpushq %rbp
\tpushq %r12
\tmovq %rdi,%rbp
\tmovq %rsi,%r12
\tmovq %rdx,%r11
\tmovq 48(%rbp),%r8
\tmovq %r8,x(%rip)
";

impl Native {
    /// Builds the program; `None`, with the reason printed, where it cannot be.
    pub(super) fn build(forms: &[Form], states: &[State]) -> Option<Self> {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            println!("skipped: this is not Linux on x86-64");
            return None;
        }
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        if Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            println!("skipped: there is no compiler `{}`", compiler.display());
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, bytes: &[u8]| std::fs::write(at(name), bytes).expect("the file can be written");
        write("driver.c", DRIVER.as_bytes());
        write("forms.s", assembly(forms).as_bytes());
        for mode in [Mode::Wide, Mode::Narrow] {
            let bytes: Vec<u8> = states.iter().flat_map(|state| bytes(state.for_mode(mode))).collect();
            write(states_file(mode), &bytes);
        }
        let program = at("forms");
        let output = Command::new(compiler)
            .args(["-O1", "-o"])
            .args([&program, &at("driver.c"), &at("forms.s")])
            .output()
            .expect("the compiler was there a moment ago");
        // The assembler must know every form that the reader knows.
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(Self { folder, program })
    }

    /// What the processor leaves of every state, for forms of one mode.
    pub(super) fn run(&self, mode: Mode, first: usize, last: usize) -> Vec<Left> {
        let states: &Path = &self.folder.path().join(states_file(mode));
        let output = Command::new(&self.program)
            .arg(states)
            .args([first.to_string(), last.to_string()])
            .output()
            .expect("the program runs");
        assert!(output.status.success(), "{} for forms {first} to {last}", output.status);
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let left = |bytes: &[u8]| {
            let words: Vec<u64> = bytes.chunks_exact(8).map(word).collect();
            let mut registers = [0; 6];
            registers.copy_from_slice(&words[..6]);
            Left { state: State { registers, memory: words[6] }, flags: words[7] }
        };
        output.stdout.chunks_exact(64).map(left).collect()
    }
}

fn states_file(mode: Mode) -> &'static str {
    if mode == Mode::Wide { "wide" } else { "narrow" }
}

fn bytes(state: State) -> Vec<u8> {
    state.registers.iter().chain([&state.memory]).flat_map(|word| word.to_le_bytes()).collect()
}

/// The frame and all forms.
fn assembly(forms: &[Form]) -> String {
    let mut text = FRAME.to_owned();
    let slot = |index: usize| 8 * index;
    for (index, register) in REGISTERS.iter().enumerate() {
        writeln!(text, "\tmovq {}(%rbp),%{register}", slot(index)).expect("text can be written to");
    }
    // Pushing, popping and moving leave the flags alone.
    text += "\tcall *%r11\n\tpushfq\n\tpopq 56(%r12)\n";
    for (index, register) in REGISTERS.iter().enumerate() {
        writeln!(text, "\tmovq %{register},{}(%r12)", slot(index)).expect("text can be written to");
    }
    text += "\tmovq x(%rip),%r8\n\tmovq %r8,48(%r12)\n\tpopq %r12\n\tpopq %rbp\n\tpopq %rbx\n\tret\n";
    for (number, form) in forms.iter().enumerate() {
        let lines: String = form.lines.iter().map(|line| format!("\t{}\n", line.att(number))).collect();
        writeln!(text, "form{number}:\n{lines}\tret").expect("text can be written to");
    }
    text += "\t.data\n\t.balign 8\nx:\t.quad 0\n\t.globl bodies\nbodies:\n";
    for number in 0..forms.len() {
        writeln!(text, "\t.quad form{number}").expect("text can be written to");
    }
    text + "\t.section .note.GNU-stack,\"\",@progbits\n"
}
