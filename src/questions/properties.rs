//! Does a program keep the properties that it states – each `ensure`, `fail` and `never`, and the
//! question of a litmus test – under a memory model?

use super::{About, Evident, Question};
use crate::evidence::{Evidence, PropertyReason};
use crate::limits::Limits;
use crate::program::{Copies, Instruction, Posts, Program, Queued};
use crate::properties::{
    Answer as Found, DEFAULT_BUFFER, Proof, ProveOptions, Rung, TargetAnswer, Violation, Why, carry_over, has_end,
    prove, targets,
};
use crate::report::account::{Account, Answer, CountersKnown, Mark, Proof as Shows, Rule, Run, Shown};
use crate::report::computation::{ComputationReport, Marks};
use crate::report::context::instance_words;
use crate::report::models::{ModelWord, model_name};
use crate::report::properties::Properties as Stated;
use crate::report::rungs::rung_words;
use crate::report::scene::Scene;
use crate::report::subject::program_words;
use crate::report::tso::{self, Computation};
use crate::report::{counted, widths};
use crate::robustness::Fault;
use crate::semantics::graphs::Axioms;
use crate::semantics::{Model, Quantifier, Target, tasks};
use crate::syntax::{InputError, did_you_mean_or_list};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// How to decide properties.
#[derive(Clone, Debug)]
pub struct PropertyOptions {
    /// The memory model.
    pub model: Model,
    /// The language whose interleavings are asked about, or whose executions on x86, where the
    /// answers are to be about it.
    pub language: Option<Axioms>,
    /// The labels of the properties to ask about; all where there are none.
    pub only: Vec<String>,
    /// The only rung to ask, instead of all in turn.
    pub by: Option<Rung>,
    /// The most stores in a buffer, or snapshots in a queue, before a rung gives up.
    pub buffer: usize,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// The configurations that one exploration may have before there is no answer.
    pub most: u64,
    /// Whether to leave out what does not matter for a property.
    pub slice: bool,
}

impl PropertyOptions {
    /// All properties under a model.
    pub fn new(model: Model) -> Self {
        let values = crate::robustness::DEFAULT_VALUES;
        Self {
            model,
            language: None,
            only: Vec::new(),
            by: None,
            buffer: DEFAULT_BUFFER,
            values,
            most: u64::MAX,
            slice: true,
        }
    }
}

/// The question about all properties of a program, which are decided together.
pub struct Properties<'p> {
    /// The program as it is written.
    written: About<'p>,
    /// The threads that are asked about: some watch joint control states, some say events and
    /// tasks.
    watched: Cow<'p, Program>,
    /// How these threads say events and tasks.
    queued: Option<Queued>,
    /// The targets that are asked about.
    targets: Vec<Target>,
    /// Why the others cannot be asked about.
    unasked: Option<String>,
    /// What the answers are about, in words.
    subject: String,
    options: PropertyOptions,
}

impl<'p> Properties<'p> {
    /// The properties of a program.
    ///
    /// # Errors
    ///
    /// When no property stands at one of the labels to ask about.
    pub fn new(written: About<'p>, options: PropertyOptions) -> Result<Self, InputError> {
        let program = written.program;
        let (mut watched, mut queued, mut unasked) = (Cow::Borrowed(program), None, None);
        if program.is_event_driven() {
            match program.queued() {
                Ok(found) if program.never.is_empty() => {
                    watched = Cow::Owned(found.program.clone());
                    queued = Some(found);
                }
                Ok(_) => {
                    unasked = Some("`never` is about threads alone, and the program has events or tasks".to_owned())
                }
                Err(error) => unasked = Some(error.to_string()),
            }
        } else if !program.never.is_empty() {
            match program.monitored() {
                Ok(found) => watched = Cow::Owned(found),
                Err(error) => unasked = Some(error.to_string()),
            }
        }
        let all = targets(&watched, written.condition);
        let targets = chosen(&Stated { program, question: written.condition }, all, &options.only)?;
        let subject = if program.is_event_driven() {
            tso::instance_words(program)
        } else {
            program_words(program, written.changed)
        };
        Ok(Self { written, watched, queued, targets, unasked, subject, options })
    }

