//! Which fences make a program robust at the least cost, and what does its text look like then?
//!
//! `cargo run --example fences`

use palisade::fences::{FenceOptions, Repair, RepairOptions, Silent, WithinLimits, repair};
use palisade::program::SourceText;
use palisade::syntax::{Format, read};

/// Each thread raises its own flag and then looks at the other's: store buffering.
const TEXT: &str = "program Flags
address flag1, flag2

thread t1 regs r init announce begin
  announce: mem[flag1] <- 1;
  look: r <- mem[flag2];
end

thread t2 regs r init announce begin
  announce: mem[flag2] <- 1;
  look: r <- mem[flag1];
end
";

fn main() {
    let program = read(SourceText::new("flags.pal", TEXT), Format::Native).expect("the text is a program").program;
    let wanted = RepairOptions { language: &Format::Native, path: "flags.pal".to_owned(), redundant: false };
    let repaired =
        repair(&program, &FenceOptions::default(), &wanted, &Silent, &WithinLimits).expect("the program has a meaning");
    let Repair::Valid(placement) = &repaired.repair else { panic!("fences make every program robust") };
    assert!(placement.confirmed && placement.proof.is_some());
    println!("{} fences, cost {}, and nothing costs less", placement.measures.len(), placement.cost);
    println!("{}", repaired.repaired_text().expect("the text can be changed").diff);
}
