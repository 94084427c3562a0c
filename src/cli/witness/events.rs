//! `palisade witness` of a program with events or tasks: the violation against concurrency or TSO, in the form one needs.

use super::WitnessArguments;
use crate::cli::check::{Against, admit};
use crate::cli::confirm::{Confirmation, EvidenceCheck, concurrency_check, tasks_check};
use crate::cli::files::write_text;
use crate::cli::output::{print_document, print_text, remark, remark_line};
use crate::cli::queue::{QueueChoice, put_in_order, put_tasks_in_order};
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::concurrency::{self, ConcurrencyCheck, ConcurrencyOptions, ConcurrencyVerdict};
use crate::limits::Limits;
use crate::program::Program;
use crate::report::concurrency as about_concurrency;
use crate::report::context::fault_error;
use crate::report::documents::{self, EventWitnessDocument, Picture, PictureFormat};
use crate::report::interleaving::Interleaving;
use crate::report::picture::{scene_mermaid, scene_svg};
use crate::report::scene::Scene;
use crate::report::tso::{self, Computation};
use crate::robustness::{TaskCheck, Verdict, check_tasks};
use crate::syntax::InputError;

/// The answers to the questions asked, up to the first one with a violation.
#[derive(Default)]
struct Answers {
    concurrency: Option<ConcurrencyCheck>,
    tso: Option<TaskCheck>,
}

/// A violation, with the words above it.
struct Shown {
    scene: Scene,
    headline: String,
}

