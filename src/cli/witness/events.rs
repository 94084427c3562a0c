//! `palisade witness` of a program with events or tasks: the violation against concurrency or TSO,
//! in the form one needs.

use super::WitnessArguments;
use crate::cli::answers::{Answered, Asking};
use crate::cli::confirm::Confirmation;
use crate::cli::files::write_text;
use crate::cli::output::{print_document, print_text, remark, remark_line};
use crate::cli::words::Ask;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::program::Program;
use crate::questions::{Concurrency, EventRobustness, QueueOrder};
use crate::report::account::{Account, EventWitnessDocument, Run, Standing, Told};
use crate::report::documents::{self, Picture, PictureFormat};
use crate::report::picture::{scene_mermaid, scene_svg};
use crate::report::scene::Scene;
use crate::syntax::InputError;
use std::time::Instant;

/// Answers `palisade witness`.
pub(super) fn answer(
    arguments: &WitnessArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
) -> Result<Exit, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    check_options(arguments, program)?;
    let objection = Concurrency::objection(program);
    if let (Some(Ask::Concurrency), Some(error)) = (arguments.ask, &objection) {
        return Err(InputError::from((program.source.clone(), vec![error.clone()])));
    }
    let asking = Asking::new(&arguments.file, true, None, shared);
    let (about, values) = (loaded.about(), loaded.values(arguments.values));
    let mut answered: Vec<Answered<'_>> = Vec::new();
    // Programs in which threads stand beside events are asked about TSO alone.
    if arguments.ask.map_or(objection.is_none(), |ask| ask == Ask::Concurrency) {
        let question = Concurrency { about, values, pending: 64, queue: QueueOrder::default() };
        answered.push(asking.ask(question));
    }
    let is_violated =
        |answered: &Answered<'_>| answered.accounts().iter().any(|own| own.standing() == Standing::Violated);
    if arguments.ask != Some(Ask::Concurrency) && !answered.iter().any(is_violated) {
        answered.push(asking.ask(EventRobustness { about, values, queue: QueueOrder::default() }));
    }
    for one in &answered {
        if let Some((_, refusal)) = one.asked().fault() {
            return Err(refusal);
        }
        if let Some(reason) = one.confirmation().and_then(Confirmation::stopped) {
            return Err(InputError::Stopped { name: arguments.file.clone(), reason });
        }
        if let Some(alarm) = one.confirmation().and_then(|own| own.alarm(&arguments.file)) {
            remark(alarm);
            return Ok(Exit::Rejected);
        }
    }
    let accounts: Vec<Account<'_>> = answered.iter().flat_map(Answered::accounts).collect();
    let told = Told { context: loaded.context(&arguments.file, begin, &[]), nothing: "", accounts };
    let violated = told.most_serious().filter(|account| account.standing() == Standing::Violated);
    let scene = violated.and_then(Account::shown).and_then(|shown| match &shown.run {
        Run::Events(scene) => Some((shown, scene)),
        Run::Threads(_) | Run::Graph(_) => None,
    });
    if shared.json {
        print_json(arguments, &told, scene.map(|(_, scene)| scene))?;
    } else if let (Some(account), Some((shown, scene))) = (violated, scene) {
        let text = match arguments.picture() {
            Some(format) => draw(scene, format),
            None => shown.text(0).replacen("violation", &account.verdict, 1),
        };
        match &arguments.output {
            Some(path) => write_text(path, text)?,
            None => print_text(text),
        }
    } else {
        remark_line(format_args!("{}: {}: there is no violation to show", arguments.file, told.headline()));
    }
    Ok(match told.standing() {
        Standing::Violated => Exit::Fails,
        Standing::Holds => Exit::Holds,
        Standing::Unknown => Exit::Unknown,
    })
}

/// Refuses the forms that are of threads alone.
fn check_options(arguments: &WitnessArguments, program: &Program) -> Result<(), InputError> {
    let picture = arguments.picture();
    let is_of_threads = matches!(picture, Some(PictureFormat::Litmus | PictureFormat::Dot)) || arguments.run.is_some();
    if !is_of_threads {
        return Ok(());
    }
    let message = "`--litmus`, `--dot` and `--run` know threads alone, and the program has events or tasks";
    let help = "say `--svg` or `--mermaid`, or nothing for a table".to_owned();
    Err(InputError::file(program.source.name.clone(), message).with_help_if(Some(help)))
}

fn draw(scene: &Scene, format: PictureFormat) -> String {
    match format {
        PictureFormat::Mermaid => scene_mermaid(scene),
        _ => scene_svg(scene),
    }
}

fn print_json(arguments: &WitnessArguments, told: &Told<'_>, scene: Option<&Scene>) -> Result<(), InputError> {
    let mut document = EventWitnessDocument::new(told);
    let picture = scene.and_then(|scene| Some((arguments.picture()?, scene)));
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
