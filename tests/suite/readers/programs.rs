//! What holds of the readers of programs.

use palisade::fences::{Measure, with_measures};
use palisade::program::{Action, Copies, CopiesOverride, DomainOverride, Label, LabelId, Program, Role, Thread};
use palisade::report::documents::{self, Finding};
use palisade::syntax::edit::apply;
use palisade::syntax::{Diagnostic, Format, check, laid_out, parse, print, render, text_of};
use palisade::text::{SourceText, Span};
use std::sync::Arc;

/// Programs with more instructions than this are not printed, changed and read again: that would
/// slow the fuzzer down.
const SMALL: usize = 300;

pub(super) fn native(input: &[u8]) {
    program(input, Format::Native);
}

pub(super) fn trencher(input: &[u8]) {
    program(input, Format::Trencher);
}

pub(super) fn memorax(input: &[u8]) {
    program(input, Format::Memorax);
}

pub(super) fn tpl(input: &[u8]) {
    program(input, Format::Tpl);
}

pub(super) fn litmus(input: &[u8]) {
    program(input, Format::Litmus);
}

/// What holds of any bytes that a reader takes for a program's text.
fn program(input: &[u8], format: Format) {
    let source = match text_of("input.x", input) {
        Ok(source) => source,
        Err(error) => {
            error.render(true);
            documents::refusal(&error);
            return;
        }
    };
    let parsed = match parse(source.clone(), format) {
        Ok(parsed) => parsed,
        Err(errors) => return can_be_shown(&errors, &source, true),
    };
    can_be_shown(&parsed.warnings, &source, false);
    let mut program = parsed.program;
    if program.threads.iter().map(|thread| thread.instructions.len()).sum::<usize>() <= SMALL {
        survives_printing(&program, format);
        changes_with_options(&program, &source);
        can_be_edited(&program, format);
        stays_when_laid_out(&program, format);
    }
    match check(&mut program) {
        Ok(warnings) => can_be_shown(&warnings, &source, false),
        Err(errors) => can_be_shown(&errors, &source, true),
    }
}

/// Diagnostics point into the text and can be shown; errors are there, and not too many.
pub(super) fn can_be_shown(diagnostics: &[Diagnostic], source: &Arc<SourceText>, refused: bool) {
    assert!(!refused || !diagnostics.is_empty(), "refused without an error");
    assert!(!refused || diagnostics.len() <= 20, "{} errors", diagnostics.len());
    for diagnostic in diagnostics {
        let Span { start, end } = diagnostic.span;
        assert!(start <= end && end <= source.text.len(), "{diagnostic:?}");
        assert!(source.text.is_char_boundary(start) && source.text.is_char_boundary(end), "{diagnostic:?}");
    }
    for diagnostic in diagnostics.iter().take(20) {
        render(diagnostic, source, true);
        documents::text(&Finding::new(diagnostic, source));
    }
}

/// Reads what was printed; it has to be a program.
fn reread(text: &str, format: Format) -> Program {
    let source = SourceText::new("input.x", text);
    match parse(source.clone(), format) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{}{text}", render(&errors[0], &source, false)),
    }
}

/// The program in the native language is the same program; printed in another format it is read
/// there, and printed once more it is the same text.
pub(super) fn survives_printing(program: &Program, format: Format) {
    for target in [Format::Native, Format::Trencher, Format::Litmus] {
        let printed = match print(program, target) {
            Ok(printed) => printed.text,
            Err(errors) => {
                assert!(target != Format::Native, "{}", errors[0].message);
                can_be_shown(&errors, &program.source, true);
                continue;
            }
        };
        let again = reread(&printed, target);
        if target == Format::Native {
            assert_same_shape(&again, program, &printed);
            if format == Format::Native {
                assert!(are_kept(&names(program), &names(&again)), "{printed}");
            }
        }
        let twice = print(&again, target).unwrap_or_else(|errors| panic!("{}\n{printed}", errors[0].message)).text;
        // In litmus tests registers are chosen by order of use; the text may differ while the test
        // does not.
        if target != Format::Litmus {
            assert_eq!(bare(&twice), bare(&printed));
        }
    }
}

/// Whether names are what they were. A register called as a word of the language, such as `old`,
/// gets a number.
fn are_kept(names: &[&str], again: &[&str]) -> bool {
    let is_kept = |(name, again): (&&str, &&str)| {
        again.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    names.len() == again.len() && names.iter().zip(again).all(is_kept)
}

/// A text without the size of memory, which Trencher's format tells of all names and no reader
/// keeps, and without the empty line that follows it.
fn bare(text: &str) -> String {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("memory_size")).collect::<Vec<_>>().join("\n")
}

/// Programs are the same but for places and names; shows the first line in which they are not.
fn assert_same_shape(again: &Program, program: &Program, printed: &str) {
    let (again, program) = (shape(again), shape(program));
    let differing = again.lines().zip(program.lines()).find(|(left, right)| left != right);
    assert!(again == program, "{differing:?} in {printed}");
}

