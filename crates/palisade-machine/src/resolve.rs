//! From the file of roles to functions and arguments of the image.

use crate::image::{Heap, HeapRole, Memory, SnapshotThread, Stacks};
use crate::lift::{MOST_BITS, Narrowing, RoleCode};
use crate::program;
use crate::roles::{RolesFile, WrittenArgument, WrittenCopies, WrittenRole, span};
use palisade_model::text::{Diagnostic, Span};
use palisade_syntax::did_you_mean_or_list;
use std::collections::BTreeMap;
use toml::Spanned;

/// The roles, those of the snapshot where the file has none.
pub(crate) fn roles(file: &RolesFile, memory: &Memory) -> Result<Vec<RoleCode>, Diagnostic> {
    let mut roles = Vec::new();
    if file.role.is_empty() {
        for role in &memory.snapshot.roles {
            let whole = RoleCode {
                name: role.name.clone(),
                function: role.function,
                arguments: role.arguments.iter().map(|word| word.cast_signed()).collect(),
                copies: role.copies,
                repeats: role.repeats,
                is_daemon: memory.snapshot.daemons.contains(&role.name),
                thread_pointer: None,
                stack: None,
            };
            roles.extend(of_threads(whole, memory));
        }
    }
    for role in &file.role {
        roles.push(written(role, memory)?);
    }
    if roles.is_empty() {
        let help = match file.snapshot {
            Some(_) => "the harness has no `.role(…)` before `.check()`",
            None => "add `[[role]]` with `function = \"name\"`",
        };
        return Err(Diagnostic::error("there are no roles", span(&file.image)).with_help(help));
    }
    for (index, role) in roles.iter().enumerate() {
        if roles[..index].iter().any(|other| other.name == role.name) {
            let span = file.role.get(index).map_or(Span::default(), span);
            return Err(Diagnostic::error(format!("there are two roles `{}`", role.name), span)
                .with_help("give one of them another `name`"));
        }
    }
    Ok(roles)
}

/// The most roles of one copy each.
const MOST_APART: usize = 7;

/// Makes each copy of a fixed number of them a role of its own. `what` they have apart, in case
/// they are too many.
fn apart(roles: &mut Vec<RoleCode>, what: &str, place: Span) -> Result<(), Diagnostic> {
    let apart = |role: &RoleCode| match role.copies {
        Some(count @ 2..) => (0..count.min(MOST_APART as u64 + 1))
            .map(|copy| RoleCode { name: format!("{}{copy}", role.name), copies: Some(1), ..role.clone() })
            .collect(),
        _ => vec![role.clone()],
    };
    *roles = roles.iter().flat_map(apart).collect();
    if roles.len() > MOST_APART {
        let message = format!("{what} for at most {MOST_APART} copies");
        return Err(Diagnostic::error(message, place).with_help("ask about fewer copies"));
    }
    Ok(())
}

/// The stacks of the roles, if others may access them, each copy of a fixed number of them a role
/// of its own.
pub(crate) fn stacks(
    file: &RolesFile,
    memory: &Memory,
    roles: &mut Vec<RoleCode>,
) -> Result<Option<Stacks>, Diagnostic> {
    if !file.stacks && !memory.snapshot.stacks {
        return Ok(None);
    }
    apart(roles, "stacks are shared", Span::default())?;
    for (index, role) in roles.iter_mut().enumerate().filter(|(_, role)| role.copies == Some(1)) {
        role.stack = Some(Stacks::top(index));
    }
    Ok(Some(Stacks { roles: roles.iter().map(|role| role.stack.map(|_| role.name.clone())).collect() }))
}

