//! The page of `palisade fences --ask properties --objective pairs`.

use super::source::Marked;
use super::{News, Page, line_link, paragraph, table};
use palisade_engine::properties::placement::pairs::{Pair, PairPlacement, PairsPlaced};
use palisade_model::program::{InstructionId, Program};
use palisade_model::text::escaped;
use palisade_report::account::Mark;
use palisade_report::context::Context;
use palisade_report::counted;
use palisade_report::documents::{self, FencesDocument};
use palisade_report::models::model_name;
use palisade_report::pairs::{Result, headline, queries};
use palisade_report::property_fences::property_name;
use palisade_report::subject::program_words;

/// The page of pairs that must not be reordered, from its document.
pub fn pairs_page(document: &FencesDocument<'_>, result: &Result<'_>, context: &Context<'_>) -> String {
    let program = context.program;
    let news = match result.placed {
        Ok(PairsPlaced::Valid(placement)) if placement.is_proved => News::Good,
        Ok(PairsPlaced::NoBanHelps(_)) => News::Bad,
        Ok(PairsPlaced::Valid(_)) | Err(_) => News::Open,
    };
    let mut page = Page::new(context.file, news, headline(result.placed));
    page.fact("program", &program.name);
    page.fact("for", format!("the properties under {}", model_name(result.options.model)));
    page.fact("of", program_words(program, context.changed));
    page.fact("method", result.options.method.name());
    page.claim(program);
    page.fact("time", format!("{:.3} s", context.seconds));
    let mut source = Marked::new(&program.source);
    match result.placed {
        Ok(PairsPlaced::Valid(placement)) => {
            for pair in &placement.bans {
                source.mark(line(program, *pair, pair.store), Mark::Earlier, "must not be delayed");
                source.mark(line(program, *pair, pair.access), Mark::Later, "must not overtake");
            }
            page.section(source.title(), &source.html());
            page.section("Pairs that must not be reordered", &pairs(program, &placement.bans));
            page.section("How they were found", &search(placement, result, program));
        }
        Ok(PairsPlaced::NoBanHelps(run)) => {
            page.section(source.title(), &source.html());
            let property = property_name(program, run.target);
            let words = format!("{property} is violated by an interleaving; `palisade prove --model sc` shows it.");
            page.section("Why none helps", &paragraph(words));
        }
        Err(why) => {
            page.section(source.title(), &source.html());
            page.section("Why there is no answer", &paragraph(why));
        }
    }
    page.finish(&documents::text(document))
}

fn line(program: &Program, pair: Pair, instruction: InstructionId) -> usize {
    program.source.position(program.thread(pair.thread).instruction(instruction).span.start).line
}

fn pairs(program: &Program, pairs: &[Pair]) -> String {
    let rows: Vec<Vec<String>> = pairs.iter().map(|pair| row(program, *pair)).collect();
    if rows.is_empty() { String::new() } else { table(&["thread", "store", "access"], &rows) }
}

fn row(program: &Program, pair: Pair) -> Vec<String> {
    let thread = program.thread(pair.thread);
    let access = |instruction: InstructionId| {
        let name = thread.label(thread.instruction(instruction).source).written();
        let name = name.map(|name| format!("<code>{}</code> ", escaped(name))).unwrap_or_default();
        format!("{name}<small>{}</small>", line_link(line(program, pair, instruction)))
    };
    vec![escaped(&thread.name), access(pair.store), access(pair.access)]
}

/// The queries, and the culprits that they have found.
fn search(placement: &PairPlacement, result: &Result<'_>, program: &Program) -> String {
    let bounds: Vec<String> = placement.bounds.iter().map(ToString::to_string).collect();
    let bounds = if bounds.is_empty() { String::new() } else { format!(", with bounds {}", bounds.join(", ")) };
    let words = format!(
        "`{}` made {} about {}{bounds}.",
        result.options.method.name(),
        queries(placement.queries),
        counted(placement.candidates.len(), "candidate"),
    );
    let culprit = |pairs: &Vec<Pair>| {
        let words: Vec<String> = pairs.iter().map(|pair| row(program, *pair).join(" ")).collect();
        vec![words.join("<br>")]
    };
    let culprits: Vec<Vec<String>> = placement.culprits.iter().map(culprit).collect();
    let reached = if placement.is_proved {
        "With these pairs in order no run reaches a violation: the searches are closed, for unbounded buffers."
    } else {
        "Runs with more reordered pairs than the last bound were not looked at, so this proves nothing."
    };
    let culprits = if culprits.is_empty() {
        String::new()
    } else {
        paragraph("Each of these is a smallest set of pairs that a violating run reorders:")
            + &table(&["reordered together"], &culprits)
    };
    paragraph(words) + &culprits + &paragraph(reached)
}