    /// The threads that are asked about, which evidence is about.
    pub fn watched(&self) -> &Program {
        &self.watched
    }

    /// The targets that are asked about.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Whether some of what the program states cannot be asked.
    pub fn are_some_unasked(&self) -> bool {
        self.unasked.is_some()
    }

    /// Whether the program states no property.
    pub fn are_none(&self) -> bool {
        self.targets.is_empty() && self.unasked.is_none()
    }

    fn stated(&self) -> Stated<'p> {
        Stated { program: self.written.program, question: self.written.condition }
    }

    /// What the answers are about, by name.
    fn name(&self) -> &'static str {
        self.options.language.map_or_else(|| model_name(self.options.model), Axioms::name)
    }

    /// The same by its word.
    fn word(&self) -> ModelWord {
        self.options.language.map_or_else(|| self.options.model.into(), ModelWord::from)
    }

    /// The language, where it is interleavings that are asked about.
    fn language_of_interleavings(&self) -> Option<Axioms> {
        self.options.language.filter(|_| self.options.model == Model::Sc)
    }

    /// Whether a target is what an `exists` asks for: it is not violated in any case.
    fn is_wanted(&self, target: Target) -> bool {
        let quantifier = self.written.condition.map(|condition| condition.condition().quantifier);
        target == Target::FinalStates && quantifier == Some(Quantifier::Exists)
    }

    /// The account of a property, without an answer.
    fn account(&self, target: Target) -> Account<'p> {
        let (stated, model) = (self.stated(), self.name());
        let question = format!("{} under {model}", stated.quoted(target));
        let account = Account::new("properties", Rule::PROPERTY_VIOLATED, question, self.subject.clone());
        Account {
            heading: stated.kind(target),
            about: stated.place(target),
            label: stated.label(target),
            line: stated.line(target),
            place: stated.span(target),
            model: Some(self.word()),
            verdict: format!("unknown under {model}"),
            ..account
        }
    }

    /// How the engine is asked.
    fn prove_options(&self, limits: &Limits) -> ProveOptions {
        let PropertyOptions { model, by, buffer, values, most, slice, .. } = self.options;
        let shorten = true;
        ProveOptions {
            model,
            by,
            only: self.targets.clone(),
            buffer,
            values,
            most,
            slice,
            shorten,
            limits: limits.clone(),
        }
    }

    /// Tells one answer.
    fn tell_one<'a>(&'a self, found: &'a Proof, answer: &'a TargetAnswer, account: &mut Account<'a>) {
        let (stated, model) = (self.stated(), self.name());
        let quoted = stated.quoted(answer.target);
        let quantifier = self.written.condition.map(|condition| condition.condition().quantifier);
        let quantifier = quantifier.filter(|_| answer.target == Target::FinalStates);
        // Interleavings are executions of each language.
        let is_of_language = self.language_of_interleavings().is_some() && matches!(answer.answer, Found::Violated(_));
        account.under_sc = if is_of_language { Some(true) } else { answer.under_sc };
        account.buffer = answer.buffer;
        account.left_out = answer.sliced;
        account.explored = answer.states;
        account.seconds = answer.seconds;
        // The words of herd: how often final states are as the question says.
        let often = |is_reached: bool| match (quantifier, is_reached) {
            (None, _) => None,
            (Some(Quantifier::ForAll), false) => Some("Always"),
            (Some(Quantifier::ForAll), true) => Some("not Always"),
            (Some(_), false) => Some("Never"),
            (Some(_), true) => Some("Sometimes"),
        };
        let word = |often: Option<&str>, standing: &str| match often {
            Some(often) if self.is_wanted(answer.target) => often.to_owned(),
            Some(often) => format!("{standing}, {often}"),
            None => standing.to_owned(),
        };
        match &answer.answer {
            Found::Open(why) => {
                account.leave_open(format!("unknown under {model}"), why_open(answer.rung, *why));
            }
            Found::Holds(position) => {
                let word = word(often(false), "holds");
                let said = if word == "holds" { String::new() } else { format!("{word}, ") };
                account.phrase =
                    format!("{said}proved ({})", rung_words(&self.watched, answer, found.proofs.get(*position)));
                account.answer = Answer::Holds(Shows { by: Some(answer.rung.name()), example: None });
                account.often = often(false).filter(|_| self.is_wanted(answer.target));
                let is_filtered = self.written.condition.is_some_and(|question| question.filter.is_some());
                if answer.target == Target::FinalStates {
                    match found.has_end {
                        Some(false) if is_filtered => {
                            account.note(0, "filter", "no final state meets it, so nothing was asked of any")
                        }
                        Some(false) => account.note(0, "note", "no run comes to an end, so this was asked of none"),
                        None if is_filtered => {
                            account.note(0, "filter", "whether any final state meets it is not known")
                        }
                        Some(true) | None => {}
                    }
                }
                account.verdict = format!("{} under {model}", word.split(',').next().unwrap_or_default());
                account.message = format!("{quoted} {} under {model}", verb(&word));
            }
            Found::Violated(violation) => {
                let already = match account.under_sc {
                    Some(true) => ", under SC already",
                    Some(false) if self.options.language.is_some() => ", on x86 already",
                    Some(false) => ", not under SC",
                    None if self.options.language.is_some() => "",
                    None => ", not known whether under SC",
                };
                let word = word(often(true), "violated");
                account.phrase = format!("{word}{already}");
                account.verdict = format!("{} under {model}", word.split(',').next().unwrap_or_default());
                let shown = self.shown(violation);
                let under_sc = if account.under_sc == Some(true) { ", under SC already" } else { "" };
                account.message = format!("{quoted} {} under {model}{under_sc}", verb(&word));
                if self.is_wanted(answer.target) {
                    account.answer = Answer::Holds(Shows { by: None, example: Some(Box::new(shown)) });
                    account.often = often(true);
                } else {
                    account.answer = Answer::Violated(shown);
                    account.marks.extend(account.line.map(|line| (line, Mark::Violated, String::new())));
                }
            }
        }
        let (states, sliced) = (counted(answer.states, "configuration"), counted(answer.sliced, "instruction"));
        account.note(1, "took", format!("{states}, {sliced} left out, {:.3} s", answer.seconds));
    }

    /// A computation that reaches a target.
    fn shown<'a>(&'a self, violation: &'a Violation) -> Shown<'a> {
        let (stated, target) = (self.stated(), violation.target);
        let headline = match target {
            Target::FinalStates => format!("final state: {} {}", stated.kind(target), stated.place(target)),
            Target::Instruction { .. } if stated.joint_state(target).is_some() => {
                format!("violation: {}", stated.quoted(target))
            }
            Target::Instruction { .. } => {
                format!("violation: `{}` at {}", stated.text(target), stated.place(target))
            }
        };
        let program = &*self.watched;
        let (run, above) = match self.events(violation) {
            Some(computation) => (Run::Events(Scene::of_computation(&computation)), None),
            None => {
                let mut computation = ComputationReport::of_property(program, violation);
                if let Some(axioms) = self.language_of_interleavings() {
                    computation.marks = Marks::Orderings(axioms);
                }
                let above = instance_words(program, &violation.instance, violation.instance_minimal);
                (Run::Threads(computation), above.map(|words| format!("instance: {words}")))
            }
        };
        let copies = program.threads.iter().zip(violation.instance.counts()).enumerate();
        // Tasks have copies only among the threads that say them.
        let is_task = |position: usize| self.written.program.threads.get(position).is_some_and(|it| it.is_task());
        let copies = copies.filter(|(position, (thread, _))| !is_task(*position) && !thread.is_watch());
        let longer = (!violation.shortest).then(|| "  (there may be a shorter one)".to_owned());
        Shown {
            headline,
            above: above.into_iter().collect(),
            run,
            below: longer.into_iter().collect(),
            cycle: None,
            instance: copies.map(|(_, (thread, count))| (thread.name.as_str(), *count)).collect(),
            instance_minimal: Some(violation.instance_minimal),
            shortest: violation.shortest,
            attacker: None,
            related: Vec::new(),
        }
    }

    /// The computation of events and tasks that a violation stands for; nothing for programs of
    /// threads alone.
    fn events(&self, violation: &Violation) -> Option<Computation> {
        let mut instance = self.written.program.clone();
        let queued = self.queued.as_ref()?;
        let counts = instance.threads.iter_mut().zip(violation.instance.counts());
        counts.filter(|(it, _)| !it.is_task()).for_each(|(it, count)| it.copies = Copies::Exactly(*count));
        let steps = tasks::task_computation(&instance, queued, &violation.instance, &violation.events)?;
        Computation::replay(&instance, &steps, violation.model, &[])
    }
}

