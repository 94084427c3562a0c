//! The snapshot: what a harness wrote of its memory once its objects were built.
//!
//! A text of lines: `palisade-snapshot 1`, `base HEX`, `role NAME FUNCTION COPIES MODE ARGUMENT…`,
//! `object NAME ADDRESS SIZE`, `thread ROLE COPY BASE`, `narrow BITS CELL…`, `accept STORE LOAD`,
//! `hint PLACE`, `heap BLOCKS`, `stacks`, `daemon ROLE`, `idle PLACE`, `memory START LENGTH`
//! followed by `OFFSET WORD…` lines of 8-byte words in hexadecimal; words that are not listed are
//! 0.

use std::collections::BTreeMap;

/// A role as the harness states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotRole {
    /// Its name.
    pub(crate) name: String,
    /// The address of its function.
    pub(crate) function: u64,
    /// How many copies there are; nothing for any number.
    pub(crate) copies: Option<u64>,
    /// Whether a copy begins again when it returns.
    pub(crate) repeats: bool,
    /// The words that it is called with.
    pub(crate) arguments: Vec<u64>,
}

/// A thread that a copy of a role has its data from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotThread {
    /// The role.
    pub(crate) role: String,
    /// Which copy of it.
    pub(crate) copy: u64,
    /// Where its data is counted from: the base of `%fs`.
    pub(crate) base: u64,
}

/// A named object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedObject {
    /// Its name.
    pub(crate) name: String,
    /// Its address.
    pub(crate) address: u64,
    /// Its bytes.
    pub(crate) size: u64,
}

/// Why a text is no snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotError {
    /// The line, from 1.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) message: String,
}

/// Memory and roles of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// What was added to the addresses of the file when it was loaded.
    pub(crate) base: u64,
    /// The roles.
    pub(crate) roles: Vec<SnapshotRole>,
    /// The threads of copies.
    pub(crate) threads: Vec<SnapshotThread>,
    /// The shared objects.
    pub(crate) objects: Vec<SharedObject>,
    /// Names of cells, and in how many bits they are to be computed.
    pub(crate) narrow: Vec<(Vec<String>, u8)>,
    /// Delays that are accepted: the place of the store, and that of the load.
    pub(crate) accept: Vec<[String; 2]>,
    /// Places of loads that may find any value.
    pub(crate) hints: Vec<String>,
    /// The roles of which copies may wait for ever.
    pub(crate) daemons: Vec<String>,
    /// The places at which anybody may.
    pub(crate) idle: Vec<String>,
    /// How many blocks of each size a copy of a role may take from the heap; nothing where that is
    /// not to be followed.
    pub(crate) heap: Option<u8>,
    /// Whether copies may access what lies on the stacks of others.
    pub(crate) stacks: bool,
    /// The stretches that were written, start to length.
    stretches: BTreeMap<u64, u64>,
    /// The words that are not 0, by address.
    words: BTreeMap<u64, u64>,
}

impl Snapshot {
    /// Reads a snapshot.
    pub(crate) fn read(text: &str) -> Result<Self, SnapshotError> {
        let mut snapshot = Self::default();
        let mut stretch = None;
        for (index, line) in text.lines().enumerate() {
            let failed = |message: String| SnapshotError { line: index + 1, message };
            snapshot.line(index, line, &mut stretch).map_err(failed)?;
        }
        if text.lines().next().is_none() {
            return Err(SnapshotError { line: 1, message: "the snapshot is empty".to_owned() });
        }
        Ok(snapshot)
    }

