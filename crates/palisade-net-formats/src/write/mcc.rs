//! Writer of coverability questions as reachability queries of the Model Checking Contest.

use palisade_model::net::Target;
use palisade_model::text::escaped;
use std::fmt::Write;

/// One property: a state is reachable that covers one of the targets. Constants stand on the left.
pub(super) fn write(name: &str, targets: &[Target]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.push_str("<property-set xmlns=\"http://mcc.lip6.fr/\">\n  <property>\n");
    let id: String = name.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    line(&mut text, format_args!("    <id>{}</id>", escaped(format_args!("{id}-coverability"))));
    text.push_str("    <description>Can a target be covered?</description>\n");
    text.push_str("    <formula><exists-path><finally>\n");
    if targets.len() > 1 {
        text.push_str("      <disjunction>\n");
    }
    for target in targets {
        alternative(&mut text, target);
    }
    if targets.len() > 1 {
        text.push_str("      </disjunction>\n");
    }
    text.push_str("    </finally></exists-path></formula>\n  </property>\n</property-set>\n");
    text
}

fn alternative(text: &mut String, target: &Target) {
    match target.demands.len() {
        // Readers know no constant truth in these queries; nought is at most nought.
        0 => text.push_str("      <integer-le><integer-constant>0</integer-constant><integer-constant>0</integer-constant></integer-le>\n"),
        1 => {}
        _ => text.push_str("      <conjunction>\n"),
    }
    for (place, count) in &target.demands {
        line(
            text,
            format_args!(
                "      <integer-le><integer-constant>{count}</integer-constant><tokens-count><place>{place}</place></tokens-count></integer-le>"
            ),
        );
    }
    if target.demands.len() > 1 {
        text.push_str("      </conjunction>\n");
    }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("a string takes all that is written");
}
