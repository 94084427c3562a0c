//! Changes of Rust sources.

use super::{Replacement, SourceChange, before, without};
use crate::orderings::{AtomicOrdering, Calls, parsed};
use palisade_model::program::Ordering;
use palisade_model::text::Position;
use proc_macro2::Span;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A source that is to be changed.
pub(super) struct Source<'t> {
    text: &'t str,
    file: syn::File,
    calls: Calls,
}

impl<'t> Source<'t> {
    /// Reads a source.
    pub(super) fn read(text: &'t str) -> Result<Self, String> {
        let file = parsed(text)?;
        let calls = Calls::of(text, &file);
        Ok(Self { text, file, calls })
    }

    /// The change at a place, which is so many bytes from the beginning.
    pub(super) fn replacement(
        &self,
        place: Position,
        offset: usize,
        change: SourceChange,
    ) -> Result<Replacement, String> {
        let mut finder = Finder { offset, ..Finder::default() };
        finder.visit_file(&self.file);
        let imported = if finder.is_in_module { Imported::default() } else { Imported::of(&self.file) };
        match change {
            SourceChange::Fence => {
                let none = match finder.is_in_bare_closure {
                    true => "the closure has no statements: give it braces",
                    false => "no statement is there; it may be inside of a macro's definition",
                };
                let statement = finder.statement.ok_or(none)?;
                let is_before = |store: &Store<'_>| statement.start <= store.begins[0] && store.begins[1] < offset;
                if finder.stores.iter().any(is_before) {
                    return Err("a store stands in front of it in one statement: make two of it".to_owned());
                }
                Ok(before(self.text, statement.start, &imported.fence()))
            }
            SourceChange::SeqCstStore => {
                let line = |offset: usize| self.text[..offset].matches('\n').count();
                let mut own: Vec<&Store<'_>> =
                    finder.stores.iter().filter(|store| store.begins.contains(&offset)).collect();
                if own.is_empty() {
                    own = finder.stores.iter().filter(|store| line(store.begins[1]) == line(offset)).collect();
                }
                let [store] = own.as_slice() else { return Err("no `store` is there, or more than one".to_owned()) };
                seq_cst(store.ordering)
            }
            SourceChange::Ordered { word, failing, from, to } => {
                let written = self.calls.written(place, word, failing)?;
                if Some(written.ordering) != AtomicOrdering::of(from) {
                    return Err("the source says another ordering than the code".to_owned());
                }
                if word == "fence" && to == Ordering::Relaxed {
                    let statement = finder.statement.filter(|_| finder.is_call_alone);
                    let statement = statement.ok_or("the fence is no statement by itself")?;
                    return Ok(without(self.text, statement));
                }
                let to = AtomicOrdering::of(to).ok_or("atomic accesses cannot be plain")?.name();
                let is_known = written.is_qualified || imported.orderings.iter().any(|name| name == to || name == "*");
                let text = if is_known { to.to_owned() } else { format!("{ATOMIC}::Ordering::{to}") };
                Ok(Replacement { start: written.range.start, end: written.range.end, text })
            }
        }
    }
}

/// A call of `store`.
struct Store<'s> {
    /// Where its receiver begins, and its name.
    begins: [usize; 2],
    ordering: &'s syn::Expr,
}

/// Finds what stands at a byte.
#[derive(Default)]
struct Finder<'s> {
    offset: usize,
    /// The innermost statement around it.
    statement: Option<Range<usize>>,
    /// Whether that is a call, which begins there, and nothing else.
    is_call_alone: bool,
    /// All calls of `store` with two arguments.
    stores: Vec<Store<'s>>,
    /// Modules that the visit is inside of, in braces.
    modules: usize,
    /// Whether the statement is inside of one.
    is_in_module: bool,
    /// Whether the place is in a closure that is one expression.
    is_in_bare_closure: bool,
}

