//! `palisade cover --all`: all properties of a query of the Model Checking Contest in one run.

use super::CoverArguments;
use super::found::Found;
use super::notes::note;
use crate::cli::asked::question;
use crate::cli::files::NewFile;
use crate::cli::folder::create_folder;
use crate::cli::guard;
use crate::cli::net_input::LoadedProperties;
use crate::cli::output::{print_and_keep, print_document, remark};
use crate::cli::outputs::OutputOptions;
use crate::cli::{Exit, SharedOptions, pending};
use crate::coverability::{AskedNet, Options, ReachAnswer, Rounds, reach_from, reach_once, solve_all};
use crate::evidence::MarkingSet;
use crate::limits::{Limits, StopReason};
use crate::net::{AskedOf, Formula, Query, WhichQuestion};
use crate::report::contest::{AnsweredProperty, AskedBound, AskedQuestion};
use crate::report::documents::{self, ContestContext, ContestDocument};
use crate::report::page::contest_page;
use crate::syntax::InputError;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Answers all properties.
pub(super) fn run(arguments: &CoverArguments, shared: &SharedOptions) -> Result<Exit, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    let page = OutputOptions::from(&arguments.page);
    let outputs = page.open()?;
    let loaded = arguments.input.read_properties_within(&arguments.net, &limits)?;
    let read_seconds = begin.elapsed().as_secs_f64();
    if let Some(folder) = &arguments.certificate {
        create_folder(folder).map_err(|error| unwritten(folder, &error))?;
    }
    let options = super::options(arguments, shared, limits);
    let mut contest = Contest { read_seconds, ..Contest::new(arguments, shared, &loaded, begin) };
    contest.report_decided(false);
    contest.leave_found();
    let asked = contest.ask(&options);
    contest.report_decided(true);
    if shared.json || page.asks_for_a_page() {
        let document = ContestDocument::new(&contest.answers, &contest.context(asked));
        if shared.json {
            print_document(&document);
        }
        outputs.finish_page(|| contest_page(&document, &contest.answers, &question(&arguments.net)))?;
    }
    match contest.failure {
        Some(error) => Err(error),
        None => Ok(contest.exit()),
    }
}

fn unwritten(folder: &Path, error: &std::io::Error) -> InputError {
    let help = "`--certificate` names a folder where several questions are asked";
    let help = (!folder.is_dir()).then(|| help.to_owned());
    InputError::file(folder.display().to_string(), format!("the evidence cannot be written: {error}"))
        .with_help_if(help)
}

/// The work of questions of reachability before those of coverability in deterministic mode.
const FIRST_WORK: u64 = 100_000_000;

/// More questions are not asked together first: each may take its least share of the round.
const MOST_TOGETHER: usize = 64;

/// Questions of coverability with more targets are no short conditions.
const MOST_TARGETS: usize = 64;

/// Properties that are being answered.
pub(super) struct Contest<'a> {
    arguments: &'a CoverArguments,
    shared: &'a SharedOptions,
    pub(super) loaded: &'a LoadedProperties,
    pub(super) begin: Instant,
    /// How long reading took.
    read_seconds: f64,
    /// All questions, each with the number of its property.
    all: Vec<(usize, AskedOf<'a>)>,
    /// What became of the properties so far.
    pub(super) answers: Vec<AnsweredProperty<'a>>,
    /// Which properties have their line.
    told: Vec<bool>,
    /// When it was last left what is known.
    left: Option<Instant>,
    /// The last closed set whose evidence was accepted.
    accepted_set: Option<Arc<MarkingSet>>,
    /// Whether evidence was rejected.
    is_rejected: bool,
    /// Evidence that could not be written.
    failure: Option<InputError>,
    /// The names of files with evidence, each with that of its question.
    files: BTreeMap<String, String>,
}

impl<'a> Contest<'a> {
    fn new(
        arguments: &'a CoverArguments,
        shared: &'a SharedOptions,
        loaded: &'a LoadedProperties,
        begin: Instant,
    ) -> Self {
        let properties = loaded.properties.iter().enumerate();
        let all =
            properties.flat_map(|(index, property)| property.claim.questions().into_iter().map(move |it| (index, it)));
        let open = AskedQuestion {
            coverable: None,
            reason: None,
            strategy: "auto",
            seconds: 0.0,
            certificate: None,
            accepted: None,
            note: None,
        };
        let answers = loaded.properties.iter().map(|property| AnsweredProperty {
            property,
            questions: vec![open.clone(); property.claim.questions().len()],
            bound: property.claim.bound().map(|_| AskedBound::default()),
        });
        Self {
            arguments,
            shared,
            loaded,
            begin,
            read_seconds: 0.0,
            all: all.collect(),
            answers: answers.collect(),
            told: vec![false; loaded.properties.len()],
            left: None,
            accepted_set: None,
            is_rejected: false,
            failure: None,
            files: BTreeMap::new(),
        }
    }

