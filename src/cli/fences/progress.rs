//! The progress line of `palisade fences`: attacks decided, candidates tried, best cost so far.

use crate::cli::SharedOptions;
use crate::fences::{Cost, Observer};
use crate::program::ThreadId;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often to ask the search for the best cost while it decides attacks.
const ASKING: Duration = Duration::from_millis(500);

/// The progress line on standard error, when that is a terminal and somebody may look at it.
pub(super) struct Progress {
    bar: ProgressBar,
    found: AtomicUsize,
    decided: AtomicUsize,
    candidates: AtomicUsize,
    best: Mutex<Best>,
}

/// The best cost so far.
#[derive(Default)]
struct Best {
    /// What is known for each thread.
    by_thread: BTreeMap<ThreadId, Option<Cost>>,
    /// When the observer asked for it last.
    asked: Option<Instant>,
}

impl Progress {
    pub(super) fn new(shared: &SharedOptions) -> Self {
        let is_shown = !shared.quiet && !shared.json && std::io::stderr().is_terminal();
        let bar = if is_shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if is_shown {
            bar.set_style(
                ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("the template is well formed"),
            );
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self {
            bar,
            found: AtomicUsize::new(0),
            decided: AtomicUsize::new(0),
            candidates: AtomicUsize::new(0),
            best: Mutex::default(),
        }
    }

    fn show(&self) {
        let found = self.found.load(Ordering::Relaxed);
        if self.bar.is_hidden() || found == 0 {
            return;
        }
        let best: Option<Cost> = self.best.lock().ok().and_then(|best| best.by_thread.values().cloned().sum());
        let best = best.map_or_else(|| "none yet".to_owned(), |cost| cost.to_string());
        self.bar.set_message(format!(
            "attacks decided: {} of {found}, candidates tried: {}, best cost so far: {best}",
            self.decided.load(Ordering::Relaxed),
            self.candidates.load(Ordering::Relaxed),
        ));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn attacks_found(&self, count: usize) {
        self.found.fetch_add(count, Ordering::Relaxed);
        self.show();
    }

    fn attack_decided(&self) {
        self.decided.fetch_add(1, Ordering::Relaxed);
        self.show();
    }

    fn candidate_tried(&self) {
        self.candidates.fetch_add(1, Ordering::Relaxed);
        self.show();
    }

    fn best_known(&self, thread: ThreadId, cost: Option<&Cost>) {
        if let Ok(mut best) = self.best.lock() {
            best.by_thread.insert(thread, cost.cloned());
        }
        self.show();
    }

    fn confirming(&self) {
        self.bar.set_message("checking the repaired program, and what proves it the cheapest");
    }

    fn asks_for_best(&self) -> bool {
        if self.bar.is_hidden() {
            return false;
        }
        let Ok(mut best) = self.best.lock() else { return false };
        // At first, and then for every thread now and then.
        let is_due = best.asked.is_none_or(|asked| asked.elapsed() >= ASKING);
        if is_due && self.decided.load(Ordering::Relaxed) > 0 {
            best.asked = Some(Instant::now());
        }
        is_due
    }
}
