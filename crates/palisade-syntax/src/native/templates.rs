//! What the names of threads, events and tasks stand for.

use super::ast::{Head, Item, Name};
use super::braced::Structured;
use palisade_model::program::ThreadId;
use rustc_hash::FxHashMap;

/// What a name of a template stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template<'s> {
    /// Its number: among the templates that the text has until [`Templates::number`] gives it that
    /// of the program.
    pub(crate) id: ThreadId,
    pub(crate) head: Head,
    pub(crate) name: Name<'s>,
    /// How many parameters a task has.
    pub(crate) parameters: usize,
}

/// The threads, events and tasks of a text by name.
#[derive(Debug, Default)]
pub(crate) struct Templates<'s> {
    all: Vec<Template<'s>>,
    by_name: FxHashMap<&'s str, usize>,
}

impl<'s> Templates<'s> {
    /// The templates that stand in a text, the first one of each name.
    pub(crate) fn of(items: &[Item<'s>], structured: &Structured<'s>) -> Self {
        let mut templates = Self::default();
        for item in items {
            let (head, name, parameters) = match item {
                Item::Thread(raw) => (raw.head, raw.name, &raw.parameters),
                Item::Braced(number) => {
                    let braced = &structured.threads[*number];
                    (braced.head, braced.name, &braced.parameters)
                }
                _ => continue,
            };
            let parameters = parameters.as_ref().map_or(0, |(names, _)| names.len());
            templates.by_name.entry(name.text).or_insert(templates.all.len());
            let id = ThreadId::from_index(templates.all.len());
            templates.all.push(Template { id, head, name, parameters });
        }
        templates
    }

    /// Gives the templates the numbers that they have in the program. Those with bodies in braces
    /// have become so many each.
    pub(crate) fn number<T>(&mut self, items: &[Item<'s>], braced: &[Vec<T>]) {
        let mut next = 0;
        let sizes = items.iter().filter_map(|item| match item {
            Item::Thread(_) => Some(1),
            Item::Braced(number) => Some(braced[*number].len()),
            _ => None,
        });
        for (template, size) in self.all.iter_mut().zip(sizes) {
            template.id = ThreadId::from_index(next);
            next += size;
        }
    }

    /// The number in the program of the template with this number among the templates.
    pub(crate) fn numbered(&self, among_templates: ThreadId) -> ThreadId {
        self.all[among_templates.index()].id
    }

    /// What the template with this name is, with its article.
    pub(crate) fn kind(&self, name: &str) -> &'static str {
        self.named(name).map_or(Head::Thread, |template| template.head).with_article()
    }

    pub(crate) fn named(&self, name: &str) -> Option<Template<'s>> {
        self.by_name.get(name).map(|index| self.all[*index])
    }

    pub(crate) fn task_names(&self) -> impl Iterator<Item = &'s str> {
        self.all.iter().filter(|template| template.head == Head::Task).map(|template| template.name.text)
    }
}
