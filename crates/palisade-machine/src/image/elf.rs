//! The ELF file: segments, symbols, and what the loader would write into memory.

use object::elf::{R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE};
use object::read::elf::ElfFile64;
use object::{
    Architecture, Endianness, Object, ObjectSegment, ObjectSymbol, RelocationFlags, RelocationTarget, SegmentFlags,
    SymbolKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// A stretch of memory that the file asks for.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// Its first address.
    start: u64,
    /// Its bytes, zeros at the end included.
    bytes: Vec<u8>,
    /// Whether the program may write it.
    writable: bool,
    /// Whether it holds code.
    executable: bool,
}

/// A named stretch of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// Its name, without what compilers add to it.
    pub(crate) name: String,
    /// Its address.
    pub(crate) address: u64,
    /// Its bytes; 0 when the file does not say.
    pub(crate) size: u64,
    /// Whether it is a function.
    pub(crate) is_function: bool,
}

/// The file.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    segments: Vec<Segment>,
    /// Symbols with an address, by address.
    symbols: Vec<Symbol>,
    /// The functions that other files hold, by the address that stands for them here.
    imports: BTreeMap<u64, String>,
    /// What the loader writes, by address.
    relocated: BTreeMap<u64, u64>,
    /// What it writes there is not known.
    unknown: BTreeSet<u64>,
    /// What it writes there is bound to a function or an object once and for all.
    bound: BTreeSet<u64>,
    /// Stretches that the loader makes read-only once it has written them.
    relro: Vec<(u64, u64)>,
    /// The bytes of each thread's own data, which lie in front of its base.
    pub(crate) thread_data: u64,
}

/// The functions of other files stand at addresses from here on, which no process has.
const IMPORTS: u64 = 0x7f00_0000_0000_0000;

impl Image {
    /// Reads a file that is loaded `base` bytes above the addresses that it states.
    pub(crate) fn read(bytes: &[u8], base: u64) -> Result<Self, String> {
        let file = ElfFile64::<Endianness>::parse(bytes).map_err(|error| format!("is no 64-bit ELF file: {error}"))?;
        if file.architecture() != Architecture::X86_64 {
            return Err("is not for x86-64".to_owned());
        }
        let mut image = Self {
            segments: Vec::new(),
            symbols: Vec::new(),
            imports: BTreeMap::new(),
            relocated: BTreeMap::new(),
            unknown: BTreeSet::new(),
            bound: BTreeSet::new(),
            relro: Vec::new(),
            thread_data: 0,
        };
        image.read_segments(&file, base)?;
        if image.segments.is_empty() {
            return Err("has no segments: link it first".to_owned());
        }
        image.read_symbols(&file, base);
        image.read_relocations(&file, base);
        Ok(image)
    }

    fn read_segments(&mut self, file: &ElfFile64<'_, Endianness>, base: u64) -> Result<(), String> {
        /// No program of interest has more than this.
        const MOST: u64 = 1 << 30;
        for segment in file.segments() {
            let SegmentFlags::Elf { p_flags } = segment.flags() else { continue };
            if segment.size() > MOST {
                return Err("has a segment of more than 1 GiB".to_owned());
            }
            let mut bytes = segment.data().map_err(|error| format!("has a broken segment: {error}"))?.to_vec();
            bytes.resize(usize::try_from(segment.size()).expect("less than 1 GiB"), 0);
            self.segments.push(Segment {
                start: base.wrapping_add(segment.address()),
                bytes,
                writable: p_flags & object::elf::PF_W != 0,
                executable: p_flags & object::elf::PF_X != 0,
            });
        }
        for header in file.elf_program_headers() {
            if header.p_type.get(file.endian()) == object::elf::PT_TLS {
                let align = header.p_align.get(file.endian()).max(1);
                self.thread_data = header.p_memsz.get(file.endian()).min(MOST).next_multiple_of(align.min(MOST));
            }
            if header.p_type.get(file.endian()) == object::elf::PT_GNU_RELRO {
                let start = base.wrapping_add(header.p_vaddr.get(file.endian()));
                self.relro.push((start, start.saturating_add(header.p_memsz.get(file.endian()))));
            }
        }
        Ok(())
    }

