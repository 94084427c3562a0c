//! What a verdict about machine code is about: the files that were read, the build that made them,
//! and what was assumed.
//!
//! The heading of a listing says it, a line each; so evidence, which holds the digest of the
//! listing, is about the same.

use super::wording::counted;
use palisade_model::program::{AcceptedDelay, Heading, HeapBlocks, Program, ReadFile, SourceText};
use palisade_syntax::litmus;
use std::fmt::Write;

/// What a verdict about machine code is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim<'a> {
    /// How it begins: `for this machine code`.
    pub statement: &'static str,
    /// The files.
    pub files: Vec<ReadFile<'a>>,
    /// What made the code, as the debug information has it: compilers with their options.
    pub builds: Vec<&'a str>,
    /// What was narrowed: names of cells, and the number of bits that they are computed in.
    pub narrowed: Vec<(Vec<&'a str>, u8)>,
    /// Loads that may find any value that their cells may hold.
    pub hints: Vec<&'a str>,
    /// Accesses of 16 bytes, or across two words of 8, that are taken as several.
    pub halves: Vec<&'a str>,
    /// The sizes of blocks that roles take from the heap.
    pub heap: Vec<HeapBlocks>,
    /// Whether copies may access what lies on the stacks of others.
    pub shares_stacks: bool,
    /// Whether copies may ask what time it is: the clock stands still.
    pub clock_is_still: bool,
    /// Whether copies lock, wait or wake by functions of POSIX, of which each is one step.
    pub has_posix_locks: bool,
    /// Parameters of roles' functions that the roles do not give, which are 0: `arg of worker`.
    pub unset: Vec<&'a str>,
    /// The delays that are accepted: an execution that no interleaving explains has one of them.
    pub accepted: Vec<(&'a str, &'a str)>,
}

/// Whether a verdict on machine code holds of every compilation of its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compilations {
    /// It does: the build without optimisation is robust, and orderings suffice.
    Every,
    /// It does not, as far as orderings tell.
    NotEvery {
        /// The place in the sources that is in the way.
        place: Option<String>,
        /// What it is.
        reason: String,
    },
    /// Nobody knows: time, memory or values ran out first, for this reason.
    Unknown(String),
}

impl Compilations {
    /// In a few words.
    pub fn words(&self) -> String {
        match self {
            Self::Every => "also for every compilation (orderings suffice; source order checked)".to_owned(),
            Self::NotEvery { place: None, reason } => format!("not shown for every compilation: {reason}"),
            Self::NotEvery { place: Some(place), reason } => {
                format!("not shown for every compilation: {place}: {reason}")
            }
            Self::Unknown(reason) => format!("for every compilation: not known: {reason}"),
        }
    }
}

/// How a claim about machine code begins.
const ABOUT_CODE: &str = "for this machine code";

/// How one about the language of its sources begins.
const ABOUT_SOURCES: &str = "for its sources, with the orderings that this build gives";

impl<'a> Claim<'a> {
    /// The claim about a program; nothing about programs that are texts themselves.
    pub fn of(program: &'a Program) -> Option<Self> {
        Self::about(&program.source, &program.accepted)
    }

    /// The claim about a text of which delays are accepted; nothing where it is no listing.
    pub fn about(source: &'a SourceText, accepted: &'a [AcceptedDelay]) -> Option<Self> {
        let heading = Heading::of(source)?;
        let Heading {
            files,
            builds,
            narrowed,
            hints,
            halves,
            heap,
            shares_stacks,
            clock_is_still,
            has_posix_locks,
            unset,
            is_by_language,
            ..
        } = heading;
        let statement = if is_by_language { ABOUT_SOURCES } else { ABOUT_CODE };
        let accepted = accepted.iter().map(|delay| (delay.store.as_str(), delay.load.as_str())).collect();
        Some(Self {
            statement,
            files,
            builds,
            narrowed,
            hints,
            halves,
            heap,
            shares_stacks,
            clock_is_still,
            has_posix_locks,
            unset,
            accepted,
        })
    }

    /// The claim in a few words: `for this machine code, with head and tail narrowed to 2 bits`.
    pub fn words(&self) -> String {
        let mut words = self.statement.to_owned() + &self.with();
        if !self.accepted.is_empty() {
            let _ = write!(words, ", but for {}", counted(self.accepted.len(), "accepted delay"));
        }
        words
    }

