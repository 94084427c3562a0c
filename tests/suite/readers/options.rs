//! What holds of the readers of costs and of options.

use palisade::cli::{ProgramOptions, SharedOptions};
use palisade::fences::{Cost, Pattern, Profile};
use palisade::program::{DomainOverride, LabelId, Program, SourceText};
use palisade::syntax::{Format, parse};
use std::sync::LazyLock;

/// The program that costs are given for.
static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let text = "program p thread t regs r init a begin a: mem[x] <- 1; b: r <- mem[y]; goto l_end; end
        thread worker [*] init \u{3b1} begin \u{3b1}: nop; goto b; b: nop; goto \u{3b1}; end";
    parse(SourceText::new("p.pal", text), Format::Native).expect("the program is well formed").program
});

/// A profile: every cost is positive, and printed it is read as the same cost.
pub(super) fn costs(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match Profile::read(&text, &PROGRAM) {
        Err(error) => assert!(error.line >= 1 && error.line <= text.lines().count() && !error.to_string().is_empty()),
        Ok(profile) => {
            for (thread, template) in PROGRAM.thread_ids() {
                let labels = (0..template.labels.len()).map(LabelId::from_index);
                labels.filter_map(|label| profile.cost(thread, label)).for_each(is_a_cost);
            }
        }
    }
    if let Ok(cost) = text.parse::<Cost>() {
        is_a_cost(&cost);
    }
}

fn is_a_cost(cost: &Cost) {
    assert!(*cost > Cost::zero() && cost.to_f64() >= 0.0);
    let printed = cost.to_string();
    // Very small costs have more digits than are read.
    if printed.len() < 300 {
        assert_eq!(printed.parse::<Cost>().as_ref(), Ok(cost));
    }
}

/// Options as they stand on a command line, one a line.
pub(super) fn options(input: &[u8]) {
    use clap::{Args, FromArgMatches};
    let text = String::from_utf8_lossy(input);
    let arguments: Vec<&str> = std::iter::once("palisade").chain(text.lines().take(20)).collect();
    let command = ProgramOptions::augment_args(SharedOptions::augment_args(clap::Command::new("palisade")));
    match command.try_get_matches_from(&arguments) {
        Err(error) => assert!(!error.render().to_string().is_empty()),
        Ok(matches) => {
            let shared = SharedOptions::from_arg_matches(&matches).expect("what clap accepts is understood");
            assert!(shared.jobs != Some(0));
            shared.limits();
            let options = ProgramOptions::from_arg_matches(&matches).expect("what clap accepts is understood");
            if let Some(DomainOverride::Range { low, high }) = options.domain {
                assert!(low <= 0 && 0 <= high);
            }
            let source = SourceText::new("p.pal", PROGRAM.source.text.as_str());
            if let Err(error) = options.read_source(source, Format::Native) {
                error.render(false);
            }
        }
    }
    for line in text.lines().take(20) {
        line.parse::<Pattern>().expect("every text is a pattern");
    }
}