/// How the roles use the heap, each copy of a fixed number of them a role of its own: it has blocks
/// at addresses of its own. Nothing where that is not to be followed.
pub(crate) fn heap(file: &RolesFile, memory: &Memory, roles: &mut Vec<RoleCode>) -> Result<Option<Heap>, Diagnostic> {
    let place = file.heap.as_ref().map_or(Span::default(), span);
    let Some(blocks) = file.heap.as_ref().map(|heap| *heap.get_ref()).or(memory.snapshot.heap) else { return Ok(None) };
    if !(1..=Heap::MOST_BLOCKS).contains(&blocks) {
        return Err(Diagnostic::error(format!("{blocks} blocks of each size are too few or too many"), place)
            .with_help(format!("say 1 to {}", Heap::MOST_BLOCKS)));
    }
    apart(roles, "the heap is followed", place)?;
    let roles = roles.iter().map(|role| HeapRole { name: role.name.clone(), is_one: role.copies == Some(1) }).collect();
    Ok(Some(Heap { blocks, roles, sites: BTreeMap::new() }))
}

/// A role as one of one copy for each of its threads, since each has data at addresses of its own;
/// as it is where none is known.
fn of_threads(role: RoleCode, memory: &Memory) -> Vec<RoleCode> {
    let threads: Vec<_> = memory.snapshot.threads.iter().filter(|thread| thread.role == role.name).collect();
    if threads.is_empty() {
        return vec![role];
    }
    let one = |thread: &&SnapshotThread| {
        let name = if threads.len() == 1 { role.name.clone() } else { format!("{}{}", role.name, thread.copy) };
        RoleCode { name, copies: Some(1), thread_pointer: Some(thread.base), ..role.clone() }
    };
    threads.iter().map(one).collect()
}

fn written(role: &Spanned<WrittenRole>, memory: &Memory) -> Result<RoleCode, Diagnostic> {
    let inner = role.get_ref();
    let function = function(&inner.function, memory)?;
    let copies = match &inner.copies {
        None => Some(1),
        Some(copies) => match copies.get_ref() {
            WrittenCopies::Count(count) => Some(*count),
            WrittenCopies::Other(_) => {
                let message = "this is no number of copies";
                return Err(Diagnostic::error(message, span(copies)).with_help("say a number, or \"*\" for any"));
            }
            WrittenCopies::Word(word) if word == "*" => None,
            WrittenCopies::Word(word) => {
                let message = format!("`{word}` is no number of copies");
                return Err(Diagnostic::error(message, span(copies)).with_help("say a number, or \"*\" for any"));
            }
        },
    };
    if inner.args.len() > 6 {
        return Err(Diagnostic::error("a role has at most 6 arguments", span(role)));
    }
    let arguments = inner.args.iter().map(|argument| value(argument, memory)).collect::<Result<Vec<_>, _>>()?;
    let name = inner.name.clone().unwrap_or_else(|| inner.function.get_ref().clone());
    let (repeats, is_daemon) = (inner.repeat, inner.daemon);
    Ok(RoleCode { name, function, arguments, copies, repeats, is_daemon, thread_pointer: None, stack: None })
}

fn function(name: &Spanned<String>, memory: &Memory) -> Result<u64, Diagnostic> {
    let text = name.get_ref();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16)
            .map_err(|_| Diagnostic::error(format!("`{text}` is no address"), span(name)));
    }
    let mut found: Vec<u64> =
        memory.image.named(text).into_iter().filter(|symbol| symbol.is_function).map(|symbol| symbol.address).collect();
    found.dedup();
    match found.as_slice() {
        [address] => Ok(*address),
        [] => {
            let names = memory.image.symbols().iter().filter(|symbol| symbol.is_function);
            let help = did_you_mean_or_list(text, "function", names.map(|symbol| symbol.name.as_str()).take(2000));
            Err(Diagnostic::error(format!("the image has no function `{text}`"), span(name)).with_help_if(help))
        }
        _ => Err(Diagnostic::error(format!("the image has several functions `{text}`"), span(name))
            .with_help("name one by its address: `function = \"0x401120\"`")),
    }
}

