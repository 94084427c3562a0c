//! The source of a program with what matters in it marked.

use palisade_model::text::escaped;
use palisade_model::text::{SourceText, Span};
use palisade_report::account::Mark;
use std::collections::BTreeMap;

/// The class of a mark, and what it says by itself.
fn described(mark: Mark) -> (&'static str, &'static str) {
    match mark {
        Mark::Delayed => ("delayed", "delayed store"),
        Mark::Overtaking => ("overtaking", "access that overtakes it"),
        Mark::Earlier => ("delayed", "one access"),
        Mark::Later => ("overtaking", "the other access"),
        Mark::Waiting => ("waiting", "where somebody waits for ever"),
        Mark::Racing => ("racing", "store that races with it"),
        Mark::Violated => ("violated", "violated property"),
        Mark::Fence => ("fence", "change, at this place"),
        Mark::Redundant => ("redundant", "fence that can go"),
        Mark::Weaker => ("redundant", "ordering that can be weaker"),
        Mark::Needed => ("fence", "ordering that is needed"),
        Mark::Unreached => ("unreached", "not reached"),
    }
}

/// A source with marks on its lines.
pub(super) struct Marked<'a> {
    source: &'a SourceText,
    marks: BTreeMap<usize, Vec<(Mark, String)>>,
}

/// Longer sources show only the lines around marks; the others fold.
const SHORT: usize = 80;

/// So many lines are shown around a mark in a long source.
const AROUND: usize = 6;

impl<'a> Marked<'a> {
    pub(super) fn new(source: &'a SourceText) -> Self {
        Self { source, marks: BTreeMap::new() }
    }

    /// Puts a mark on a line, with a few words more.
    pub(super) fn mark(&mut self, line: usize, mark: Mark, words: impl Into<String>) {
        let marks = self.marks.entry(line).or_default();
        let entry = (mark, words.into());
        if !marks.contains(&entry) {
            marks.push(entry);
        }
    }

    /// The listing.
    pub(super) fn html(&self) -> String {
        let lines: Vec<&str> = self.source.text.lines().collect();
        let origins = self.origins(&lines);
        let is_shown = |line: usize| {
            lines.len() <= SHORT || self.marks.range(line.saturating_sub(AROUND)..=line + AROUND).next().is_some()
        };
        let mut out = self.legend();
        out.push_str("<div class=\"source\">\n");
        let mut line = 1;
        while line <= lines.len() {
            let same = (line..=lines.len()).take_while(|next| is_shown(*next) == is_shown(line)).count();
            let listing: String =
                (line..line + same).map(|number| self.line(number, lines[number - 1], &origins[number - 1])).collect();
            if is_shown(line) {
                out.push_str(&listing);
            } else {
                let last = line + same - 1;
                out.push_str(&format!(
                    "<details class=\"folded\"><summary>lines {line} to {last}</summary>\n{listing}</details>\n"
                ));
            }
            line += same;
        }
        out.push_str("</div>\n");
        out
    }

    /// What the listing is, as the heading of its section.
    pub(super) fn title(&self) -> &'static str {
        if self.source.is_listing { "Machine code, behind the lines that it comes from" } else { "Source" }
    }

    /// For each line of a listing the place in the sources where it comes from, with what stands
    /// there, unless that is said at the line before.
    fn origins(&self, lines: &[&str]) -> Vec<String> {
        let (mut start, mut before) = (0, String::new());
        let origin = |line: &&str| {
            let origin = self.source.origin(Span { start, end: start });
            start += line.len() + 1;
            let words = origin.and_then(|origin| Some(format!("{}  {}", origin.place, origin.text.as_deref()?)));
            let words = words.unwrap_or_default();
            if words == before {
                return String::new();
            }
            before.clone_from(&words);
            words
        };
        lines.iter().map(origin).collect()
    }

    /// The kinds of marks that there are, in words.
    fn legend(&self) -> String {
        let mut kinds: Vec<Mark> = self.marks.values().flatten().map(|(mark, _)| *mark).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let items: String = kinds
            .into_iter()
            .map(|mark| described(mark))
            .map(|(class, words)| format!("<span class=\"mark {class}\">{words}</span> "))
            .collect();
        if items.is_empty() { items } else { format!("<p class=\"legend\">{items}</p>\n") }
    }

    fn line(&self, number: usize, text: &str, origin: &str) -> String {
        let marks = self.marks.get(&number).map(Vec::as_slice).unwrap_or_default();
        let classes: String = marks.iter().map(|(mark, _)| format!(" {}", described(*mark).0)).collect();
        let notes: String = marks
            .iter()
            .map(|(mark, words)| {
                let words = if words.is_empty() { described(*mark).1 } else { words };
                format!("<span class=\"mark {}\">{}</span>", described(*mark).0, escaped(words))
            })
            .collect();
        let text = if text.is_empty() { " ".to_owned() } else { escaped(text) };
        let origin = match origin {
            "" => String::new(),
            text => format!(
                "<div class=\"line origin\"><span class=\"number\"></span><code>{}</code></div>\n",
                escaped(text)
            ),
        };
        format!(
            "{origin}<div class=\"line{classes}\" id=\"L{number}\"><span class=\"number\">{number}</span><code>{text}</code>{notes}</div>\n"
        )
    }
}
