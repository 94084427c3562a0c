//! What the names of threads, events and tasks stand for.

use super::ast::{Head, Item, Name};
use palisade_model::program::ThreadId;
use rustc_hash::FxHashMap;

/// What a name of a template stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template<'s> {
    pub(super) id: ThreadId,
    pub(super) head: Head,
    pub(super) name: Name<'s>,
    /// How many parameters a task has.
    pub(super) parameters: usize,
}

/// The threads, events and tasks of a text by name.
#[derive(Debug, Default)]
pub(super) struct Templates<'s> {
    all: Vec<Template<'s>>,
    by_name: FxHashMap<&'s str, usize>,
}

impl<'s> Templates<'s> {
    /// The templates that stand in a text, the first one of each name. Between them stand the threads with bodies in braces, each of which
    /// has become so many.
    pub(super) fn of<T>(items: &[Item<'s>], braced: &[Vec<T>]) -> Self {
        let mut templates = Self::default();
        let mut next = 0;
        for item in items {
            if let Item::Braced(number) = item {
                next += braced[*number].len();
            }
            let Some(raw) = item.thread() else { continue };
            let parameters = raw.parameters.as_ref().map_or(0, |(names, _)| names.len());
            templates.by_name.entry(raw.name.text).or_insert(templates.all.len());
            templates.all.push(Template { id: ThreadId::from_index(next), head: raw.head, name: raw.name, parameters });
            next += 1;
        }
        templates
    }

    /// What the template with this name is, with its article.
    pub(super) fn kind(&self, name: &str) -> &'static str {
        match self.named(name).map_or(Head::Thread, |template| template.head) {
            Head::Thread => "a thread",
            Head::Event => "an event",
            Head::Task => "a task",
        }
    }

    pub(super) fn named(&self, name: &str) -> Option<Template<'s>> {
        self.by_name.get(name).map(|index| self.all[*index])
    }

    pub(super) fn task_names(&self) -> impl Iterator<Item = &'s str> {
        self.all.iter().filter(|template| template.head == Head::Task).map(|template| template.name.text)
    }
}
