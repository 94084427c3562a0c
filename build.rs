//! How the command is linked.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // At a fixed address there is nothing to relocate at each start, which takes longer than many a small question.
    let fixed = var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux")
        && var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu")
        && var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|features| !features.contains("crt-static"));
    if fixed {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
