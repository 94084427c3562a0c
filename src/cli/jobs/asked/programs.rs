//! Questions about a program as it is: robustness, hangs, races, properties.

use super::{Answer, Asked, Questions, exit_of, states};
use crate::cli::Exit;
use crate::cli::check::{CheckArguments, looks_for_hangs, questions};
use crate::cli::jobs::command::Command;
use crate::cli::load::unoptimised;
use crate::cli::verify::AcceptedEvidence;
use crate::cli::words::{Ask, QueueChoice};
use crate::concurrency::{ConcurrencyViolation, is_in_order};
use crate::evidence::{About, Evidence, ProgramSubject};
use crate::program::Program;
use crate::questions::{Properties, PropertyOptions, says_all_of_interleavings};
use crate::robustness::is_task_witness_in_order;
use crate::semantics::graphs::Axioms;
use crate::semantics::{Model, Quantifier, Target};
use crate::syntax::{Format, InputError};

/// A question about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// Robustness against a model.
    Robustness(Model),
    /// Robustness against a language.
    Language(Axioms),
    /// Robustness against concurrency.
    Concurrency,
    /// No triangular race.
    RaceFree,
    /// No stuck state under a model.
    Free(Model),
    /// Nobody waits under a model whom no way lets go on.
    Hopeful(Model),
    /// A target is not reached under a model; what an `exists` asks for is no failure in any case.
    Property(Model, Target),
    /// What the program states and nobody can ask.
    Unasked,
}

/// What answers about interleavings say of a language: what holds of them holds of it where the
/// program is robust.
struct Carried {
    /// The language, if one is asked about.
    language: Option<Axioms>,
    /// Whether the interleavings are all executions of a program that is robust.
    is_whole: bool,
    /// Whether robustness is asked for its own sake.
    is_told: bool,
    /// Whether no execution of the language is stuck, of interleavings and others.
    is_free: bool,
}

/// The verdicts that a job asks for about a program.
pub(super) struct Verdicts {
    /// The program.
    program: Program,
    /// What evidence may be about: the program, with what watches its joint control states or
    /// without, or another build of it.
    subjects: Vec<ProgramSubject>,
    /// What is asked.
    questions: Questions<Question>,
    /// Whether the final states asked about are what an `exists` asks for.
    wants_final_states: bool,
    /// Of these, the ones that are known to be reached.
    examples: Vec<Target>,
    /// What the answers about interleavings say of a language.
    carried: Carried,
    /// Which violations count.
    queue: QueueChoice,
    /// Whether a stuck state counts besides, under this model: nobody need have shown that there is
    /// none.
    hangs_under: Option<Model>,
    /// Whether hangs are asked of the program in which no time runs out.
    ignores_timeouts: bool,
    /// The verdicts in words.
    words: (&'static str, &'static str),
}

impl Verdicts {
    /// What a `check` asks, or a `prove`.
    pub(super) fn of(command: &Command) -> Result<Self, InputError> {
        let mut arguments: CheckArguments = command.arguments()?;
        if command.name == "prove" && arguments.ask.is_empty() {
            arguments.ask.push(Ask::Properties);
        }
        let loaded = command.load()?;
        let (model, mut subjects, mut asked) = (arguments.model.model(), vec![loaded.subject()], Vec::new());
        let asks = questions(&arguments, &command.path(), &loaded)?;
        for ask in &asks {
            match ask {
                Ask::Robustness => {
                    let against = arguments.model.language().map(Question::Language);
                    asked.push(against.unwrap_or(Question::Robustness(model)));
                }
                Ask::Concurrency => asked.push(Question::Concurrency),
                Ask::Races => asked.push(Question::RaceFree),
                Ask::Hangs => asked.push(Question::Free(model)),
                Ask::Hopeless => asked.push(Question::Hopeful(model)),
                Ask::Properties => {
                    let options = PropertyOptions { only: arguments.only.clone(), ..PropertyOptions::new(model) };
                    let properties = Properties::new(loaded.about(), options)?;
                    subjects.push(loaded.subject_of(properties.watched()));
                    asked.extend(properties.targets().iter().map(|target| Question::Property(model, *target)));
                    asked.extend(properties.are_some_unasked().then_some(Question::Unasked));
                }
            }
        }
        if loaded.format == Format::Machine
            && let Some(path) = unoptimised(&command.path())?
        {
            subjects.extend(command.load_other(&path).ok().map(|other| other.subject()));
        }
        let carried = Carried {
            language: arguments.model.language(),
            is_whole: says_all_of_interleavings(&loaded.program),
            // Robustness may be there for what it says of the other questions alone.
            is_told: arguments.asks_for(Ask::Robustness.name()),
            is_free: false,
        };
        let told = asked.iter().filter(|question| carried.is_told || !matches!(question, Question::Language(_)));
        // In the end something may not hold where nobody is stuck.
        let words = if loaded.program.finally.is_empty() { words(told) } else { ("holds", "violated") };
        let quantifier = loaded.question.as_ref().map(|question| question.condition().quantifier);
        let hangs_under = looks_for_hangs(&arguments, &loaded).then_some(model);
        Ok(Self {
            hangs_under,
            ignores_timeouts: arguments.ignore_timeouts,
            program: loaded.program,
            subjects,
            questions: Questions::new(asked),
            wants_final_states: quantifier == Some(Quantifier::Exists),
            examples: Vec::new(),
            carried,
            queue: arguments.queue,
            words,
        })
    }

