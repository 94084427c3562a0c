//! The last lines of a written test.

use super::column::Column;
use super::{FinalValue, Request, Writer};
use palisade_model::program::{RegisterId, Span, Value};
use palisade_semantics::{CopyId, Location, Observable, Proposition, Quantifier};

impl Writer<'_> {
    /// The locations and the condition.
    pub(super) fn question(&mut self, request: Request<'_>, columns: &[(CopyId, Column)]) -> String {
        match request {
            Request::Everything => {
                let mut shown = String::new();
                for (index, (_, column)) in columns.iter().enumerate() {
                    column.registers.iter().for_each(|register| shown.push_str(&format!("{index}:{register};")));
                }
                self.names.values().for_each(|name| shown.push_str(&format!("{name};")));
                format!("locations [{shown}]\nexists (true)\n")
            }
            Request::Exists(values) => {
                let parts: Vec<String> = values.iter().filter_map(|value| self.final_value(*value, columns)).collect();
                let conjunction = if parts.is_empty() { "true".to_owned() } else { parts.join(" /\\ ") };
                format!("exists ({conjunction})\n")
            }
            Request::Condition(condition) => {
                let quantifier = match condition.quantifier {
                    Quantifier::Exists => "exists",
                    Quantifier::NotExists => "~exists",
                    Quantifier::ForAll => "forall",
                };
                format!("{quantifier} ({})\n", self.proposition(&condition.proposition, columns))
            }
        }
    }

    fn final_value(&mut self, value: FinalValue, columns: &[(CopyId, Column)]) -> Option<String> {
        match value {
            FinalValue::Memory { address, value } => Some(format!("[{}]={value}", self.location(address))),
            FinalValue::Register { copy, register, value } => {
                let name = self.register(|other| other == copy, register, columns)?;
                Some(format!("{name}={value}"))
            }
        }
    }

    fn register(
        &mut self,
        is_copy: impl Fn(CopyId) -> bool,
        register: RegisterId,
        columns: &[(CopyId, Column)],
    ) -> Option<String> {
        let mut found = columns.iter().enumerate().filter(|(_, (copy, _))| is_copy(*copy));
        match (found.next(), found.next()) {
            (Some((index, (_, column))), None) => Some(format!("{index}:{}", column.register(register))),
            _ => {
                self.refuse("a condition about a thread with one copy can be expressed, no other", Span::default());
                None
            }
        }
    }

    fn proposition(&mut self, proposition: &Proposition, columns: &[(CopyId, Column)]) -> String {
        let joined = |writer: &mut Self, parts: &[Proposition], connective: &str, empty: &str| {
            let parts: Vec<String> = parts.iter().map(|part| writer.proposition(part, columns)).collect();
            if parts.is_empty() { empty.to_owned() } else { format!("({})", parts.join(connective)) }
        };
        match proposition {
            Proposition::True => "true".into(),
            Proposition::False => "false".into(),
            Proposition::Equals(location, constant) => self.comparison(location, constant.value, columns),
            Proposition::NotEquals(location, constant) => {
                format!("not ({})", self.comparison(location, constant.value, columns))
            }
            Proposition::Same(left, right) => {
                format!("{}={}", self.observed(left, columns), self.observed(right, columns))
            }
            Proposition::Not(inner) => format!("not ({})", self.proposition(inner, columns)),
            Proposition::And(parts) => joined(self, parts, " /\\ ", "true"),
            Proposition::Or(parts) => joined(self, parts, " \\/ ", "false"),
            Proposition::Implies(premise, conclusion) => {
                let premise = self.proposition(premise, columns);
                format!("(not ({premise}) \\/ {})", self.proposition(conclusion, columns))
            }
        }
    }

    fn comparison(&mut self, location: &Location, value: Value, columns: &[(CopyId, Column)]) -> String {
        let is_plain =
            location.view.bits == 64 || u64::try_from(value).is_ok_and(|value| value >> (location.view.bits - 1) == 0);
        if !is_plain || location.view.pointer {
            let message = format!("the comparison of `{location}` with {value} is about a type that is lost");
            self.refuse(message, Span::default());
        }
        format!("{}={value}", self.observed(location, columns))
    }

    fn observed(&mut self, location: &Location, columns: &[(CopyId, Column)]) -> String {
        match location.observable {
            Observable::Address(address) => format!("[{}]", self.location(address)),
            Observable::Register { thread, register } => {
                self.register(|copy| copy.thread == thread, register, columns).unwrap_or_default()
            }
        }
    }
}
