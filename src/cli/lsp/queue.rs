//! Which texts are being verified: few at once, the newest text of each document, progress for
//! those that take long.

use super::job::{Event, Job};
use crossbeam_channel::Sender;
use lsp_types::Uri;
use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What takes longer gets a progress notice.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often a progress notice changes.
const INTERVAL: Duration = Duration::from_millis(500);

/// Jobs that wait, and those that run.
pub(super) struct Queue {
    events: Sender<Event>,
    waiting: VecDeque<Job>,
    running: Vec<Running>,
    most: usize,
}

/// A job that runs.
pub(super) struct Running {
    uri: Uri,
    generation: u64,
    interrupt: Arc<AtomicBool>,
    explored: Arc<AtomicUsize>,
    /// When to say something about it next.
    due: Instant,
    /// Whether it has a progress notice.
    is_shown: bool,
}

/// What is to be said of a job that takes long.
pub(super) enum Notice {
    /// It has begun.
    Begin { token: String, uri: Uri },
    /// It has explored so many configurations.
    Report { token: String, explored: usize },
    /// It has ended.
    End { token: String },
}

impl Running {
    fn token(&self) -> String {
        format!("palisade/{}", self.generation)
    }
}

impl Queue {
    /// An empty queue, whose jobs send what they find.
    pub(super) fn new(events: Sender<Event>) -> Self {
        let most = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self { events, waiting: VecDeque::new(), running: Vec::new(), most }
    }

    /// Adds a job in place of those about the same document.
    pub(super) fn add(&mut self, job: Job) -> Vec<Notice> {
        let notices = self.cancel(&job.uri);
        self.waiting.push_back(job);
        self.start();
        notices
    }

    /// Gives up what is done about a document. What does not look at its limits goes on unheard.
    pub(super) fn cancel(&mut self, uri: &Uri) -> Vec<Notice> {
        self.waiting.retain(|job| job.uri != *uri);
        let (ended, running) = std::mem::take(&mut self.running).into_iter().partition(|own| own.uri == *uri);
        self.running = running;
        let end = |own: Running| {
            own.interrupt.store(true, Ordering::Relaxed);
            own.is_shown.then(|| Notice::End { token: own.token() })
        };
        let notices = Vec::into_iter(ended).filter_map(end).collect();
        self.start();
        notices
    }

    /// A job has ended.
    pub(super) fn ended(&mut self, generation: u64) -> Vec<Notice> {
        let position = self.running.iter().position(|own| own.generation == generation);
        let ended = position.map(|position| self.running.swap_remove(position));
        self.start();
        ended.filter(|own| own.is_shown).map(|own| Notice::End { token: own.token() }).into_iter().collect()
    }

    fn start(&mut self) {
        while self.running.len() < self.most
            && let Some(job) = self.waiting.pop_front()
        {
            self.running.push(Running {
                uri: job.uri.clone(),
                generation: job.generation,
                interrupt: job.interrupt.clone(),
                explored: job.explored.clone(),
                due: Instant::now() + PATIENCE,
                is_shown: false,
            });
            job.start(self.events.clone());
        }
    }

    /// When there is something to say next.
    pub(super) fn due(&self) -> Option<Instant> {
        self.running.iter().map(|own| own.due).min()
    }

    /// What is to be said now.
    pub(super) fn notices(&mut self) -> Vec<Notice> {
        let now = Instant::now();
        let notice = |own: &mut Running| {
            own.due = now + INTERVAL;
            let (token, was_shown) = (own.token(), std::mem::replace(&mut own.is_shown, true));
            if was_shown {
                Notice::Report { token, explored: own.explored.load(Ordering::Relaxed) }
            } else {
                Notice::Begin { token, uri: own.uri.clone() }
            }
        };
        self.running.iter_mut().filter(|own| own.due <= now).map(notice).collect()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.running.iter().for_each(|own| own.interrupt.store(true, Ordering::Relaxed));
    }
}
