//! A text that is open in the editor, with what is known of it.

use super::diagnostics::Lens;
#[cfg(feature = "machine")]
use super::harnesses::Snapshots;
use super::job::{Fix, News};
use super::text::Text;
use crate::syntax::Format;
use crate::syntax::symbols::{SymbolKind, Symbols};
use lsp_types::{CodeLens, Command, Diagnostic, Range, Uri};
use std::cell::OnceCell;
#[cfg(feature = "machine")]
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// A text that is open, with what is known of it.
pub(super) struct Document {
    pub(super) uri: Uri,
    /// The editor's number of the text.
    pub(super) version: i32,
    pub(super) text: Arc<Text>,
    pub(super) format: Format,
    /// Which of all texts of all documents it is.
    pub(super) generation: u64,
    symbols: OnceCell<Symbols>,
    /// What the reader, the check and the search for fences have found.
    diagnostics: [Vec<Diagnostic>; 2],
    lenses: Vec<Lens>,
    pub(super) fixes: Vec<Fix>,
    /// When the snapshots and the sources of its package were changed last, as far as it has
    /// harnesses.
    times: [Option<SystemTime>; 2],
}

impl Document {
    /// A text that was opened.
    pub(super) fn new(uri: &Uri, version: i32, text: Text, format: Format) -> Self {
        Self {
            uri: uri.clone(),
            version,
            text: Arc::new(text),
            format,
            generation: 0,
            symbols: OnceCell::new(),
            diagnostics: Default::default(),
            lenses: Vec::new(),
            fixes: Vec::new(),
            times: [None; 2],
        }
    }

    /// Whether snapshots, or sources of its package, have changed since this was asked last.
    #[cfg(feature = "machine")]
    pub(super) fn has_other_snapshots(&mut self) -> bool {
        if self.format != Format::Machine {
            return false;
        }
        let path = Path::new(&self.text.source.name);
        let found = [false, true].into_iter().filter_map(|has_orderings| Snapshots::around(path, has_orderings));
        let times = found.fold([None; 2], |[one, other], found| {
            let [taken, changed] = found.times();
            [taken.max(one), changed.max(other)]
        });
        std::mem::replace(&mut self.times, times) != times
    }

    /// Forgets what was known: the text is another one, or is asked about otherwise.
    pub(super) fn begin(&mut self, generation: u64) {
        self.generation = generation;
        self.symbols = OnceCell::new();
        self.diagnostics = Default::default();
        self.lenses.clear();
        self.fixes.clear();
    }

    /// Takes what was found; the word for how far the text has come.
    pub(super) fn take(&mut self, news: News) -> &'static str {
        match news {
            News::Read(diagnostics) => {
                self.diagnostics[0] = diagnostics;
                "read"
            }
            News::Checked { diagnostics, lenses } => {
                self.diagnostics[0] = diagnostics;
                self.lenses = lenses;
                "checked"
            }
            News::Fixed { diagnostics, fixes } => {
                self.diagnostics[1] = diagnostics;
                self.fixes = fixes;
                "fixed"
            }
            News::Ended => "ended",
        }
    }

    /// The verdict about the text, once it is known.
    pub(super) fn verdict(&self) -> Option<&str> {
        self.lenses.first().map(|lens| lens.title.as_str())
    }

    /// What was found so far.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics.concat()
    }

    /// The lines above those of the text.
    pub(super) fn lenses(&self) -> Vec<CodeLens> {
        let lens = |Lens { range, title }: &Lens| CodeLens {
            range: *range,
            // It says something, and does nothing.
            command: Some(Command { title: title.clone(), command: String::new(), arguments: None }),
            data: None,
        };
        self.lenses.iter().map(lens).collect()
    }

    /// The names of the text.
    pub(super) fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::of(&self.text.source, self.format))
    }

    /// Where what is said of the whole text goes: at its name, or at its first line.
    pub(super) fn heading(&self) -> Range {
        let program = self.symbols().all.iter().find(|symbol| symbol.kind == SymbolKind::Program);
        let line = |line| crate::report::findings::line(line);
        program.map_or_else(|| self.text.region(&line(1)), |symbol| self.text.range(symbol.span))
    }
}
