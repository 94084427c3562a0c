//! The initial state: registers, locations, their types and values.

use super::cursor::Cursor;
use super::lexer::Token;
use crate::Diagnostic;
use palisade_model::text::Span;

/// The type of a location or register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellType {
    /// The width.
    pub(super) bits: u8,
    /// Whether it has negative numbers.
    pub(super) signed: bool,
}

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WrittenValue {
    /// A number.
    Number(i128),
    /// The address of a location or of an element of it.
    Address {
        /// The location.
        name: String,
        /// The element.
        element: u32,
        /// Where it is written.
        span: Span,
    },
}

impl WrittenValue {
    /// Whether it is an address.
    pub(super) fn is_address(&self) -> bool {
        matches!(self, Self::Address { .. })
    }
}

/// What an item of the initial state is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InitialPlace {
    /// A register of a thread.
    Register {
        /// The thread's number.
        thread: u32,
        /// The register's name.
        name: String,
    },
    /// A location in memory.
    Location {
        /// Its name.
        name: String,
        /// The number of elements, when it is an array.
        length: Option<u32>,
    },
}

/// An item of the initial state.
#[derive(Clone, Debug)]
pub(super) struct InitialItem {
    pub(super) place: InitialPlace,
    pub(super) cell_type: Option<CellType>,
    /// The values given, one unless it is an array.
    pub(super) values: Vec<WrittenValue>,
    pub(super) span: Span,
}

/// The longest array there may be.
const LONGEST_ARRAY: u32 = 4096;

/// Reads the initial state.
pub(super) fn initial_state(text: &str, within: Span) -> Result<Vec<InitialItem>, Diagnostic> {
    let mut cursor = Cursor::new(text, within)?;
    let mut items = Vec::new();
    while !cursor.is_done() {
        if cursor.eat(";") {
            continue;
        }
        items.push(item(&mut cursor)?);
        if !cursor.is_done() {
            cursor.expect(";")?;
        }
    }
    Ok(items)
}

fn item(cursor: &mut Cursor<'_>) -> Result<InitialItem, Diagnostic> {
    let start = cursor.span();
    let cell_type = type_prefix(cursor)?;
    let place = place(cursor)?;
    let mut values = Vec::new();
    if cursor.eat("=") {
        if cursor.eat("{") {
            while !cursor.eat("}") {
                values.push(value(cursor)?);
                if !cursor.at("}") {
                    cursor.expect(",")?;
                }
            }
        } else {
            values.push(value(cursor)?);
        }
    }
    let span = start.to(cursor.previous_span());
    let room = match &place {
        InitialPlace::Location { length: Some(length), .. } => *length as usize,
        _ => 1,
    };
    if values.len() > room {
        return Err(Diagnostic::error(format!("{} values for {room} places", values.len()), span));
    }
    Ok(InitialItem { place, cell_type, values, span })
}

/// A type, when one stands before the place: names that another name, a `*` or a thread's number
/// follows.
fn type_prefix(cursor: &mut Cursor<'_>) -> Result<Option<CellType>, Diagnostic> {
    let start = cursor.span();
    let mut words = Vec::new();
    while let Some(Token::Name(word)) = cursor.peek() {
        let is_type_word = match cursor.peek_at(1) {
            Some(Token::Name(_) | Token::Number(_) | Token::Symbol("*")) => true,
            // `int [x]`, but `x[3]`.
            Some(Token::Symbol("[")) => matches!(cursor.peek_at(2), Some(Token::Name(_))),
            _ => false,
        };
        if !is_type_word {
            break;
        }
        words.push(word);
        cursor.take();
    }
    if cursor.eat("*") {
        while cursor.eat("*") {}
        return Ok(Some(CellType { bits: 64, signed: false }));
    }
    if words.is_empty() {
        return Ok(None);
    }
    let span = start.to(cursor.previous_span());
    named_type(&words).map(Some).ok_or_else(|| {
        Diagnostic::error(format!("`{}` is not a type that is understood", words.join(" ")), span)
            .with_expected(["an integer type such as `int`, `uint64_t` or `int8_t`"])
    })
}

