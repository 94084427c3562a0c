//! The rules of a SARIF log.

use super::log::{Configuration, Descriptor, Level, Message};
use palisade_report::account::{self, Rule};

/// How bad it is to break a rule.
pub(super) fn level(rule: &Rule) -> Level {
    match rule.level {
        account::Level::Error => Level::Error,
        account::Level::Warning => Level::Warning,
        account::Level::Note => Level::Note,
    }
}

/// A rule with its description.
pub(super) fn descriptor(rule: &'static Rule) -> Descriptor {
    Descriptor {
        id: rule.id,
        name: rule.name,
        short_description: Message::new(rule.short),
        full_description: Message::new(rule.full),
        default_configuration: Configuration { level: level(rule) },
    }
}