/// Answers `palisade witness`.
pub(super) fn answer(
    arguments: &WitnessArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Exit, InputError> {
    let program = &loaded.program;
    check_options(arguments, program)?;
    if arguments.against == Some(Against::Concurrency) {
        admit(program, arguments.against)?;
    }
    // Programs in which threads stand beside events are asked about TSO alone.
    let asks_concurrency = arguments
        .against
        .map_or_else(|| admit(program, Some(Against::Concurrency)).is_ok(), |it| it == Against::Concurrency);
    let mut answers = Answers::default();
    if asks_concurrency {
        let options =
            ConcurrencyOptions { values: arguments.values, limits: limits.clone(), ..ConcurrencyOptions::default() };
        let mut checked = concurrency::check(program, &options).map_err(|fault| fault_error(program, &fault))?;
        put_in_order(&mut checked, program, QueueChoice::default(), limits);
        if let Some(alarm) = alarm(arguments, limits, || concurrency_check(program, &checked.verdict))? {
            remark(alarm);
            return Ok(Exit::Rejected);
        }
        answers.concurrency = Some(checked);
    }
    if arguments.against != Some(Against::Concurrency) && answers.shown(program).is_none() {
        let mut checked =
            check_tasks(program, arguments.values, limits).map_err(|fault| fault_error(program, &fault))?;
        put_tasks_in_order(&mut checked, program, QueueChoice::default(), limits);
        if let Some(alarm) = alarm(arguments, limits, || tasks_check(program, &checked))? {
            remark(alarm);
            return Ok(Exit::Rejected);
        }
        answers.tso = Some(checked);
    }
    let shown = answers.shown(program);
    if shared.json {
        print_json(arguments, program, &answers, shown.as_ref())?;
    } else if let Some(shown) = &shown {
        let text = match arguments.form.picture() {
            Some(format) => draw(&shown.scene, format),
            None => format!("{}{}", shown.headline, shown.scene.text()),
        };
        match &arguments.output {
            Some(path) => write_text(path, text)?,
            None => print_text(text),
        }
    } else {
        remark_line(format_args!("{}: {}: there is no violation to show", arguments.file, answers.words()));
    }
    Ok(match shown {
        Some(_) => Exit::Fails,
        None if answers.are_robust() => Exit::Holds,
        None => Exit::Unknown,
    })
}

/// Refuses the forms that are of threads alone.
fn check_options(arguments: &WitnessArguments, program: &Program) -> Result<(), InputError> {
    let picture = arguments.form.picture();
    let is_of_threads = matches!(picture, Some(PictureFormat::Litmus | PictureFormat::Dot)) || arguments.run.is_some();
    if !is_of_threads {
        return Ok(());
    }
    let message = "`--litmus`, `--dot` and `--run` know threads alone, and the program has events or tasks";
    let help = "say `--svg` or `--mermaid`, or nothing for a table".to_owned();
    Err(InputError::file(program.source.name.clone(), message).with_help_if(Some(help)))
}

/// What to say loudly when the evidence for an answer is rejected; an error when there is no time to check it.
fn alarm(
    arguments: &WitnessArguments,
    limits: &Limits,
    check: impl FnOnce() -> Option<EvidenceCheck>,
) -> Result<Option<String>, InputError> {
    let Some(confirmation) = Confirmation::of(&arguments.file, true, limits, check) else { return Ok(None) };
    match confirmation.stopped() {
        Some(reason) => Err(InputError::Stopped { name: arguments.file.clone(), reason }),
        None => Ok(confirmation.alarm(&arguments.file)),
    }
}

fn draw(scene: &Scene, format: PictureFormat) -> String {
    match format {
        PictureFormat::Mermaid => scene_mermaid(scene),
        _ => scene_svg(scene),
    }
}

fn print_json(
    arguments: &WitnessArguments,
    program: &Program,
    answers: &Answers,
    shown: Option<&Shown>,
) -> Result<(), InputError> {
    let questions = (answers.concurrency.as_ref(), answers.tso.as_ref());
    let mut document = EventWitnessDocument::new(&arguments.file, program, questions);
    let picture = shown.and_then(|shown| Some((arguments.form.picture()?, &shown.scene)));
    if let Some((format, scene)) = picture {
        let mut text = Some(draw(scene, format));
        if let Some(path) = &arguments.output {
            write_text(path, text.take().unwrap_or_default())?;
            document.written = Some(path.display().to_string());
        }
        document.picture = Some(Picture { format, text });
    } else if let Some(path) = &arguments.output {
        return write_text(path, documents::text(&document) + "\n");
    }
    print_document(&document);
    Ok(())
}

impl Answers {
    /// The violation that was found.
    fn shown(&self, program: &Program) -> Option<Shown> {
        if let Some(ConcurrencyVerdict::NotRobust(violation)) = self.concurrency.as_ref().map(|it| &it.verdict) {
            let reason = about_concurrency::reason_words(&violation.witness.reason);
            let with = about_concurrency::with_words(program, violation);
            let shown = Interleaving::of(program, &violation.witness)?;
            let queue = shown.queue();
            let headline = format!("not robust against concurrency: {reason}\nwith: {with}\n{queue}\n");
            let scene = Scene::of_interleaving(&shown);
            return Some(Shown { scene, headline });
        }
        let witness = self.tso.as_ref()?.witness.as_ref()?;
        let (posts, with) = (program.posts.word(), tso::with_words(program, witness));
        let headline = format!("not robust against TSO: happens-before is cyclic\nwith: {with}; posts {posts}\n");
        Some(Shown { scene: Scene::of_computation(&Computation::of(program, witness)?), headline })
    }

    /// The verdicts in words.
    fn words(&self) -> String {
        let concurrency = self.concurrency.iter().map(|it| about_concurrency::verdict_words(&it.verdict));
        let words: Vec<&str> = concurrency.chain(self.tso.iter().map(|it| tso::verdict_words(&it.verdict))).collect();
        words.join(", ")
    }

    fn are_robust(&self) -> bool {
        let first = self.concurrency.as_ref().is_none_or(|it| matches!(it.verdict, ConcurrencyVerdict::Robust(_)));
        first && self.tso.as_ref().is_none_or(|it| it.verdict == Verdict::Robust)
    }
}
