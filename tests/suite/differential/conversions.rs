//! Conversions: a program in another format is the same program, or has the same verdict.

use super::instances::{Said, oracle};
use super::{Amount, Compared, compare_all, of_class, text_of};
use crate::checked::check;
use palisade::program::{Program, SourceText};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::Instance;
use palisade::semantics::random::Shape;
use palisade::syntax::{Format, parse, print, render};

/// What a text is read as.
fn read(text: &str, format: Format) -> Result<Program, String> {
    let source = SourceText::new("program.x", text);
    let read = parse(source.clone(), format).map_err(|errors| render(&errors[0], &source, false));
    Ok(read?.program)
}

/// Whether a program is robust, as the oracle and the engine say; in other formats instructions
/// become several, and waiting becomes a loop, so that the test asks the oracle about programs of
/// the native language only.
fn verdict(program: &Program) -> Option<Verdict> {
    check(program, &CheckOptions::default()).ok().map(|checked| checked.verdict)
}

fn compare(program: &Program) -> Compared {
    let instance = Instance::of(program).ok_or("the copies are not fixed")?;
    let Ok(Some(said)) = oracle(program, &instance, None) else { return Ok("too large for the oracle") };
    let expected = if said == Said::Violated { Verdict::NotRobust } else { Verdict::Robust };
    let native = text_of(program);
    let again = read(&native, Format::Native)?;
    if text_of(&again) != native {
        return Err("the native language changes it".to_owned());
    }
    let mut class = "native alone";
    for (format, name) in [(Format::Trencher, "also Trencher's"), (Format::Litmus, "also litmus")] {
        let Ok(printed) = print(&again, format) else { continue };
        let converted = read(&printed.text, format).map_err(|error| format!("{error}{}", printed.text))?;
        // Trencher's format has no domain: values that would wrap are others.
        if verdict(&converted).is_some_and(|verdict| verdict != expected) {
            return Err(format!("{expected:?}, but not as {}\n{}", format.name(), printed.text));
        }
        let native = read(&text_of(&converted), Format::Native)?;
        if verdict(&native).is_some_and(|verdict| verdict != expected) {
            return Err(format!("{expected:?}, but not back from {}\n{}", format.name(), text_of(&native)));
        }
        class = name;
    }
    Ok(class)
}

#[test]
fn converted_programs_keep_their_verdicts() {
    let shape = Shape { indirect: 0, domains: 0, branches: 10, total_labels: 8, overtaken: 95, ..Shape::default() };
    let shapes = [
        shape.clone(),
        Shape { sections: 60, ..shape.clone() },
        Shape { rmws: 40, sections: 0, ..shape.clone() },
        Shape { indirect: 30, ..shape.clone() },
        Shape { domains: 100, choices: 10, ..shape },
    ];
    let amount = Amount { default: 200, long: 40_000 };
    let counts = compare_all("conversions", 5_000_000, amount, &shapes, compare);
    assert!(of_class(&counts, "also Trencher's") > 15 && of_class(&counts, "also litmus") > 15, "{counts:?}");
}
