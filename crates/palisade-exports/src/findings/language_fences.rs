//! The findings of `palisade fences` against a language: orderings to strengthen and fences to add.

use super::fences::taking;
use super::told::flow_of;
use super::{Answer, Finding, Kind, Region, Rule, warnings};
use palisade_engine::fences::{LanguageChange, LanguageRepair, Measure};
use palisade_report::account::Shown;
use palisade_report::context::Context;
use palisade_report::fences::change_words;
use palisade_report::graph::GraphWords;
use palisade_report::language_fences::{Result, headline, text};
use palisade_report::subject::program_words;
use palisade_syntax::Format;

/// What a repair against a language found.
pub fn language_findings(result: &Result<'_>, context: &Context<'_>, format: Format) -> Answer {
    let program = context.program;
    let about = |kind: Kind| {
        let message = format!("{} [{}]", headline(result), program_words(program, context.changed));
        Finding::new(Rule::NOT_ROBUST_IN_LANGUAGE, kind, message)
    };
    let mut findings = match &result.found.repair {
        LanguageRepair::Valid(changes) if changes.is_empty() => vec![about(Kind::Pass)],
        LanguageRepair::Valid(changes) => {
            let count = changes.len();
            changes.iter().zip(1..).map(|(own, number)| finding(context, format, own, (number, count))).collect()
        }
        LanguageRepair::Impossible(row) => {
            let GraphWords { words, last, .. } = GraphWords::of(&row.stated, &row.violation);
            let at = Region::instruction(&row.stated, last.0, last.1);
            let steps = flow_of(&row.stated, &Shown::of_graph(&row.stated, &row.violation));
            vec![Finding { message: format!("{}: {words}", headline(result)), steps, ..about(Kind::Fail) }.at(at)]
        }
        LanguageRepair::Unknown(_) => vec![about(Kind::Open)],
    };
    findings[0].question = Some(format!("robust against {} as it is", result.axioms.name()));
    findings.extend(warnings(program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(result, context, 0))
}

/// A change to make, one of so many, with the change of the text that makes it alone.
fn finding(context: &Context<'_>, format: Format, own: &LanguageChange, numbers: (usize, usize)) -> Finding {
    let without = own.returns.as_ref().map_or(String::new(), |(violation, stated)| {
        format!("; without it {}", GraphWords::of(stated, violation).words)
    });
    let finding = taking((context.program, format), own.measure, numbers, &without);
    if !matches!(own.measure, Measure::Ordered { .. }) {
        return finding;
    }
    let (number, count) = numbers;
    let message = format!("change {number} of {count}: {}{without}", change_words(context.program, own.measure));
    Finding { rule: Rule::NOT_ROBUST_IN_LANGUAGE, message, ..finding }
}
