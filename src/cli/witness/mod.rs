//! `palisade witness`: the violation of a program that is not robust, in the form one needs.

mod events;
mod language;

use super::confirm::{Confirmation, answer_check};
use super::files::write_text;
use super::output::{print_document, print_line, print_text, remark, remark_line};
use super::words::{Against, Ask, robustness_or_concurrency, tso_and_languages};
use super::{Exit, ProgramOptions, SharedOptions, print_input_error};
use crate::program::Program;
use crate::questions::LanguageRobustness;
use crate::report::context::fault_error;
use crate::report::documents::{self, Picture, PictureFormat, RunsDocument, ViolationDocument, WitnessDocument};
use crate::report::{counted, picture, violation};
use crate::robustness::{CheckOptions, Shape, Verdict, Violation, check, hardware};
use crate::semantics::Model;
use crate::syntax::InputError;
use crate::syntax::litmus::{self, Request};
use clap::Args;
use std::path::PathBuf;

/// Options of `palisade witness`.
#[derive(Clone, Debug, Args)]
pub(super) struct WitnessArguments {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(super) file: String,
    #[command(flatten)]
    program: ProgramOptions,
    #[command(flatten)]
    pub(super) form: Form,
    /// What to show a violation of, in a program of events or tasks: `concurrency` or `robustness`.
    /// By default robustness against concurrency, and where that holds, against TSO.
    #[arg(long, value_name = "WHAT", value_parser = robustness_or_concurrency())]
    pub(super) ask: Option<Ask>,
    /// Run the violating threads N times on this machine's processor and count the outcomes no SC
    /// machine has.
    #[arg(long, value_name = "N")]
    pub(super) run: Option<u64>,
    /// Write to this file instead of to standard output, in the form that its name says: `.svg`,
    /// `.dot`, `.mmd`, `.litmus`, or `.txt` for a table.
    #[arg(long, short, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
    /// Distinct values of a register or address admitted in a program without a domain.
    #[arg(long, value_name = "N", default_value_t = crate::robustness::DEFAULT_VALUES)]
    pub(super) values: usize,
    /// `tso`, which is meant where it is left out, or a language: then the violation is an
    /// execution graph, and `--litmus` writes C.
    #[arg(long, value_name = "MODEL", value_parser = tso_and_languages())]
    model: Option<Against>,
}

/// The form of the violation; a table by default.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
pub(super) struct Form {
    /// A Mermaid sequence diagram.
    #[arg(long)]
    mermaid: bool,
    /// A litmus test for herd7 and litmus7: its outcome is one of TSO, or the language, and none of
    /// SC.
    #[arg(long)]
    litmus: bool,
    /// The trace with its relations, for Graphviz.
    #[arg(long)]
    dot: bool,
    /// The computation as a picture.
    #[arg(long)]
    svg: bool,
}

impl WitnessArguments {
    /// Whether the output's name asks for a form that there is not.
    fn names_no_form(&self) -> bool {
        let extension = self.output.as_ref().and_then(|path| path.extension());
        let is_table = extension.is_none_or(|own| own == "txt" || own == "json");
        !is_table && self.form.picture().is_none() && self.picture().is_none()
    }

    /// The form for other tools that the options name, or else the name of the output.
    fn picture(&self) -> Option<PictureFormat> {
        let by_name = || match self.output.as_ref()?.extension()?.to_str()? {
            "mmd" => Some(PictureFormat::Mermaid),
            "litmus" => Some(PictureFormat::Litmus),
            "dot" => Some(PictureFormat::Dot),
            "svg" => Some(PictureFormat::Svg),
            _ => None,
        };
        self.form.picture().or_else(by_name)
    }
}

