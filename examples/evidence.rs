//! Evidence: written by one program, checked by another one that need not trust it.
//!
//! `cargo run --example evidence`

use palisade::evidence::{Evidence, ProgramSubject};
use palisade::program::{Program, SourceText};
use palisade::robustness::{CheckOptions, certificate, check};
use palisade::syntax::{Format, read};
use palisade::verify::check_program_evidence;

/// A spinlock for any number of workers.
const TEXT: &str = "program Spinlock
address lock_word

thread worker [*] regs taken init acquire begin
  acquire: taken <- xchg(mem[lock_word], 1);
  acquired: assert taken = 0; goto release;
  acquired: assert taken != 0; goto acquire;
  release: mem[lock_word] <- 0; goto acquire;
end
";

fn program() -> Program {
    read(SourceText::new("spinlock.pal", TEXT), Format::Native).expect("the text is a program").program
}

fn main() {
    let written = {
        let program = program();
        let checked = check(&program, &CheckOptions::default()).expect("the program has a meaning");
        let certificate = certificate(&program, &checked).expect("it is robust");
        Evidence::Robust(ProgramSubject::of(&program, "native", &[]), certificate).to_text()
    };
    // Elsewhere, with nothing but the two texts:
    let evidence = Evidence::read(written.as_bytes()).expect("the text is evidence");
    check_program_evidence(&program(), &evidence).expect("it shows what it claims");
    println!("{} bytes of evidence, accepted: robust for any number of workers", written.len());
}
