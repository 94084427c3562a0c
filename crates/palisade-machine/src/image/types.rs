//! Types of objects, as debug information has them: which field lies at which offset.

use addr2line::gimli::{
    self, AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, Operation, RunTimeEndian, SectionId, Unit,
    UnitOffset,
};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A type, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TypeId(usize);

/// What a type is made of.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Nothing that has a name of its own.
    Plain,
    /// The address of something.
    Pointer(TypeId),
    /// So many of a type.
    Array(TypeId, u64),
    /// Named parts, which may overlap.
    Record(Vec<Member>),
}

/// A type.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    /// Its name, empty where it has none.
    pub(crate) name: String,
    /// Whether Rust's own libraries declare it.
    pub(crate) is_of_the_language: bool,
    /// Its bytes; nothing where they are those of its elements.
    size: Option<u64>,
    /// What it is made of.
    pub(crate) shape: Shape,
}

/// A part of a type.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Its name.
    pub(crate) name: String,
    /// Where it begins.
    pub(crate) offset: u64,
    /// Its type.
    pub(crate) of: TypeId,
}

/// A named object: a static, or a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) of: TypeId,
}

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;
type Key = (usize, UnitOffset);

/// Longer chains of names and qualifiers are broken.
const LONGEST_CHAIN: usize = 32;

/// The types of a file; one is read when it is asked for.
pub(crate) struct Types<'a> {
    dwarf: Dwarf<Slice<'a>>,
    units: Vec<Unit<Slice<'a>>>,
    /// The stretches of units in which Rust's own libraries declare.
    language: Vec<(usize, UnitOffset, UnitOffset)>,
    ids: HashMap<Key, TypeId>,
    keys: Vec<Key>,
    known: HashMap<TypeId, Rc<Type>>,
    /// Statics by address.
    pub(crate) statics: BTreeMap<u64, Declared>,
    /// The parameters of the functions that were asked for, by address.
    pub(crate) parameters: BTreeMap<u64, Vec<Declared>>,
}