/// Runs `palisade witness`: exit status 1 when there is a violation.
pub(super) fn run(arguments: &WitnessArguments, shared: &SharedOptions) -> Exit {
    let limits = shared.limits();
    if let Err(error) = admit(arguments) {
        return print_input_error(&error, shared);
    }
    let loaded = match arguments.program.load_any(&arguments.file, shared, &limits) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    if let Some(axioms) = arguments.model.and_then(Against::language) {
        let answered = language::answer(arguments, axioms, shared, &loaded);
        return answered.unwrap_or_else(|error| print_input_error(&error, shared));
    }
    if let Some((message, help)) = LanguageRobustness::other_models(&loaded.program, Model::Tso) {
        let error = InputError::file(&arguments.file, message).with_help_if(Some(help.to_owned()));
        return print_input_error(&error, shared);
    }
    if loaded.program.is_event_driven() {
        return events::answer(arguments, shared, &loaded).unwrap_or_else(|error| print_input_error(&error, shared));
    }
    if arguments.ask == Some(Ask::Concurrency) {
        let error = InputError::file(
            loaded.program.source.name.clone(),
            "robustness against concurrency is about events, and the program has none",
        );
        return print_input_error(&error, shared);
    }
    let program = &loaded.program;
    let options =
        CheckOptions { values: loaded.values(arguments.values), limits: limits.clone(), ..CheckOptions::default() };
    let checked = match check(program, &options) {
        Ok(checked) => checked,
        Err(fault) => return print_input_error(&fault_error(program, &fault), shared),
    };
    let confirmation = Confirmation::of(&arguments.file, true, &limits, || answer_check(&loaded.about(), &checked));
    let mut document = WitnessDocument::new(&arguments.file, program, (&checked.verdict).into());
    document.evidence = confirmation.as_ref().map(Confirmation::document);
    if let Verdict::Unknown(reason) = checked.verdict {
        document.header.reason = Some(reason.to_string());
    }
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        let error = InputError::Stopped { name: arguments.file.clone(), reason };
        return print_input_error(&error, shared);
    }
    if let Some(alarm) = confirmation.as_ref().and_then(|confirmation| confirmation.alarm(&arguments.file)) {
        if shared.json {
            print_document(&document);
        }
        remark(alarm);
        return Exit::Rejected;
    }
    let Some(found) = &checked.violation else {
        if shared.json {
            print_document(&document);
        } else {
            let word = match checked.verdict {
                Verdict::Robust if !program.accepted.is_empty() => {
                    format!("robust but for {}", counted(program.accepted.len(), "accepted delay"))
                }
                Verdict::Robust => "robust".to_owned(),
                Verdict::NotRobust => "not robust".to_owned(),
                Verdict::Unknown(_) => "unknown".to_owned(),
            };
            remark_line(format_args!("{}: {word}: there is no violation to show", arguments.file));
        }
        return if checked.verdict == Verdict::Robust { Exit::Holds } else { Exit::Unknown };
    };
    let shown = if shared.json {
        show_document(arguments, shared, program, found, document)
    } else {
        show(arguments, shared, program, found)
    };
    match shown {
        Ok(()) => Exit::Fails,
        Err(error) => print_input_error(&error, shared),
    }
}

/// Refuses what this command does not show.
fn admit(arguments: &WitnessArguments) -> Result<(), InputError> {
    let refuse =
        |message: &str, help: &str| Err(InputError::file(&arguments.file, message).with_help_if(Some(help.to_owned())));
    if arguments.names_no_form() {
        return refuse(
            "there is no form of that name for `--output`",
            "`.svg` is a picture, `.dot`, `.mmd` and `.litmus` are for other tools, `.txt` is a table",
        );
    }
    match (arguments.ask, arguments.model) {
        (Some(Ask::Properties | Ask::Hangs | Ask::Hopeless | Ask::Races), _) => refuse(
            "this command shows violations of robustness",
            "`palisade check --ask properties,hangs,races` shows the others",
        ),
        (_, None | Some(Against::Model(Model::Tso) | Against::Language(_))) => Ok(()),
        (_, Some(_)) => refuse(
            "this command is about robustness against TSO",
            "`palisade check --model pso` decides robustness against PSO and shows a violation, and with `--ask properties` it decides properties",
        ),
    }
}

