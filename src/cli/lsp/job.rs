//! Reading and verifying a text on a thread of its own, which tells the server what it finds as
//! soon as it does.

use super::diagnostics::{Lens, Shown};
#[cfg(feature = "machine")]
use super::harnesses::Snapshots;
use super::options::Options;
use super::text::Text;
use crate::cli::answers::Asking;
use crate::cli::check::tell;
use crate::cli::outcome::Outcome;
use crate::cli::{Loaded, SharedOptions, fences, orderings};
use crate::limits::Limits;
#[cfg(feature = "machine")]
use crate::machine::source_tests;
use crate::report::account::{Standing, Told};
use crate::report::findings::Answer;
use crate::robustness::Observer;
use crate::semantics::graphs::Axioms;
use crate::syntax::{Format, InputError};
use crossbeam_channel::Sender;
use lsp_types::{Diagnostic, Range, TextEdit, Uri};
#[cfg(feature = "machine")]
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// The stack of a thread that verifies: texts may nest deeply, and what is not touched costs
/// nothing.
const STACK_BYTES: usize = 64 << 20;

/// A text that is to be read and verified.
pub(super) struct Job {
    pub(super) uri: Uri,
    /// Which of the texts of the document it is about: newer ones have greater numbers.
    pub(super) generation: u64,
    pub(super) text: Arc<Text>,
    pub(super) format: Format,
    /// Where what is said of the whole text goes.
    pub(super) heading: Range,
    pub(super) options: Arc<Options>,
    pub(super) shared: SharedOptions,
    /// Raised when nobody wants the answer any more.
    pub(super) interrupt: Arc<AtomicBool>,
    /// How many configurations are explored.
    pub(super) explored: Arc<AtomicUsize>,
}

/// What is found about a text.
pub(super) enum News {
    /// It is read, or refused.
    Read(Vec<Diagnostic>),
    /// It is verified.
    Checked { diagnostics: Vec<Diagnostic>, lenses: Vec<Lens> },
    /// Fences or orderings are known that change an answer.
    Fixed { diagnostics: Vec<Diagnostic>, fixes: Vec<Fix> },
    /// Nothing more will be found.
    Ended,
}

/// News, with the text that they are about.
pub(super) struct Event {
    pub(super) uri: Uri,
    pub(super) generation: u64,
    pub(super) news: News,
}

/// A change of the text.
#[derive(Clone, Debug)]
pub(super) struct Fix {
    pub(super) title: String,
    pub(super) edits: Vec<TextEdit>,
    /// The lines on which it is offered.
    pub(super) ranges: Vec<Range>,
    /// Whether it repairs what is wrong; else it changes what is right.
    pub(super) repairs: bool,
    /// Whether it is all that has to be done.
    pub(super) is_whole: bool,
}

/// Counts the configurations of a search.
struct Counting(Arc<AtomicUsize>);

impl Observer for Counting {
    fn counter(&self) -> Option<Arc<AtomicUsize>> {
        Some(self.0.clone())
    }
}

/// Says that a job has ended, however it has.
struct Ending {
    event: Option<Event>,
    events: Sender<Event>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        // The server may be gone.
        self.event.take().map(|event| self.events.send(event).ok());
    }
}

/// What the check of a text leaves for the search for fences.
struct Verdict {
    /// The names of the questions whose answer is that something is wrong, each with where it
    /// shows.
    violated: Vec<(&'static str, Vec<Range>)>,
    /// Whether everything that was asked holds.
    holds: bool,
    diagnostics: Vec<Diagnostic>,
    lenses: Vec<Lens>,
}

impl Job {
    /// Starts to read and verify the text.
    pub(super) fn start(self, events: Sender<Event>) {
        let work = move || {
            let ended = Event { uri: self.uri.clone(), generation: self.generation, news: News::Ended };
            let _ending = Ending { event: Some(ended), events: events.clone() };
            self.run(&events);
        };
        let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
        started.expect("the system lets a process start a thread");
    }