    fn line(&mut self, index: usize, line: &str, stretch: &mut Option<(u64, u64)>) -> Result<(), String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match (index, words.as_slice()) {
            (0, ["palisade-snapshot", "1"]) => {}
            (0, _) => return Err("a snapshot begins with `palisade-snapshot 1`".to_owned()),
            (_, [] | ["#", ..]) => {}
            (_, ["base", base]) => self.base = hexadecimal(base)?,
            (_, ["object", name, address, size]) => {
                let (address, size) = (hexadecimal(address)?, hexadecimal(size)?);
                self.objects.push(SharedObject { name: (*name).to_owned(), address, size });
            }
            (_, ["thread", role, copy, base]) => {
                let copy = copy.parse().map_err(|_| format!("`{copy}` is no number of a copy"))?;
                self.threads.push(SnapshotThread { role: (*role).to_owned(), copy, base: hexadecimal(base)? });
            }
            (_, ["narrow", bits, cells @ ..]) => {
                let bits = bits.parse().map_err(|_| format!("`{bits}` is no number of bits"))?;
                self.narrow.push((cells.iter().map(|cell| (*cell).to_owned()).collect(), bits));
            }
            (_, ["heap", blocks]) => {
                self.heap = Some(blocks.parse().map_err(|_| format!("`{blocks}` is no number of blocks"))?);
            }
            (_, ["stacks"]) => self.stacks = true,
            (_, ["accept", store, load]) => self.accept.push([*store, *load].map(str::to_owned)),
            (_, ["hint", place]) => self.hints.push((*place).to_owned()),
            (_, ["daemon", role]) => self.daemons.push((*role).to_owned()),
            (_, ["idle", place]) => self.idle.push((*place).to_owned()),
            (_, ["role", name, function, copies, mode, arguments @ ..]) => {
                let copies = if *copies == "*" { None } else { Some(copies.parse().map_err(|_| number(copies))?) };
                let repeats = match *mode {
                    "once" => false,
                    "repeat" => true,
                    other => return Err(format!("`{other}` is neither `once` nor `repeat`")),
                };
                let arguments = arguments.iter().map(|word| hexadecimal(word)).collect::<Result<Vec<_>, _>>()?;
                let function = hexadecimal(function)?;
                self.roles.push(SnapshotRole { name: (*name).to_owned(), function, copies, repeats, arguments });
            }
            (_, ["memory", start, length]) => {
                let (start, length) = (hexadecimal(start)?, hexadecimal(length)?);
                if start % 8 != 0 || start.checked_add(length).is_none() {
                    return Err("a stretch of memory begins at a multiple of 8".to_owned());
                }
                self.stretches.insert(start, length);
                *stretch = Some((start, length));
            }
            (
                _,
                [
                    word @ ("base" | "object" | "narrow" | "accept" | "hint" | "daemon" | "idle" | "heap" | "stacks"
                    | "role" | "thread" | "memory"),
                    ..,
                ],
            ) => {
                return Err(format!("`{word}` is followed by too few words, or too many"));
            }
            (_, [offset, values @ ..]) => {
                let Some((start, length)) = *stretch else { return Err("no stretch of memory is open".to_owned()) };
                let offset = hexadecimal(offset)?;
                for (position, value) in (0u64..).zip(values) {
                    let at = offset.checked_add(8 * position).filter(|at| at % 8 == 0 && *at < length);
                    let at = at.ok_or("the word lies outside of its stretch")?;
                    self.words.insert(start + at, hexadecimal(value)?);
                }
            }
        }
        Ok(())
    }

    /// Whether an address was written.
    pub(crate) fn has(&self, address: u64) -> bool {
        let before = self.stretches.range(..=address).next_back();
        before.is_some_and(|(start, length)| address - start < *length)
    }

    /// The number in so many bytes, where all of them were written.
    pub(crate) fn number(&self, address: u64, bytes: u8) -> Option<u64> {
        (0..u64::from(bytes)).rev().try_fold(0u64, |sum, index| {
            let at = address.checked_add(index)?;
            let word = self.words.get(&(at & !7)).copied().unwrap_or(0);
            self.has(at).then_some(sum << 8 | (word >> (8 * (at & 7)) & 0xff))
        })
    }
}

fn hexadecimal(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).map_err(|_| format!("`{text}` is no hexadecimal number"))
}

fn number(text: &str) -> String {
    format!("`{text}` is no number of copies")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_bytes() {
        let text = "palisade-snapshot 1\nbase 0\nrole push 401000 * once 7f00\nobject q 7f00 10\nmemory 7f00 20\n8 1122334455667788 1\n";
        let snapshot = Snapshot::read(text).expect("a snapshot");
        assert_eq!(snapshot.number(0x7f08, 4), Some(0x5566_7788));
        assert_eq!(snapshot.number(0x7f0c, 8), Some(0x1_1122_3344));
        assert_eq!(snapshot.number(0x7f1c, 8), None);
        assert_eq!(snapshot.roles[0].arguments, [0x7f00]);
        let error = Snapshot::read("palisade-snapshot 1\nmemory 8 8\n8 1\n").unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (3, "the word lies outside of its stretch"));
    }

    #[test]
    fn damaged_lines_are_named() {
        let error = |lines: &str| Snapshot::read(&format!("palisade-snapshot 1\n{lines}")).expect_err("it is damaged");
        let named = error("object AtomicBool; 2] 33f76f90 2");
        assert_eq!((named.line, named.message.as_str()), (2, "`object` is followed by too few words, or too many"));
        assert_eq!(error("memory 1000").message, "`memory` is followed by too few words, or too many");
        assert_eq!(error("8 1").message, "no stretch of memory is open");
        assert!(Snapshot::read("palisade-snapshot 1\nobject AtomicBool 33f76f90 2\nmemory 1000 10\n8 1\n").is_ok());
    }
}