/// A verdict as the verb of a sentence.
fn verb(word: &str) -> String {
    match word.split_once(", ") {
        Some(("violated", often)) => format!("is violated ({often})"),
        Some((standing, often)) => format!("{standing} ({often})"),
        None if word == "violated" => "is violated".to_owned(),
        None if word == "holds" => "holds".to_owned(),
        None => format!("is {word}"),
    }
}

impl Evident for Proof {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        // Evidence about events and tasks is about the threads that say them.
        let queued = about.program.is_event_driven().then(|| about.program.queued().ok()).flatten();
        let subject = || about.subject_of(queued.as_ref().map_or(about.program, |queued| &queued.program));
        let proofs = Proof::evidence(self).map(|own| ("property".to_owned(), Evidence::Property(subject(), own)));
        let violations = self.violations().zip(1..).map(|(violation, number)| {
            (format!("property-witness-{number}"), Evidence::PropertyWitness(subject(), violation.witness()))
        });
        proofs.into_iter().chain(violations).collect()
    }
}

impl Question for Properties<'_> {
    type Found = Proof;

    fn about(&self) -> About<'_> {
        let program = if self.queued.is_some() { self.written.program } else { &*self.watched };
        About { program, ..self.written }
    }

    fn asked(&self) -> Vec<Account<'_>> {
        let mut accounts: Vec<Account<'_>> = self.targets.iter().map(|target| self.account(*target)).collect();
        if let Some(reason) = &self.unasked {
            let stated = self.stated();
            for joint in &self.written.program.never {
                let (text, place) = stated.joint_words(joint);
                let question = format!("`{text}` under {}", self.name());
                let mut account = Account::new("properties", Rule::PROPERTY_VIOLATED, question, self.subject.clone());
                account.heading = "never";
                account.about = place;
                account.place = Some(joint.span);
                account.model = Some(self.word());
                account.leave_open(format!("unknown under {}", self.name()), reason.clone());
                accounts.push(account);
            }
        }
        accounts
    }

    fn decide(&self, limits: &Limits) -> Result<Proof, Fault> {
        let PropertyOptions { model, .. } = self.options;
        let program = self.written.program;
        let unqueued = program.is_event_driven() && self.queued.is_none();
        if self.targets.is_empty() || unqueued {
            return Ok(Proof {
                model,
                answers: Vec::new(),
                proofs: Vec::new(),
                states: 0,
                plain_posts: None,
                has_end: None,
            });
        }
        let options = self.prove_options(limits);
        let mut proof = prove(&self.watched, self.written.condition, &options)?;
        let is_of_ends =
            |answer: &TargetAnswer| answer.target == Target::FinalStates && matches!(answer.answer, Found::Holds(_));
        if let Some(question) = self.written.condition.filter(|_| proof.answers.iter().any(is_of_ends)) {
            proof.has_end = has_end(&self.watched, question, &options);
        }
        if self.queued.is_some() && model == Model::Tso && program.posts == Posts::Plain {
            carry_over(&mut proof, program, &options)?;
        }
        Ok(proof)
    }

    fn tell<'a>(&'a self, found: &'a Proof, accounts: &mut [Account<'a>]) {
        let mut told = BTreeSet::new();
        let answers: BTreeMap<Target, &TargetAnswer> =
            found.answers.iter().map(|answer| (answer.target, answer)).collect();
        for (target, account) in self.targets.iter().zip(accounts.iter_mut()) {
            let Some(answer) = answers.get(target).copied() else {
                let reason = self.unasked.as_deref().unwrap_or("it was not asked about");
                account.leave_open(account.verdict.clone(), reason);
                continue;
            };
            self.tell_one(found, answer, account);
            let Found::Holds(position) = answer.answer else { continue };
            let Some(own) = found.proofs.get(position) else { continue };
            if let PropertyReason::Counters { sc, .. } = &own.reason {
                account.counters = CountersKnown::of(&self.watched, sc).with_widths(widths::widths(own));
            }
            if told.insert(position) {
                for (heading, words) in widths::known_to_proof(&self.watched, own) {
                    account.note(0, heading, words);
                }
            }
        }
        if let Some(first) = accounts.first_mut().filter(|_| found.plain_posts.is_some()) {
            first.note(0, "posts", "plain; the program is robust with them, and keeps what it keeps where posts drain");
        }
    }
}