    fn run(&self, events: &Sender<Event>) {
        let send = |news| {
            let event = Event { uri: self.uri.clone(), generation: self.generation, news };
            // The server may be gone.
            let _ = events.send(event);
        };
        let refused = |diagnostics| {
            let title = format!("no verdict: {}", self.options.refusal.as_ref()?);
            Some(News::Checked { diagnostics, lenses: vec![Lens { range: self.heading, title }] })
        };
        #[cfg(feature = "machine")]
        if self.format == Format::Machine {
            return send(refused(Vec::new()).unwrap_or_else(|| self.harnesses()));
        }
        let (shown, begin) = (self.shown(), Instant::now());
        let loaded = match self.options.check.program.read_source(self.text.source.clone(), self.format) {
            Ok(loaded) => loaded,
            Err(error) => return send(News::Read(shown.of_refusal(&error))),
        };
        send(News::Read(shown.of_reader(&loaded.warnings)));
        if let Some(refused) = refused(shown.of_reader(&loaded.warnings)) {
            return send(refused);
        }
        let verdict = match self.check(&loaded, begin) {
            Ok(verdict) => verdict,
            Err(error) => {
                let mut diagnostics = shown.of_refusal(&error);
                diagnostics.extend(shown.of_reader(&loaded.warnings));
                return send(News::Checked { diagnostics, lenses: Vec::new() });
            }
        };
        let Verdict { violated, holds, diagnostics, lenses } = verdict;
        send(News::Checked { diagnostics, lenses });
        if self.options.fixes {
            let (diagnostics, fixes) = self.fixes(&loaded, &violated, holds);
            send(News::Fixed { diagnostics, fixes });
        }
    }

    fn shown(&self) -> Shown<'_> {
        Shown { uri: &self.uri, text: &self.text, heading: self.heading, is_built: false }
    }

    /// The limits of a search that begins now.
    fn limits(&self) -> Limits {
        let shared = SharedOptions { timeout: Some(self.options.timeout), ..self.shared.clone() };
        shared.limits().with_interrupt(self.interrupt.clone())
    }

    fn is_unwanted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn check(&self, loaded: &Loaded, begin: Instant) -> Result<Verdict, InputError> {
        let file = self.text.source.name.as_str();
        let asking = Asking { file, verify: self.options.check.verify, folder: None, limits: self.limits() };
        let observer = Counting(self.explored.clone());
        tell(&self.options.check, &asking, loaded, begin, &observer, |told, alarms| self.verdict(told, alarms))
    }

