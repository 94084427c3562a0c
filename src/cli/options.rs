//! Options every subcommand has.

use crate::limits::Limits;
use clap::{Args, ValueEnum};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Raised by the first Ctrl-C, SIGTERM or SIGHUP: what runs ends in `unknown`, with what it has
/// found. The second one ends the process.
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(false)));

/// Whether the process was asked to end.
pub(super) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// When to colour the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// When it goes to a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options every subcommand has. They may stand before its name as well: see
/// [`SharedOptions::after`].
#[derive(Clone, Debug, Args)]
pub struct SharedOptions {
    /// Print one JSON document on standard output and nothing else there; `palisade schema`
    /// describes it.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Stop after so long and answer `unknown`: `90`, `90s`, `500ms`, `2m`, `1h`.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,
    /// Stop when the process holds more memory than this: `500M`, `2G` (powers of 1024).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub memory: Option<u64>,
    /// Worker threads; the number of processors when left out. Answers do not depend on it.
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Limits")]
    pub jobs: Option<u16>,
    /// Say more; twice for more still.
    #[arg(long, short, action = clap::ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// Print the answer alone: no progress, no hints.
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
    /// When to colour warnings and errors; `auto` when left out.
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Output")]
    pub color: Option<ColorChoice>,
}

impl SharedOptions {
    /// These options, which stand after the name of a subcommand, and those before it: what is
    /// given twice is taken from here, and `-v` is counted in both places.
    ///
    /// To clap they are two sets of options, not one of global ones, which it would copy into every
    /// subcommand's definition at each start.
    #[must_use]
    pub fn after(self, before: &Self) -> Self {
        Self {
            json: self.json || before.json,
            timeout: self.timeout.or(before.timeout),
            memory: self.memory.or(before.memory),
            jobs: self.jobs.or(before.jobs),
            verbose: self.verbose.saturating_add(before.verbose),
            quiet: self.quiet || before.quiet,
            color: self.color.or(before.color),
        }
    }

    /// Whether to colour what goes to standard error.
    pub fn colours_stderr(&self) -> bool {
        match self.color.unwrap_or_default() {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        }
    }

    /// Sets up what Ctrl-C does, a request to end, and the end of the terminal. The last one is
    /// ignored where the process was started to ignore it, as by `nohup`.
    pub(super) fn handle_interrupts() {
        let hangs_up = ignored_signals() >> (SIGHUP - 1) & 1 == 0;
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangs_up.then_some(SIGHUP)) {
            // A second signal ends the process: the handler reads the flag of the first one before
            // it raises it again. Without a handler a signal ends the process at once.
            let _ = register_conditional_shutdown(signal, 128 + signal, INTERRUPTED.clone());
            let _ = register(signal, INTERRUPTED.clone());
        }
    }

    /// Sets up the number of rayon's workers.
    pub(super) fn start_workers(&self) {
        if let Some(jobs) = self.jobs {
            // A second pool is an embedding's business.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs)).build_global();
        }
    }

    /// The limits these options set, from now on.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::none().with_interrupt(INTERRUPTED.clone());
        if let Some(timeout) = self.timeout {
            limits = limits.with_timeout(timeout);
        }
        if let Some(memory) = self.memory {
            limits = limits.with_memory(memory);
        }
        limits
    }
}

/// The signals that this process ignores, a bit for each, where the system tells (Linux); none
/// elsewhere.
fn ignored_signals() -> u64 {
    /// How many fields stand between the name, which may contain anything, and `sigignore`.
    const FIELD: usize = 30;
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let mut fields = fields.split_ascii_whitespace().skip(FIELD);
    fields.next().and_then(|field| field.parse().ok()).unwrap_or(0)
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().map_err(|_| format!("`{text}` is not a time; try `90s`, `2m` or `500ms`"))?;
    let seconds = match &text[digits.len()..] {
        "" | "s" => number,
        "ms" => number / 1000.0,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        unit => return Err(format!("unknown unit `{unit}`; use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("`{text}` is not a time that can be waited for"))
}

/// A number without a unit below this is meant in another one: no process runs in so few bytes.
const LEAST_BYTES: u64 = 1 << 16;

fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| format!("`{text}` is not a size; try `500M` or `2G`"))?;
    let shift = match &text[digits.len()..] {
        "" if number < LEAST_BYTES => {
            return Err(format!("`{text}` would be {number} bytes; say `{text}M` or `{text}G`"));
        }
        "" | "B" => 0,
        "K" | "KiB" | "k" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "T" | "TiB" => 40,
        unit => return Err(format!("unknown unit `{unit}`; use K, M, G or T")),
    };
    number.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` is larger than any memory"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    #[test]
    fn what_stands_after_the_subcommand_counts() {
        let options = |line: &str| {
            let definition = SharedOptions::augment_args(clap::Command::new("palisade"));
            let matches = definition.try_get_matches_from(line.split(' ')).expect("good usage");
            SharedOptions::from_arg_matches(&matches).expect("good options")
        };
        let both = options("palisade --timeout 1s -v").after(&options("palisade --timeout 2s --jobs 3 -v --json"));
        assert_eq!((both.timeout, both.jobs), (Some(Duration::from_secs(1)), Some(3)));
        assert_eq!((both.verbose, both.json, both.quiet), (2, true, false));
    }

    #[test]
    fn times_and_sizes() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_mins(2)));
        assert!(parse_duration("-1").is_err());
        assert_eq!(parse_size("2G"), Ok(2 << 30));
        assert!(parse_size("99999999999T").is_err());
        assert_eq!(parse_size("2"), Err("`2` would be 2 bytes; say `2M` or `2G`".to_owned()));
        assert_eq!((parse_size("2B"), parse_size("70000")), (Ok(2), Ok(70_000)));
    }
}