/// The integer type that words name.
pub(super) fn named_type(words: &[&str]) -> Option<CellType> {
    let words: Vec<&str> =
        words.iter().copied().filter(|word| !matches!(*word, "_Atomic" | "volatile" | "const")).collect();
    let (bits, signed) = match words.as_slice() {
        ["char" | "int8_t" | "s8" | "atomic_char" | "atomic_schar"] | ["signed", "char"] => (8, true),
        ["uint8_t" | "u8" | "atomic_uchar"] | ["unsigned", "char"] => (8, false),
        ["short" | "int16_t" | "s16" | "atomic_short"] | ["short", "int"] => (16, true),
        ["uint16_t" | "u16" | "atomic_ushort"] | ["unsigned", "short"] => (16, false),
        [
            "pthread_mutex_t" | "pthread_spinlock_t" | "pthread_rwlock_t" | "pthread_cond_t" | "sem_t" | "spinlock_t"
            | "raw_spinlock_t",
        ] => (32, true),
        // Nothing accesses it: it names the sections that a grace period waits for.
        ["struct", "srcu_struct"] => (32, true),
        ["int" | "int32_t" | "s32" | "signed" | "atomic_int" | "atomic_t"] | ["signed", "int"] => (32, true),
        ["uint32_t" | "u32" | "unsigned" | "atomic_uint"] | ["unsigned", "int"] => (32, false),
        ["long" | "int64_t" | "s64" | "intptr_t" | "ssize_t" | "ptrdiff_t"] | ["long", "int" | "long"] => (64, true),
        ["atomic_long" | "atomic_llong" | "atomic64_t" | "atomic_long_t"] | ["long", "long", "int"] => (64, true),
        ["uint64_t" | "u64" | "uintptr_t" | "size_t" | "atomic_ulong" | "atomic_ullong" | "atomic_size_t"]
        | ["unsigned", "long"]
        | ["unsigned", "long", "long" | "int"] => (64, false),
        _ => return None,
    };
    Some(CellType { bits, signed })
}

fn place(cursor: &mut Cursor<'_>) -> Result<InitialPlace, Diagnostic> {
    if let Some(thread) = cursor.eat_thread_prefix() {
        let (name, _) = cursor.name("a register")?;
        return Ok(InitialPlace::Register { thread, name: name.to_owned() });
    }
    if cursor.eat("[") {
        let (name, _) = cursor.name("a location's name")?;
        cursor.expect("]")?;
        return Ok(InitialPlace::Location { name: name.to_owned(), length: None });
    }
    let (name, _) = cursor.name("a location or a register such as `0:rax`")?;
    let mut length = None;
    if cursor.eat("[") {
        let span = cursor.span();
        let written = cursor.number()?;
        let fits = u32::try_from(written).ok().filter(|length| (1..=LONGEST_ARRAY).contains(length));
        length =
            Some(fits.ok_or_else(|| {
                Diagnostic::error(format!("an array has between 1 and {LONGEST_ARRAY} elements"), span)
            })?);
        cursor.expect("]")?;
    }
    Ok(InitialPlace::Location { name: name.to_owned(), length })
}

/// Reads a value: a number or an address.
pub(super) fn value(cursor: &mut Cursor<'_>) -> Result<WrittenValue, Diagnostic> {
    if cursor.at_number() {
        return Ok(WrittenValue::Number(cursor.number()?));
    }
    cursor.eat("&");
    let start = cursor.span();
    let (name, _) = cursor.name("a number or the name of a location")?;
    if matches!(name, "ATOMIC_INIT" | "ATOMIC64_INIT") && cursor.eat("(") {
        let number = cursor.number()?;
        cursor.expect(")")?;
        return Ok(WrittenValue::Number(number));
    }
    let mut element = 0;
    if cursor.eat("[") {
        let span = cursor.span();
        element = u32::try_from(cursor.number()?)
            .map_err(|_| Diagnostic::error("an element's number is not negative", span))?;
        cursor.expect("]")?;
    }
    Ok(WrittenValue::Address { name: name.to_owned(), element, span: start.to(cursor.previous_span()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<InitialItem>, Diagnostic> {
        initial_state(text, Span { start: 0, end: text.len() })
    }

    #[test]
    fn forms_of_the_initial_state() {
        let items =
            read("x=1; uint64_t 0:rax; P1:EAX = -2; int t[2]={1,2}; int *p = &x; 0:rdi=x; [y]=0x10; uint8_t z;")
                .expect("all forms are understood");
        assert_eq!(items.len(), 8);
        assert_eq!(items[0].values, [WrittenValue::Number(1)]);
        assert_eq!(items[1].place, InitialPlace::Register { thread: 0, name: "rax".into() });
        assert_eq!(items[1].cell_type, Some(CellType { bits: 64, signed: false }));
        assert_eq!(items[2].values, [WrittenValue::Number(-2)]);
        assert_eq!(items[3].place, InitialPlace::Location { name: "t".into(), length: Some(2) });
        assert!(matches!(&items[4].values[..], [WrittenValue::Address { name, .. }] if name == "x"));
        assert_eq!(items[7].cell_type, Some(CellType { bits: 8, signed: false }));
        assert!(read("float x;").is_err());
        assert!(read("x=1 y=2").is_err());
        assert!(read("t[2]={1,2,3}").is_err());
    }
}
