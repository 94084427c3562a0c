//! Truth values and positions as certificates write them.

use serde::de::Error;

/// A truth value as 0 or 1.
pub(super) fn bit(value: bool) -> u8 {
    u8::from(value)
}

/// The truth value that 0 or 1 stands for.
pub(super) fn truth<E: Error>(bit: u8) -> Result<bool, E> {
    match bit {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(E::custom("expected 0 or 1")),
    }
}

/// An instruction, label or thread by number.
pub(super) fn id<T>(from_index: impl Fn(usize) -> T, number: u32) -> T {
    from_index(number as usize)
}

/// The number of an index type, which was made from 32 bits.
pub(super) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("arenas stay below 2^32 elements")
}