fn value(argument: &Spanned<WrittenArgument>, memory: &Memory) -> Result<i64, Diagnostic> {
    let failed = |message: String| Diagnostic::error(message, span(argument));
    let text = match argument.get_ref() {
        WrittenArgument::Number(number) => return Ok(*number),
        WrittenArgument::Address(text) => text,
    };
    let help = "an argument is a number, or the address of an object: \"&name\", \"&name+16\"";
    let place = text.strip_prefix('&').ok_or_else(|| failed(format!("`{text}` is no argument")).with_help(help))?;
    let (name, offset) = place.split_once('+').unwrap_or((place, "0"));
    let offset: i64 = offset.trim().parse().map_err(|_| failed(format!("`{offset}` is no number")).with_help(help))?;
    let (name, mut found) = (name.trim(), Vec::new());
    found.extend(memory.image.named(name).into_iter().map(|symbol| symbol.address));
    found.extend(memory.snapshot.objects.iter().filter(|object| object.name == name).map(|object| object.address));
    found.dedup();
    match found.as_slice() {
        [address] => Ok(address.cast_signed().wrapping_add(offset)),
        [] => {
            let names = memory.image.symbols().iter().filter(|symbol| !symbol.is_function);
            let help = did_you_mean_or_list(name, "object", names.map(|symbol| symbol.name.as_str()).take(2000));
            Err(failed(format!("the image has no object `{name}`")).with_help_if(help))
        }
        _ => Err(failed(format!("the image has several objects `{name}`"))),
    }
}

/// What is to be narrowed: what the file says, and what the snapshot says.
pub(crate) fn narrowings(file: &RolesFile, memory: &Memory) -> Vec<Narrowing> {
    let written = file.narrow.iter().map(|narrowing| {
        let narrowing = narrowing.get_ref();
        let cells = narrowing.cells.iter().map(|cell| cell.get_ref().clone()).collect();
        Narrowing { cells, bits: *narrowing.bits.get_ref() }
    });
    let harness = memory.snapshot.narrow.iter();
    written.chain(harness.map(|(cells, bits)| Narrowing { cells: cells.clone(), bits: *bits })).collect()
}

/// The cells that are to be narrowed, with their bits.
pub(crate) fn narrowed_cells(
    narrowings: &[Narrowing],
    memory: &Memory,
    cells: &[(u64, u8, i64)],
    file: &RolesFile,
) -> Result<BTreeMap<u64, u8>, Diagnostic> {
    let names = program::names(cells, memory);
    // Where objects have no debug information, harnesses count bytes.
    let places = program::places(cells, |address| memory.object(address));
    let mut wanted = BTreeMap::new();
    for (index, narrowing) in narrowings.iter().enumerate() {
        let written = file.narrow.get(index);
        let place = written.map_or(Span::default(), span);
        for (position, name) in narrowing.cells.iter().enumerate() {
            let place = written.and_then(|written| written.get_ref().cells.get(position)).map_or(place, span);
            let is_meant = |known: &String| known == name;
            let Some(cell) = names.iter().position(is_meant).or_else(|| places.iter().position(is_meant)) else {
                let help = did_you_mean_or_list(name, "cell", names.iter().map(String::as_str));
                return Err(Diagnostic::error(format!("the roles have no cell `{name}`"), place).with_help_if(help));
            };
            let (address, bytes, _) = cells[cell];
            let most = MOST_BITS.min(bytes * 8 - 1);
            if !(1..=most).contains(&narrowing.bits) {
                let message = format!("`{name}` has {} bits, and cannot be narrowed to {}", bytes * 8, narrowing.bits);
                return Err(Diagnostic::error(message, place).with_help(format!("say 1 to {most}")));
            }
            if wanted.insert(address, narrowing.bits).is_some_and(|other| other != narrowing.bits) {
                return Err(Diagnostic::error(format!("`{name}` is narrowed to two numbers of bits"), place));
            }
        }
    }
    Ok(wanted)
}
