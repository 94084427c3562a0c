//! The listing: what was read, by digest, and every instruction of every role with the place that
//! it comes from.

use crate::lift::{Contexts, Place, RoleCode};
use palisade_model::text::{Origin, SourceText, Span};
use std::fmt::Write;
use std::sync::Arc;

/// The text of the program on its way.
pub(crate) struct Listing {
    text: String,
    /// Where lines come from, by their first byte.
    origins: Vec<(usize, Arc<Origin>)>,
}

impl Listing {
    /// Begins with lines about what was read.
    pub(crate) fn new(heading: String) -> Self {
        Self { text: heading, origins: Vec::new() }
    }

    /// Lists a role under its heading, with a word in front of the places of some instructions; the
    /// span of the role, and of each place.
    pub(crate) fn role<'w>(
        &mut self,
        heading: &str,
        places: &[(Place, String)],
        origins: &[Arc<Origin>],
        contexts: &Contexts,
        ordering: &dyn Fn(usize) -> Option<&'w str>,
    ) -> Vec<Span> {
        let start = self.text.len();
        let _ = writeln!(self.text, "\n{heading}");
        let mut spans = vec![Span { start: start + 1, end: self.text.len() - 1 }];
        for (number, ((place, text), origin)) in places.iter().zip(origins).enumerate() {
            let depth = contexts.chain(place.context).count();
            let begin = self.text.len();
            let indent = "  ".repeat(depth);
            let _ = write!(self.text, "{indent}{:x}  {text:<40}  ", place.address);
            if let Some(word) = ordering(number) {
                let _ = write!(self.text, "{word}  ");
            }
            if origin.obstacle.is_some() {
                self.text.push_str("not understood  ");
            }
            let _ = writeln!(self.text, "{}", origin.place);
            self.origins.push((begin, origin.clone()));
            spans.push(Span { start: begin + indent.len(), end: self.text.len() - 1 });
        }
        spans
    }

    /// The listing as a text.
    pub(crate) fn finish(self, path: &str) -> Arc<SourceText> {
        SourceText::listing(path, self.text, self.origins)
    }
}

/// What the listing says of a role.
pub(crate) fn heading(role: &RoleCode, may_stop: bool, folded: usize) -> String {
    let copies = role.copies.map_or("any number of copies".to_owned(), |count| format!("copies: {count}"));
    let again = match (role.repeats, may_stop) {
        (false, _) => "once",
        (true, false) => "again and again",
        (true, true) => "again and again, until it stops",
    };
    let daemon = if role.is_daemon { ", a daemon" } else { "" };
    let loops = match folded {
        0 => String::new(),
        1 => ", a loop around cmpxchg read as one locked instruction".to_owned(),
        count => format!(", {count} loops around cmpxchg read as one locked instruction each"),
    };
    format!("role {}: {copies}, each {again}{daemon}{loops}", role.name)
}