    /// Asks all questions: those with a truth value, and for their share of the time those for
    /// bounds.
    fn ask(&mut self, options: &Options) -> AskedNet {
        let bounds: Vec<usize> =
            (0..self.answers.len()).filter(|property| self.answers[*property].bound.is_some()).collect();
        if bounds.is_empty() {
            return self.ask_values(options);
        }
        let net = &self.loaded.net;
        let mut asked = AskedNet { places: net.places.len(), transitions: net.transitions.len(), seconds: 0.0 };
        if !self.all.is_empty() {
            let parts = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let share = options
                .limits
                .remaining()
                .map(|left| left / parts(self.all.len()).saturating_add(parts(bounds.len())) * parts(self.all.len()));
            let limits = options.limits.clone();
            let limits =
                share.filter(|_| !options.deterministic).map_or(limits.clone(), |time| limits.with_timeout(time));
            asked = self.ask_values(&Options { limits, ..options.clone() });
        }
        self.ask_bounds(&bounds, options);
        asked
    }

    /// Asks all questions with a truth value: all together for one round, as walks meet what many
    /// of them ask for. Then those of reachability for their share of the time, those of
    /// coverability, and what is left as questions of reachability.
    fn ask_values(&mut self, options: &Options) -> AskedNet {
        /// How long questions of reachability may keep those of coverability waiting where time is
        /// not limited.
        const FIRST: Duration = Duration::from_secs(10);
        let net = &self.loaded.net;
        let mut rounds = Rounds::default();
        if self.open().iter().any(|index| self.is_cover(*index)) && self.all.len() <= MOST_TOGETHER {
            let is_short = |index: &usize| match self.all[*index].1 {
                AskedOf::Cover(question) => question.query.targets.len() <= MOST_TARGETS,
                AskedOf::Reach(_) => true,
            };
            let short: Vec<usize> = (0..self.all.len()).filter(is_short).collect();
            self.reach(&short, options, |goals, found| reach_once(&mut rounds, net, goals, options, found));
        }
        let (cover, reach): (Vec<usize>, Vec<usize>) = self.open().into_iter().partition(|index| self.is_cover(*index));
        if !cover.is_empty() && !reach.is_empty() {
            let parts = |questions: &Vec<usize>| u32::try_from(questions.len()).unwrap_or(u32::MAX);
            let time =
                options.limits.remaining().map_or(FIRST, |left| left / (parts(&cover) + parts(&reach)) * parts(&reach));
            let work = options.deterministic.then_some(FIRST_WORK);
            let limits = options.limits.clone();
            let limits = if options.deterministic { limits } else { limits.with_timeout(time) };
            let own = Options { limits, work, ..options.clone() };
            self.reach(&reach, options, |goals, found| reach_from(&mut rounds, net, goals, &own, found));
        }
        let mut asked = AskedNet { places: net.places.len(), transitions: net.transitions.len(), seconds: 0.0 };
        if !cover.is_empty() {
            let query = |index: &usize| match self.all[*index].1 {
                AskedOf::Cover(question) => question.query.clone(),
                AskedOf::Reach(_) => Query::default(),
            };
            let queries: Vec<Query> = cover.iter().map(query).collect();
            match options.limits.check() {
                Ok(()) => {
                    asked = solve_all(net.clone(), &queries, options, |number, problem, answer| {
                        self.take(cover[number], &Found::Cover(problem, &answer), &options.limits);
                    });
                }
                Err(reason) => self.leave(&cover, reason),
            }
        }
        let open = self.open();
        if !open.is_empty() && (options.limits.check().is_ok() || cover.is_empty()) {
            self.reach(&open, options, |goals, found| reach_from(&mut rounds, net, goals, options, found));
        }
        asked
    }

    /// The questions that have no answer.
    fn open(&self) -> Vec<usize> {
        (0..self.all.len()).filter(|index| self.answer_of(*index).coverable.is_none()).collect()
    }

