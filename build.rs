//! How the command is linked.

use std::env::var;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Linked statically, all of this is so already.
    let shared = var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux")
        && var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu")
        && var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|features| !features.contains("crt-static"));
    if shared {
        // What is done at each start takes longer than many a small question. At a fixed address there is nothing to
        // relocate; with the unwinder in the command there is one library less to load.
        println!("cargo::rustc-link-arg-bins=-no-pie");
        if let Some(folder) = folder_of_unwinder() {
            println!("cargo::rustc-link-search=native={}", folder.display());
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
}

/// Where the linker's compiler has its unwinder for linking statically, if it has one for the machine at hand.
fn folder_of_unwinder() -> Option<PathBuf> {
    if var("TARGET") != var("HOST") {
        return None;
    }
    let linker = var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    let folder = Path::new(path.trim()).parent()?;
    (output.status.success() && folder.is_absolute()).then(|| folder.to_owned())
}
