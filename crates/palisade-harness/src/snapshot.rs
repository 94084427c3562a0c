//! Writing what is in memory, for Palisade to read.
//!
//! The text holds the words of all writable memory that are not 0, the main thread's stack left
//! out, and those of the program's read-only pages that the loader has changed. So it may hold
//! whatever the test has read: keep it where the test's other outputs are.

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
    let own = std::env::current_exe()?;
    let mut file = File::open(&own)?;
    let own = own.to_string_lossy();
    for (stretch, offset) in maps.lines().filter_map(|line| read_only(line, &own)) {
        write_changed(&mut out, &mut memory, &mut file, &stretch, offset)?;
    }
    out.flush()
}

/// How far the program's file was moved when it was loaded: 0 for one that is linked to its
/// addresses.
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

/// A line of `/proc/self/maps`: the stretch, its permissions, its place in its file, and the file's
/// name.
fn mapping(line: &str) -> Option<(Stretch, &str, u64, &str)> {
    let mut words = line.splitn(6, ' ');
    let (range, permissions, offset) = (words.next()?, words.next()?, words.next()?);
    let name = words.nth(2).unwrap_or("").trim_start();
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = range.split_once('-')?;
    Some((Stretch { start: number(start)?, end: number(end)? }, permissions, number(offset)?, name))
}

/// The stretch of a line, if it is writable memory that roles may share.
fn writable(line: &str) -> Option<Stretch> {
    let (stretch, permissions, _, name) = mapping(line)?;
    let is_wanted = permissions.starts_with("rw") && !matches!(name, "[stack]" | "[vvar]" | "[vdso]");
    (is_wanted && stretch.end - stretch.start <= LARGEST).then_some(stretch)
}

/// The stretch of a line, with its place in the file, if it is data of the program's that nobody
/// writes any more.
fn read_only(line: &str, program: &str) -> Option<(Stretch, u64)> {
    let (stretch, permissions, offset, name) = mapping(line)?;
    (permissions.starts_with("r--") && name == program).then_some((stretch, offset))
}

/// The bytes of a page.
const PAGE: usize = 4096;

/// Writes the pages of a stretch that are not what the file has: the loader has put addresses
/// there.
fn write_changed(
    out: &mut impl Write,
    memory: &mut File,
    file: &mut File,
    stretch: &Stretch,
    offset: u64,
) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    let length = usize::try_from(stretch.end - stretch.start).map_err(io::Error::other)?;
    let (mut pages, mut written) = (vec![0; length], Vec::new());
    memory.seek(SeekFrom::Start(stretch.start))?;
    memory.read_exact(&mut pages)?;
    file.take(stretch.end - stretch.start).read_to_end(&mut written)?;
    written.resize(length, 0);
    let starts = (stretch.start..stretch.end).step_by(PAGE);
    for ((start, page), original) in starts.zip(pages.chunks(PAGE)).zip(written.chunks(PAGE)) {
        if page != original {
            write_stretch(out, memory, &Stretch { start, end: start + page.len() as u64 })?;
        }
    }
    Ok(())
}

/// Writes the words of a stretch that are not 0, page by page.
fn write_stretch(out: &mut impl Write, memory: &mut File, stretch: &Stretch) -> io::Result<()> {
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
