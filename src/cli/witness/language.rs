//! `palisade witness --model c11`: the execution graph of a program that is not robust against a
//! language, as a table or a litmus test.

use super::WitnessArguments;
use crate::cli::confirm::{Confirmation, answer_check};
use crate::cli::files::write_text;
use crate::cli::output::{print_document, print_text, remark, remark_line};
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::questions::{LanguageRobustness, Question};
use crate::report::account::{EventWitnessDocument, Standing, Told};
use crate::report::documents::{self, Picture, PictureFormat};
use crate::report::picture::graph_litmus;
use crate::semantics::graphs::{Axioms, by_language};
use crate::syntax::InputError;
use std::time::Instant;

/// Answers `palisade witness` about a language.
pub(super) fn answer(
    arguments: &WitnessArguments,
    axioms: Axioms,
    shared: &SharedOptions,
    loaded: &Loaded,
) -> Result<Exit, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    if let Some(objection) = LanguageRobustness::objection(&loaded.about(), axioms) {
        return Err(InputError::from((program.source.clone(), vec![objection])));
    }
    let picture = arguments.picture();
    if !matches!(picture, None | Some(PictureFormat::Litmus)) || arguments.run.is_some() {
        let message = "execution graphs are shown as tables and as litmus tests in C";
        let error = InputError::file(program.source.name.clone(), message);
        return Err(error.with_help_if(Some("say `--litmus`, or nothing for a table".to_owned())));
    }
    let (question, limits) = (LanguageRobustness::new(loaded.about(), axioms, arguments.values), shared.limits());
    let found = question.decide(&limits).map_err(|fault| question.refusal(&fault))?;
    let confirmation = Confirmation::of(&arguments.file, true, &limits, || answer_check(&loaded.about(), &found));
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        return Err(InputError::Stopped { name: arguments.file.clone(), reason });
    }
    if let Some(alarm) = confirmation.as_ref().and_then(|own| own.alarm(&arguments.file)) {
        remark(alarm);
        return Ok(Exit::Rejected);
    }
    let mut accounts = question.asked();
    question.tell(&found, &mut accounts);
    let told = Told { context: loaded.context(&arguments.file, begin, &[]), nothing: "", accounts };
    let violated = told.most_serious().filter(|account| account.standing() == Standing::Violated);
    let refuse = |message: String| InputError::file(arguments.file.clone(), message);
    let test = |violation| graph_litmus(&by_language(program), violation).map_err(refuse);
    let litmus = found.violation.as_ref().filter(|_| picture.is_some()).map(test).transpose()?;
    if shared.json {
        let mut document = EventWitnessDocument::new(&told);
        let mut text = litmus;
        if let (Some(path), Some(own)) = (&arguments.output, &text) {
            write_text(path, own.clone())?;
            document.written = Some(path.display().to_string());
            text = None;
        } else if let Some(path) = &arguments.output {
            write_text(path, documents::text(&document) + "\n")?;
            return Ok(exit(told.standing()));
        }
        document.picture = picture.map(|format| Picture { format, text });
        print_document(&document);
    } else if let Some(account) = violated {
        let shown = account.shown().map(|shown| shown.text(0).replacen("violation", &account.verdict, 1));
        let text = litmus.or(shown).unwrap_or_default();
        match &arguments.output {
            Some(path) => write_text(path, text)?,
            None => print_text(text),
        }
    } else {
        remark_line(format_args!("{}: {}: there is no violation to show", arguments.file, told.headline()));
    }
    Ok(exit(told.standing()))
}

fn exit(standing: Standing) -> Exit {
    match standing {
        Standing::Violated => Exit::Fails,
        Standing::Holds => Exit::Holds,
        Standing::Unknown => Exit::Unknown,
    }
}