    fn read_symbols(&mut self, file: &ElfFile64<'_, Endianness>, base: u64) {
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let is_function = symbol.kind() == SymbolKind::Text;
            if symbol.is_undefined() || !(is_function || symbol.kind() == SymbolKind::Data) {
                continue;
            }
            let Ok(name) = symbol.name() else { continue };
            let (address, size) = (base.wrapping_add(symbol.address()), symbol.size());
            self.symbols.push(Symbol { name: plain_name(name), address, size, is_function });
        }
        self.symbols.sort_by(|one, other| (one.address, &one.name).cmp(&(other.address, &other.name)));
        self.symbols.dedup();
    }

    fn read_relocations(&mut self, file: &ElfFile64<'_, Endianness>, base: u64) {
        let Some(relocations) = file.dynamic_relocations() else { return };
        let names: BTreeMap<_, _> = file.dynamic_symbols().map(|symbol| (symbol.index().0, symbol)).collect();
        for (address, relocation) in relocations {
            let place = base.wrapping_add(address);
            let addend = relocation.addend().cast_unsigned();
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => names.get(&index.0),
                _ => None,
            };
            let value = match (r_type, symbol) {
                (R_X86_64_RELATIVE, _) => base.wrapping_add(addend),
                // The loader asks a function which one to take; it has the name of what it chooses
                // from.
                (R_X86_64_IRELATIVE, _) => {
                    let chooser = base.wrapping_add(addend);
                    let symbol = self.symbols.iter().find(|symbol| symbol.address == chooser && symbol.size > 0);
                    self.import(&symbol.map_or("a function of many".to_owned(), |symbol| symbol.name.clone()))
                }
                (R_X86_64_64 | R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT, Some(symbol)) => {
                    if symbol.is_undefined() {
                        self.import(symbol.name().unwrap_or("?"))
                    } else {
                        base.wrapping_add(symbol.address()).wrapping_add(addend)
                    }
                }
                _ => {
                    self.unknown.insert(place);
                    continue;
                }
            };
            if matches!(r_type, R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT | R_X86_64_IRELATIVE) {
                self.bound.insert(place);
            }
            self.relocated.insert(place, value);
        }
    }

    /// The address that stands for a function of another file.
    fn import(&mut self, name: &str) -> u64 {
        let name = plain_name(name);
        if let Some((address, _)) = self.imports.iter().find(|(_, known)| **known == name) {
            return *address;
        }
        let address = IMPORTS + 16 * self.imports.len() as u64;
        self.imports.insert(address, name);
        address
    }

    fn segment(&self, address: u64) -> Option<&Segment> {
        self.segments
            .iter()
            .find(|segment| address >= segment.start && address - segment.start < segment.bytes.len() as u64)
    }

    /// The bytes of code from an address on.
    pub(crate) fn code(&self, address: u64) -> Option<&[u8]> {
        let segment = self.segment(address).filter(|segment| segment.executable)?;
        segment.bytes.get(usize::try_from(address - segment.start).ok()?..)
    }

    /// The number in so many bytes, when the process starts.
    pub(crate) fn number(&self, address: u64, bytes: u8) -> Option<u64> {
        let word = |at: u64| self.relocated.get(&at).copied();
        if bytes == 8
            && let Some(value) = word(address)
        {
            return Some(value);
        }
        let segment = self.segment(address)?;
        let start = usize::try_from(address - segment.start).ok()?;
        let slice = segment.bytes.get(start..start.checked_add(usize::from(bytes))?)?;
        // A part of what the loader writes.
        for (index, _) in slice.iter().enumerate() {
            let at = address + index as u64;
            if (at.saturating_sub(7)..=at).any(|from| word(from).is_some() || self.unknown.contains(&from)) {
                return None;
            }
        }
        Some(slice.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    /// Whether the program may write there; nothing where the file has no memory.
    pub(crate) fn is_writable(&self, address: u64) -> Option<bool> {
        let segment = self.segment(address)?;
        let is_relro = self.relro.iter().any(|(start, end)| (*start..*end).contains(&address));
        Some(segment.writable && !is_relro && !self.bound.contains(&address))
    }

    /// The symbols, by address.
    pub(crate) fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The functions or data of a name.
    pub(crate) fn named(&self, name: &str) -> Vec<&Symbol> {
        self.symbols.iter().filter(|symbol| symbol.name == name).collect()
    }

    /// The symbol that an address lies in, and how far.
    pub(crate) fn symbol_at(&self, address: u64, is_function: bool) -> Option<(&Symbol, u64)> {
        let end = self.symbols.partition_point(|symbol| symbol.address <= address);
        let candidates = self.symbols[..end].iter().rev().filter(|symbol| symbol.is_function == is_function);
        candidates
            .take(64)
            .find(|symbol| address - symbol.address < symbol.size.max(1))
            .map(|symbol| (symbol, address - symbol.address))
    }

    /// The name of the function that begins at an address, in this file or another.
    pub(crate) fn function_at(&self, address: u64) -> Option<&str> {
        if let Some(name) = self.imports.get(&address) {
            return Some(name);
        }
        self.symbol_at(address, true).filter(|(_, offset)| *offset == 0).map(|(symbol, _)| symbol.name.as_str())
    }

    /// All names of the function that begins at an address: the same code may have several.
    pub(crate) fn functions_at(&self, address: u64) -> Vec<&str> {
        if let Some(name) = self.imports.get(&address) {
            return vec![name];
        }
        let start = self.symbols.partition_point(|symbol| symbol.address < address);
        let here = self.symbols[start..].iter().take_while(|symbol| symbol.address == address);
        here.filter(|symbol| symbol.is_function).map(|symbol| symbol.name.as_str()).collect()
    }

    /// Whether the address stands for a function of another file.
    pub(crate) fn is_import(&self, address: u64) -> bool {
        self.imports.contains_key(&address)
    }
}

/// A name as its author wrote it: demangled, without hash and version.
fn plain_name(name: &str) -> String {
    let name = name.split('@').next().unwrap_or(name);
    format!("{:#}", rustc_demangle::demangle(name))
}