impl<'ast> Visit<'ast> for Finder<'ast> {
    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        let range = statement.span().byte_range();
        // A function inside of a function has statements of its own, and none in front of it.
        if range.contains(&self.offset) && !matches!(statement, syn::Stmt::Item(_)) {
            self.is_call_alone =
                range.start == self.offset && matches!(statement, syn::Stmt::Expr(syn::Expr::Call(_), Some(_)));
            self.statement = Some(range);
            self.is_in_module = self.modules > 0;
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        // The statement around the closure runs at another time than the closure.
        if closure.body.span().byte_range().contains(&self.offset) {
            self.statement = None;
            self.is_in_bare_closure = !matches!(*closure.body, syn::Expr::Block(_));
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.modules += 1;
        visit::visit_item_mod(self, module);
        self.modules -= 1;
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let (true, Some(ordering), 2) = (call.method == "store", call.args.last(), call.args.len()) {
            let begin = |span: Span| span.byte_range().start;
            self.stores.push(Store { begins: [begin(call.span()), begin(call.method.span())], ordering });
        }
        visit::visit_expr_method_call(self, call);
    }
}

const ATOMIC: &str = "core::sync::atomic";

/// What the file imports of the atomics.
#[derive(Default)]
struct Imported {
    fence: bool,
    ordering: bool,
    /// Names of orderings; `*` for all.
    orderings: Vec<String>,
}

impl Imported {
    fn of(file: &syn::File) -> Self {
        let mut imported = Self::default();
        for item in &file.items {
            if let syn::Item::Use(item) = item {
                imported.add(&item.tree, &mut Vec::new());
            }
        }
        imported
    }

    fn add(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        let is_atomic = |path: &[String]| path.len() == 3 && path[1..] == ["sync", "atomic"];
        let is_ordering = |path: &[String]| path.last().is_some_and(|last| last == "Ordering");
        match tree {
            syn::UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.add(&inner.tree, path);
                path.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.add(tree, path)),
            syn::UseTree::Name(name) if is_atomic(path) => {
                self.fence |= name.ident == "fence";
                self.ordering |= name.ident == "Ordering";
            }
            syn::UseTree::Name(name) if is_ordering(path) => self.orderings.push(name.ident.to_string()),
            syn::UseTree::Glob(_) if is_ordering(path) => self.orderings.push("*".to_owned()),
            _ => {}
        }
    }

    /// The statement with the paths that compile.
    fn fence(&self) -> String {
        let of_atomic =
            |is_imported: bool, name: &str| if is_imported { name.to_owned() } else { format!("{ATOMIC}::{name}") };
        format!("{}({}::SeqCst);", of_atomic(self.fence, "fence"), of_atomic(self.ordering, "Ordering"))
    }
}

/// An ordering made `SeqCst`.
fn seq_cst(ordering: &syn::Expr) -> Result<Replacement, String> {
    let syn::Expr::Path(path) = ordering else {
        return Err("the ordering of the store is not written there".to_owned());
    };
    let last =
        path.path.segments.last().map(|segment| &segment.ident).filter(|name| *name == "Relaxed" || *name == "Release");
    let last = last.ok_or("the ordering of the store is not written there, or is `SeqCst` already")?;
    let range = last.span().byte_range();
    // A variant that is imported by itself says nothing about `SeqCst`.
    let text = if path.path.segments.len() > 1 { "SeqCst".to_owned() } else { format!("{ATOMIC}::Ordering::SeqCst") };
    Ok(Replacement { start: range.start, end: range.end, text })
}

#[cfg(test)]
mod tests {
    use crate::edit::{SourceChange, changed};
    use palisade_model::program::Ordering;
    use palisade_model::text::Position;

    const SOURCE: &str = "\
use std::sync::atomic::{AtomicBool, Ordering};

fn wake(done: &AtomicBool, state: &AtomicBool) -> bool {
    done.store(true, Ordering::Release);
    while state.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
    state.load(Ordering::Acquire)
}

macro_rules! peek { ($it:expr) => { $it.load(Ordering::Relaxed) }; }
";

    fn at(line: usize, column: usize, change: SourceChange) -> Result<String, String> {
        changed("src/lib.rs", SOURCE, &[(Position { line, column }, change)])
    }

