//! What the editor may set: how long to search, and what to ask, in the words of `palisade check`.

use crate::cli::check::CheckArguments;
use crate::cli::fences::FencesArguments;
use crate::cli::orderings::OrderingsArguments;
use clap::{Args, Command, FromArgMatches};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;

/// How long to search where the editor says nothing.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What is asked about each text.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// How long to search.
    pub(super) timeout: Duration,
    /// What to ask.
    pub(super) check: CheckArguments,
    /// Whether to look for fences and orderings.
    pub(super) fixes: bool,
    /// Whether the editor wants to know how far each text is.
    pub(super) status: bool,
    /// Why there is no verdict: what to ask cannot be understood.
    pub(super) refusal: Option<String>,
}

impl Options {
    /// The options that the editor sends in `initializationOptions`, or under `palisade` in its
    /// settings; what cannot be understood is left out, and said.
    pub(super) fn new(settings: Option<&Value>) -> (Self, Option<String>) {
        let mut objections = Vec::new();
        let words: Vec<String> = setting(settings, "arguments", &mut objections).unwrap_or_default();
        let check = parsed::<CheckArguments>(&words).unwrap_or_else(|error| {
            // Of what clap says the first sentence alone is about these words.
            let first = error.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            objections.push(format!("the setting `arguments`: {first}"));
            parsed::<CheckArguments>(&[""; 0]).expect("no option is needed")
        });
        let refusal = objections.first().cloned();
        let seconds: Option<f64> = setting(settings, "timeout", &mut objections);
        let timeout = seconds.map(|seconds| {
            Duration::try_from_secs_f64(seconds).unwrap_or_else(|_| {
                objections.push(format!("the setting `timeout`: {seconds} is no number of seconds"));
                TIMEOUT
            })
        });
        let timeout = timeout.unwrap_or(TIMEOUT);
        let fixes = setting(settings, "fixes", &mut objections).unwrap_or(true);
        let status = setting(settings, "status", &mut objections).unwrap_or(false);
        (Self { timeout, check, fixes, status, refusal }, (!objections.is_empty()).then(|| objections.join("; ")))
    }

    /// What `palisade fences` is to look for, about a question of `palisade check`; nothing where
    /// it knows none of the kind.
    pub(super) fn fences(&self, ask: &str, file: &str) -> Option<FencesArguments> {
        let model = self.check.model.word();
        let mut words = vec!["--ask", ask];
        if model != "tso" {
            words.extend(["--model", model]);
        }
        let mut arguments = parsed::<FencesArguments>(&words).ok()?;
        (arguments.program, arguments.values) = (self.check.program.clone(), self.check.values);
        file.clone_into(&mut arguments.file);
        arguments.sarif.findings = self.check.model.language().is_none();
        Some(arguments)
    }

    /// What `palisade orderings` is to look for.
    pub(super) fn orderings(file: &str) -> OrderingsArguments {
        let mut arguments = parsed::<OrderingsArguments>(&["--diff"]).expect("an option that it has");
        file.clone_into(&mut arguments.file);
        arguments
    }
}

/// One of the settings, where the editor gives it.
fn setting<T: DeserializeOwned>(settings: Option<&Value>, name: &str, objections: &mut Vec<String>) -> Option<T> {
    let value = settings?.get(name).filter(|value| !value.is_null())?;
    match T::deserialize(value) {
        Ok(value) => Some(value),
        Err(error) => {
            objections.push(format!("the setting `{name}`: {error}"));
            None
        }
    }
}

/// Options of a command about one file.
fn parsed<A: Args + FromArgMatches>(words: &[impl AsRef<str>]) -> Result<A, String> {
    let command = A::augment_args(Command::new("palisade").no_binary_name(true).disable_help_flag(true));
    let words = words.iter().map(AsRef::as_ref).chain(["--", "text"]);
    let matches = command.try_get_matches_from(words);
    matches.and_then(|matches| A::from_arg_matches(&matches)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_words_of_check() {
        let (options, objection) = Options::new(Some(&json!({ "timeout": 0.5, "arguments": ["--model", "pso"] })));
        assert_eq!((options.timeout, objection), (Duration::from_millis(500), None));
        assert_eq!(options.check.model.word(), "pso");
        assert!(options.fences("properties", "t").is_some() && options.fences("nothing", "t").is_none());
        let (options, objection) = Options::new(Some(&json!({ "arguments": ["--modle", "pso"] })));
        assert_eq!((options.timeout, options.check.model.word()), (TIMEOUT, "tso"));
        assert!(objection.is_some_and(|words| words.contains("--modle") && !words.contains("Usage")));
        assert!(options.refusal.is_some_and(|words| words.contains("--modle")));
        assert!(Options::new(Some(&json!([1]))).1.is_none() && Options::new(None).1.is_none());
        let (options, objection) = Options::new(Some(&json!({ "timeout": "long", "fixes": false })));
        assert!(objection.is_some_and(|words| words.contains("timeout")) && !options.fixes);
        let (options, objection) = Options::new(Some(&json!({ "timeout": -1 })));
        assert!(objection.is_some_and(|words| words.contains("timeout")) && options.timeout == TIMEOUT);
    }
}
