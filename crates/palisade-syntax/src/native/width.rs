//! Functions that cut values to a width.

/// The width that `u8`, `i32` and the like cut to.
pub(crate) fn width(function: &str) -> Option<(u8, bool)> {
    let signed = function.starts_with('i');
    let digits = function.strip_prefix(['u', 'i']).filter(|digits| !digits.starts_with('0'))?;
    let bits = digits.parse().ok().filter(|bits| (1..=64).contains(bits))?;
    Some((bits, signed))
}
