//! Calls of atomics' methods in a Rust source, with the orderings that they are given.

use super::{AtomicOrdering, Said};
use palisade_model::program::Action;
use palisade_model::text::Position;
use proc_macro2::{Span, TokenStream};
use std::collections::BTreeMap;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The calls of a file, by where their names begin.
pub(super) struct Calls {
    found: BTreeMap<(usize, usize), Call>,
    /// Lines on which columns in bytes are not columns in characters.
    wide: Vec<usize>,
    /// Why no name of an ordering in this file is to be trusted.
    renamed: Option<String>,
}

/// A call.
struct Call {
    /// The method or function.
    name: String,
    /// For each argument the ordering that stands there, if it is one.
    arguments: Vec<Option<AtomicOrdering>>,
}

impl Calls {
    /// Reads a file.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if text.starts_with('\u{feff}') {
            return Err("its source begins with a mark of its byte order".to_owned());
        }
        let unreadable = |error: &dyn std::fmt::Display| format!("its source cannot be read: {error}");
        let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| unreadable(&error))?;
        let file: syn::File = syn::parse2(tokens).map_err(|error| unreadable(&error))?;
        let is_wide = |(index, line): (usize, &str)| (!line.is_ascii()).then_some(index + 1);
        let wide = text.lines().enumerate().filter_map(is_wide).collect();
        let mut calls = Self { found: BTreeMap::new(), wide, renamed: None };
        calls.visit_file(&file);
        Ok(calls)
    }

    /// What the call at a place says of an access that it makes.
    pub(super) fn said(&self, place: Position, action: &Action) -> Result<Said, String> {
        if let Some(reason) = &self.renamed {
            return Err(reason.clone());
        }
        if self.wide.contains(&place.line) {
            return Err("its line has characters beyond ASCII, so that its column is not certain".to_owned());
        }
        let call = self.found.get(&(place.line, place.column));
        let call = call.ok_or("no call of a method stands there in the source; it may be in a macro")?;
        call.said(action)
    }

    fn add(&mut self, name: &syn::Ident, at: Span, arguments: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>) {
        let start = at.start();
        let arguments = arguments.iter().map(ordering).collect();
        self.found.insert((start.line, start.column + 1), Call { name: name.to_string(), arguments });
    }

    /// Notes a name that the file gives to something.
    fn named(&mut self, ident: &syn::Ident) {
        if AtomicOrdering::named(&ident.to_string()).is_some() {
            self.renamed = Some(format!("its source gives the name `{ident}` to something"));
        }
    }
}

impl Call {
    /// The ordering of the argument that is so far from the last.
    fn argument_before_end(&self, distance: usize) -> Result<AtomicOrdering, String> {
        let index = self.arguments.len().checked_sub(distance + 1);
        let index = index.ok_or_else(|| format!("`{}` has too few arguments", self.name))?;
        self.arguments[index]
            .ok_or_else(|| format!("no constant stands in the place of the ordering of `{}`", self.name))
    }

    fn said(&self, action: &Action) -> Result<Said, String> {
        match self.name.as_str() {
            "load" => Ok(Said::Load(self.argument_before_end(0)?)),
            "store" => Ok(Said::Store(self.argument_before_end(0)?)),
            "fence" => Ok(Said::Fence(self.argument_before_end(0)?)),
            "compare_exchange" | "compare_exchange_weak" => Ok(Said::CompareExchange {
                success: self.argument_before_end(1)?,
                failure: self.argument_before_end(0)?,
            }),
            "fetch_update" | "try_update" | "update" => {
                let (success, failure) = (self.argument_before_end(2)?, self.argument_before_end(1)?);
                match action {
                    Action::Load { .. } => Ok(Said::Load(failure)),
                    _ => Ok(Said::CompareExchange { success, failure }),
                }
            }
            "swap" | "fetch_add" | "fetch_sub" | "fetch_and" | "fetch_nand" | "fetch_or" | "fetch_xor"
            | "fetch_max" | "fetch_min" | "fetch_not" => Ok(Said::ReadModifyWrite(self.argument_before_end(0)?)),
            other => Err(format!("`{other}` is no method of an atomic whose ordering is known")),
        }
    }
}

/// The ordering that an expression names.
fn ordering(expression: &syn::Expr) -> Option<AtomicOrdering> {
    match expression {
        syn::Expr::Path(path) if path.qself.is_none() => {
            AtomicOrdering::named(&path.path.segments.last()?.ident.to_string())
        }
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.add(&call.method, call.method.span(), &call.args);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            self.add(&last.ident, call.span(), &call.args);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_use_rename(&mut self, rename: &'ast syn::UseRename) {
        self.named(&rename.rename);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.named(&item.ident);
        visit::visit_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.named(&item.ident);
        visit::visit_item_static(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.named(&item.ident);
        visit::visit_impl_item_const(self, item);
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.named(&item.ident);
        visit::visit_trait_item_const(self, item);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.named(&variant.ident);
        visit::visit_variant(self, variant);
    }

    fn visit_const_param(&mut self, parameter: &'ast syn::ConstParam) {
        self.named(&parameter.ident);
        visit::visit_const_param(self, parameter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_model::program::{Expression, RegisterId};

    fn said(text: &str, line: usize, column: usize) -> Result<String, String> {
        let load = Action::Load { register: RegisterId::from_index(0), address: Expression::Constant(8) };
        Calls::read(text)?.said(Position { line, column }, &load).map(|said| said.to_string())
    }

    #[test]
    fn orderings_are_read_at_their_places() {
        let text = "fn f(order: Ordering) {\n    x.load(Ordering::Acquire);\n    x\n        .store(1, Release);\n    fence(SeqCst);\n    \
                    x.compare_exchange(0, 1, atomic::Ordering::AcqRel, Relaxed);\n    x.load(order);\n    \
                    AtomicU32::swap(&x, 1, SeqCst);\n    x.fetch_update(Release, Acquire, |_| None);\n    m!(x.load(SeqCst));\n}\n";
        assert_eq!(said(text, 2, 7).as_deref(), Ok("load:Acquire"));
        assert_eq!(said(text, 4, 10).as_deref(), Ok("store:Release"));
        assert_eq!(said(text, 5, 5).as_deref(), Ok("fence:SeqCst"));
        assert_eq!(said(text, 6, 7).as_deref(), Ok("cas:AcqRel/Relaxed"));
        assert!(said(text, 7, 7).is_err_and(|why| why.contains("no constant")));
        assert_eq!(said(text, 8, 5).as_deref(), Ok("rmw:SeqCst"));
        assert_eq!(said(text, 9, 7).as_deref(), Ok("load:Acquire"));
        assert!(said(text, 10, 10).is_err_and(|why| why.contains("macro")));
        assert!(said(text, 2, 8).is_err());
    }

    #[test]
    fn names_that_may_mean_something_else_are_not_trusted() {
        for first in ["use Ordering::Relaxed as SeqCst;", "const SeqCst: Ordering = Relaxed;", "enum E { SeqCst }"] {
            let why = said(&format!("{first}\nfn f() {{\n    x.load(SeqCst);\n}}\n"), 3, 7);
            assert!(why.is_err_and(|why| why.contains("gives the name")), "{first}");
        }
        assert!(said("fn f() {\n    /* é */ x.load(SeqCst);\n}\n", 2, 15).is_err());
    }
}