/// The targets at the labels that are named; all of them where none is.
fn chosen(stated: &Stated<'_>, all: Vec<Target>, only: &[String]) -> Result<Vec<Target>, InputError> {
    if only.is_empty() {
        return Ok(all);
    }
    // The names under which a property can be asked for.
    let names = |target: Target| {
        let own = stated.label(target).map(|(thread, label)| [label.to_owned(), format!("{thread}.{label}")]);
        let of_statement = labels_in_front(stated.program, target).into_iter();
        own.into_iter()
            .flatten()
            .chain(of_statement.flat_map(|(thread, label)| [label.clone(), format!("{thread}.{label}")]))
            .collect::<Vec<_>>()
    };
    let mut asked = Vec::new();
    for label in only {
        let found: Vec<Target> = all.iter().copied().filter(|target| names(*target).contains(label)).collect();
        if found.is_empty() {
            let mut names: Vec<String> = all.iter().flat_map(|target| names(*target)).collect();
            let mut seen = BTreeSet::new();
            names.retain(|name| seen.insert(name.clone()));
            let message = format!("no property stands at a label `{label}`");
            let help = did_you_mean_or_list(label, "label", names.iter().map(String::as_str));
            return Err(InputError::file(stated.program.source.name.clone(), message).with_help_if(help));
        }
        asked.extend(found.into_iter().filter(|target| !asked.contains(target)).collect::<Vec<_>>());
    }
    Ok(asked)
}

