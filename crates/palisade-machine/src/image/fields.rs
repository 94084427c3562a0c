//! Names of memory as its program has them: `queue.tail`, `lock.next`.
//!
//! Objects are the statics of the file and what roles are given, closures with what they have
//! captured among it; from there pointers are followed in memory as it is when the roles begin.
//! Names are for people alone: nothing else rests on them.

use super::Memory;
use super::types::{Declared, KnownTypes, Member, Shape, Type, TypeId, Types};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// A function with the words that it is called with.
pub(crate) type Call<'a> = (u64, &'a [i64]);

/// How an object was come by.
#[derive(Clone, Debug)]
enum Origin {
    /// It has a name of its own, or is a closure, whose captures have.
    Named(String),
    /// A pointer so far into another object leads here.
    Pointed { object: usize, offset: u64 },
}

/// A stretch of memory whose type is known.
#[derive(Clone, Debug)]
struct Object {
    origin: Origin,
    address: u64,
    of: TypeId,
    /// So many of the type, one after the other, where a slice is pointed to.
    count: Option<u64>,
    bytes: u64,
}

/// Which fields are at which addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    types: KnownTypes,
    /// The objects with their names, those first whose names count first.
    objects: Vec<(String, Object)>,
    /// The names of the parameters of the functions that were asked for.
    parameters: BTreeMap<u64, Vec<String>>,
}

/// No more objects are followed than this.
const MOST_OBJECTS: usize = 4096;
/// So many elements of an array are looked at for pointers.
const MOST_ELEMENTS: u64 = 64;
/// Deeper types are not looked into.
const DEEPEST: usize = 24;