impl<'a> Types<'a> {
    /// Finds the statics of a file, and the parameters of the functions at these addresses. Nothing
    /// without debug information.
    pub(crate) fn read(bytes: &'a [u8], functions: &[u64]) -> Option<Self> {
        let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
        let section = |id: SectionId| -> Result<Slice<'a>, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|section| section.data().ok()).unwrap_or_default();
            Ok(EndianSlice::new(data, RunTimeEndian::Little))
        };
        let dwarf = Dwarf::load(section).ok()?;
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            units.push(dwarf.unit(header).ok()?);
        }
        let mut types = Self {
            dwarf,
            units,
            language: Vec::new(),
            ids: HashMap::new(),
            keys: Vec::new(),
            known: HashMap::new(),
            statics: BTreeMap::new(),
            parameters: BTreeMap::new(),
        };
        for unit in 0..types.units.len() {
            // What a broken unit declares has no names.
            let _ = types.scan(unit, functions);
        }
        Some(types)
    }

    /// Goes through all entries of a unit once.
    fn scan(&mut self, number: usize, functions: &[u64]) -> gimli::Result<()> {
        let unit = self.units[number].abbreviations.clone();
        let header = self.units[number].header;
        let mut entries = header.entries_raw(&unit, None)?;
        let (mut language, mut inside) = (None, None);
        let mut found: Vec<(Option<u64>, Entry<'a>)> = Vec::new();
        while !entries.is_empty() {
            let (depth, offset) = (entries.next_depth(), entries.next_offset());
            if depth == 1
                && let Some(start) = language.take()
            {
                self.language.push((number, start, offset));
            }
            if inside.is_some_and(|(_, function)| depth <= function) {
                inside = None;
            }
            let mut entry = Entry::null();
            let mut here = entries.clone();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            let is_parameter = inside.is_some_and(|(_, function)| depth == function + 1);
            match abbreviation.tag() {
                gimli::DW_TAG_namespace if depth == 1 => {
                    here.read_entry(&mut entry)?;
                    let name = self.text(number, &entry, gimli::DW_AT_name);
                    if matches!(name.as_deref(), Some("core" | "alloc" | "std")) {
                        language = Some(offset);
                    }
                }
                gimli::DW_TAG_subprogram if !functions.is_empty() => {
                    here.read_entry(&mut entry)?;
                    let start = entry.attr_value(gimli::DW_AT_low_pc);
                    let start = start.and_then(|value| self.dwarf.attr_address(&self.units[number], value).ok()?);
                    inside = start.filter(|start| functions.contains(start)).map(|start| (start, depth));
                }
                gimli::DW_TAG_formal_parameter if is_parameter => {
                    here.read_entry(&mut entry)?;
                    found.push((inside.map(|(start, _)| start), entry));
                }
                gimli::DW_TAG_variable => {
                    here.read_entry(&mut entry)?;
                    found.push((None, entry));
                }
                _ => {}
            }
            entries.skip_attributes(abbreviation.attributes())?;
        }
        if let Some(start) = language {
            self.language.push((number, start, entries.next_offset()));
        }
        for (function, entry) in found {
            self.declare(number, function, &entry);
        }
        Ok(())
    }

    fn declare(&mut self, number: usize, function: Option<u64>, entry: &Entry<'a>) {
        let address = if function.is_none() { self.address(number, entry) } else { None };
        if function.is_none() && address.is_none() {
            return;
        }
        let Some(of) = self.declared_type(number, entry) else { return };
        let declared = Declared { name: self.declared_name(number, entry), of };
        if let Some(function) = function {
            self.parameters.entry(function).or_default().push(declared);
        } else if let Some(address) = address {
            self.statics.entry(address).or_insert(declared);
        }
    }

    /// The address of a static; nothing for other variables.
    fn address(&self, number: usize, entry: &Entry<'a>) -> Option<u64> {
        let unit = &self.units[number];
        let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else { return None };
        let mut operations = expression.operations(unit.encoding());
        let address = match operations.next().ok()?? {
            Operation::Address { address } => address,
            Operation::AddressIndex { index } => self.dwarf.address(unit, index).ok()?,
            _ => return None,
        };
        operations.next().ok()?.is_none().then_some(address)
    }

    fn text(&self, number: usize, entry: &Entry<'a>, what: gimli::DwAt) -> Option<String> {
        let text = self.dwarf.attr_string(&self.units[number], entry.attr_value(what)?).ok()?;
        Some(text.to_string_lossy().into_owned())
    }

    fn entry(&self, (number, offset): Key) -> Option<Entry<'a>> {
        self.units[number].entry(offset).ok()
    }

    /// What an attribute refers to.
    fn target(&self, number: usize, entry: &Entry<'a>, what: gimli::DwAt) -> Option<Key> {
        match entry.attr_value(what)? {
            AttributeValue::UnitRef(offset) => Some((number, offset)),
            AttributeValue::DebugInfoRef(offset) => {
                let starts_before =
                    |unit: &Unit<Slice<'a>>| unit.header.debug_info_offset().is_some_and(|it| it <= offset);
                let unit = self.units.partition_point(starts_before).checked_sub(1)?;
                Some((unit, offset.to_unit_offset(&self.units[unit].header)?))
            }
            _ => None,
        }
    }

    /// Follows an entry to where it was declared first, as long as `look` finds nothing.
    fn declared<T>(
        &self,
        number: usize,
        entry: &Entry<'a>,
        look: impl Fn(usize, &Entry<'a>) -> Option<T>,
    ) -> Option<T> {
        let (mut number, mut entry) = (number, entry.clone());
        for _ in 0..LONGEST_CHAIN {
            if let Some(found) = look(number, &entry) {
                return Some(found);
            }
            let next = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin];
            let key = next.into_iter().find_map(|what| self.target(number, &entry, what))?;
            (number, entry) = (key.0, self.entry(key)?);
        }
        None
    }

    fn declared_type(&mut self, number: usize, entry: &Entry<'a>) -> Option<TypeId> {
        let key = self.declared(number, entry, |number, entry| self.target(number, entry, gimli::DW_AT_type))?;
        self.id(key)
    }

    fn declared_name(&self, number: usize, entry: &Entry<'a>) -> String {
        self.declared(number, entry, |number, entry| self.text(number, entry, gimli::DW_AT_name)).unwrap_or_default()
    }

    /// The number of the type that an entry describes, without other names and qualifiers.
    fn id(&mut self, key: Key) -> Option<TypeId> {
        let mut key = key;
        for _ in 0..LONGEST_CHAIN {
            let entry = self.entry(key)?;
            match entry.tag() {
                gimli::DW_TAG_typedef if self.is_of_posix(key.0, &entry) => return Some(self.number(key)),
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type
                | gimli::DW_TAG_atomic_type => key = self.target(key.0, &entry, gimli::DW_AT_type)?,
                _ => return Some(self.number(key)),
            }
        }
        None
    }

    /// The number of a type by where it stands.
    fn number(&mut self, key: Key) -> TypeId {
        let next = TypeId(self.keys.len());
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.keys.push(key);
        }
        id
    }

    /// Whether a name is that of a lock or the like of POSIX, whose fields are nobody's business.
    fn is_of_posix(&self, number: usize, entry: &Entry<'a>) -> bool {
        let name = self.text(number, entry, gimli::DW_AT_name).unwrap_or_default();
        ["pthread_mutex_t", "pthread_rwlock_t", "pthread_cond_t", "sem_t"].contains(&name.as_str())
    }

    /// The types that were asked for so far.
    pub(crate) fn into_known(self) -> KnownTypes {
        KnownTypes(self.known)
    }

    /// A type.
    pub(crate) fn get(&mut self, id: TypeId) -> Rc<Type> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let plain = Type { name: String::new(), is_of_the_language: false, size: Some(0), shape: Shape::Plain };
        let found = Rc::new(self.described(self.keys[id.0]).unwrap_or(plain));
        self.known.insert(id, found.clone());
        found
    }

    /// The bytes of a type.
    pub(crate) fn size(&mut self, id: TypeId) -> u64 {
        size(id, |id| Some(self.get(id)))
    }

    fn described(&mut self, key: Key) -> Option<Type> {
        let (number, offset) = key;
        let entry = self.entry(key)?;
        let size = entry.attr_value(gimli::DW_AT_byte_size).and_then(|value| value.udata_value());
        let (size, shape) = match entry.tag() {
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => {
                let target = self.target(number, &entry, gimli::DW_AT_type).and_then(|target| self.id(target));
                (Some(size.unwrap_or(8)), target.map_or(Shape::Plain, Shape::Pointer))
            }
            gimli::DW_TAG_array_type => {
                let element = self.target(number, &entry, gimli::DW_AT_type).and_then(|element| self.id(element))?;
                (size, Shape::Array(element, self.count(key)?))
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                (Some(size.unwrap_or(0)), Shape::Record(self.members(key)?))
            }
            gimli::DW_TAG_typedef => {
                let meant = self.target(number, &entry, gimli::DW_AT_type).and_then(|meant| self.entry(meant));
                let size = meant.and_then(|meant| meant.attr_value(gimli::DW_AT_byte_size)?.udata_value());
                (Some(size.unwrap_or(0)), Shape::Plain)
            }
            _ => (Some(size.unwrap_or(0)), Shape::Plain),
        };
        let is_inside =
            |(unit, start, end): &(usize, UnitOffset, UnitOffset)| *unit == number && (*start..*end).contains(&offset);
        Some(Type {
            name: self.text(number, &entry, gimli::DW_AT_name).unwrap_or_default(),
            is_of_the_language: self.language.iter().any(is_inside),
            size,
            shape,
        })
    }

    /// How many elements an array has in all.
    fn count(&self, (number, offset): Key) -> Option<u64> {
        let mut tree = self.units[number].entries_tree(Some(offset)).ok()?;
        let mut children = tree.root().ok()?.children();
        let mut count = 1u64;
        while let Ok(Some(child)) = children.next() {
            let value = |what| child.entry().attr_value(what).and_then(|value| value.udata_value());
            let length = value(gimli::DW_AT_count).or_else(|| Some(value(gimli::DW_AT_upper_bound)?.wrapping_add(1)));
            count = count.saturating_mul(length.unwrap_or(0));
        }
        Some(count)
    }

    /// The members of a record, those of all its variants among them.
    fn members(&mut self, (number, offset): Key) -> Option<Vec<Member>> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        {
            let unit = &self.units[number];
            let mut tree = unit.entries_tree(Some(offset)).ok()?;
            collect(tree.root().ok()?, &mut entries);
        }
        let mut members = Vec::new();
        for entry in entries {
            let place = entry.attr_value(gimli::DW_AT_data_member_location);
            let (Some(of), Some(place)) = (
                self.target(number, &entry, gimli::DW_AT_type).and_then(|of| self.id(of)),
                place.map_or(Some(0), |place| place.udata_value()),
            ) else {
                continue;
            };
            let name = self.text(number, &entry, gimli::DW_AT_name).unwrap_or_default();
            members.push(Member { name, offset: place, of });
        }
        Some(members)
    }
}