impl Form {
    /// The form for other tools that the options name.
    fn picture(&self) -> Option<PictureFormat> {
        [
            (self.mermaid, PictureFormat::Mermaid),
            (self.litmus, PictureFormat::Litmus),
            (self.dot, PictureFormat::Dot),
            (self.svg, PictureFormat::Svg),
        ]
        .into_iter()
        .find_map(|(asked, format)| asked.then_some(format))
    }
}

/// Prints the violation as text.
fn show(
    arguments: &WitnessArguments,
    shared: &SharedOptions,
    program: &Program,
    found: &Violation,
) -> Result<(), InputError> {
    let refuse = |message: String| InputError::file(arguments.file.clone(), message);
    let text = match arguments.picture() {
        Some(format) => draw(program, found, format, shared).map_err(refuse)?,
        None => violation::text(program, found, shared.verbose),
    };
    match &arguments.output {
        Some(path) => write_text(path, text)?,
        None => print_text(text),
    }
    if let Some(runs) = arguments.run {
        let observed = observe(program, found, runs, shared).map_err(refuse)?;
        print_line(format_args!(
            "on this processor: the outcome was seen {} in {}",
            counted(observed.seen, "time"),
            counted(observed.runs, "run")
        ));
    }
    Ok(())
}

/// Prints the violation as a document. A form for other tools is part of it, or goes to the file to
/// write; without such a form the document itself goes there.
fn show_document<'a>(
    arguments: &WitnessArguments,
    shared: &SharedOptions,
    program: &'a Program,
    found: &'a Violation,
    mut document: WitnessDocument<'a>,
) -> Result<(), InputError> {
    let refuse = |message: String| InputError::file(arguments.file.clone(), message);
    document.violation = Some(ViolationDocument::new(program, found));
    if let Some(runs) = arguments.run {
        let hardware::Observed { runs, seen } = observe(program, found, runs, shared).map_err(refuse)?;
        document.run = Some(RunsDocument { runs, seen });
    }
    match (arguments.picture(), &arguments.output) {
        (Some(format), output) => {
            let text = draw(program, found, format, shared).map_err(refuse)?;
            let text = match output {
                Some(path) => {
                    write_text(path, text)?;
                    document.written = Some(path.display().to_string());
                    None
                }
                None => Some(text),
            };
            document.picture = Some(Picture { format, text });
            print_document(&document);
        }
        (None, Some(path)) => write_text(path, documents::text(&document) + "\n")?,
        (None, None) => print_document(&document),
    }
    Ok(())
}

/// The violation in a form for other tools.
fn draw(program: &Program, found: &Violation, format: PictureFormat, shared: &SharedOptions) -> Result<String, String> {
    Ok(match format {
        PictureFormat::Mermaid => picture::mermaid(program, found),
        PictureFormat::Dot => picture::dot(program, found),
        PictureFormat::Svg => picture::svg(program, found),
        PictureFormat::Litmus => {
            let shape = confirmed_shape(program, found, shared)?;
            let condition = shape.condition();
            let test = litmus::write(&shape.program(), Request::Condition(&condition));
            test.map_err(|errors| errors.first().map_or_else(String::new, |error| error.message.clone()))?.text
        }
    })
}

fn confirmed_shape(program: &Program, found: &Violation, shared: &SharedOptions) -> Result<Shape, String> {
    let shape = Shape::of(program, found).map_err(|error| error.to_string())?;
    shape.confirm(&shared.limits()).map_err(|error| error.to_string())?;
    Ok(shape)
}

fn observe(
    program: &Program,
    found: &Violation,
    runs: u64,
    shared: &SharedOptions,
) -> Result<hardware::Observed, String> {
    if !hardware::is_supported() {
        return Err("--run needs an x86-64 processor: this one's loads and stores are not those of x86-TSO".into());
    }
    let shape = confirmed_shape(program, found, shared)?;
    Ok(hardware::run(&shape, runs, &shared.limits()))
}
