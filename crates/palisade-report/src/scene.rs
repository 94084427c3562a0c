//! A violation by events and tasks as a table: a row for each step, a column for each thread, and
//! why there is no order.
//!
//! Interleavings that have no serial permutation and computations under TSO are shown alike, as
//! text and by `picture`.

use super::interleaving::Interleaving;
use super::wording::WIDEST;
use std::fmt::Write;

/// A violation by events and tasks, to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// The threads in the order of their columns; the main thread first.
    pub threads: Vec<String>,
    /// The occurrences of events, in order of their first step.
    pub events: Vec<String>,
    /// The steps.
    pub steps: Vec<SceneStep>,
    /// Pairs of positions of steps: the order that these steps have, and together cannot have.
    pub order: Vec<(usize, usize)>,
    /// The reason in words.
    pub reason: String,
    /// Whether the main thread takes a task before one that was posted to it earlier; nothing where
    /// it takes no posted tasks.
    pub is_out_of_order: Option<bool>,
}

/// A step that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneStep {
    /// The position of its thread.
    pub thread: usize,
    /// The position of the occurrence that it belongs to.
    pub event: usize,
    /// The invocation that takes it.
    pub invocation: String,
    /// The line of the instruction, from 1; nothing where an event occurs, an invocation begins, or
    /// a store reaches memory.
    pub line: Option<usize>,
    /// What it does.
    pub action: String,
}

impl Scene {
    /// An interleaving and the conflicts in it that have no serial order.
    pub fn of_interleaving(shown: &Interleaving) -> Self {
        let mut scene = Self::empty(shown.reason());
        for step in &shown.steps {
            let thread = if step.on_main { "main" } else { &step.invocation };
            let action = match &step.label {
                None => format!("{} {}", step.invocation, step.action),
                Some(_) => step.action.clone(),
            };
            scene.add(thread, &step.invocation, step.line, action);
        }
        scene.is_out_of_order = Some(shown.is_out_of_order);
        scene.order = shown.conflicts.iter().map(|(first, second)| (first - 1, second - 1)).collect();
        scene
    }

    pub(super) fn empty(reason: String) -> Self {
        Self {
            threads: vec!["main".to_owned()],
            events: Vec::new(),
            steps: Vec::new(),
            order: Vec::new(),
            reason,
            is_out_of_order: None,
        }
    }

    pub(super) fn add(&mut self, thread: &str, invocation: &str, line: Option<usize>, action: String) {
        let place = |names: &mut Vec<String>, name: &str| {
            names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        // `show of onText#0` belongs to `onText#0`, and so does the second one,
        // `show of onText#0 (2)`.
        let event = invocation.rsplit(" of ").next().unwrap_or(invocation);
        let event = event.split(" (").next().unwrap_or(event);
        let step = SceneStep {
            thread: place(&mut self.threads, thread),
            event: place(&mut self.events, event),
            invocation: invocation.to_owned(),
            line,
            action,
        };
        self.steps.push(step);
    }

    /// The table, with the reason below.
    pub fn text(&self) -> String {
        let long = |text: &str| text.chars().count();
        let width = |(thread, name): (usize, &String)| {
            let own = self.steps.iter().filter(|step| step.thread == thread).map(|step| long(&step.action));
            own.max().unwrap_or(0).max(long(name)).min(WIDEST)
        };
        let widths: Vec<usize> = self.threads.iter().enumerate().map(width).collect();
        let row = |number: &str, cells: &[&str]| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            format!("  {number:>3}  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned() + "\n"
        };
        let names: Vec<&str> = self.threads.iter().map(String::as_str).collect();
        let mut out = row("", &names);
        for (number, step) in (1..).zip(&self.steps) {
            let cell = |thread: usize| if thread == step.thread { step.action.as_str() } else { "" };
            let cells: Vec<&str> = (0..self.threads.len()).map(cell).collect();
            out.push_str(&row(&i32::to_string(&number), &cells));
        }
        if !self.reason.is_empty() {
            let _ = writeln!(out, "  {}", self.reason);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene() -> Scene {
        let mut scene = Scene::empty("cycle".to_owned());
        scene.add("main", "e#0", None, "x ← 1".to_owned());
        scene.add("p of e#0 (2)", "p of e#0 (2)", None, "y ← 1".to_owned());
        scene.add("main", "f#0", None, "f#0 occurs".to_owned());
        scene
    }

    #[test]
    fn tasks_belong_to_the_occurrence_of_their_event() {
        let scene = scene();
        assert_eq!(scene.events, ["e#0", "f#0"]);
        assert_eq!(scene.steps.iter().map(|step| step.event).collect::<Vec<_>>(), [0, 0, 1]);
    }

    #[test]
    fn each_thread_has_a_column() {
        let lines: Vec<String> = scene().text().lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "       main        p of e#0 (2)");
        assert_eq!(lines[2], "    2              y ← 1");
        assert_eq!(lines[4], "  cycle");
    }
}
