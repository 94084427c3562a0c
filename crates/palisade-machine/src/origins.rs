//! Where instructions come from: places in the sources that a person would look at, each with one
//! name.
//!
//! An instruction belongs to a chain of functions: those inlined around it, and where the calls
//! that were followed are, theirs. Its place is the innermost one outside of the language's
//! libraries. Where the compiler gives no line – it has merged what two lines have in common –, the
//! lines of the neighbours are named, and each such instruction is a place of its own.

use crate::image::{Frame, Lines, Memory};
use crate::lift::{Contexts, Place};
use palisade_model::text::{Obstacle, Origin, Position};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Reads sources by the paths that the compiler knew: where they are, and their texts.
pub(crate) type Open<'o> = dyn FnMut(&str) -> Option<(String, String)> + 'o;

/// An instruction's place, before it has a name.
#[derive(Clone, Debug)]
enum Found {
    /// A frame with a line.
    Line(Frame),
    /// A frame without a line, and the lines of the neighbours.
    Merged(Frame, Vec<u32>),
    /// There is no debug information.
    Nothing,
}

/// The origins of all places of the roles.
pub(crate) struct Origins {
    /// For each role, one for each place.
    of_roles: Vec<Vec<Arc<Origin>>>,
}

impl Origins {
    /// Looks up all places. Sources are opened for the texts of their lines.
    pub(crate) fn of<'a>(
        roles: impl Iterator<Item = (&'a [(Place, String)], &'a Contexts)>,
        lines: &Lines<'_>,
        memory: &Memory,
        open: &mut Open<'_>,
    ) -> Self {
        let mut known = HashMap::new();
        let found: Vec<Vec<(u64, Found)>> =
            roles.map(|(places, contexts)| of_role(places, contexts, lines, &mut known)).collect();
        let names = ShortNames::of(found.iter().flatten().filter_map(|(_, found)| found.frame()));
        let mut sources = Sources { read: BTreeMap::new(), open };
        let mut made: HashMap<String, Arc<Origin>> = HashMap::new();
        let mut origin = |(address, found): &(u64, Found)| {
            let place = place(*address, found, &names, memory);
            let make = || {
                let line = found.frame().and_then(|frame| sources.line(&frame.file, frame.line));
                let (at_hand, text) = line.unzip();
                Arc::new(Origin {
                    place: place.clone(),
                    position: match found {
                        Found::Line(frame) => Some((frame.file.clone(), position(frame))),
                        _ => None,
                    },
                    at_hand,
                    text,
                    obstacle: None,
                })
            };
            made.entry(place.clone()).or_insert_with(make).clone()
        };
        Self { of_roles: found.iter().map(|role| role.iter().map(&mut origin).collect()).collect() }
    }

    /// Says that the code of a place of a role is not understood.
    pub(crate) fn obstruct(&mut self, role: usize, place: usize, obstacle: Obstacle) {
        let origin = &mut self.of_roles[role][place];
        *origin = Arc::new(Origin { obstacle: Some(obstacle), ..Origin::clone(origin) });
    }

    /// The origin of each place of a role.
    pub(crate) fn of_role(&self, role: usize) -> &[Arc<Origin>] {
        &self.of_roles[role]
    }
}

impl Found {
    fn frame(&self) -> Option<&Frame> {
        match self {
            Self::Line(frame) | Self::Merged(frame, _) => Some(frame),
            Self::Nothing => None,
        }
    }
}

fn position(frame: &Frame) -> Position {
    let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    Position { line: number(frame.line), column: number(frame.column) }
}

/// What a place is called in the listing.
fn place(address: u64, found: &Found, names: &ShortNames, memory: &Memory) -> String {
    match found {
        Found::Line(frame) if frame.column > 0 => {
            format!("{}:{}:{}", names.of_file(&frame.file), frame.line, frame.column)
        }
        Found::Line(frame) => format!("{}:{}", names.of_file(&frame.file), frame.line),
        Found::Merged(frame, lines) => {
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            let lines = if lines.is_empty() { "?".to_owned() } else { lines.join("/") };
            format!("{}:{lines}@{address:x}", names.of_file(&frame.file))
        }
        Found::Nothing => match memory.image.symbol_at(address, true) {
            Some((symbol, offset)) => format!("{}+{offset:#x}", symbol.name.replace(char::is_whitespace, "")),
            None => format!("{address:#x}"),
        },
    }
}

/// The place without its column, which is how people name it.
pub(crate) fn short(place: &str) -> String {
    let without_address = place.split_once('@').map_or(place, |(before, _)| before);
    let mut parts = without_address.rsplitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(column), Some(line), Some(file)) if is_number(column) && is_number(line) => format!("{file}:{line}"),
        _ => without_address.to_owned(),
    }
}