/// Types that were read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownTypes(HashMap<TypeId, Rc<Type>>);

impl KnownTypes {
    /// A type.
    pub(crate) fn get(&self, id: TypeId) -> Option<&Type> {
        self.0.get(&id).map(Rc::as_ref)
    }

    /// The bytes of a type.
    pub(crate) fn size(&self, id: TypeId) -> u64 {
        size(id, |id| self.0.get(&id).cloned())
    }
}

fn size(id: TypeId, mut get: impl FnMut(TypeId) -> Option<Rc<Type>>) -> u64 {
    let (mut id, mut count) = (id, 1u64);
    for _ in 0..LONGEST_CHAIN {
        let Some(found) = get(id) else { return 0 };
        match (found.size, &found.shape) {
            (Some(size), _) => return size.saturating_mul(count),
            (None, Shape::Array(element, more)) => (id, count) = (*element, count.saturating_mul(*more)),
            (None, _) => return 0,
        }
    }
    0
}

/// The entries of members and bases, variants gone through.
fn collect<'a>(node: gimli::EntriesTreeNode<'_, '_, Slice<'a>>, entries: &mut Vec<Entry<'a>>) {
    let mut children = node.children();
    while let Ok(Some(child)) = children.next() {
        match child.entry().tag() {
            gimli::DW_TAG_member | gimli::DW_TAG_inheritance => {
                let is_static = child.entry().has_attr(gimli::DW_AT_external);
                if !is_static {
                    entries.push(child.entry().clone());
                }
            }
            gimli::DW_TAG_variant_part | gimli::DW_TAG_variant => collect(child, entries),
            _ => {}
        }
    }
}
