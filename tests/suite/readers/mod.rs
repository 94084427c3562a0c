//! What holds of every reader, whatever the bytes: no panic, errors at places inside the text, and
//! what is printed is read again as what was read.
//!
//! The tests ask this of the seeds in `tests/readers` and of texts made from them; the fuzz targets
//! in `fuzz` ask it of everything that they come upon. Both include this file, so that a fuzzer's
//! find becomes a test by adding the file.

mod evidence;
#[cfg(feature = "machine")]
mod machine;
mod nets;
mod options;
mod programs;

/// A reader: its name, which is that of its fuzz target and of its folder of seeds, and what holds
/// of it.
pub(crate) type Reader = (&'static str, fn(&[u8]));

/// Every reader.
pub(crate) const READERS: &[Reader] = &[
    ("native", programs::native),
    ("structured", programs::native),
    ("trencher", programs::trencher),
    ("litmus", programs::litmus),
    ("litmus_c", programs::litmus),
    ("memorax", programs::memorax),
    ("tpl", programs::tpl),
    ("spec", nets::spec),
    ("tts", nets::tts),
    ("lola", nets::lola),
    ("formula", nets::formula),
    ("tina", nets::tina),
    ("pnml", nets::pnml),
    ("mcc", nets::mcc),
    ("evidence_program", evidence::program),
    ("evidence_witness", evidence::program),
    ("evidence_net", evidence::net),
    ("costs", options::costs),
    ("options", options::options),
    #[cfg(feature = "machine")]
    ("roles", machine::roles),
    #[cfg(feature = "machine")]
    ("image", machine::image),
];

/// Asks a reader about an input.
///
/// # Panics
///
/// When something that should hold does not.
pub(crate) fn check(reader: &str, input: &[u8]) {
    let (_, holds) = READERS.iter().find(|(name, _)| *name == reader).expect("the reader is listed");
    holds(input);
}
