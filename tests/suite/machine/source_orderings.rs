//! Orderings of the sources, read in a build without optimisation: Rust, C and the native language
//! say the same.
//!
//! Random pairs of functions are written as Rust that `rustc` compiles, as C that a compiler reads
//! with `palisade_atomics.h`, and as programs of the native language. Whatever compiler, reader of
//! machine code and reader of texts do, all have the same verdicts against C11.

use crate::checked::check_language;
use crate::environment::seeds;
use palisade::limits::Limits;
use palisade::program::{Program, SourceText};
use palisade::robustness::StaleVerdict;
use palisade::semantics::graphs::Axioms;
use palisade::semantics::random::Randomness;
use palisade::syntax::{Format, read};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// A name in Rust and in the native language.
type Words = (&'static str, &'static str);

const PLACES: [Words; 3] = [("X", "x"), ("Y", "y"), ("Z", "z")];
const RELAXED: Words = ("Relaxed", "relaxed");
const ACQUIRE: Words = ("Acquire", "acquire");
const RELEASE: Words = ("Release", "release");
const ACQ_REL: Words = ("AcqRel", "acq_rel");
const SEQ_CST: Words = ("SeqCst", "seq_cst");

/// A function on its way, in all languages.
#[derive(Default)]
struct Written {
    rust: String,
    c: String,
    native: String,
    registers: usize,
}

impl Written {
    fn say(&mut self, rust: &str, c: &str, native: &str) {
        let _ = writeln!(self.rust, "    {rust}");
        let _ = writeln!(self.c, "    {c}");
        let _ = writeln!(self.native, "    {native}");
    }

    fn register(&mut self) -> String {
        self.registers += 1;
        format!("r{}", self.registers)
    }

    /// A statement; one that branches has others in it.
    fn statement(&mut self, random: &mut Randomness, depth: usize) {
        let pick = |random: &mut Randomness, all: &[Words]| all[random.below(all.len())];
        let (upper, lower) = pick(random, &PLACES);
        let value = 1 + random.below(2);
        let register = self.register();
        match random.below(if depth == 0 { 12 } else { 10 }) {
            0 | 1 => {
                let (rust, native) = pick(random, &[RELAXED, RELEASE, SEQ_CST]);
                self.say(
                    &format!("{upper}.store({value}, {rust});"),
                    &format!("atomic_store_explicit(&{upper}, {value}, memory_order_{native});"),
                    &format!("store({lower}, {value}, {native});"),
                );
            }
            2 | 3 => {
                let (rust, native) = pick(random, &[RELAXED, ACQUIRE, SEQ_CST]);
                self.say(
                    &format!("{upper}.load({rust});"),
                    &format!("(void)atomic_load_explicit(&{upper}, memory_order_{native});"),
                    &format!("let {register} = load({lower}, {native});"),
                );
            }
            4 => {
                let (rust, native) = pick(random, &[RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST]);
                let (method, word) = pick(random, &[("swap", "xchg"), ("fetch_add", "fetch_add")]);
                let function = if word == "xchg" { "exchange" } else { word };
                self.say(
                    &format!("{upper}.{method}({value}, {rust});"),
                    &format!("(void)atomic_{function}_explicit(&{upper}, {value}, memory_order_{native});"),
                    &format!("let {register} = {word}({lower}, {value}, {native});"),
                );
            }
            5 => {
                let (success, success_word) = pick(random, &[RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST]);
                let (failure, failure_word) = pick(random, &[RELAXED, ACQUIRE, SEQ_CST]);
                let (method, word) =
                    pick(random, &[("compare_exchange", "cas"), ("compare_exchange_weak", "weak_cas")]);
                let function = if word == "cas" { "strong" } else { "weak" };
                self.say(
                    &format!("let _ = {upper}.{method}(0, {value}, {success}, {failure});"),
                    &format!(
                        "{{ unsigned e = 0; (void)atomic_compare_exchange_{function}_explicit(&{upper}, &e, {value}, \
                         memory_order_{success_word}, memory_order_{failure_word}); }}"
                    ),
                    &format!("let {register} = {word}({lower}, 0, {value}, {success_word}, {failure_word});"),
                );
            }
            6 => {
                let (rust, native) = pick(random, &[ACQUIRE, RELEASE, ACQ_REL, SEQ_CST]);
                let c = format!("atomic_thread_fence(memory_order_{native});");
                self.say(&format!("fence({rust});"), &c, &format!("fence({native});"));
            }
            7 => self.say(
                &format!("unsafe {{ D = {value} }};"),
                &format!("D = {value};"),
                &format!("store(d, {value}, plain);"),
            ),
            8 => self.say(
                "unsafe { (&raw const D).read() };",
                "(void)*(volatile unsigned *)&D;",
                &format!("let {register} = load(d, plain);"),
            ),
            9 => {
                let (rust, native) = pick(random, &[RELAXED, ACQUIRE, SEQ_CST]);
                self.say(
                    &format!("while {upper}.load({rust}) != {value} {{}}"),
                    &format!("while (atomic_load_explicit(&{upper}, memory_order_{native}) != {value}) {{}}"),
                    &format!("await load({lower}, {native}) == {value};"),
                );
            }
            _ => {
                let (rust, native) = pick(random, &[RELAXED, ACQUIRE]);
                self.say(
                    &format!("if {upper}.load({rust}) == {value} {{"),
                    &format!("if (atomic_load_explicit(&{upper}, memory_order_{native}) == {value}) {{"),
                    &format!("let {register} = load({lower}, {native}); if ({register} == {value}) {{"),
                );
                self.statement(random, depth + 1);
                self.say("}", "}", "}");
            }
        }
    }
}