    fn verdict(&self, told: &Told<'_>, alarms: &[String]) -> Verdict {
        let (diagnostics, lenses) = self.shown().verdict(told, alarms);
        let mut violated: Vec<(&'static str, Vec<Range>)> = Vec::new();
        for account in told.accounts.iter().filter(|account| account.standing() == Standing::Violated) {
            let place = account.place.map_or(self.heading, |span| self.text.range(span));
            match violated.iter_mut().find(|(ask, _)| *ask == account.ask) {
                Some((_, places)) => places.push(place),
                None => violated.push((account.ask, vec![place])),
            }
        }
        let holds = alarms.is_empty() && told.standing() == Standing::Holds;
        Verdict { violated, holds, diagnostics, lenses }
    }

    /// The verdicts about the snapshots of the text's harnesses, each above its test.
    #[cfg(feature = "machine")]
    fn harnesses(&self) -> News {
        let (mut diagnostics, mut lenses) = (Vec::new(), Vec::new());
        let path = Path::new(&self.text.source.name);
        let is_changed = std::fs::read_to_string(path).is_ok_and(|text| text != self.text.as_str());
        let has_orderings = self.options.check.model.language().is_some();
        let command = if has_orderings { "cargo palisade --model c11" } else { "cargo palisade" };
        let snapshots = Snapshots::around(path, has_orderings);
        for test in source_tests(self.text.as_str()) {
            let range = self.text.range(test.span);
            let mut tell = |title: String| lenses.push(Lens { range, title });
            let own = snapshots.as_ref().map_or(Vec::new(), |snapshots| snapshots.of(&test));
            if own.is_empty() && test.names_harness {
                tell(format!("no verdict yet: run `{command}`"));
            }
            if !own.is_empty() && (is_changed || own.iter().any(|snapshot| snapshot.is_older)) {
                tell(format!("changed since the last verdict: run `{command}`"));
                continue;
            }
            for snapshot in own {
                match self.harness(&snapshot.roles, range) {
                    Ok((title, found)) => {
                        tell(format!("{title}, as last built"));
                        diagnostics.extend(found);
                    }
                    Err(error) => tell(error.render(false).lines().next().unwrap_or_default().to_owned()),
                }
            }
        }
        News::Checked { diagnostics, lenses }
    }

    /// The verdict about a snapshot, and what is found about it, for a test whose name stands here.
    #[cfg(feature = "machine")]
    fn harness(&self, roles: &Path, heading: Range) -> Result<(String, Vec<Diagnostic>), InputError> {
        let (file, begin, limits) = (roles.display().to_string(), Instant::now(), self.limits());
        let loaded = self.options.check.program.read_any_within(&file, &limits)?;
        let asking = Asking { file: &file, verify: self.options.check.verify, folder: None, limits };
        let observer = Counting(self.explored.clone());
        tell(&self.options.check, &asking, &loaded, begin, &observer, |told, alarms| {
            let (diagnostics, lenses) = Shown { heading, is_built: true, ..self.shown() }.verdict(told, alarms);
            (lenses.into_iter().next().map_or(String::new(), |lens| lens.title), diagnostics)
        })
    }

    /// The fences and orderings with which what is violated holds, and the weaker ones with which
    /// what holds goes on to do so.
    fn fixes(
        &self,
        loaded: &Loaded,
        violated: &[(&'static str, Vec<Range>)],
        holds: bool,
    ) -> (Vec<Diagnostic>, Vec<Fix>) {
        let file = self.text.source.name.as_str();
        let quiet = SharedOptions { quiet: true, json: false, ..self.shared.clone() };
        let (mut diagnostics, mut fixes): (Vec<Diagnostic>, Vec<Fix>) = (Vec::new(), Vec::new());
        for (ask, places) in violated {
            let Some(arguments) = self.options.fences(ask, file).filter(|_| !self.is_unwanted()) else { continue };
            // Of what `fences` does not know, or does not decide in time, there is no fix.
            let Ok(outcome) = fences::answer(&arguments, &quiet, loaded.clone(), &self.limits()) else { continue };
            let answer = outcome.spoken.answer.as_ref();
            self.single_fixes(answer, places, &mut diagnostics, &mut fixes);
            let headline = outcome.spoken.report.lines().next().unwrap_or_default();
            let headline = headline.strip_prefix(file).unwrap_or(headline).trim_start_matches(": ").to_owned();
            let mut ranges = places.clone();
            ranges.push(self.heading);
            ranges.extend(
                answer
                    .into_iter()
                    .flat_map(|answer| &answer.findings)
                    .map(|own| self.shown().range(own.place.as_ref())),
            );
            self.add_whole(&outcome, format!("Repair {ask}: {headline}"), ranges, true, &mut fixes);
        }
        let is_of_c11 = self.options.check.model.language() == Some(Axioms::C11);
        if holds && is_of_c11 && !self.is_unwanted() {
            let arguments = Options::orderings(file);
            if let Ok(outcome) = orderings::answer(&arguments, &quiet, loaded, &self.limits()) {
                let title = "Weaken orderings as far as the program stays robust against C11".to_owned();
                self.add_whole(&outcome, title, vec![self.heading], false, &mut fixes);
            }
        }
        (diagnostics, fixes)
    }

    /// Fences one by one, each with its diagnostic, offered also where the violation shows.
    fn single_fixes(
        &self,
        answer: Option<&Answer>,
        places: &[Range],
        diagnostics: &mut Vec<Diagnostic>,
        fixes: &mut Vec<Fix>,
    ) {
        let shown = self.shown();
        for finding in answer.into_iter().flat_map(|answer| &answer.findings) {
            let Some(fix) = &finding.fix else { continue };
            let edits = self.text.edits_to(&fix.apply(self.text.as_str()));
            if edits.is_empty() || fixes.iter().any(|other| other.edits == edits) {
                continue;
            }
            diagnostics.push(shown.of_finding(finding));
            let ranges = [shown.range(finding.place.as_ref())].into_iter().chain(places.iter().copied()).collect();
            fixes.push(Fix { title: fix.message.clone(), edits, ranges, repairs: true, is_whole: false });
        }
    }

    /// The whole change of the text, where there is one and it is not known already.
    fn add_whole(&self, outcome: &Outcome, title: String, ranges: Vec<Range>, repairs: bool, fixes: &mut Vec<Fix>) {
        let Some(text) = &outcome.text else { return };
        let edits = self.text.edits_to(text);
        match fixes.iter_mut().find(|fix| fix.edits == edits) {
            Some(known) => {
                known.is_whole = true;
                known.ranges.extend(ranges);
            }
            None if edits.is_empty() => {}
            None => fixes.push(Fix { title, edits, ranges, repairs, is_whole: true }),
        }
    }
}
