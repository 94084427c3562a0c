//! What a rung of the ladder says about the one property of a program under TSO.

use crate::checked::prove;
use palisade::program::{Program, SourceText};
use palisade::properties::{Answer, ProveOptions, Rung, TargetAnswer, Why};
use palisade::semantics::Model;
use palisade::syntax::{Format, read};

/// A program in the native language.
pub(crate) fn program(text: &str) -> Program {
    read(SourceText::new("rungs.pal", text), Format::Native).expect("it can be read").program
}

/// The answer of one rung or of all, with room for eight stores or snapshots.
pub(crate) fn answer(program: &Program, by: Option<Rung>) -> TargetAnswer {
    let options = ProveOptions { by, buffer: 8, ..ProveOptions::new(Model::Tso) };
    let proof = prove(program, None, &options).expect("every step has a value");
    proof.answers.into_iter().next().expect("there is a property")
}

/// Why a rung has no answer.
pub(crate) fn why_open(program: &Program, rung: Rung) -> Why {
    match answer(program, Some(rung)).answer {
        Answer::Open(why) => why,
        other => panic!("{rung:?}: {other:?}"),
    }
}

/// Asserts that what a rung reaches it leaves to the one that gives a computation.
pub(crate) fn assert_left_to_buffers(program: &Program, rung: Rung) {
    assert_eq!(why_open(program, rung), Why::ReachedOnly);
    for by in [None, Some(Rung::Buffers)] {
        let found = answer(program, by);
        assert!(matches!(found.answer, Answer::Violated(_)), "{by:?}: {found:?}");
    }
}
