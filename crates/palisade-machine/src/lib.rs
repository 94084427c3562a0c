//! Machine code to program: what really runs, read as Palisade reads any other program.
//!
//! [`read`] takes a file of roles – an ELF image, functions in it, how many copies of each run – to
//! a [`Program`]: the functions' instructions, calls followed, the stack of each copy its own, with
//! memory as the image or a snapshot of a process has it. Every instruction means what the table of
//! [`palisade_syntax::x86`] says, which readers of litmus tests share. What is not understood is
//! refused, with its position in the sources and the calls that lead there.

mod accepted;
mod changed;
pub mod edit;
mod hinted;
mod image;
mod lift;
mod listing;
mod orderings;
mod origins;
mod program;
mod resolve;
mod roles;
mod source_tests;
mod waits;

use image::{Fields, Frame, Image, Lines, Memory, SharedObject, Snapshot};
use lift::{Contexts, Lifted, LiftedRole, ObjectionAt, Refused};
use orderings::Orderings;
use origins::{Origins, short};
use palisade_model::program::Program;
use palisade_model::text::{Diagnostic, Obstacle, Position, SourceText};
use palisade_syntax::{InputError, read_text, text_of};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

pub use changed::{changed_since, changed_sources};
pub use source_tests::{SourceTest, source_tests};

/// The largest image that is read.
const MAX_IMAGE_BYTES: u64 = 1 << 30;

/// Reads the program that a file of roles describes. Image and snapshot are found from its folder.
pub fn read(path: &str) -> Result<Program, InputError> {
    let folder = Path::new(path).parent().unwrap_or(Path::new("")).to_owned();
    let program = read_with(path, &read_text(path)?, |name| whole_file(&folder.join(name)))?;
    changed::admit(path, program)
}

/// How the image of a file of roles is built again, and its snapshot written, where the file says
/// so.
pub fn build_command(path: &str) -> Result<Option<String>, InputError> {
    let source = read_text(path)?;
    let file = roles::read(&source).map_err(|error| InputError::from((source.clone(), vec![error])))?;
    Ok(file.build)
}

/// The file of roles about a build without optimisation of the same sources, where the file names
/// one: its path.
pub fn unoptimised(path: &str) -> Result<Option<String>, InputError> {
    let source = read_text(path)?;
    let file = roles::read(&source).map_err(|error| InputError::from((source.clone(), vec![error])))?;
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    Ok(file.unoptimised.map(|name| folder.join(name).display().to_string()))
}

/// The image of a file of roles: its path.
pub fn image(path: &str) -> Result<PathBuf, InputError> {
    let source = read_text(path)?;
    let file = roles::read(&source).map_err(|error| InputError::from((source.clone(), vec![error])))?;
    Ok(Path::new(path).parent().unwrap_or(Path::new("")).join(file.image.get_ref()))
}

/// The bytes of a file, [`MAX_IMAGE_BYTES`] of them at most.
fn whole_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        return Err(std::io::Error::other(format!("it is larger than {} MiB", MAX_IMAGE_BYTES >> 20)));
    }
    Ok(bytes)
}