    /// What it is about besides the code, each with a comma before it; empty where there is
    /// nothing.
    pub fn with(&self) -> String {
        let mut words = String::new();
        for (index, (names, bits)) in self.narrowed.iter().enumerate() {
            let with = if index == 0 { ", with" } else { " and" };
            let plural = if *bits == 1 { "bit" } else { "bits" };
            let _ = write!(words, "{with} {} narrowed to {bits} {plural}", names.join(", "));
        }
        if !self.hints.is_empty() {
            let _ = write!(words, ", with any value for the hint at {}", self.hints.join(" and at "));
        }
        if self.clock_is_still {
            words.push_str(", with a clock that stands still");
        }
        if self.has_posix_locks {
            words.push_str(", with POSIX's locks as single steps");
        }
        if !self.unset.is_empty() {
            let _ = write!(words, ", with 0 for {}, not given", self.unset.join(" and "));
        }
        for HeapBlocks { bytes, most } in &self.heap {
            if let Some(most) = most {
                let _ = write!(words, ", with at most {} of {bytes} bytes for each copy", counted(most, "new block"));
            }
        }
        words
    }

    /// What a report says of it, each with its heading.
    pub fn facts(&self, verbosity: u8) -> Vec<(&'a str, String)> {
        let mut facts = vec![("claim", self.words())];
        for ReadFile { kind, name, sha256 } in &self.files {
            if verbosity > 0 || *kind == "image" {
                facts.push((*kind, format!("{name} (SHA-256 {sha256})")));
            }
        }
        for build in &self.builds {
            let shown = if verbosity > 0 { (*build).to_owned() } else { short(build) };
            facts.push(("build", shown));
        }
        let mut say = |heading, words: &str| facts.push((heading, words.to_owned()));
        if !self.narrowed.is_empty() {
            say("assumes", "that counters wrap in the bits that they are narrowed to");
        }
        for (store, load) in &self.accepted {
            say("accepts", &format!("the store at {store} past the load at {load}"));
        }
        if !self.accepted.is_empty() {
            say("leaves", "that an execution which no interleaving explains has one of these delays");
        }
        if !self.hints.is_empty() {
            say(
                "means",
                "what the code does on x86, it does in some interleaving in which hints find any value of their cell",
            );
        }
        if !self.heap.is_empty() {
            say(
                "assumes",
                "that the allocator gives a block to another thread under a lock, and leaves blocks in use alone",
            );
        }
        if self.shares_stacks {
            say("assumes", "that nothing depends on where the stacks of copies lie");
        }
        if let [place, more @ ..] = self.halves.as_slice() {
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            let words =
                format!("the access at {place}{more} as two, in any order; processors with AVX may make it at once");
            say("takes", &words);
        }
        if verbosity > 0 {
            let words = "ordinary (write-back) memory, code that does not change, no signals in roles, 0 in registers \
                         that are no arguments";
            say("assumes", words);
        }
        facts
    }

    /// The lines of a report.
    pub fn lines(&self, verbosity: u8) -> String {
        self.facts(verbosity).iter().map(|(heading, words)| format!("  {heading:<8} {words}\n")).collect()
    }
}

/// What a verdict about a litmus test in C is about.
pub const OF_C: &str =
    "for the x86 program that the usual mapping makes of this C, accesses kept in order; not for C's memory model";

/// What a verdict about a program is about, in a few words; nothing where that is the program as
/// written.
pub fn words(program: &Program) -> Option<String> {
    let of_c = || litmus::is_in_c(&program.source).then(|| OF_C.to_owned());
    Claim::of(program).map(|claim| claim.words()).or_else(of_c)
}

/// What a report says of the claim, each with its heading; nothing for programs that are what the
/// texts say.
pub fn facts(program: &Program, verbosity: u8) -> Vec<(&str, String)> {
    match Claim::of(program) {
        Some(claim) => claim.facts(verbosity),
        None => words(program).map(|words| ("claim", words)).into_iter().collect(),
    }
}

/// The lines about the claim of a report; empty for programs that are what the texts say.
pub fn lines(program: &Program, verbosity: u8) -> String {
    facts(program, verbosity).iter().map(|(heading, words)| format!("  {heading:<8} {words}\n")).collect()
}

/// A compiler without the options that do not say how it optimises.
fn short(build: &str) -> String {
    let words = build.split(' ').filter(|word| !word.starts_with('-') || word.starts_with("-O"));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heading_of_a_listing_is_the_claim() {
        let heading = "roles a b.toml (SHA-256 12)\nimage ring (SHA-256 34)\nbuild GNU C17 12.2.0 -mtune=generic -O2\n\
                       narrow head, tail to 2\n\nrole worker: copies: 1, each once\n";
        let listing = SourceText::listing("a b.toml", heading, []);
        let claim = Claim::about(&listing, &[]).expect("it is a listing");
        assert_eq!(claim.words(), "for this machine code, with head, tail narrowed to 2 bits");
        assert_eq!(claim.files[0], ReadFile { kind: "roles", name: "a b.toml", sha256: "12" });
        let lines = claim.lines(0);
        assert!(lines.contains("  image    ring (SHA-256 34)\n  build    GNU C17 12.2.0 -O2\n"), "{lines}");
        assert!(!lines.contains("roles"), "{lines}");
        assert_eq!(Claim::about(&SourceText::new("a.pal", heading), &[]), None);
    }
}
