//! Writing what is in memory, for Palisade to read.
//!
//! The text holds the words of all writable memory that are not 0, the main thread's stack left out. So it may hold whatever the test has
//! read: keep it where the test's other outputs are.

use super::SharedObject;
use super::role::Described;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A stretch of memory.
struct Stretch {
    start: u64,
    end: u64,
}

/// Larger stretches are not written: nothing that a test shares is as large.
const LARGEST: u64 = 64 << 20;

/// Writes the snapshot.
pub(crate) fn write(path: &Path, roles: &[Described], objects: &[SharedObject], remarks: &str) -> io::Result<()> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let mut heading = String::from("palisade-snapshot 1\n");
    let _ = writeln!(heading, "base {:x}", base(&maps)?);
    for role in roles {
        let mode = if role.repeats { "repeat" } else { "once" };
        let _ = write!(heading, "role {} {:x} {} {mode}", role.name, role.function, role.copies);
        for word in &role.arguments {
            let _ = write!(heading, " {word:x}");
        }
        heading.push('\n');
    }
    for object in objects {
        let _ = writeln!(heading, "object {} {:x} {:x}", object.name, object.address, object.size);
    }
    heading.push_str(remarks);
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(heading.as_bytes())?;
    let mut memory = File::open("/proc/self/mem")?;
    for stretch in maps.lines().filter_map(writable) {
        write_stretch(&mut out, &mut memory, &stretch)?;
    }
    out.flush()
}

/// How far the program's file was moved when it was loaded: 0 for one that is linked to its addresses.
fn base(maps: &str) -> io::Result<u64> {
    /// The type of a file that can be moved, at its place in the header.
    const MOVABLE: (u64, u8) = (16, 3);
    let own = std::env::current_exe()?;
    let mut file = File::open(&own)?;
    file.seek(SeekFrom::Start(MOVABLE.0))?;
    let mut kind = [0];
    file.read_exact(&mut kind)?;
    if kind[0] != MOVABLE.1 {
        return Ok(0);
    }
    let own = own.to_string_lossy().into_owned();
    let first = maps.lines().find(|line| line.ends_with(&own)).and_then(|line| line.split('-').next());
    first
        .and_then(|start| u64::from_str_radix(start, 16).ok())
        .ok_or_else(|| io::Error::other("the program is not among the files in memory"))
}

/// The stretch of a line of `/proc/self/maps`, if it is writable memory that roles may share.
fn writable(line: &str) -> Option<Stretch> {
    let mut words = line.split_ascii_whitespace();
    let (range, permissions) = (words.next()?, words.next()?);
    let name = words.nth(3).unwrap_or("");
    let (start, end) = range.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let is_wanted = permissions.starts_with("rw") && !matches!(name, "[stack]" | "[vvar]" | "[vdso]");
    (is_wanted && end - start <= LARGEST).then_some(Stretch { start, end })
}

/// Writes the words of a stretch that are not 0, page by page.
fn write_stretch(out: &mut impl Write, memory: &mut File, stretch: &Stretch) -> io::Result<()> {
    const PAGE: usize = 4096;
    writeln!(out, "memory {:x} {:x}", stretch.start, stretch.end - stretch.start)?;
    let mut page = [0; PAGE];
    let mut at = stretch.start;
    while at < stretch.end {
        memory.seek(SeekFrom::Start(at))?;
        if memory.read_exact(&mut page).is_err() {
            break;
        }
        for (index, word) in (0u64..).zip(page.chunks_exact(8)) {
            let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
            if word != 0 {
                writeln!(out, "{:x} {word:x}", at - stretch.start + 8 * index)?;
            }
        }
        at += PAGE as u64;
    }
    Ok(())
}