    /// The model that an answer under another one is about: of a language interleavings are asked,
    /// and what x86 does is an execution of it, interleavings among them.
    fn meant(&self, model: Model) -> Model {
        if self.carried.language.is_some() && model == Model::Tso { Model::Sc } else { model }
    }

    /// Rejects evidence about executions of another language than the job's.
    fn look_for_language(&self, axioms: Option<Axioms>) -> Result<(), String> {
        if axioms.is_some_and(|own| self.carried.language != Some(own)) {
            return Err("it says who hangs by another language than the job's".to_owned());
        }
        Ok(())
    }

    /// The question whether nobody hangs under a model, and with or without timeouts, if the job
    /// asks it or looks for it.
    fn freedom(&self, model: Model, ignores_timeouts: bool) -> Result<Question, String> {
        if ignores_timeouts != self.ignores_timeouts {
            return Err("it says who hangs with other timeouts than the job's".to_owned());
        }
        let question = Question::Free(model);
        if self.hangs_under == Some(model) || self.questions.has(&question) {
            return Ok(question);
        }
        Err("it says who hangs under another model than the job's".to_owned())
    }

    /// The question whether some way lets each copy go on, if the job asks it.
    fn hope(&self, model: Model, ignores_timeouts: bool) -> Result<Question, String> {
        let question = Question::Hopeful(model);
        if ignores_timeouts == self.ignores_timeouts && self.questions.has(&question) {
            return Ok(question);
        }
        Err("it says who waits in vain, and the job asks something else".to_owned())
    }

    /// What the answer to a question says of the language that is asked about, if one is; nothing
    /// for a question that is not told.
    fn carry(&self, question: Question, answer: Option<bool>) -> Option<Option<bool>> {
        let Some(language) = self.carried.language else { return Some(answer) };
        let is_shown = |target: &Target| self.examples.contains(target);
        match question {
            Question::Language(_) => self.carried.is_told.then_some(answer),
            Question::Property(_, target) if is_shown(&target) => Some(answer),
            Question::Free(_) if self.carried.is_free => Some(answer),
            Question::Property(..) | Question::Free(_) if answer == Some(true) => {
                let is_robust = self.questions.answer(&Question::Language(language)) == Some(true);
                Some(answer.filter(|_| is_robust && self.carried.is_whole))
            }
            _ => Some(answer),
        }
    }

    /// Answers a question about a property.
    fn take_property(&mut self, model: Model, target: Target, is_reached: bool) -> Result<(), String> {
        let is_wanted = target == Target::FinalStates && self.wants_final_states;
        self.examples.extend((is_wanted && is_reached).then_some(target));
        self.questions.take(&Question::Property(model, target), is_wanted || !is_reached)
    }

    /// Whether a violation of a program of events counts, which may need tasks taken in another
    /// order than that of their posts.
    fn counts(&self, evidence: &Evidence) -> bool {
        match evidence {
            _ if self.queue == QueueChoice::Bag => true,
            Evidence::NotConcurrencyRobust(_, witness) => {
                let violation = ConcurrencyViolation { witness: witness.clone(), instance: Vec::new() };
                is_in_order(&self.program, &violation)
            }
            Evidence::NotTsoRobust(_, witness) => is_task_witness_in_order(&self.program, witness),
            _ => true,
        }
    }
}

