//! How a variable holds a counter: whole, or cut to some bits.
//!
//! A value that is cut to b bits is a residue modulo 2^b, and what is cut in a wider register
//! afterwards need not be the same residue's least number: after `r <- u8(x)` and `s <- u32(r + 1)`
//! the register s holds 1 to 256. Either way a value tells the residue and the residue the value,
//! which lies in an interval of 2^b numbers. Turning goes around in the interval.

use crate::program::{BinaryOperator, Domain, Expression, UnaryOperator, Value};

/// What a variable, or an expression, has of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All of it: a turn by k adds k, modulo the size of a domain that wraps.
    Whole,
    /// The residue modulo 2^bits, as the number from `low` on that is congruent to it and less than
    /// 2^bits above; where no interval is known, as some number that is congruent to it.
    Residue {
        /// 1 to 64.
        bits: u8,
        /// Where the interval begins.
        low: Option<i128>,
    },
}

/// Where an expression is computed.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// The domain, which wraps.
    pub(super) domain: Option<Domain>,
    /// Whether the expression is an address, which is computed in plain integers.
    pub(super) is_address: bool,
}

impl Form {
    /// The number that a value of this form becomes by a turn. Whole ones are the business of
    /// whoever knows the domain.
    pub(super) fn turned_residue(low: i128, bits: u8, value: Value, by: Value) -> Value {
        let sum = i128::from(value) + i128::from(by);
        let turned = low + (sum - low).rem_euclid(1 << bits);
        Value::try_from(turned).expect("the values of a form are values")
    }

    /// Whether a value is one of the form's.
    pub(super) fn has(self, value: Value) -> bool {
        match self {
            Form::Whole => true,
            Form::Residue { bits, low } => low.is_some_and(|low| (low..low + (1 << bits)).contains(&value.into())),
        }
    }

    /// Whether two values of this form are equal just where their counters are, and a variable of
    /// this form is turned as they are.
    pub(super) fn is_definite(self) -> bool {
        !matches!(self, Form::Residue { low: None, .. })
    }

    /// Whether a variable can hold values of this form: the interval is known, and one of 64-bit
    /// values.
    pub(super) fn can_be_held(self) -> bool {
        match self {
            Form::Whole => true,
            Form::Residue { bits, low } => low.is_some_and(|low| {
                low >= i128::from(Value::MIN) && low + (1_i128 << bits) - 1 <= i128::from(Value::MAX)
            }),
        }
    }

    /// What is known when a number is added, where that is known.
    pub(super) fn plus(self, number: Option<Value>, setting: Setting) -> Self {
        let Form::Residue { bits, low } = self else { return self };
        let low = low.zip(number).map(|(low, number)| low + i128::from(number));
        Form::Residue { bits, low }.within(setting)
    }

    /// What is left after a cut to some bits; nothing where turns do not commute with the cut.
    pub(super) fn cut(self, (bits, signed): (u8, bool), setting: Setting) -> Option<Self> {
        let range = interval(bits, signed);
        let cut = Form::Residue { bits, low: Some(range.0) };
        match (self, setting.domain) {
            (Form::Whole, None) => Some(cut),
            (Form::Whole, Some(domain)) => {
                let (size, values) = (super::size(domain), 1_i128 << bits);
                if values < size && size % values == 0 {
                    let cut = cut.within(setting);
                    return cut.is_definite().then_some(cut);
                }
                // The cut changes numbers by multiples of the domain's size, and so nothing in it.
                (values % size == 0 && !setting.is_address).then_some(Form::Whole)
            }
            (Form::Residue { bits: own, .. }, _) if bits <= own => Some(cut.within(setting)),
            (Form::Residue { bits: own, low }, _) => {
                let fits = |low: &i128| range.0 <= *low && low + (1_i128 << own) - 1 <= range.1;
                Some(Form::Residue { bits: own, low: low.filter(fits) })
            }
        }
    }

    /// The form, of which the interval is not known where a domain wraps some of it.
    fn within(self, setting: Setting) -> Self {
        let (Form::Residue { bits, low: Some(low) }, Some(domain)) = (self, setting.domain) else { return self };
        let fits = i128::from(domain.low) <= low && low + (1_i128 << bits) - 1 <= i128::from(domain.high);
        Form::Residue { bits, low: Some(low).filter(|_| fits || setting.is_address) }
    }
}

/// The least and the greatest number of so many bits.
fn interval(bits: u8, signed: bool) -> (i128, i128) {
    let values = 1_i128 << bits;
    if signed { (-values / 2, values / 2 - 1) } else { (0, values - 1) }
}

/// The operand that an expression cuts to some bits: by a function, or by a mask of 8, 16 or 32
/// bits, as compilers write it, where the domain has no more values. (Masks of fewer bits number
/// the elements of rings.)
pub(super) fn cut_operand(expression: &Expression, domain: Option<Domain>) -> Option<(&Expression, (u8, bool))> {
    match expression {
        Expression::Unary(UnaryOperator::Truncate { bits, signed }, operand) => Some((operand, (*bits, *signed))),
        Expression::Binary(BinaryOperator::BitAnd, operand, mask) => {
            let Expression::Constant(mask) = **mask else { return None };
            let bits = [8, 16, 32].into_iter().find(|bits| mask == (1 << bits) - 1)?;
            // The mask wraps to all bits of the domain's values.
            let is_wide = domain.is_none_or(|domain| (1 << bits) % super::size(domain) == 0);
            is_wide.then_some((operand, (bits, false)))
        }
        _ => None,
    }
}

/// Whether residues modulo the size of a domain tell those of so many bits, or the other way round.
pub(super) fn tells(domain: Domain, bits: u8) -> bool {
    let (size, values) = (super::size(domain), 1_i128 << bits);
    size % values == 0 || values % size == 0
}
