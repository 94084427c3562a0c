//! What holds of the reader of evidence, and of the checker behind it.
//!
//! Evidence that is read and written is the same, and evidence that is accepted tells the truth:
//! the brute-force oracle knows which of the small programs here are robust, and of the nets it is
//! known which questions are answered with yes.

use palisade::evidence::{Evidence, ProgramSubject};
use palisade::net::{Document, Format as NetFormat, Problem, QueryFormat, read_with_query};
use palisade::program::{Copies, Program, SourceText};
use palisade::semantics::oracle::robust;
use palisade::semantics::{Bounds, Instance};
use palisade::syntax::{self, Format};
use palisade::verify::{check_net_evidence, check_program_evidence};
use std::sync::LazyLock;

/// The texts of programs that evidence may be about. All are free of loops and of `r <- *`, so that
/// the oracle answers.
const PROGRAMS: [&str; 4] = [
    include_str!("../../readers/inputs/broken.pal"),
    include_str!("../../readers/inputs/fenced.pal"),
    include_str!("../../readers/inputs/section.pal"),
    include_str!("../../readers/inputs/indirect.pal"),
];

/// A net that evidence may be about: its text and format, its question's, and whether a target can
/// be covered.
type KnownNet = (&'static str, NetFormat, Option<(&'static str, QueryFormat)>, bool);

/// The nets that evidence may be about.
const NETS: [KnownNet; 4] = [
    (include_str!("../../readers/inputs/lock.spec"), NetFormat::Spec, None, false),
    (include_str!("../../readers/inputs/broken-lock.spec"), NetFormat::Spec, None, true),
    (
        include_str!("../../readers/inputs/counter.lola"),
        NetFormat::Lola,
        Some((include_str!("../../readers/inputs/counter.formula"), QueryFormat::Formula)),
        true,
    ),
    (
        include_str!("../../readers/inputs/threads.tts"),
        NetFormat::Tts,
        Some((include_str!("../../readers/inputs/threads.prop"), QueryFormat::Prop)),
        false,
    ),
];

/// The test asks the oracle about instances with at most so many copies.
const MOST_COPIES: u64 = 4;

/// Evidence that is read; it survives writing.
fn read(input: &[u8]) -> Option<Evidence> {
    match Evidence::read(input) {
        Ok(evidence) => {
            let text = evidence.to_text();
            let again = Evidence::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(again, evidence, "{text}");
            Some(evidence)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// Evidence about programs, robust or not.
pub(super) fn program(input: &[u8]) {
    let Some(evidence) = read(input) else { return };
    let (Evidence::Robust(subject, _) | Evidence::NotRobust(subject, _)) = &evidence else { return };
    for text in PROGRAMS {
        let Some(program) = meant(text, subject) else { continue };
        match check_program_evidence(&program, &evidence) {
            Err(failure) => assert!(!failure.to_string().is_empty()),
            Ok(()) => tells_the_truth(&program, &evidence),
        }
    }
}

/// The program with the options that the evidence states.
fn meant(text: &str, subject: &ProgramSubject) -> Option<Program> {
    let source = SourceText::new("input.pal", text);
    let mut program = syntax::parse(source, Format::Native).expect("the programs are well formed").program;
    subject.apply_options(&mut program);
    syntax::check(&mut program).ok()?;
    Some(program)
}

/// What is accepted agrees with the oracle: about the instance of a witness, or about the program's
/// copies, one, two and three of a thread with any number.
fn tells_the_truth(program: &Program, evidence: &Evidence) {
    let instances = match evidence {
        Evidence::NotRobust(_, witness) => vec![witness.instance.clone()],
        _ => (1..=3).map(|any| with_copies(program, any)).collect(),
    };
    for instance in instances.into_iter().filter(|instance| instance.total() <= MOST_COPIES) {
        if let Ok(answer) = robust(program, &instance, &Bounds::default()) {
            let claimed = matches!(evidence, Evidence::Robust(..));
            assert_eq!(answer.is_robust(), claimed, "{instance:?} of {}", program.source.text);
        }
    }
}

/// The instance in which threads with any number of copies have so many.
fn with_copies(program: &Program, any: u64) -> Instance {
    let counts = program.threads.iter().map(|thread| match thread.copies {
        Copies::Exactly(count) => count,
        Copies::Any => any,
    });
    Instance::new(counts.collect())
}

/// Evidence about nets.
pub(super) fn net(input: &[u8]) {
    let Some(evidence) = read(input) else { return };
    for (net, question, problem, coverable) in PROBLEMS.iter() {
        match check_net_evidence(problem, net.as_bytes(), question.map(str::as_bytes), &evidence) {
            Err(failure) => assert!(!failure.to_string().is_empty()),
            Ok(()) => assert_eq!(*coverable, matches!(evidence, Evidence::Coverable(..)), "{net}"),
        }
    }
}

/// A net's text, its question's, both read, and whether a target can be covered.
type ReadNet = (&'static str, Option<&'static str>, Problem, bool);

static PROBLEMS: LazyLock<Vec<ReadNet>> = LazyLock::new(|| {
    let read = |(net, format, query, coverable): KnownNet| {
        let document = Document { name: "input", bytes: net.as_bytes(), format: Some(format) };
        let question =
            query.map(|(text, format)| Document { name: "question", bytes: text.as_bytes(), format: Some(format) });
        let problem = read_with_query(document, question, None).unwrap_or_else(|error| panic!("{error}"));
        (net, query.map(|(text, _)| text), problem, coverable)
    };
    NETS.into_iter().map(read).collect()
});