/// Two functions.
fn pair(seed: u64) -> [Written; 2] {
    let mut random = Randomness::new(seed);
    std::array::from_fn(|_| {
        let mut written = Written::default();
        for _ in 0..2 + random.below(3) {
            written.statement(&mut random, 0);
        }
        written
    })
}

const HEADER: &str = "#![no_std]
#![allow(unused_must_use)]
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU32, fence};
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
static Z: AtomicU32 = AtomicU32::new(0);
static mut D: u32 = 0;
";

/// Builds the program of functions in `all.rs` without optimisation, as `build.sh` does the
/// committed images. Nothing stands for the library's panics: no role comes to one.
const BUILD: &str = "set -e
rustc --edition 2024 -C opt-level=0 -C panic=abort -C relocation-model=static -C jump-tables=no -C debuginfo=2 \\
  -C codegen-units=1 -C overflow-checks=off --emit obj --crate-type lib all.rs -o all.o
{ printf '.section .note.GNU-stack,\"\",@progbits\\n.text\\n'
  nm -u all.o | awk '{ n = $NF; printf \".globl %s\\n.type %s,@function\\n%s: ud2\\n.size %s, .-%s\\n\", n, n, n, n, n }'
} > panics.s
gcc -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-e,0 all.o panics.s -o all
";