/// Reads the program that roles describe which are called `path`. `open` gives the bytes of image
/// and snapshot, which the roles name.
pub fn read_with(
    path: &str,
    source: &Arc<SourceText>,
    mut open: impl FnMut(&str) -> std::io::Result<Vec<u8>>,
) -> Result<Program, InputError> {
    let wrong = |error: Diagnostic| InputError::from((source.clone(), vec![error]));
    let file = roles::read(source).map_err(wrong)?;
    let opened = |open: &mut dyn FnMut(&str) -> std::io::Result<Vec<u8>>, what: &str, name: &Spanned<String>| {
        open(name.get_ref())
            .map_err(|error| wrong(Diagnostic::error(format!("the {what} cannot be read: {error}"), roles::span(name))))
    };
    let bytes = opened(&mut open, "image", &file.image)?;
    let digest = sha256(&bytes);
    if let Some(other) = file.image_sha256.as_ref().filter(|other| *other.get_ref() != digest) {
        let message = "the image is not the one of this digest: it was built again since";
        return Err(wrong(Diagnostic::error(message, roles::span(other)).with_help("take the snapshot again")));
    }
    let mut heading = String::new();
    let _ = writeln!(heading, "roles {} (SHA-256 {})", name_of(Path::new(path)), sha256(source.text.as_bytes()));
    let _ = writeln!(heading, "image {} (SHA-256 {})", file.image.get_ref(), digest);
    let mut snapshot = Snapshot::default();
    if let Some(given) = &file.snapshot {
        let name = Path::new(path).parent().unwrap_or(Path::new("")).join(given.get_ref());
        let bytes = opened(&mut open, "snapshot", given)?;
        let help = "a snapshot has all that its test had in memory: leave out what the roles do not need";
        let text = text_of(&name.display().to_string(), bytes.as_slice())
            .map_err(|error| error.with_help_if(Some(help.to_owned())))?;
        let _ = writeln!(heading, "snapshot {} (SHA-256 {})", given.get_ref(), sha256(text.text.as_bytes()));
        snapshot = Snapshot::read(&text.text).map_err(|error| broken_snapshot(&text, &error))?;
    }
    let base = snapshot.base;
    let image = Image::read(&bytes, base)
        .map_err(|why| wrong(Diagnostic::error(format!("the image {why}"), roles::span(&file.image))))?;
    snapshot.objects.extend(own_data(&snapshot, &image));
    let mut memory = Memory { image, snapshot, fields: Fields::default(), heap: None, stacks: None };
    let mut roles = resolve::roles(&file, &memory).map_err(wrong)?;
    memory.heap = resolve::heap(&file, &memory, &mut roles).map_err(wrong)?;
    memory.stacks = resolve::stacks(&file, &memory, &mut roles).map_err(wrong)?;
    if (file.source_order || file.orderings) && (memory.heap.is_some() || memory.stacks.is_some()) {
        let message =
            "roles take memory from the heap or share stacks, and about that the question is one of machine code alone";
        return Err(wrong(
            Diagnostic::error(message, roles::span(&file.image))
                .with_help("leave `--model c11`, `--every-compilation` out, or prepare memory before the roles run"),
        ));
    }
    let calls: Vec<_> = roles.iter().map(|role| (role.function, role.arguments.as_slice())).collect();
    memory.fields = Fields::read(&bytes, &memory, &calls);
    // The roles of a snapshot give what their functions take.
    for role in roles.iter().filter(|_| !file.role.is_empty()) {
        for parameter in memory.fields.parameters_of(role.function).iter().skip(role.arguments.len()) {
            let _ = writeln!(heading, "unset {parameter} of {}", role.name);
        }
    }
    let lines = Lines::read(&bytes, base);
    let refused = |refused: Box<Refused>| {
        let Refused { role, at, contexts } = *refused;
        let Obstacle { name, position, message, help } = obstacle(&at, &contexts, &roles[role].name, &lines, &memory);
        InputError::File { name, position, message, help }
    };
    let mut lifted = lift::lift(&memory, &roles, file.orderings).map_err(refused)?;
    for build in lines.builds(roles.iter().map(|role| role.function)) {
        let optimised = build.split(' ').find(|word| word.starts_with("-O") && !["-O0", "-Og"].contains(word));
        if let Some(option) = optimised.filter(|_| file.orderings) {
            let message = format!("orderings are read in builds without optimisation, and this one has `{option}`");
            return Err(wrong(Diagnostic::error(message, roles::span(&file.image)).with_help("build with `-O0`")));
        }
        let _ = writeln!(heading, "build {build}");
    }
    let narrowings = resolve::narrowings(&file, &memory);
    if !narrowings.is_empty() {
        let wanted = resolve::narrowed_cells(&narrowings, &memory, &lifted.cells, &file).map_err(wrong)?;
        lifted.narrow(&wanted).map_err(refused)?;
        for narrowing in &narrowings {
            let _ = writeln!(heading, "narrow {} to {}", narrowing.cells.join(", "), narrowing.bits);
        }
    }
    let delays = accepted::written(&file, &memory);
    for [(store, _), (load, _)] in &delays {
        let _ = writeln!(heading, "accept {store} past {load}");
    }
    let beside = Path::new(file.image.get_ref()).parent().unwrap_or(Path::new(""));
    let mut open_source = |source: &str| source_text(source, beside, &mut open);
    let lifted_roles = lifted.roles.iter().map(|role| (role.places.as_slice(), &role.contexts));
    let mut origins = Origins::of(lifted_roles, &lines, &memory, &mut open_source);
    for (number, (role, lifted)) in roles.iter().zip(&lifted.roles).enumerate() {
        for (place, objection) in &lifted.obstacles {
            let at = objection.clone().at(lifted.places[*place].0);
            origins.obstruct(number, *place, obstacle(&at, &lifted.contexts, &role.name, &lines, &memory));
        }
    }
    let orderings = match (file.orderings, file.source_order) {
        (true, true) => {
            let message = "`orderings` and `source_order` ask for different programs";
            return Err(wrong(Diagnostic::error(message, roles::span(&file.image))));
        }
        (true, false) => Some(orderings::state(&mut lifted, &lines, &mut open_source).map_err(refused)?),
        (false, true) => Some(Orderings::of(&lifted, &lines, &mut open_source)),
        (false, false) => None,
    };
    heading.push_str(orderings.as_ref().map_or("", |orderings| &orderings.heading));
    for (kind, place) in divided(&lifted, &origins) {
        let _ = writeln!(heading, "{kind} {place}");
        if file.orderings {
            let message = format!("the access at {place} is in parts, of which the language says nothing");
            return Err(wrong(Diagnostic::error(message, roles::span(&file.image))));
        }
        if file.source_order {
            let message = format!("the access at {place} is in parts, of which nothing is said for every compilation");
            return Err(wrong(Diagnostic::error(message, roles::span(&file.image))));
        }
    }
    for blocks in &lifted.heap {
        let most = blocks.most.map_or(String::new(), |most| format!(" most {most}"));
        let _ = writeln!(heading, "heap {}{most}", blocks.bytes);
    }
    if memory.stacks.is_some() {
        heading.push_str("stacks shared\n");
    }
    if lifted.reads_clock {
        heading.push_str("clock still\n");
    }
    if lifted.has_posix {
        heading.push_str("posix locks\n");
    }
    let hints = hinted::written(&file, &memory);
    let changed =
        [("accept", !delays.is_empty()), ("hint", !hints.is_empty())].into_iter().find(|(_, is_there)| *is_there);
    if let Some((key, _)) = changed.filter(|_| file.orderings) {
        let message = format!("`{key}` is about x86, and `orderings` about the language of the sources");
        return Err(wrong(Diagnostic::error(message, roles::span(&file.image))));
    }
    if let Some([(_, span), ..]) = delays.first().filter(|_| file.source_order) {
        return Err(wrong(Diagnostic::error(
            "delays are accepted, of which nothing is said for every compilation",
            *span,
        )));
    }
    if let Some((_, span)) = hints.first().filter(|_| file.source_order) {
        return Err(wrong(Diagnostic::error("there are hints, of which nothing is said for every compilation", *span)));
    }
    if !hints.is_empty() {
        let places = hinted::places(&hints, &lifted, &origins).map_err(wrong)?;
        lifted.weaken(&places, &roles).map_err(refused)?;
        hinted::leave_something(&lifted, hints[0].1).map_err(wrong)?;
        hints.iter().for_each(|(place, _)| _ = writeln!(heading, "hint {place}"));
    }
    let idle = waits::idle(&file, &memory);
    idle.iter().for_each(|(place, _)| _ = writeln!(heading, "idle {place}"));
    // What is said of every compilation looks at whole registers.
    if !file.source_order {
        lifted.cut();
    }
    waits::sleep(&mut lifted);
    if !file.source_order && !file.orderings {
        waits::fuse(&mut lifted);
    }
    waits::guesses(&lifted, &origins).iter().for_each(|place| _ = writeln!(heading, "guess {place}"));
    if let Some(heap) = &mut memory.heap {
        heap.sites = sites(&lifted, &origins);
    }
    let origin = program::Origin { path, heading };
    let mut program = program::program(&origin, &roles, lifted, &memory, &origins, orderings.as_ref());
    accepted::accept(&mut program, &delays).map_err(wrong)?;
    waits::let_wait(&mut program, &idle).map_err(wrong)?;
    Ok(program)
}

