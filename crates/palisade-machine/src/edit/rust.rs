//! Changes of Rust sources.

use super::{Replacement, SourceChange, before};
use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The change at a byte of a file.
pub(super) fn replacement(text: &str, offset: usize, change: SourceChange) -> Result<Replacement, String> {
    let file = parsed(text)?;
    let mut finder = Finder { offset, statement: None, stores: Vec::new(), modules: 0, is_in_module: false };
    finder.visit_file(&file);
    match change {
        SourceChange::Fence => {
            let statement =
                finder.statement.ok_or("no statement is there; it may be inside of a macro's definition")?;
            let imported = if finder.is_in_module { Imported::default() } else { Imported::of(&file) };
            Ok(before(text, statement, &imported.fence()))
        }
        SourceChange::SeqCstStore => {
            let line = |offset: usize| text[..offset].matches('\n').count();
            let mut own: Vec<&Store<'_>> =
                finder.stores.iter().filter(|store| store.begins.contains(&offset)).collect();
            if own.is_empty() {
                own = finder.stores.iter().filter(|store| line(store.begins[1]) == line(offset)).collect();
            }
            let [store] = own.as_slice() else { return Err("no `store` is there, or more than one".to_owned()) };
            seq_cst(store.ordering)
        }
    }
}

/// The file, whose spans count bytes of the text.
fn parsed(text: &str) -> Result<syn::File, String> {
    if text.starts_with('\u{feff}') {
        return Err("it begins with a mark of its byte order".to_owned());
    }
    let tokens: TokenStream = text.parse().map_err(|error| format!("it cannot be read: {error}"))?;
    syn::parse2(tokens).map_err(|error| format!("it cannot be read: {error}"))
}

/// A call of `store`.
struct Store<'s> {
    /// Where its receiver begins, and its name.
    begins: [usize; 2],
    ordering: &'s syn::Expr,
}

/// Finds what stands at a byte.
struct Finder<'s> {
    offset: usize,
    /// Where the innermost statement around it begins.
    statement: Option<usize>,
    /// All calls of `store` with two arguments.
    stores: Vec<Store<'s>>,
    /// Modules that the visit is inside of, in braces.
    modules: usize,
    /// Whether the statement is inside of one.
    is_in_module: bool,
}

impl<'ast> Visit<'ast> for Finder<'ast> {
    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        let range = statement.span().byte_range();
        // A function inside of a function has statements of its own, and none in front of it.
        if range.contains(&self.offset) && !matches!(statement, syn::Stmt::Item(_)) {
            self.statement = Some(range.start);
            self.is_in_module = self.modules > 0;
        }
        visit::visit_stmt(self, statement);
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

    #[test]
    fn two_fences_in_front_of_one_statement_are_one() {
        let places = [(5, 11), (5, 17)].map(|(line, column)| (Position { line, column }, SourceChange::Fence));
        let text = changed("lib.rs", SOURCE, &places).expect("a statement is there");
        assert_eq!(text.matches("::fence(").count(), 1);
    }
}
