//! C's integer types and its arithmetic on them.
//!
//! A value of a type is kept as its number; one of 64 bits as the signed number with the same bits,
//! whatever its type. Arithmetic is that of the machine: results are cut to the width of C's common
//! type, also where C leaves an overflow undefined.

use super::lexer::Number;
use crate::litmus::initial::{CellType, named_type};
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use palisade_model::program::{BinaryOperator, UnaryOperator, truncate};
use palisade_model::text::Span;

/// The type of addresses.
pub(super) const POINTER: CellType = CellType { bits: 64, signed: false };

/// `int`.
pub(super) const INT: CellType = CellType { bits: 32, signed: true };

/// The type that words name, as far as these stand for an integer, and whether objects of it are
/// atomic.
pub(super) fn type_of(words: &[&str]) -> Option<(CellType, bool)> {
    let plain: Vec<&str> = words.iter().copied().filter(|word| *word != "_Atomic").collect();
    let is_atomic = plain.len() < words.len();
    let bare: Vec<&str> = plain.iter().copied().filter(|word| !matches!(*word, "volatile" | "const")).collect();
    let cell = named_type(&bare)?;
    Some((cell, is_atomic || bare.iter().any(|word| word.starts_with("atomic") || is_posix(word))))
}

/// Whether a type is one of objects that calls alone access.
fn is_posix(word: &str) -> bool {
    word.starts_with("pthread_") || matches!(word, "sem_t" | "spinlock_t" | "raw_spinlock_t" | "srcu_struct")
}

/// What an address points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pointee {
    /// The type behind all stars.
    pub(super) base: CellType,
    /// Whether objects of that type are atomic in C11.
    pub(super) is_atomic: bool,
    /// How many stars stand between: with none, an object of the type itself is pointed to.
    pub(super) stars: u8,
}

impl Pointee {
    /// The type of the object that is pointed to.
    pub(super) fn cell(self) -> CellType {
        if self.stars == 0 { self.base } else { POINTER }
    }

    /// Whether objects of the same size are pointed to, at each level.
    pub(super) fn is_like(self, other: Self) -> bool {
        self.cell().bits == other.cell().bits
            && match (self.further(), other.further()) {
                (Some(own), Some(other)) => own.is_like(other),
                _ => true,
            }
    }

    /// What the object that is pointed to points to in turn.
    pub(super) fn further(self) -> Option<Self> {
        Some(Self { stars: self.stars.checked_sub(1)?, ..self })
    }
}

/// What a body does with addresses as values.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    /// The locations whose addresses are values.
    pub(super) taken: Vec<String>,
    /// The types of what integers are the addresses of, each with a place.
    pub(super) guessed: Vec<(CellType, Span)>,
}

/// Whether a word begins a type.
pub(super) fn is_type_word(word: &str) -> bool {
    matches!(word, "_Atomic" | "volatile" | "const" | "struct" | "union" | "void" | "bool" | "_Bool" | "atomic_bool")
        || matches!(word, "register" | "static" | "auto" | "float" | "double" | "spinlock_t" | "atomic_flag")
        || named_type(&[word]).is_some()
}

/// An expression with its type.
#[derive(Debug)]
pub(super) struct Typed<'s> {
    /// The expression in the native language.
    pub(super) raw: RawExpression<'s>,
    /// Its type.
    pub(super) cell: CellType,
    /// Its value, if the text shows it.
    pub(super) constant: Option<i128>,
    /// What it points to, if it is an address.
    pub(super) points: Option<Pointee>,
}

/// Whether every value of one type is a value of the other, as they are kept.
fn holds(wide: CellType, narrow: CellType) -> bool {
    wide.bits == 64
        || match (wide.signed, narrow.signed) {
            (true, true) | (false, false) => narrow.bits <= wide.bits,
            (true, false) => narrow.bits < wide.bits,
            (false, true) => false,
        }
}

/// The function of the native language that cuts to a type.
fn width_name(cell: CellType) -> &'static str {
    match (cell.bits, cell.signed) {
        (8, true) => "i8",
        (8, false) => "u8",
        (16, true) => "i16",
        (16, false) => "u16",
        (32, true) => "i32",
        (32, false) => "u32",
        _ => "i64",
    }
}