    /// Whether a question is one of coverability.
    fn is_cover(&self, index: usize) -> bool {
        matches!(self.all[index].1, AskedOf::Cover(_))
    }

    /// Asks some questions as questions of reachability, in the way given.
    fn reach(
        &mut self,
        questions: &[usize],
        options: &Options,
        ask: impl FnOnce(&[Formula], &mut dyn FnMut(usize, ReachAnswer)),
    ) {
        let net = &self.loaded.net;
        let goals: Vec<Formula> = questions.iter().map(|index| self.all[*index].1.goal()).collect();
        ask(&goals, &mut |number, answer| {
            self.take(questions[number], &Found::Reach(net, &goals[number], &answer), &options.limits);
        });
    }

    /// The property of a question, and its number among those of the property.
    fn place_of(&self, index: usize) -> (usize, usize) {
        let (property, _) = self.all[index];
        (property, self.all[..index].iter().filter(|(other, _)| *other == property).count())
    }

    /// What evidence calls a question of a property.
    pub(super) fn name_of(&self, property: usize, which: &WhichQuestion) -> String {
        which.name(&self.loaded.properties[property].id)
    }

    /// Says why questions have no answer.
    fn leave(&mut self, questions: &[usize], reason: StopReason) {
        for index in questions {
            let (property, number) = self.place_of(*index);
            self.answers[property].questions[number].reason = Some(reason.to_string());
        }
    }

    fn answer_of(&self, index: usize) -> &AskedQuestion {
        let (property, number) = self.place_of(index);
        &self.answers[property].questions[number]
    }

    /// Takes the answer to a question.
    fn take(&mut self, index: usize, found: &Found<'_>, limits: &Limits) {
        let (property, number) = self.place_of(index);
        let mut asked = found.asked();
        if let (Some(_), Found::Reach(net, _, answer)) = (&self.arguments.input.ask, found) {
            let (id, unwritten) = (&self.loaded.properties[property].id, self.loaded.complements.len());
            asked.note = note(id, number, net, unwritten, answer);
        }
        if found.has_evidence() {
            self.confirm(&self.name_of(property, &WhichQuestion::Number(number + 1)), found, limits, &mut asked);
        } else if self.arguments.verify {
            asked.coverable = None;
        } else if let (Some(_), Some(reason)) = (asked.coverable, &asked.reason) {
            let id = &self.loaded.properties[property].id;
            remark(format_args!("Note: {id}#{}: {reason}\n", number + 1));
        }
        asked.seconds = self.begin.elapsed().as_secs_f64();
        let is_known = asked.coverable.is_some();
        self.answers[property].questions[number] = asked;
        // What is not known decides no property, and there may be thousands of these at the end.
        if is_known {
            self.report_decided(false);
            self.leave_found();
        }
    }