/// The data that threads have of their own, as objects with names. What the C library knows of a
/// thread lies behind its base.
fn own_data(snapshot: &Snapshot, image: &Image) -> Vec<SharedObject> {
    const OF_THE_LIBRARY: u64 = 2048;
    let threads = snapshot.threads.iter().map(|thread| SharedObject {
        name: format!("{}{}.own", thread.role, thread.copy),
        address: thread.base.saturating_sub(image.thread_data),
        size: image.thread_data + OF_THE_LIBRARY,
    });
    threads.collect()
}

/// Where roles take the blocks of a size class, if that is one place: by the number of the role and
/// the class.
fn sites(lifted: &Lifted, origins: &Origins) -> BTreeMap<(usize, u8), String> {
    let mut sites = BTreeMap::new();
    for (number, role) in lifted.roles.iter().enumerate() {
        for (class, taken) in &role.takes {
            let places = taken.places.iter().map(|place| short(&origins.of_role(number)[*place].place));
            let places: BTreeSet<String> = places.collect();
            if let (Some(place), 1) = (places.first(), places.len()) {
                sites.insert((number, *class), place.clone());
            }
        }
    }
    sites
}

/// The places that access memory in parts, with the word for them in the listing.
fn divided(lifted: &Lifted, origins: &Origins) -> BTreeSet<(&'static str, String)> {
    let of_role = |(number, role): (usize, &LiftedRole)| -> Vec<(&'static str, String)> {
        let places = origins.of_role(number);
        let kind = |is_at_once| if is_at_once { "parts" } else { "halves" };
        role.divided.iter().map(|(place, is_at_once)| (kind(*is_at_once), short(&places[*place].place))).collect()
    };
    lifted.roles.iter().enumerate().flat_map(of_role).collect()
}

