//! How the command is linked: what is done at each start takes longer than many a small question.
//!
//! On Linux with glibc the command is linked at a fixed address, where there is nothing to
//! relocate, and statically where the linker's compiler has the archives for it, so that no library
//! is loaded. Cargo has no setting that does this for one's own command and only where it is
//! possible, so the linker finds the archives under the shared libraries' names.

use std::env::var;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library that Rust asks the linker for, with the archives that stand for it.
type Library = (&'static str, &'static [&'static str]);

/// What unwinds the stack.
const UNWINDER: Library = ("gcc_s", &["libgcc_eh.a"]);

/// All the libraries of a command that is linked statically.
const ALL: [Library; 7] = [
    UNWINDER,
    ("c", &["libc.a", "libgcc_eh.a", "libgcc.a"]),
    ("dl", &["libdl.a"]),
    ("m", &["libm.a"]),
    ("pthread", &["libpthread.a"]),
    ("rt", &["librt.a"]),
    ("util", &["libutil.a"]),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|own| own == value);
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let asked = var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|features| features.contains("crt-static"));
    if !glibc || asked {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // The compiler knows the archives of its own machine only.
    if var("TARGET") == var("HOST") {
        if stand_in("all", &ALL).is_some() {
            println!("cargo::rustc-link-arg-bins=-static");
        } else {
            stand_in("unwinder", &[UNWINDER]);
        }
    }
}

/// Makes the linker read archives in place of shared libraries, if all of them are there.
fn stand_in(name: &str, libraries: &[Library]) -> Option<()> {
    let scripts: Option<Vec<String>> = libraries.iter().map(|(_, archives)| script(archives)).collect();
    let folder = Path::new(&var("OUT_DIR").ok()?).join(name);
    std::fs::create_dir_all(&folder).ok()?;
    for ((library, _), script) in libraries.iter().zip(scripts?) {
        std::fs::write(folder.join(format!("lib{library}.so")), script).ok()?;
    }
    println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
    Some(())
}

/// A script for the linker that names archives.
fn script(archives: &[&str]) -> Option<String> {
    let paths: Option<Vec<String>> =
        archives.iter().map(|name| archive(name).map(|path| format!("\"{}\"", path.display()))).collect();
    Some(format!("GROUP({})\n", paths?.join(" ")))
}

/// Where the linker's compiler has an archive.
fn archive(name: &str) -> Option<PathBuf> {
    let linker = var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(linker).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (output.status.success() && path.is_absolute()).then_some(path)
}