/// Builds a program of functions, and leaves `build.sh` behind, which does it again.
pub(super) fn build(folder: &Path, text: &str) {
    std::fs::write(folder.join("all.rs"), text).expect("it is written");
    std::fs::write(folder.join("build.sh"), BUILD).expect("it is written");
    let output = Command::new("sh").arg("build.sh").current_dir(folder).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

const C_HEADER: &str = "#include <stdatomic.h>
static _Atomic unsigned X, Y, Z;
static unsigned D;
";

/// Builds the program of functions in `all.c` as the guide says.
pub(super) fn build_c(folder: &Path, compiler: &str, text: &str) {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/include/palisade_atomics.h");
    std::fs::write(folder.join("all.c"), text).expect("it is written");
    let build = format!(
        "set -e\n{compiler} -O0 -g -fno-pic -fno-stack-protector -include '{}' -c all.c -o all.o\n\
         gcc -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-e,0 all.o -o all\n",
        header.display()
    );
    std::fs::write(folder.join("build.sh"), build).expect("it is written");
    let output = Command::new("sh").arg("build.sh").current_dir(folder).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn lifted(folder: &Path, functions: [&str; 2], copies: &str) -> Program {
    let mut text = "image = \"all\"\norderings = true\n".to_owned();
    for function in functions {
        let _ = write!(text, "[[role]]\nfunction = {function:?}\ncopies = {copies}\n");
    }
    let path = folder.join("roles.toml");
    std::fs::write(&path, text).expect("it is written");
    let path = path.display().to_string();
    palisade::machine::read(&path).unwrap_or_else(|error| panic!("{functions:?}: {}", error.render(false)))
}

/// Whether something is awaited that nobody writes: in machine code that is a loop that only passes
/// time.
fn waits_in_vain(rust: &str) -> bool {
    let is_written = |place: &str| {
        ["store(", "swap(", "fetch_add(", "compare_exchange"]
            .iter()
            .any(|method| rust.contains(&format!("{place}.{method}")))
    };
    PLACES.iter().any(|(place, _)| rust.contains(&format!("while {place}.")) && !is_written(place))
}

fn verdict(program: &Program) -> StaleVerdict {
    check_language(program, Axioms::C11, &Limits::none()).expect("no value grows").verdict
}

#[needs::command("gcc --version")]
#[test]
fn rust_means_what_the_native_language_means() {
    let seeds = seeds(24, 2_000);
    let mut text = HEADER.to_owned();
    for seed in seeds.clone() {
        for (which, written) in ["a", "b"].into_iter().zip(pair(seed)) {
            let _ = write!(text, "#[unsafe(no_mangle)]\npub extern \"C\" fn {which}{seed}() {{\n{}}}\n", written.rust);
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path(), &text);
    compare(folder.path(), seeds);
}

fn c_means_what_the_native_language_means(compiler: &str, seeds: Range<u64>) {
    let mut text = C_HEADER.to_owned();
    for seed in seeds.clone() {
        for (which, written) in ["a", "b"].into_iter().zip(pair(seed)) {
            let _ = write!(text, "void {which}{seed}(void) {{\n{}}}\n", written.c);
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    build_c(folder.path(), compiler, &text);
    compare(folder.path(), seeds);
}

#[needs::command("gcc --version")]
#[test]
fn c_of_gcc_means_what_the_native_language_means() {
    c_means_what_the_native_language_means("gcc", seeds(60, 2_000));
}

#[needs::command("clang --version")]
#[test]
fn c_of_clang_means_what_the_native_language_means() {
    c_means_what_the_native_language_means("clang", seeds(60, 2_000));
}

/// Compares the machine code with the programs of the native language.
fn compare(folder: &Path, seeds: Range<u64>) {
    let (mut counts, mut missed, mut either) = ([0usize; 3], 0, 0);
    for seed in seeds {
        let [left, right] = pair(seed);
        if waits_in_vain(&format!("{}{}", left.rust, right.rust)) {
            continue;
        }
        for copies in ["1", "\"*\""] {
            let star = if copies == "1" { "" } else { " [*]" };
            let native = format!(
                "program pair\naddress x, y, z, d\nthread a{star} {{\n{}}}\nthread b{star} {{\n{}}}\n",
                left.native, right.native
            );
            // Any number of additions has no end.
            if copies != "1" && native.contains("fetch_add") {
                continue;
            }
            let written = read(SourceText::new("pair.pal", &*native), Format::Native);
            let written = written.unwrap_or_else(|errors| panic!("{errors:?}\n{native}")).program;
            let (code, text) = (lifted(folder, [&format!("a{seed}"), &format!("b{seed}")], copies), &native);
            let (found, expected) = (verdict(&code), verdict(&written));
            // Where words of the stack are copied together, a loop that waits is not found to do
            // so: its tries are loads.
            if (found, expected) == (StaleVerdict::NotRobust, StaleVerdict::Robust) && native.contains("await") {
                missed += 1;
                continue;
            }
            // What is racy and not robust besides may be told as either.
            let told = [StaleVerdict::NotRobust, StaleVerdict::Racy];
            if found != expected && told.contains(&found) && told.contains(&expected) {
                either += 1;
                continue;
            }
            assert_eq!(found, expected, "seed {seed}\n{text}\n{}\n{}", left.rust, right.rust);
            counts[match found {
                StaleVerdict::Robust => 0,
                StaleVerdict::NotRobust => 1,
                _ => 2,
            }] += 1;
        }
    }
    let asked = counts.iter().sum::<usize>();
    assert!(counts.iter().all(|count| count * 20 > asked), "robust, not robust, racy: {counts:?}");
    println!("robust, not robust, racy: {counts:?}; told as either: {either}; waiting is missed: {missed}");
    assert!(either * 20 < asked, "{either} of {asked} are told as either");
    assert!(missed * 20 < asked, "{missed} of {asked} wait, and are not found to");
}
