//! From lifted threads to a program whose texts are those that people know: source positions, names
//! of objects.
//!
//! The program's text is a listing: what was read, by digest, and every instruction of every role
//! with its position. Spans are about its lines. Evidence about the program holds the digest of the
//! listing, and so those of image, snapshot and roles.

use crate::image::Memory;
use crate::lift::{Lifted, LiftedRole, RoleCode};
use crate::listing::{self, Listing};
use crate::orderings::Orderings;
use crate::origins::{Origins, short};
use palisade_model::program::{AddressName, Copies, Posts, Program, Span, Thread};
use std::collections::{BTreeMap, HashMap};

/// What the listing says first.
pub(crate) struct Origin<'a> {
    /// The path of the file of roles.
    pub(crate) path: &'a str,
    /// Lines about what was read.
    pub(crate) heading: String,
}

/// Makes the program.
pub(crate) fn program(
    origin: &Origin<'_>,
    roles: &[RoleCode],
    lifted: Lifted,
    memory: &Memory,
    origins: &Origins,
    orderings: Option<&Orderings>,
) -> Program {
    let mut listing = Listing::new(origin.heading.clone());
    let mut threads = Vec::new();
    for (number, (role, lifted)) in roles.iter().zip(lifted.roles).enumerate() {
        let LiftedRole { mut thread, places, contexts, folded, may_stop, .. } = lifted;
        thread.copies = role.copies.map_or(Copies::Any, Copies::Exactly);
        thread.is_daemon = role.is_daemon;
        let heading = listing::heading(role, may_stop, folded);
        let spans = listing
            .role(&heading, &places, origins.of_role(number), &contexts, &|place| orderings?.word(number, place));
        let names: Vec<String> = origins.of_role(number).iter().map(|origin| short(&origin.place)).collect();
        rename(&mut thread, &spans, &names);
        threads.push(thread);
    }
    let name = origin.path.rsplit('/').next().unwrap_or(origin.path);
    let name = name.strip_suffix(".toml").unwrap_or(name).to_owned();
    Program {
        name,
        domain: None,
        addresses: addresses(&lifted.cells, memory),
        initial_memory: lifted
            .cells
            .iter()
            .filter(|(_, _, value)| *value != 0)
            .map(|(address, _, value)| (address.cast_signed(), *value))
            .collect(),
        threads,
        posts: Posts::default(),
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        source: listing.finish(origin.path),
    }
}

/// Names for the cells, in their order.
pub(crate) fn names(cells: &[(u64, u8, i64)], memory: &Memory) -> Vec<String> {
    places(cells, |address| memory.name(address))
}

/// Names for the cells after the places in which they lie.
pub(crate) fn places(cells: &[(u64, u8, i64)], place: impl Fn(u64) -> Option<(String, u64)>) -> Vec<String> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let name = |(address, _, _): &(u64, u8, i64)| {
        // Where a process has its objects differs from run to run: names do not tell.
        let name = match place(*address) {
            Some((name, 0)) => name,
            Some((name, offset)) => format!("{name}+{offset:#x}"),
            None => "cell".to_owned(),
        };
        let count = taken.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format!("{name}#{count}") }
    };
    cells.iter().map(name).collect()
}

fn addresses(cells: &[(u64, u8, i64)], memory: &Memory) -> Vec<AddressName> {
    let name = |((address, _, _), name): (&(u64, u8, i64), String)| AddressName {
        name,
        address: address.cast_signed(),
        length: 1,
        span: Span::default(),
    };
    cells.iter().zip(names(cells, memory)).map(name).collect()
}

/// Gives labels the positions of their instructions as names, and spans the lines of the listing.
/// `spans` begins with the role's own.
fn rename(thread: &mut Thread, spans: &[Span], names: &[String]) {
    let line = |span: Span| spans.get(span.start + 1).copied().unwrap_or(spans[0]);
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for instruction in &thread.instructions {
        first.entry(instruction.source.index()).or_insert(instruction.span.start);
    }
    let mut taken: HashMap<String, usize> = HashMap::new();
    for (index, label) in thread.labels.iter_mut().enumerate() {
        let Some(place) = first.get(&index) else { continue };
        let name = &names[*place];
        let count = taken.entry(name.clone()).or_insert(0);
        *count += 1;
        label.name = if *count == 1 { name.clone().into() } else { format!("{name}#{count}").into() };
        label.span = line(Span { start: *place, end: *place + 1 });
    }
    for instruction in &mut thread.instructions {
        instruction.span = line(instruction.span);
    }
    thread.span = spans[0];
    for register in &mut thread.registers {
        register.span = spans[0];
    }
}