    #[test]
    fn fences_stand_in_front_of_statements() {
        let line = |text: &str, number: usize| text.lines().nth(number - 1).map(str::to_owned);
        let fence = "    core::sync::atomic::fence(Ordering::SeqCst);";
        for (position, expected) in [((5, 11), 5), ((5, 17), 5), ((8, 5), 8), ((6, 9), 6)] {
            let text = at(position.0, position.1, SourceChange::Fence).expect("a statement is there");
            assert_eq!(line(&text, expected).map(|line| line.trim().to_owned()), Some(fence.trim().to_owned()));
            assert_eq!(line(&text, expected + 1), line(SOURCE, expected), "the statement stays as it is");
            assert!(syn::parse_file(&text).is_ok(), "{text}");
        }
        assert!(at(11, 37, SourceChange::Fence).is_err(), "a macro's definition has no statements");
        assert!(at(90, 1, SourceChange::Fence).is_err(), "the file is shorter");
    }

    #[test]
    fn stores_become_sequentially_consistent() {
        for column in [5, 10] {
            let text = at(4, column, SourceChange::SeqCstStore).expect("a store is there");
            assert_eq!(text, SOURCE.replace("Ordering::Release", "Ordering::SeqCst"));
        }
        assert!(at(5, 11, SourceChange::SeqCstStore).is_err(), "a load is no store");
    }

    fn ordered(line: usize, column: usize, word: &'static str, from: Ordering, to: Ordering) -> Result<String, String> {
        at(line, column, SourceChange::Ordered { word, failing: false, from, to })
    }

    #[test]
    fn accesses_get_other_orderings() {
        use Ordering::{Acquire, Release, SeqCst};
        let stronger = SOURCE.replacen("Ordering::Acquire", "Ordering::SeqCst", 1);
        assert_eq!(ordered(5, 17, "load", Acquire, SeqCst), Ok(stronger));
        assert!(ordered(5, 17, "load", Release, SeqCst).is_err_and(|why| why.contains("another ordering")));
        assert!(ordered(11, 41, "load", Ordering::Relaxed, SeqCst).is_err(), "a macro's definition");
    }

    #[test]
    fn orderings_keep_their_paths() {
        let text = |imports: &str| format!("use core::sync::atomic::{imports};\n\nfn f() {{\n    fence(SeqCst);\n}}\n");
        let change = |imports: &str, to| {
            let change = SourceChange::Ordered { word: "fence", failing: false, from: Ordering::SeqCst, to };
            changed("lib.rs", &text(imports), &[(Position { line: 4, column: 5 }, change)])
        };
        let one = "{fence, Ordering::SeqCst}";
        for known in ["{fence, Ordering::*}", "{fence, Ordering::{AcqRel, SeqCst}}"] {
            assert_eq!(change(known, Ordering::AcqRel), Ok(text(known).replace("(SeqCst)", "(AcqRel)")));
        }
        let path = "(core::sync::atomic::Ordering::AcqRel)";
        assert_eq!(change(one, Ordering::AcqRel), Ok(text(one).replace("(SeqCst)", path)));
        assert_eq!(change(one, Ordering::Relaxed), Ok(text(one).replace("    fence(SeqCst);\n", "")));
    }

    #[test]
    fn what_has_no_place_for_a_fence_is_left_alone() {
        let change = |text: &str, place: &str| {
            let column = text.find(place).expect("it is there") + 1;
            changed("lib.rs", text, &[(Position { line: 1, column }, SourceChange::Fence)])
        };
        let at = |text: &str| change(text, "load(");
        let closure = "fn f() { role(|| { x.store(1, Release); y.load(Acquire) }); }\n";
        assert!(at(closure).is_ok_and(|text| text.contains("; core::sync::atomic::fence(")));
        let bare = "fn f() { role(|| y.load(Acquire)); }\n";
        assert!(at(bare).is_err_and(|why| why.contains("braces")));
        let pair = "fn f() { let _ = (x.store(1, Release), y.load(Acquire)); }\n";
        assert!(at(pair).is_err_and(|why| why.contains("in one statement")));
    }

    #[test]
    fn two_fences_in_front_of_one_statement_are_one() {
        let places = [(5, 11), (5, 17)].map(|(line, column)| (Position { line, column }, SourceChange::Fence));
        let text = changed("lib.rs", SOURCE, &places).expect("a statement is there");
        assert_eq!(text.matches("::fence(").count(), 1);
    }
}