/// Everything about a program but places in its text and names.
fn shape(program: &Program) -> String {
    let mut program = program.clone();
    program.source = SourceText::new("", "");
    program.name.clear();
    let none = Span::default();
    for address in &mut program.addresses {
        (address.span, address.name) = (none, String::new());
    }
    for thread in &mut program.threads {
        (thread.span, thread.name) = (none, String::new());
        if let Role::Event { guard: Some(guard) } = &mut thread.role {
            guard.span = none;
        }
        for label in &mut thread.labels {
            *label = Label { fence_cost: label.fence_cost.take(), ..Label::new("", none) };
        }
        thread.registers.iter_mut().for_each(|register| (register.span, register.name) = (none, String::new()));
        thread.instructions.iter_mut().for_each(|instruction| instruction.span = none);
    }
    program.never.iter_mut().for_each(|joint| joint.span = none);
    format!("{program:#?}")
}

/// All names of a program.
fn names(program: &Program) -> Vec<&str> {
    let mut names = vec![program.name.as_str()];
    names.extend(program.addresses.iter().map(|address| address.name.as_str()));
    for thread in &program.threads {
        names.push(&thread.name);
        // A label behind what waits has no name in a text.
        let waits: Vec<LabelId> =
            thread.instructions.iter().filter(|own| own.until().is_some()).map(|own| own.target).collect();
        let labels = thread.labels.iter().enumerate().filter(|(id, _)| !waits.contains(&LabelId::from_index(*id)));
        names.extend(labels.map(|(_, label)| label.name.as_str()));
        names.extend(thread.registers.iter().map(|register| register.name.as_str()));
    }
    names
}

/// Options make other programs of it, which are checked without a panic.
fn changes_with_options(program: &Program, source: &Arc<SourceText>) {
    for (copies, range) in [(Copies::Any, (0, 1)), (Copies::Exactly(2), (-4, 3)), (Copies::Exactly(0), (0, i64::MAX))] {
        let mut changed = program.clone();
        let left_out = changed.override_copies(&[CopiesOverride { thread: None, copies }]).is_err();
        // Events keep their numbers.
        assert!(!left_out || copies == Copies::Exactly(0) || !program.threads.iter().any(Thread::is_thread));
        let range = DomainOverride::Range { low: range.0, high: range.1 };
        changed.override_domain(Some(range), copies == Copies::Any).expect("a range is given");
        match check(&mut changed) {
            Ok(warnings) => can_be_shown(&warnings, source, false),
            Err(errors) => can_be_shown(&errors, source, true),
        }
    }
}

/// With fences edited into the text at every label, one by one and all at once, the text is that of
/// a program with so many fences more.
fn can_be_edited(program: &Program, format: Format) {
    let mut places = Vec::new();
    for (thread, template) in program.thread_ids() {
        for (index, instructions) in template.instructions_by_label().iter().enumerate() {
            if !instructions.is_empty() {
                places.push((thread, LabelId::from_index(index)));
            }
        }
    }
    if places.is_empty() {
        return;
    }
    let sets = places.iter().take(3).map(|place| vec![*place]).chain([places.clone()]);
    for set in sets {
        let changes: Vec<Measure> = set.iter().map(|&(thread, label)| Measure::Fence { thread, label }).collect();
        // What cannot be edited is refused.
        let Ok(edited) = apply(program, format, &changes) else { continue };
        let edited_program = reread(&edited, format);
        if program.source.text.contains('{') {
            // A statement that threads have in common, or a call of a procedure, makes several
            // fences of one.
            assert_eq!(proper_actions(&edited_program), proper_actions(program), "{edited}");
            assert!(fences(&edited_program) > fences(program), "{edited}");
            continue;
        }
        let measures: Vec<Measure> = set.iter().map(|&(thread, label)| Measure::Fence { thread, label }).collect();
        let expected = with_measures(program, &measures);
        assert_eq!(actions(&edited_program), actions(&expected), "{edited}");
    }
}

/// A native text that is laid out afresh is the same program, and stays as it is when it is laid
/// out once more.
fn stays_when_laid_out(program: &Program, format: Format) {
    if format != Format::Native {
        return;
    }
    let again = |source: &Arc<SourceText>| match laid_out(source) {
        Ok(text) => SourceText::new("input.x", text),
        Err(errors) => panic!("{}{}", render(&errors[0], source, false), source.text),
    };
    let once = again(&program.source);
    assert_eq!(actions(&reread(&once.text, format)), actions(program), "{}", once.text);
    assert_eq!(again(&once).text, once.text);
}

/// How many fences a program has.
fn fences(program: &Program) -> usize {
    let instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
    instructions.filter(|instruction| instruction.action == Action::Fence).count()
}

/// The actions of each thread that are no fences, and no `nop`, for which an empty loop stands;
/// without their order.
fn proper_actions(program: &Program) -> Vec<Vec<String>> {
    let left_out = [Action::Fence, Action::Nop].map(|action| format!("{action:?}"));
    let mut all = actions(program);
    all.iter_mut().for_each(|actions| actions.retain(|action| !left_out.contains(action)));
    all
}

/// The actions of each thread, without their order.
fn actions(program: &Program) -> Vec<Vec<String>> {
    let of_thread = |actions: Vec<&Action>| {
        let mut actions: Vec<String> = actions.into_iter().map(|action| format!("{action:?}")).collect();
        actions.sort();
        actions
    };
    program
        .threads
        .iter()
        .map(|thread| of_thread(thread.instructions.iter().map(|instruction| &instruction.action).collect()))
        .collect()
}
