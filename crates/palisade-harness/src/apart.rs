//! Keeps roles apart that come to the same instructions.
//!
//! An optimised build merges such functions into one. Every role would then have the lines, and the
//! names of captured variables, of whichever role was kept. What makes a function differ here is
//! a comment for the assembler: it names another function for each role, and no instruction comes
//! of it.

#![allow(unsafe_code)]

use std::arch::asm;

/// Makes the function that it is called in one of this type alone.
#[inline(always)]
pub(crate) fn keep_apart<F>() {
    // Miri runs no text for an assembler, and merges no functions.
    if cfg!(miri) {
        return;
    }
    // SAFETY: the text is a comment, so nothing is executed.
    unsafe { asm!("/* {} */", sym this::<F>, options(nomem, nostack, preserves_flags)) }
}

/// A function that differs from that of another type, as `that` does.
fn this<F>() {
    // SAFETY: the text is a comment, so nothing is executed.
    unsafe { asm!("/* {} */", sym that::<F>, options(nomem, nostack, preserves_flags)) }
}

/// A function that differs from that of another type, as `this` does: one that only named itself
/// would not.
fn that<F>() {
    // SAFETY: the text is a comment, so nothing is executed.
    unsafe { asm!("/* {} */", sym this::<F>, options(nomem, nostack, preserves_flags)) }
}
