//! The findings of `palisade orderings`: orderings that can be weaker, each with the change of the
//! text, and why others cannot.

use super::told::flow_of;
use super::{Answer, Finding, Fix, Kind, Region, Rule, warnings};
use palisade_engine::fences::{Measure, OrderedPlace, Orderings, RepairedText};
use palisade_report::account::Shown;
use palisade_report::context::Context;
use palisade_report::graph::GraphWords;
use palisade_report::orderings::{Result, StatedProperty, code, headline, may_be, reasons, text, word};
use palisade_report::subject::program_words;
use palisade_syntax::Format;

/// What was found about the orderings of a program.
pub fn ordering_findings(result: &Result<'_>, context: &Context<'_>, format: Format) -> Answer {
    let program = context.program;
    let message = format!("{} [{}]", headline(result.found), program_words(program, context.changed));
    let about = |kind: Kind| Finding::new(Rule::NOT_ROBUST_IN_LANGUAGE, kind, message.clone());
    let verdict = match &result.found.orderings {
        Orderings::Weakest(_) => about(Kind::Pass),
        Orderings::NotRobust(row) => {
            let GraphWords { words, last, .. } = GraphWords::of(&row.stated, &row.violation);
            let steps = flow_of(&row.stated, &Shown::of_graph(&row.stated, &row.violation));
            let at = Region::instruction(&row.stated, last.0, last.1);
            Finding { message: format!("{}: {words}", headline(result.found)), steps, ..about(Kind::Fail) }.at(at)
        }
        Orderings::Unknown(_) => about(Kind::Open),
    };
    let mut findings = vec![verdict.answering("robust against C11 with its own orderings")];
    findings.extend(result.properties.iter().map(property));
    findings.extend(result.places().iter().map(|place| finding(context, format, place)));
    findings.extend(warnings(program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(result, context, 0))
}

/// What interleavings say of a property.
fn property(property: &StatedProperty) -> Finding {
    let kind = match property.holds {
        Some(true) => Kind::Pass,
        Some(false) => Kind::Fail,
        None => Kind::Open,
    };
    let StatedProperty { heading, about, phrase, .. } = property;
    Finding::new(Rule::PROPERTY_VIOLATED, kind, format!("{heading} at {about}: {phrase}"))
        .answering(format!("{heading} at {about}"))
}

/// What was found about one access or fence.
fn finding(context: &Context<'_>, format: Format, place: &OrderedPlace) -> Finding {
    let program = context.program;
    let own = format!("{} of `{}`", word(place, place.stated), code(program, place));
    let needed = reasons(place).next();
    let why = needed.map_or_else(String::new, |needed| {
        let words = GraphWords::of(&needed.stated, &needed.violation).words;
        format!("; with {} {words}", word(place, needed.ordering))
    });
    let (kind, message) = if place.together == place.stated {
        (Kind::Pass, format!("{own} cannot be weaker{why}"))
    } else {
        (Kind::Fail, format!("{own} {}{why}", may_be(place)))
    };
    let steps = needed.filter(|_| kind == Kind::Pass);
    let OrderedPlace { thread, access, failing, together: ordering, .. } = *place;
    let measure = Measure::Ordered { thread, access, failing, ordering };
    let change = || RepairedText::new(program, &format, &[measure], &program.source.name).ok();
    let fix = (kind == Kind::Fail).then(change).flatten().and_then(|text| {
        let message = format!("Make the ordering {}", word(place, ordering));
        Fix::between(&program.source, text.text(), message)
    });
    let finding = Finding::new(Rule::STRONGER_THAN_NEEDED, kind, message);
    let steps = steps.map(|needed| flow_of(&needed.stated, &Shown::of_graph(&needed.stated, &needed.violation)));
    Finding { fix, steps: steps.unwrap_or_default(), ..finding }.at(Region::instruction(program, thread, access))
}