    /// What a document says besides the answers.
    fn context(&self, asked: AskedNet) -> ContestContext<'a> {
        let loaded = self.loaded;
        ContestContext {
            file: &self.arguments.net,
            query: loaded.query.as_ref().map_or("", |query| &query.path),
            size: (loaded.net.places.len(), loaded.net.transitions.len()),
            asked,
            read_seconds: self.read_seconds,
            seconds: self.begin.elapsed().as_secs_f64(),
        }
    }

    /// Leaves what is known so far, should nobody come to tell the rest: of many answers ten times
    /// a second.
    pub(super) fn leave_found(&mut self) {
        const FEW: usize = 100;
        const APART: Duration = Duration::from_millis(100);
        if self.answers.len() > FEW && self.left.is_some_and(|left| left.elapsed() < APART) {
            return;
        }
        self.left = Some(Instant::now());
        let mut answers = self.answers.clone();
        let questions = answers.iter_mut().flat_map(|answer| &mut answer.questions);
        for question in questions.filter(|question| question.coverable.is_none() && question.reason.is_none()) {
            question.reason = Some("a limit was reached".to_owned());
        }
        pending::found(if self.shared.json {
            let (places, transitions) = (self.loaded.net.places.len(), self.loaded.net.transitions.len());
            let context = self.context(AskedNet { places, transitions, seconds: 0.0 });
            documents::text(&ContestDocument::new(&answers, &context))
        } else {
            let open = answers.iter().zip(&self.told).filter(|(_, told)| !**told);
            open.map(|(answer, _)| answer.line() + "\n").collect()
        });
    }

    /// Whether the time is up by so much that answers are told without their evidence.
    fn is_late(&self) -> bool {
        self.shared.timeout.is_some_and(|timeout| self.begin.elapsed() > timeout + timeout / 10)
    }

    /// Checks and writes the evidence of an answer. What is rejected, or not checked to the end
    /// where that was asked for, is no answer.
    pub(super) fn confirm(&mut self, name: &str, found: &Found<'_>, limits: &Limits, asked: &mut AskedQuestion) {
        let is_wanted = self.arguments.verify || self.arguments.certificate.is_some() || cfg!(debug_assertions);
        if is_wanted && self.is_late() {
            remark(format_args!("Note: {name}: its evidence is late\n"));
            asked.reason = Some("its evidence is late".to_owned());
            if self.arguments.verify {
                asked.coverable = None;
            }
            return;
        }
        if self.arguments.verify || cfg!(debug_assertions) {
            let again = self.accepted_set.as_ref().and_then(|set| found.check_again(set));
            let check = again.unwrap_or_else(|| found.check());
            let failure = match guard::within(&self.arguments.net, limits, check) {
                Ok(Ok(Ok(()))) => None,
                Ok(Ok(Err(failure))) => Some(failure.to_string()),
                Ok(Err(broken)) => Some(broken.to_string()),
                Err(reason) => {
                    (asked.coverable, asked.reason) = (None, Some(reason.to_string()));
                    return;
                }
            };
            asked.accepted = Some(failure.is_none());
            if let Some(failure) = failure {
                remark(format_args!(
                    "Error: {name}: the evidence for the answer is rejected, do not rely on it: {failure}\n"
                ));
                (asked.coverable, asked.reason) = (None, Some("its evidence is rejected".to_owned()));
                self.is_rejected = true;
                return;
            }
        }
        if let Some(set) = found.closed_set().filter(|_| asked.accepted == Some(true)) {
            self.accepted_set = Some(Arc::clone(set));
        }
        if let Some(folder) = &self.arguments.certificate {
            match self.write(folder, name, found) {
                Ok(path) => asked.certificate = Some(path),
                Err(error) => self.failure = Some(unwritten(folder, &error)),
            }
        }
    }

    /// What the file with the evidence for a question is called, without its extension: two
    /// questions have two files.
    fn file_name(&mut self, name: &str) -> String {
        let plain = |c: char| if c.is_alphanumeric() || c == '-' || c == '.' { c } else { '_' };
        let mut plain: String = name.chars().map(plain).collect();
        // Files whose names begin with a point are hidden from `*`.
        if plain.starts_with('.') {
            plain.insert(0, '_');
        }
        let names = (1..).map(|number| if number == 1 { plain.clone() } else { format!("{plain}-{number}") });
        let is_free = |file: &String| self.files.get(file).is_none_or(|other| other == name);
        let file = names.into_iter().find(is_free).expect("names do not end");
        self.files.insert(file.clone(), name.to_owned());
        file
    }

    /// Writes evidence; its path.
    fn write(&mut self, folder: &Path, name: &str, found: &Found<'_>) -> std::io::Result<String> {
        let evidence = found.evidence(|problem| self.loaded.subject(problem, name)).expect("it is an answer");
        let path = folder.join(format!("{}.json", self.file_name(name)));
        let _writing = pending::writing();
        let mut file = NewFile::create(&path)?;
        evidence.write(&mut file)?;
        file.finish()?;
        Ok(path.display().to_string())
    }

    /// Prints the lines of the properties that have become known, or at the end of all.
    pub(super) fn report_decided(&mut self, is_end: bool) {
        for (answer, told) in self.answers.iter().zip(&mut self.told) {
            let nothing_to_ask = answer.questions.is_empty();
            let nothing_to_ask = nothing_to_ask && answer.bound.is_none();
            if !*told && (is_end || nothing_to_ask || answer.is_known()) {
                *told = true;
                if !self.shared.json {
                    let lines: Vec<String> = [answer.line()].into_iter().chain(answer.notes()).collect();
                    print_and_keep(lines.join("\n") + "\n");
                }
            }
        }
    }

    fn exit(&self) -> Exit {
        if self.is_rejected {
            return Exit::Rejected;
        }
        if self.answers.iter().all(AnsweredProperty::is_known) { Exit::Holds } else { Exit::Unknown }
    }
}