/// A source under the path that the compiler knew, or one of its name beside the image: where it
/// is, from the folder of the roles, and its text.
fn source_text(
    path: &str,
    beside: &Path,
    open: &mut impl FnMut(&str) -> std::io::Result<Vec<u8>>,
) -> Option<(String, String)> {
    let near = beside.join(Path::new(path).file_name()?).display().to_string();
    let (at_hand, bytes) = [path, &near].into_iter().find_map(|path| Some((path.to_owned(), open(path).ok()?)))?;
    Some((at_hand, String::from_utf8(bytes).ok()?))
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

fn broken_snapshot(text: &Arc<SourceText>, error: &image::SnapshotError) -> InputError {
    InputError::File {
        name: text.name.clone(),
        position: Some(Position { line: error.line, column: 1 }),
        message: error.message.clone(),
        help: None,
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Why code is refused, at its position in the sources, with the calls that lead there. The
/// position is that of the role's own code, if a library's is not understood.
fn obstacle(at: &ObjectionAt, contexts: &Contexts, role: &str, lines: &Lines<'_>, memory: &Memory) -> Obstacle {
    let frames = lines.frames(at.address);
    let callers: Vec<Frame> = contexts
        .chain(at.context)
        .filter(|context| context.parent.is_some())
        .flat_map(|context| lines.frames(context.call))
        .collect();
    let mut message = at.objection.message.clone();
    let mut tell = |word: &str, frame: &Frame| {
        let place = format!("{}:{}:{}", frame.file_name(), frame.line, frame.column);
        let _ = write!(message, "\n  {word} {} ({place})", frame.function.as_deref().unwrap_or("?"));
    };
    frames.iter().for_each(|frame| tell("in", frame));
    callers.iter().for_each(|frame| tell("called from", frame));
    if frames.is_empty() {
        let symbol = memory.image.symbol_at(at.address, true);
        let name = symbol.map_or("?", |(symbol, _)| symbol.name.as_str());
        message.insert_str(at.objection.message.len(), &format!("\n  in {name} ({:#x})", at.address));
    }
    let _ = write!(message, "\n  in the role `{role}`");
    let mut all = frames.iter().chain(&callers);
    let advice = all.clone().filter_map(|frame| frame.function.as_deref()).find_map(lift::advice_on_call);
    let own = all.clone().find(|frame| !frame.is_of_a_library()).or_else(|| all.next());
    let (name, position) = match own {
        Some(frame) => {
            let position = Position {
                line: usize::try_from(frame.line).unwrap_or(0),
                column: usize::try_from(frame.column).unwrap_or(0),
            };
            (frame.file.clone(), Some(position))
        }
        None => (format!("{:#x}", at.address), None),
    };
    Obstacle { name, position, message, help: advice.map(str::to_owned).or_else(|| at.objection.help.clone()) }
}