/// An expression cut to a type.
pub(super) fn cut(raw: RawExpression<'_>, cell: CellType) -> RawExpression<'_> {
    let (span, extent) = (raw.span, raw.extent);
    let kind = ExpressionKind::Apply(Name { text: width_name(cell), span }, vec![raw]);
    let mut cut = RawExpression::new(kind, span);
    cut.extent = extent;
    cut
}

/// Two types' common one.
pub(super) fn common(left: CellType, right: CellType) -> CellType {
    let (left, right) = (left.promoted(), right.promoted());
    let bits = left.bits.max(right.bits);
    let decides = |cell: CellType| cell.bits == bits && !cell.signed;
    CellType { bits, signed: !decides(left) && !decides(right) }
}

impl CellType {
    /// The type after C's promotion to `int`.
    pub(super) fn promoted(self) -> Self {
        if self.bits < 32 { INT } else { self }
    }

    /// Whether it has the unsigned numbers of 64 bits, which are kept as signed ones.
    pub(super) fn is_kept_otherwise(self) -> bool {
        self.bits == 64 && !self.signed
    }
}

impl<'s> Typed<'s> {
    /// A value that a place or a variable of a type holds.
    pub(super) fn held(raw: RawExpression<'s>, cell: CellType) -> Self {
        Self { raw, cell, constant: None, points: None }
    }

    /// An address.
    pub(super) fn address(raw: RawExpression<'s>, points: Pointee) -> Self {
        Self { raw, cell: POINTER, constant: None, points: Some(points) }
    }

    /// A known value, cut to its type.
    pub(super) fn known(value: i128, cell: CellType, span: Span) -> Self {
        let value = truncate(value, cell.bits, cell.signed || cell.bits == 64);
        let raw = RawExpression::new(ExpressionKind::Constant(value), span);
        Self { raw, cell, constant: Some(value), points: None }
    }

    /// A number, with the type that C gives it.
    pub(super) fn number(number: Number, span: Span) -> Self {
        let Number { value, unsigned, long, decimal } = number;
        let types = [(32, true), (32, false), (64, true), (64, false)].map(|(bits, signed)| CellType { bits, signed });
        let fits = |cell: &CellType| value < 1_i128 << (cell.bits - u8::from(cell.signed));
        let allowed = |cell: &CellType| {
            (!long || cell.bits == 64)
                && if unsigned { !cell.signed } else { cell.signed || !decimal || cell.bits == 64 }
        };
        let cell = types.into_iter().find(|cell| allowed(cell) && fits(cell)).unwrap_or(types[3]);
        Self::known(value, cell, span)
    }

    /// The value converted to a type.
    pub(super) fn converted(self, cell: CellType) -> Self {
        match self.constant {
            Some(value) => {
                let extent = self.raw.extent;
                let mut known = Self::known(value, cell, self.raw.span);
                known.raw.extent = extent;
                known
            }
            None if holds(cell, self.cell) => Self { cell, points: None, ..self },
            None => Self::held(cut(self.raw, cell), cell),
        }
    }

    /// A prefix operator applied to the value.
    pub(super) fn prefixed(self, operator: UnaryOperator, start: Span) -> Self {
        let span = start.to(self.raw.extent);
        if operator == UnaryOperator::Not {
            let raw = RawExpression::new(ExpressionKind::Unary(operator, Box::new(self.raw)), span);
            return Self::held(raw, INT);
        }
        let cell = self.cell.promoted();
        let of_known = |value: i128| if operator == UnaryOperator::Negate { -value } else { !value };
        match self.constant {
            Some(value) => Self::known(of_known(value), cell, span),
            None => {
                let raw = RawExpression::new(ExpressionKind::Unary(operator, Box::new(self.raw)), span);
                Self::held(cut(raw, cell), cell)
            }
        }
    }

    /// An operator of arithmetic between two values of one type; the result has that type, too.
    pub(super) fn arithmetic(operator: BinaryOperator, left: Self, right: Self) -> Self {
        use BinaryOperator as Op;
        let cell = left.cell;
        let raw = RawExpression::binary(operator, left.raw, right.raw);
        let stays = matches!(operator, Op::BitAnd | Op::BitOr | Op::BitXor | Op::ShiftRight);
        Self::held(if stays { raw } else { cut(raw, cell) }, cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(bits: u8, signed: bool) -> CellType {
        CellType { bits, signed }
    }

    #[test]
    fn common_types_are_those_of_c() {
        for (left, right, expected) in [
            (cell(8, false), cell(16, true), INT),
            (INT, cell(32, false), cell(32, false)),
            (cell(64, true), cell(32, false), cell(64, true)),
            (cell(64, true), cell(64, false), cell(64, false)),
        ] {
            assert_eq!(common(left, right), expected);
            assert_eq!(common(right, left), expected);
        }
    }

    #[test]
    fn numbers_have_the_first_type_that_holds_them() {
        let number = |value, unsigned, long, decimal| {
            Typed::number(Number { value, unsigned, long, decimal }, Span::default()).cell
        };
        assert_eq!(number(1, false, false, true), INT);
        assert_eq!(number(1 << 31, false, false, true), cell(64, true));
        assert_eq!(number(1 << 31, false, false, false), cell(32, false));
        assert_eq!(number(1, true, false, true), cell(32, false));
        assert_eq!(number(1, false, true, true), cell(64, true));
        let largest = Typed::number(
            Number { value: i128::from(u64::MAX), unsigned: true, long: false, decimal: true },
            Span::default(),
        );
        assert_eq!((largest.cell, largest.constant), (cell(64, false), Some(-1)));
    }
}
