//! What `palisade check` says on standard error while one program takes long: how far it is, in a
//! terminal, and which values may be growing without end.

use crate::cli::SharedOptions;
use crate::cli::output::remark_line;
use crate::program::Program;
use crate::report::{bounds::growth_hint, counted};
use crate::robustness::{Fault, Observer, Stage};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is over sooner than this needs no words.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(200);

/// Follows a check. A thread of its own speaks, where there may be something to say.
pub(super) struct Progress<'p> {
    /// Whose check it is.
    program: &'p Program,
    /// What the speaking thread looks at.
    state: Arc<State>,
    /// Whether standard error is a terminal where a line can be drawn.
    is_terminal: bool,
    /// Whether to show anything at all.
    is_silent: bool,
    /// Since when.
    begin: Instant,
    /// The thread that speaks, once it has started.
    speaker: Mutex<Option<JoinHandle<()>>>,
}

/// What the speaking thread looks at.
#[derive(Default)]
struct State {
    /// Configurations found so far.
    explored: Arc<AtomicUsize>,
    /// What there is to say.
    news: Mutex<News>,
    /// The check has come to its end.
    ended: Condvar,
}

/// What there is to say.
#[derive(Default)]
struct News {
    /// What the check is doing, once it has begun.
    stage: Option<Stage>,
    /// A hint that is still to be given.
    hint: Option<String>,
    /// Whether there has been one: it is given once.
    has_hint: bool,
    /// The check has come to its end.
    is_over: bool,
}

impl<'p> Progress<'p> {
    /// Follows the check of a program from now on.
    pub(super) fn new(program: &'p Program, shared: &SharedOptions) -> Self {
        let progress = Self {
            program,
            state: Arc::default(),
            is_terminal: std::io::stderr().is_terminal(),
            is_silent: shared.quiet || shared.json,
            begin: Instant::now(),
            speaker: Mutex::default(),
        };
        if progress.is_terminal {
            progress.start();
        }
        progress
    }

    /// Starts the thread that speaks, unless it runs.
    fn start(&self) {
        let Ok(mut speaker) = self.speaker.lock() else { return };
        if speaker.is_none() && !self.is_silent {
            let (state, begin, draws) = (self.state.clone(), self.begin, self.is_terminal);
            // A system without room for one more thread gets no progress.
            *speaker = std::thread::Builder::new().spawn(move || state.speak(begin, draws)).ok();
        }
    }
}

impl State {
    /// Speaks until the check is over.
    fn speak(&self, begin: Instant, draws: bool) {
        let mut bar: Option<ProgressBar> = None;
        let Ok(mut news) = self.news.lock() else { return };
        while !news.is_over {
            let Ok((woken, _)) = self.ended.wait_timeout(news, TICK) else { return };
            news = woken;
            if news.is_over || begin.elapsed() < PATIENCE {
                continue;
            }
            if let Some(hint) = news.hint.take() {
                match &bar {
                    Some(bar) => bar.suspend(|| remark_line(hint)),
                    None => remark_line(hint),
                }
            }
            if draws {
                let bar = bar.get_or_insert_with(new_bar);
                bar.set_message(self.message(news.stage));
                bar.tick();
            }
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }

    fn message(&self, stage: Option<Stage>) -> String {
        let found = counted(self.explored.load(Ordering::Relaxed), "configuration");
        match stage {
            None => String::from("starting"),
            Some(Stage::Question(name)) => format!("deciding {name}"),
            Some(Stage::Search) => format!("searching, {found} so far"),
            Some(Stage::Instances(copies)) => {
                format!("searching instances with {}, {found} so far", counted(copies, "replicated thread"))
            }
            Some(Stage::Nets(attacks)) => format!("asking the nets of {}, {found} so far", counted(attacks, "attack")),
        }
    }
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("the template is well formed");
    ProgressBar::new_spinner().with_style(style)
}

impl Observer for Progress<'_> {
    fn begins(&self, stage: Stage) {
        if let Ok(mut news) = self.state.news.lock() {
            news.stage = Some(stage);
        }
    }

    fn may_grow(&self, fault: &Fault) {
        let Some(hint) = growth_hint(self.program, fault) else { return };
        if let Ok(mut news) = self.state.news.lock()
            && !std::mem::replace(&mut news.has_hint, true)
        {
            news.hint = Some(hint);
        }
        self.start();
    }

    fn counter(&self) -> Option<Arc<AtomicUsize>> {
        Some(self.state.explored.clone())
    }
}

impl Progress<'_> {
    /// Stops speaking: the check has come to its end.
    pub(super) fn end(&self) {
        if let Ok(mut news) = self.state.news.lock() {
            news.is_over = true;
        }
        self.state.ended.notify_all();
        if let Ok(mut speaker) = self.speaker.lock()
            && let Some(speaker) = speaker.take()
        {
            // It cannot do more than stop speaking.
            let _ = speaker.join();
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
