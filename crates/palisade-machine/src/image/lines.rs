//! Where in the sources an instruction comes from, through all frames that were inlined.

use addr2line::gimli::{
    DW_AT_comp_dir, DW_AT_producer, DW_TAG_atomic_type, Dwarf, EndianSlice, FileEntry, RunTimeEndian, SectionId,
};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};
use std::collections::BTreeSet;
use std::path::Path;

/// One of the functions that an instruction belongs to by inlining.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The function's name.
    pub(crate) function: Option<String>,
    /// The file's path as the compiler knew it.
    pub(crate) file: String,
    /// The line, from 1; 0 where the compiler does not say.
    pub(crate) line: u32,
    /// The column, from 1; 0 where the compiler does not say.
    pub(crate) column: u32,
}

impl Frame {
    /// Whether it is of Rust's own libraries, whose lines people do not look at.
    pub(crate) fn is_of_the_language(&self) -> bool {
        ["/library/core/", "/library/std/", "/library/alloc/", "/include/c++/"]
            .iter()
            .any(|part| self.file.contains(part))
            || is_header(&self.file)
    }

    /// Whether it is of code that comes with the compiler, or of what calls the role: nothing that
    /// can be changed there helps.
    pub(crate) fn is_of_a_library(&self) -> bool {
        let is_of_harness = self.function.as_deref().is_some_and(|name| name.starts_with("palisade_harness::"));
        self.is_of_the_language()
            || self.file.starts_with("/rustc/")
            || self.file.starts_with("/rust/")
            || is_of_harness
    }

    /// The file's name without its folders.
    pub(crate) fn file_name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or(&self.file)
    }
}

/// The file's table of lines.
pub(crate) struct Lines<'a> {
    context: Option<addr2line::Context<EndianSlice<'a, RunTimeEndian>>>,
    /// What is added to the file's addresses.
    base: u64,
}

impl<'a> Lines<'a> {
    /// Reads the tables of a file; without any, nothing is known of positions.
    pub(crate) fn read(bytes: &'a [u8], base: u64) -> Self {
        let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else { return Self { context: None, base } };
        let section = |id: SectionId| -> Result<EndianSlice<'a, RunTimeEndian>, addr2line::gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|section| section.data().ok()).unwrap_or_default();
            Ok(EndianSlice::new(data, RunTimeEndian::Little))
        };
        let context = Dwarf::load(section).and_then(addr2line::Context::from_dwarf).ok();
        Self { context, base }
    }

    /// The frames of an instruction, the innermost first.
    pub(crate) fn frames(&self, address: u64) -> Vec<Frame> {
        let Some(context) = &self.context else { return Vec::new() };
        let Ok(mut found) = context.find_frames(address.wrapping_sub(self.base)).skip_all_loads() else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let Some(location) = frame.location else { continue };
            let name = frame.function.and_then(|function| function.demangle().ok().map(|name| plain(name.as_ref())));
            frames.push(Frame {
                function: name,
                file: location.file.unwrap_or("?").to_owned(),
                line: location.line.unwrap_or(0),
                column: location.column.unwrap_or(0),
            });
        }
        frames
    }

    /// Whether the code at an address was compiled with what is around it: Rust's own libraries
    /// come compiled. Where there is no debug information, nobody knows.
    pub(crate) fn is_of_this_build(&self, address: u64) -> bool {
        let folder = || {
            let context = self.context.as_ref()?;
            let unit = context.find_dwarf_and_unit(address.wrapping_sub(self.base)).skip_all_loads()?;
            let mut entries = unit.entries();
            let root = entries.next_dfs().ok()??;
            let folder = unit.attr_string(root.attr_value(DW_AT_comp_dir)?).ok()?;
            Some(folder.to_string_lossy().into_owned())
        };
        folder().is_some_and(|folder| !["/rustc/", "/rust/deps/"].iter().any(|part| folder.contains(part)))
    }

    /// Whether the code at an address belongs to a source that was read with `palisade_atomics.h`,
    /// which is so without optimisation alone.
    pub(crate) fn is_read_with_header(&self, address: u64) -> bool {
        let is_read = || {
            let context = self.context.as_ref()?;
            let unit = context.find_dwarf_and_unit(address.wrapping_sub(self.base)).skip_all_loads()?;
            let files = unit.line_program.as_ref()?.header().file_names();
            let name =
                |file: &FileEntry<_>| Some(unit.attr_string(file.path_name()).ok()?.to_string_lossy().into_owned());
            Some(files.iter().filter_map(name).any(|name| is_header(&name)))
        };
        is_read().unwrap_or(false)
    }

    /// Whether the source of the code at an address may have variables of `_Atomic` types, as far
    /// as debug information says.
    pub(crate) fn has_atomic_types(&self, address: u64) -> bool {
        let has = || {
            let context = self.context.as_ref()?;
            let unit = context.find_dwarf_and_unit(address.wrapping_sub(self.base)).skip_all_loads()?;
            let mut known = (1..).map_while(|code| unit.abbreviations.get(code));
            // Older versions have no word for them.
            Some(unit.header.version() < 5 || known.any(|entry| entry.tag() == DW_TAG_atomic_type))
        };
        has().unwrap_or(true)
    }

    /// What the debug information says of the compilers that have made the functions at these
    /// addresses, with their options.
    pub(crate) fn builds(&self, addresses: impl Iterator<Item = u64>) -> BTreeSet<String> {
        addresses.filter_map(|address| self.producer(address)).collect()
    }

    fn producer(&self, address: u64) -> Option<String> {
        let context = self.context.as_ref()?;
        let unit = context.find_dwarf_and_unit(address.wrapping_sub(self.base)).skip_all_loads()?;
        let mut entries = unit.entries();
        let root = entries.next_dfs().ok()??;
        let producer = unit.attr_string(root.attr_value(DW_AT_producer)?).ok()?;
        // A line of the listing is one line.
        Some(producer.to_string_lossy().split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// Whether a file is the header that has the atomics of C as calls.
pub(crate) fn is_header(file: &str) -> bool {
    Path::new(file).file_name().is_some_and(|name| name == "palisade_atomics.h")
}

/// A demangled name without its hash.
fn plain(name: &str) -> String {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => path.to_owned(),
        _ => name.to_owned(),
    }
}