impl Fields {
    /// Follows pointers from statics and from what the functions are given. Nothing without debug
    /// information.
    pub(crate) fn read(bytes: &[u8], memory: &Memory, calls: &[Call<'_>]) -> Self {
        let base = memory.snapshot.base;
        let functions: Vec<u64> = calls.iter().map(|(function, _)| function.wrapping_sub(base)).collect();
        let Some(mut types) = Types::read(bytes, &functions) else { return Self::default() };
        let mut open = VecDeque::new();
        for (address, declared) in types.statics.clone() {
            let address = base.wrapping_add(address);
            let symbol = memory.name(address).filter(|(_, offset)| *offset == 0).map(|(name, _)| name);
            let origin = Origin::Named(symbol.unwrap_or(declared.name));
            open.push_back(Object { origin, address, of: declared.of, count: None, bytes: 0 });
        }
        for (function, arguments) in calls {
            let Some(parameters) = types.parameters.get(&function.wrapping_sub(base)).cloned() else { continue };
            for (parameter, argument) in parameters.into_iter().zip(*arguments) {
                let Shape::Pointer(of) = types.get(parameter.of).shape else { continue };
                let is_closure = types.get(of).name.starts_with("{closure_env");
                let origin = Origin::Named(if is_closure { String::new() } else { parameter.name });
                open.push_back(Object { origin, address: argument.cast_unsigned(), of, count: None, bytes: 0 });
            }
        }
        let objects = follow(&mut types, memory, open);
        let names = |(function, parameters): (&u64, &Vec<Declared>)| {
            (function.wrapping_add(base), parameters.iter().map(|parameter| parameter.name.clone()).collect())
        };
        let parameters = types.parameters.iter().map(names).collect();
        let mut fields = Self { types: types.into_known(), objects: Vec::new(), parameters };
        for object in objects {
            let name = match &object.origin {
                Origin::Named(name) => name.clone(),
                Origin::Pointed { object: from, offset } => {
                    let (name, from) = &fields.objects[*from];
                    let (path, _) = fields.path(name, from, *offset);
                    path.strip_suffix(".data_ptr").map_or(path.clone(), str::to_owned)
                }
            };
            fields.objects.push((name, object));
        }
        fields
    }

    /// The names of a function's parameters, where it was asked for and has debug information.
    pub(crate) fn parameters_of(&self, function: u64) -> &[String] {
        self.parameters.get(&function).map_or(&[], Vec::as_slice)
    }

    /// The name of what lies at an address, and how far into it that is.
    pub(crate) fn name(&self, address: u64) -> Option<(String, u64)> {
        let covers =
            |(_, object): &&(String, Object)| address >= object.address && address - object.address < object.bytes;
        let (name, object) = self.objects.iter().find(covers)?;
        let (path, rest) = self.path(name, object, address - object.address);
        (!path.is_empty()).then_some((path, rest))
    }

    /// The name of the part of an object at an offset, and how far into that part it is.
    fn path(&self, name: &str, object: &Object, offset: u64) -> (String, u64) {
        let (mut path, mut of, mut offset) = (name.to_owned(), object.of, offset);
        if object.count.is_some() {
            let size = self.types.size(of).max(1);
            path += &format!("[{}]", offset / size);
            offset %= size;
        }
        for _ in 0..DEEPEST {
            let Some(known) = self.types.get(of) else { break };
            match &known.shape {
                Shape::Plain | Shape::Pointer(_) => break,
                Shape::Array(element, _) => {
                    let size = self.types.size(*element).max(1);
                    path += &format!("[{}]", offset / size);
                    (of, offset) = (*element, offset % size);
                }
                Shape::Record(members) => {
                    let sized: Vec<&Member> = members.iter().filter(|member| self.types.size(member.of) > 0).collect();
                    let covers = |member: &&&Member| {
                        offset.checked_sub(member.offset).is_some_and(|inside| inside < self.types.size(member.of))
                    };
                    let Some(member) = sized.iter().find(covers) else { break };
                    if !is_wrapped(known, member, sized.len()) {
                        if !path.is_empty() {
                            path.push('.');
                        }
                        path += plain(&member.name);
                    }
                    (of, offset) = (member.of, offset - member.offset);
                }
            }
        }
        (path, offset)
    }
}

/// The objects, and all that pointers in them lead to.
fn follow(types: &mut Types<'_>, memory: &Memory, mut open: VecDeque<Object>) -> Vec<Object> {
    let (mut objects, mut seen) = (Vec::new(), HashSet::new());
    while let Some(object) = open.pop_front() {
        let (address, of, size) = (object.address, object.of, types.size(object.of));
        let bytes = size.saturating_mul(object.count.unwrap_or(1));
        let is_there = bytes > 0 && memory.mutability(address).is_some();
        if !is_there || objects.len() >= MOST_OBJECTS || !seen.insert((address, of)) {
            continue;
        }
        let mut pointers = Vec::new();
        for index in 0..object.count.unwrap_or(1).min(MOST_ELEMENTS) {
            pointers_in(types, of, index * size, DEEPEST, &mut pointers);
        }
        for Pointer { offset, to, is_slice } in pointers {
            let place = address.wrapping_add(offset);
            let Some(address) = memory.number(place, 8) else { continue };
            let count = if is_slice { memory.number(place.wrapping_add(8), 8) } else { None };
            let origin = Origin::Pointed { object: objects.len(), offset };
            open.push_back(Object { origin, address, of: to, count, bytes: 0 });
        }
        objects.push(Object { bytes, ..object });
    }
    objects
}

/// A pointer in an object.
struct Pointer {
    offset: u64,
    to: TypeId,
    /// Whether the number of what it points to stands behind it.
    is_slice: bool,
}

/// The pointers in a type that lies so far into an object.
fn pointers_in(types: &mut Types<'_>, of: TypeId, offset: u64, depth: usize, found: &mut Vec<Pointer>) {
    if depth == 0 {
        return;
    }
    let known = types.get(of);
    match &known.shape {
        Shape::Plain => {}
        Shape::Pointer(to) => found.push(Pointer { offset, to: *to, is_slice: false }),
        Shape::Array(element, count) => {
            let size = types.size(*element);
            for index in 0..(*count).min(MOST_ELEMENTS) {
                pointers_in(types, *element, offset.saturating_add(index.saturating_mul(size)), depth - 1, found);
            }
        }
        Shape::Record(members) => {
            if let [data, length] = members.as_slice()
                && (data.name.as_str(), length.name.as_str()) == ("data_ptr", "length")
                && let Shape::Pointer(to) = types.get(data.of).shape
            {
                found.push(Pointer { offset: offset.saturating_add(data.offset), to, is_slice: true });
                return;
            }
            for member in members {
                // Asked for, so that its size is known later.
                types.size(member.of);
                pointers_in(types, member.of, offset.saturating_add(member.offset), depth - 1, found);
            }
        }
    }
}

/// Whether a member is all that there is to its type, so that its name would say nothing.
fn is_wrapped(of: &Type, member: &Member, count: usize) -> bool {
    let is_only = count == 1 && (of.is_of_the_language || matches!(member.name.as_str(), "value" | "__0"));
    is_only || (of.is_of_the_language && of.name.starts_with("ArcInner<") && member.name == "data")
}

/// The name as the source has it: captured references and fields of tuples have others.
fn plain(name: &str) -> &str {
    name.strip_prefix("_ref__").or(name.strip_prefix("__")).unwrap_or(name)
}