/// The verdicts about some questions in words.
fn words<'q>(mut asked: impl Iterator<Item = &'q Question> + Clone) -> (&'static str, &'static str) {
    let is_robustness = |question: &Question| {
        matches!(question, Question::Robustness(_) | Question::Language(_) | Question::Concurrency)
    };
    if asked.clone().next().is_none() {
        ("holds", "violated")
    } else if asked.clone().all(|question| *question == Question::RaceFree) {
        ("race-free", "triangular-race")
    } else if asked.clone().all(|question| matches!(question, Question::Free(_))) {
        ("free", "stuck")
    } else if asked.all(is_robustness) {
        ("robust", "not robust")
    } else {
        ("holds", "violated")
    }
}

impl Asked for Verdicts {
    fn is_about(&self, evidence: &Evidence) -> bool {
        match evidence.about() {
            About::Program(stated) => self.subjects.iter().any(|meant| states(stated, meant)),
            About::Net(_) => false,
        }
    }

    fn take(&mut self, evidence: &Evidence, accepted: &AcceptedEvidence) -> Result<(), String> {
        let is_of_another_build = match evidence.about() {
            About::Program(stated) => stated.input.sha256 != self.subjects[0].input.sha256,
            About::Net(_) => true,
        };
        if is_of_another_build {
            return Ok(());
        }
        if !self.counts(evidence) {
            return Err("its violation needs tasks taken in another order than that of their posts".to_owned());
        }
        let (question, holds) = match evidence {
            Evidence::Robust(..) | Evidence::TsoRobust(..) => (Question::Robustness(Model::Tso), true),
            Evidence::NotRobust(..) | Evidence::NotTsoRobust(..) => (Question::Robustness(Model::Tso), false),
            Evidence::PsoRobust(..) => (Question::Robustness(Model::Pso), true),
            Evidence::NotPsoRobust(..) => (Question::Robustness(Model::Pso), false),
            Evidence::LanguageRobust(_, certificate) => (Question::Language(certificate.axioms), true),
            Evidence::NotLanguageRobust(_, witness) => (Question::Language(witness.axioms), false),
            Evidence::ConcurrencyRobust(..) => (Question::Concurrency, true),
            Evidence::NotConcurrencyRobust(..) => (Question::Concurrency, false),
            Evidence::RaceFree(..) => (Question::RaceFree, true),
            Evidence::Race(..) => (Question::RaceFree, false),
            Evidence::Free(_, certificate) if certificate.is_hopeful => {
                (self.hope(certificate.model, certificate.ignores_timeouts)?, true)
            }
            Evidence::Stuck(_, witness) if witness.hopeless.is_some() => {
                (self.hope(witness.model, witness.ignores_timeouts)?, false)
            }
            Evidence::Free(_, certificate) => {
                self.look_for_language(certificate.language())?;
                self.carried.is_free |= certificate.language().is_some();
                (self.freedom(self.meant(certificate.model), certificate.ignores_timeouts)?, true)
            }
            Evidence::Stuck(_, witness) => {
                self.look_for_language(witness.graph.as_ref().map(|graph| graph.axioms))?;
                let question = self.freedom(self.meant(witness.model), witness.ignores_timeouts)?;
                if self.hangs_under == Some(witness.model) {
                    self.questions.add(question);
                    self.words = ("holds", "violated");
                }
                (question, false)
            }
            Evidence::PropertyWitness(_, witness) => {
                return self.take_property(self.meant(witness.model), witness.target, true);
            }
            Evidence::Property(..) => {
                let Some(facts) = &accepted.properties else { return Ok(()) };
                return facts
                    .shown
                    .iter()
                    .try_for_each(|target| self.take_property(self.meant(facts.model), *target, false));
            }
            _ => return Ok(()),
        };
        self.questions.take(&question, holds)
    }

    fn answer(&self) -> Answer {
        let exit = exit_of(self.questions.0.iter().filter_map(|(question, answer)| self.carry(*question, *answer)));
        let verdict = match exit {
            Exit::Holds => self.words.0,
            Exit::Fails => self.words.1,
            _ => "unknown",
        };
        Answer::new(exit, verdict)
    }
}
