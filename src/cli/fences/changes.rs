//! What changes of a program come to in its text: patches of the sources of machine code, and what
//! stands in their way.

use super::arguments::FencesArguments;
use super::repaired::no_text;
use crate::cli::Loaded;
use crate::fences::{Measure, RepairedText};
use crate::program::NoText;
use crate::report::proposal::{KeptPlace, Proposal};
use crate::syntax::litmus::is_in_c;
use crate::syntax::{Format, InputError, edit};
use std::collections::{BTreeMap, BTreeSet};

/// Where measures are to be taken, and what is asked for.
pub(in crate::cli) struct Wanted<'a> {
    /// The file of the program.
    pub(in crate::cli) file: &'a str,
    /// Whether there is no answer without changes of the sources.
    pub(in crate::cli) sources: bool,
    /// Whether there is none without a changed text.
    pub(in crate::cli) text: bool,
}

impl<'a> Wanted<'a> {
    /// What options of `palisade fences` ask for.
    pub(super) fn of(arguments: &'a FencesArguments) -> Self {
        Self { file: &arguments.file, sources: arguments.apply || arguments.diff, text: arguments.needs_text() }
    }
}

/// The changes of the sources of machine code for the measures taken, or why there are none, where
/// there is an answer without them. Of other programs why their text is not changed.
pub(in crate::cli) fn changes_of_text(
    wanted: &Wanted<'_>,
    loaded: &Loaded,
    measures: &[Measure],
    text: Option<&Result<RepairedText, NoText>>,
) -> Result<(Option<Proposal>, Option<String>), InputError> {
    if loaded.format != Format::Machine || measures.is_empty() {
        return Ok((None, no_text(wanted.file, wanted.text, text)?));
    }
    #[cfg(feature = "machine")]
    return match super::sources::propose(wanted.file, loaded, measures) {
        Ok(proposal) => Ok((Some(proposal), None)),
        Err(why) if wanted.sources => Err(InputError::file(wanted.file, why)),
        Err(why) => Ok((None, Some(why))),
    };
    #[cfg(not(feature = "machine"))]
    unreachable!("{} is not read without the reader of machine code", wanted.file)
}

/// Of machine code and of litmus tests in C, the measures that the text does not take, and where
/// that is so.
pub(in crate::cli) fn untaken(
    file: &str,
    loaded: &Loaded,
    offer: impl FnOnce() -> Vec<Measure>,
) -> (BTreeSet<Measure>, Vec<KeptPlace>) {
    #[cfg(feature = "machine")]
    if loaded.format == Format::Machine {
        return super::sources::withheld(file, loaded, &offer());
    }
    let _ = file;
    let (mut withheld, mut kept) = (BTreeSet::new(), BTreeMap::new());
    if !is_in_c(&loaded.program.source) {
        return (withheld, Vec::new());
    }
    let program = &loaded.program;
    for measure in offer().into_iter().filter(|measure| matches!(measure, Measure::Ordered { .. })) {
        let Err(error) = edit::apply(program, loaded.format, &[measure]) else { continue };
        withheld.insert(measure);
        // What is behind a call, and stands nowhere in the text, is no place.
        let span = measure.span(program);
        if span.start < span.end {
            let line = program.source.position(span.start).line;
            kept.entry(line).or_insert_with(|| error.to_string());
        }
    }
    let kept = kept.into_iter().map(|(line, reason)| KeptPlace { place: format!("line {line}"), reason });
    (withheld, kept.collect())
}