/// The names of the steps of the statement of a property, whose first ones may be loads of what it
/// says, with the thread's name.
fn labels_in_front(program: &Program, target: Target) -> Vec<(String, String)> {
    let Target::Instruction { thread, instruction } = target else { return Vec::new() };
    // What watches joint control states is no thread of the text.
    let Some(thread) = program.threads.get(thread.index()) else { return Vec::new() };
    let whole = thread.instruction(instruction).span;
    let is_part = |own: &&Instruction| whole.start <= own.span.start && own.span.end <= whole.end;
    let labels = thread.instructions.iter().filter(is_part).map(|own| &thread.label(own.source).name);
    labels.map(|label| (thread.name.clone(), label.to_string())).collect()
}

/// Why there is no answer, in words.
fn why_open(rung: Rung, why: Why) -> String {
    let name = rung.name();
    match why {
        Why::Stopped(reason) => format!("{name}: {reason}"),
        Why::BuffersLonger(stores) => format!("{name}: buffers grow beyond {}", counted(stores, "store")),
        Why::SnapshotsMore(most) => format!("{name}: queues grow beyond {}", counted(most, "snapshot")),
        Why::ReachedOnly => format!("{name}: reached, but this rung gives no computation; `buffers` does"),
        Why::NotRobust => format!("{name}: the program is not robust"),
        Why::TooManyBeginnings => format!("{name}: the copies of threads can begin in too many ways"),
        Why::AnyNumber => "final states need fixed copies: `--threads all=2`".to_owned(),
        Why::NotForThis => format!("{name} has no answer"),
        Why::Larger(most) => {
            format!("{name}: more than {most} configurations; `--ask properties` goes on beyond")
        }
        Why::PlainPosts => {
            "it holds where posts drain; they are plain, and the program is not robust with them".to_owned()
        }
        Why::NotReplayed => format!("{name}: what was found could not be followed in the program"),
    }
}