/// Whether a place, or a load or store there, is meant by what a person writes: answers name it
/// without its column, and number its instructions, as in `ring.rs:32#2`.
pub(crate) fn is_meant(place: &str, meant: &str) -> bool {
    let line = meant.rsplit_once('#').filter(|(_, number)| is_number(number)).map_or(meant, |(line, _)| line);
    place == meant || short(place) == line
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The places of a role, in their order.
fn of_role(
    places: &[(Place, String)],
    contexts: &Contexts,
    lines: &Lines<'_>,
    known: &mut HashMap<u64, Vec<Frame>>,
) -> Vec<(u64, Found)> {
    let mut frame_of = |place: &Place| {
        let calls =
            contexts.chain(place.context).filter(|context| context.parent.is_some()).map(|context| context.call);
        let mut first = None;
        for address in std::iter::once(place.address).chain(calls) {
            for frame in known.entry(address).or_insert_with(|| lines.frames(address)).iter() {
                if !frame.is_of_the_language() {
                    return Some(frame.clone());
                }
                first = first.or_else(|| Some(frame.clone()));
            }
        }
        first
    };
    let frames: Vec<Option<Frame>> = places.iter().map(|(place, _)| frame_of(place)).collect();
    let neighbour = |index: usize, file: &str, before: bool| {
        let with_line = |frame: &&Frame| frame.line > 0 && frame.file == file;
        let near = |other: usize| frames[other].as_ref().filter(with_line).map(|frame| frame.line);
        if before { (0..index).rev().find_map(near) } else { (index + 1..frames.len()).find_map(near) }
    };
    let found = |(index, frame): (usize, &Option<Frame>)| match frame {
        None => Found::Nothing,
        Some(frame) if frame.line > 0 => Found::Line(frame.clone()),
        Some(frame) => {
            let near = [true, false].map(|before| neighbour(index, &frame.file, before));
            let mut near: Vec<u32> = near.into_iter().flatten().collect();
            near.sort_unstable();
            near.dedup();
            Found::Merged(frame.clone(), near)
        }
    };
    places.iter().map(|(place, _)| place.address).zip(frames.iter().enumerate().map(found)).collect()
}

/// Names of files: the last parts of their paths, as many as it takes to tell them apart.
struct ShortNames(BTreeMap<String, String>);

impl ShortNames {
    fn of<'f>(frames: impl Iterator<Item = &'f Frame>) -> Self {
        let files: std::collections::BTreeSet<&str> = frames.map(|frame| frame.file.as_str()).collect();
        let ending = |file: &str, parts: usize| -> String {
            let all: Vec<&str> = file.split('/').filter(|part| !part.is_empty()).collect();
            // A place is one word of the listing.
            all[all.len().saturating_sub(parts)..].join("/").replace(char::is_whitespace, "_")
        };
        let name = |file: &str| {
            let most = file.split('/').count();
            let is_own =
                |parts: &usize| files.iter().filter(|other| ending(other, *parts) == ending(file, *parts)).count() == 1;
            let parts = (1..=most).find(is_own).unwrap_or(most);
            ending(file, parts)
        };
        Self(files.iter().map(|file| ((*file).to_owned(), name(file))).collect())
    }

    fn of_file(&self, file: &str) -> &str {
        &self.0[file]
    }
}

/// Files of sources, as far as they are at hand.
struct Sources<'a, 'o> {
    read: BTreeMap<String, Option<(String, String)>>,
    open: &'a mut Open<'o>,
}

impl Sources<'_, '_> {
    /// Where the file is, and a line of it without the white space around it.
    fn line(&mut self, file: &str, line: u32) -> Option<(String, String)> {
        let open = &mut self.open;
        let (at_hand, text) = self.read.entry(file.to_owned()).or_insert_with(|| open(file)).as_ref()?;
        let line = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
        Some((at_hand.clone(), line.trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str) -> Frame {
        Frame { function: None, file: file.to_owned(), line: 1, column: 2 }
    }

    #[test]
    fn names_of_files_are_as_short_as_can_be() {
        let frames = ["/a/spin/src/mod.rs", "/a/lock/src/mod.rs", "/a/lock/src/lib.rs"].map(frame);
        let names = ShortNames::of(frames.iter());
        assert_eq!(names.of_file("/a/spin/src/mod.rs"), "spin/src/mod.rs");
        assert_eq!(names.of_file("/a/lock/src/lib.rs"), "lib.rs");
    }

    #[test]
    fn people_name_places_without_columns() {
        assert_eq!(short("wake.c:26:5"), "wake.c:26");
        assert_eq!(short("wake.c:26"), "wake.c:26");
        assert_eq!(short("wake.c:11/13@401136"), "wake.c:11/13");
        assert_eq!(short("worker+0x10"), "worker+0x10");
        let means = |meant: &str| is_meant("wake.c:26:5", meant);
        assert!(means("wake.c:26") && means("wake.c:26:5") && means("wake.c:26#2"));
        assert!(!means("wake.c:2") && !means("wake.c:26#") && !means("wake.c:26#x") && !means("#2"));
    }
}
