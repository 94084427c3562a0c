//! The tests of a Rust source: which functions they are, and how snapshots of their harnesses are
//! called.

use crate::orderings::parsed;
use palisade_model::text::Span;
use syn::visit::{self, Visit};

/// A function that is a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTest {
    /// Its name as the files of its snapshot have it: the modules that it is in, and its own name,
    /// with `-` between.
    pub name: String,
    /// Where its own name stands, in bytes of the text.
    pub span: Span,
    /// Whether its body names a harness.
    pub names_harness: bool,
}

/// The tests of a Rust source, in order of place; none where it cannot be read.
pub fn source_tests(text: &str) -> Vec<SourceTest> {
    let mut found = Tests { text, modules: Vec::new(), tests: Vec::new() };
    if let Ok(file) = parsed(text) {
        found.visit_file(&file);
    }
    found.tests
}

struct Tests<'t> {
    text: &'t str,
    modules: Vec<String>,
    tests: Vec<SourceTest>,
}

impl<'ast> Visit<'ast> for Tests<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.modules.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.modules.pop();
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let is_test = |own: &syn::Attribute| own.path().segments.last().is_some_and(|last| last.ident == "test");
        if !function.attrs.iter().any(is_test) {
            return;
        }
        let ident = &function.sig.ident;
        let [name, body] = [ident.span().byte_range(), syn::spanned::Spanned::span(&function.block).byte_range()];
        self.tests.push(SourceTest {
            name: self.modules.iter().cloned().chain([ident.to_string()]).collect::<Vec<_>>().join("-"),
            span: Span { start: name.start, end: name.end },
            names_harness: self.text.get(body).is_some_and(|body| body.contains("Harness")),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_have_the_names_of_their_snapshots() {
        let text = "
            #[test] fn plain() { assert!(true) }
            fn no_test() { Harness::new() }
            mod inner { mod more {
                #[cfg(unix)] #[test] fn queue() { palisade_harness::Harness::new().check() }
            } }
            #[tokio::test] async fn other() { h.check() }";
        let found = source_tests(text);
        let names: Vec<(&str, bool)> = found.iter().map(|own| (own.name.as_str(), own.names_harness)).collect();
        assert_eq!(names, [("plain", false), ("inner-more-queue", true), ("other", false)]);
        assert!(found.iter().all(|own| own.name.ends_with(&text[own.span.start..own.span.end])));
        assert_eq!(source_tests("fn broken( {"), []);
    }
}
