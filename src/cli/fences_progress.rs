//! The progress line of `palisade fences`: attacks decided, candidates tried, cost so far.

use super::SharedOptions;
use crate::fences::{Cost, Observer};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The progress line on standard error, when that is a terminal and somebody may look at it.
pub(super) struct Progress {
    bar: ProgressBar,
    found: AtomicUsize,
    decided: AtomicUsize,
    candidates: AtomicUsize,
    best: Mutex<Vec<Cost>>,
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
            best: Mutex::new(Vec::new()),
        }
    }

    fn show(&self) {
        if self.bar.is_hidden() {
            return;
        }
        let best: Cost = self.best.lock().map(|costs| costs.iter().cloned().sum()).unwrap_or_else(|_| Cost::zero());
        self.bar.set_message(format!(
            "attacks decided: {} of {}, candidates tried: {}, cost so far: {best}",
            self.decided.load(Ordering::Relaxed),
            self.found.load(Ordering::Relaxed),
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

    fn thread_settled(&self, cost: &Cost) {
        if let Ok(mut costs) = self.best.lock() {
            costs.push(cost.clone());
        }
        self.show();
    }
}
