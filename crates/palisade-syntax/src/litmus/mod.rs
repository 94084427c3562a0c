//! Litmus tests for x86: reader and writer.
//!
//! [`read`] understands the tests of the herd family of tools, in the `X86` syntax (Intel's order
//! of operands) and in the `X86_64` syntax (AT&T's). A test becomes a [`Program`] whose threads are
//! the columns of its table, with the [`Question`] its last lines ask. The guide's page on formats
//! says what is understood and where it departs from herd.
//!
//! The reader goes from text to tokens ([`lexer`]), finds the sections, reads initial state, table
//! and condition as written, lays the locations out in memory, lowers each column to code, cleans
//! the code up and builds the automaton.

mod assembly;
mod c;
mod cursor;
mod edit;
mod initial;
mod layout;
mod lexer;
mod lower;
mod mnemonics;
mod pointers;
mod question;
mod resolve;
mod sections;
mod writer;

#[cfg(test)]
mod tests;

pub use super::x86::Architecture;
pub(super) use c::Texts as CTexts;
pub use edit::{TableEditError, with_rows};
pub use writer::{FinalValue, Request, WrittenTest, write};

use super::x86::{automaton, code, fold, registers};
use crate::Diagnostic;
use palisade_model::program::{Posts, Program, SourceText, Value};
use palisade_semantics::{Quantifier, Question};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The address of the first location in a test in C that has addresses as values, so that no other
/// number is taken for one.
pub const FAR_ADDRESS: Value = 0x1000;

/// How wide a column of a table is made at most: the library's own padding ends at 2¹⁶.
const WIDEST: usize = 500;

/// A litmus test that was read.
#[derive(Clone, Debug)]
pub struct LitmusTest {
    /// The test's name.
    pub name: String,
    /// Its architecture; none if it is in C.
    pub architecture: Option<Architecture>,
    /// The quoted description, empty without one.
    pub description: String,
    /// The lines `key=value` before the initial state.
    pub information: Vec<(String, String)>,
    /// The program: one thread `P0`, `P1`, … per column.
    pub program: Program,
    /// What the test asks of final states.
    pub question: Question,
    /// What is documented per memory model (`with tso: ~exists; …`): the quantifier its condition
    /// then has.
    pub kinds: Vec<(String, Quantifier)>,
    /// Doubts and notes, in order of their places.
    pub warnings: Vec<Diagnostic>,
}

/// Whether a text is a litmus test in C, by its first word.
pub fn is_in_c(source: &SourceText) -> bool {
    !source.is_listing && c::is_c(&source.text)
}

/// Whether a litmus test in C calls functions of the Linux kernel.
pub fn is_of_kernel(source: &SourceText) -> bool {
    const BEGINNINGS: [&str; 6] = ["smp_", "rcu_", "srcu_", "spin_", "xchg", "cmpxchg"];
    const WORDS: [&str; 4] = ["READ_ONCE", "WRITE_ONCE", "atomic_t", "spinlock_t"];
    let is_one = |word: &str| WORDS.contains(&word) || BEGINNINGS.iter().any(|begin| word.starts_with(begin));
    let mut words = source.text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    is_in_c(source) && words.any(is_one)
}

/// Where the parts of a test in C stand, which must be right; nothing for other tests.
pub(super) fn c_texts(source: &Arc<SourceText>) -> Option<CTexts> {
    let is_c = c::is_c(&source.text);
    is_c.then(|| c::whole(source).ok()).flatten().map(|(_, texts)| texts)
}

/// Reads a litmus test.
pub fn read(source: Arc<SourceText>) -> Result<LitmusTest, Vec<Diagnostic>> {
    let source = source.as_litmus();
    if c::is_c(&source.text) {
        return c::read(&source);
    }
    let one = |error: Diagnostic| vec![error];
    // What is a comment in one language is none in another one.
    let text =
        lexer::without_comments(&source.text).map_err(|error| one(sections::foreign(&source.text).unwrap_or(error)))?;
    let sections = sections::sections(&text).map_err(one)?;
    let architecture = sections.architecture;
    let columns = assembly::columns(&text, sections.program, architecture)?;
    let items = initial::initial_state(&text, sections.initial).map_err(one)?;
    let written = question::question(&text, sections.condition).map_err(one)?;
    let layout = layout::Layout::new(&items, &columns, &written).map_err(one)?;
    let initial = resolve::initial_state(&items, &layout, architecture).map_err(one)?;
    let observed = resolve::observed_registers(&written, architecture).map_err(one)?;
    let mut warnings = sections.header.warnings;
    let mut errors = Vec::new();
    let mut threads = Vec::new();
    let none = BTreeMap::new();
    for column in &columns {
        let values = initial.registers.get(&column.number).unwrap_or(&none);
        match lower::lower(column, architecture, &layout, values) {
            Ok((lowered, noted)) => {
                let name = format!("P{}", column.number);
                let seen = observed.get(&column.number).map_or(&[][..], Vec::as_slice);
                let built = automaton::build(name, column.span, &lowered, architecture, values, seen);
                warnings.extend(noted);
                threads.push((column.number, built));
            }
            Err(found) => errors.extend(found),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let resolver = resolve::Resolver { architecture, layout: &layout, initial: &initial, threads: &threads };
    let question = resolve::question(&written, &resolver).map_err(one)?;
    let program = Program {
        name: sections.header.name.clone(),
        domain: None,
        addresses: layout.address_names(),
        initial_memory: initial.memory,
        threads: threads.into_iter().map(|(_, built)| built.thread).collect(),
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        posts: Posts::default(),
        source,
    };
    let question = pointers::only_pointers(&program, question);
    Ok(LitmusTest {
        name: sections.header.name,
        architecture: Some(architecture),
        description: sections.header.description,
        information: sections.header.information,
        program,
        question,
        kinds: written.kinds,
        warnings,
    })
}
