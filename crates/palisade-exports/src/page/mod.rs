//! One-page reports: a file of HTML with everything in it, for a browser that has no network.
//!
//! A page says the verdict and what it is about, shows the source with what matters in it marked,
//! the computation as lanes that one steps through, the happens-before cycle as a graph, fences
//! with their lower bound, and the evidence with the way to check it. The JSON document of the same
//! answer is in it as data.

mod body;
mod contest;
mod cover;
mod cycle;
mod fences;
mod lanes;
mod language_fences;
mod orderings;
mod pairs;
mod property_fences;
mod race_fences;
mod remedies;
mod scene;
mod source;
#[cfg(test)]
mod tests;
mod told;

pub use contest::contest_page;
pub use cover::{cover_page, reach_page};
pub use fences::fences_page;
pub use language_fences::language_page;
pub use orderings::orderings_page;
pub use pairs::pairs_page;
pub use property_fences::property_fences_page;
pub use race_fences::race_fences_page;
pub use remedies::remedy_page;
pub use told::told_page;

use self::source::Marked;
use palisade_model::program::Program;
use palisade_model::text::escaped;
use palisade_report::claim::{self, Claim};
use palisade_report::documents::{ConfirmationDocument, EvidenceVerdict};
use std::fmt::Display;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// How good the news is, which gives it a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    /// What was asked for holds.
    Good,
    /// It does not.
    Bad,
    /// Nobody knows.
    Open,
    /// Nothing was claimed: an `exists` is answered.
    Neutral,
}

impl News {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Open => "open",
            Self::Neutral => "neutral",
        }
    }
}

/// A page that is being put together.
struct Page {
    /// The name of the input.
    title: String,
    news: News,
    verdict: String,
    /// What is written below the verdict, in words and what they mean.
    facts: Vec<(String, String)>,
    /// The sections, as markup.
    body: String,
}

impl Page {
    fn new(title: &str, news: News, verdict: impl Display) -> Self {
        Self { title: title.to_owned(), news, verdict: verdict.to_string(), facts: Vec::new(), body: String::new() }
    }

    /// Takes the verdict back where its evidence was rejected.
    fn doubt_if_rejected(&mut self, checked: Option<&ConfirmationDocument>) {
        if checked.is_some_and(|checked| checked.verdict == EvidenceVerdict::Rejected) {
            (self.news, self.verdict) =
                (News::Open, format!("not to be relied on: evidence rejected ({})", self.verdict));
        }
    }

    /// Adds a fact.
    fn fact(&mut self, name: &str, words: impl Display) {
        self.facts.push((name.to_owned(), words.to_string()));
    }

    /// Adds what the verdict on a program is about, where that is not the program as written.
    fn claim(&mut self, program: &Program) {
        claim::facts(program, 0).iter().for_each(|(name, words)| self.fact(name, words));
    }

    /// Adds what a verdict by the language of a program's sources is about.
    fn claim_of_language(&mut self, program: &Program) {
        let facts = Claim::of(program).map(|claim| claim.facts(0));
        facts.iter().flatten().for_each(|(name, words)| self.fact(name, words));
    }

    /// Adds a section of markup; nothing where there is none.
    fn section(&mut self, title: &str, content: &str) {
        self.body.push_str(&section(title, content));
    }

    /// Adds sections that are made already.
    fn append(&mut self, sections: &str) {
        self.body.push_str(sections);
    }

    /// Adds sections beside the source, which stays in view where there is room.
    fn beside(&mut self, source: &Marked<'_>, sections: &str) {
        let source = section(source.title(), &source.html());
        self.body.push_str(&format!("<div class=\"beside\">\n{source}<div>\n{sections}</div>\n</div>\n"));
    }

    /// The whole page, with the document of the same answer as data.
    fn finish(self, document: &str) -> String {
        let Self { title, news, verdict, facts, body } = self;
        let facts: String = facts
            .iter()
            .map(|(name, words)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), worded(words)))
            .collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{0}: {1}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header class=\"{2}\">\n<h1>{0}</h1>\n<p class=\"verdict\">{5}</p>\n<dl>\n{facts}</dl>\n</header>\n\
             <main>\n{body}</main>\n\
             <footer>Palisade {3}</footer>\n\
             <script type=\"application/json\" id=\"document\">{4}</script>\n\
             <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            escaped(title),
            escaped(&verdict),
            news.class(),
            env!("CARGO_PKG_VERSION"),
            data(document),
            worded(verdict),
        )
    }
}

/// A section of markup; nothing where there is none.
fn section(title: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<section>\n<h2>{}</h2>\n{content}</section>\n", worded(title))
}

/// A JSON text that no browser takes for the end of a script.
fn data(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// A paragraph.
fn paragraph(text: impl Display) -> String {
    format!("<p>{}</p>\n", worded(text))
}

/// A sentence, of which what stands between backquotes is code.
fn worded(text: impl Display) -> String {
    let escaped = escaped(text);
    let parts: Vec<&str> = escaped.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let part =
        |(index, part): (usize, &&str)| if index % 2 == 1 { format!("<code>{part}</code>") } else { (*part).into() };
    parts.iter().enumerate().map(part).collect()
}

/// A table that scrolls by itself on narrow screens; the rows are markup.
fn table(titles: &[&str], rows: &[Vec<String>]) -> String {
    let head: String = titles.iter().map(|title| format!("<th>{}</th>", escaped(title))).collect();
    let row = |cells: &Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = rows.iter().map(row).collect();
    format!("<div class=\"wide\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n")
}

/// A link to a line of the source.
fn line_link(line: usize) -> String {
    format!("<a href=\"#L{line}\">line {line}</a>")
}
