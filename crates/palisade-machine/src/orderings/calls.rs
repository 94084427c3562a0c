//! Calls of atomics' methods in a Rust source, with the orderings that they are given.

use super::{AtomicOrdering, Said};
use palisade_model::program::Action;
use palisade_model::text::Position;
use proc_macro2::{Span, TokenStream};
use std::collections::BTreeMap;
use std::ops::Range;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The calls of a file, by where their names begin.
pub(crate) struct Calls {
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
    arguments: Vec<Option<Written>>,
}

/// An ordering as a source has it.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) ordering: AtomicOrdering,
    /// The bytes of its name.
    pub(crate) range: Range<usize>,
    /// Whether a path stands in front of the name.
    pub(crate) is_qualified: bool,
}

impl Calls {
    /// Reads a file.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        Ok(Self::of(text, &parsed(text)?))
    }

    /// The calls of a file that is read.
    pub(crate) fn of(text: &str, file: &syn::File) -> Self {
        let is_wide = |(index, line): (usize, &str)| (!line.is_ascii()).then_some(index + 1);
        let wide = text.lines().enumerate().filter_map(is_wide).collect();
        let mut calls = Self { found: BTreeMap::new(), wide, renamed: None };
        calls.visit_file(file);
        calls
    }

    /// What the call at a place says of an access that it makes.
    pub(super) fn said(&self, place: Position, action: &Action) -> Result<Said, String> {
        self.call(place)?.said(action)
    }

    /// Where the call at a place writes the ordering of an operation, which `word` names; the one
    /// for when it does not store, if `failing`.
    pub(crate) fn written(&self, place: Position, word: &str, failing: bool) -> Result<&Written, String> {
        let call = self.call(place)?;
        call.argument_before_end(call.distance(word, failing)?)
    }

    fn call(&self, place: Position) -> Result<&Call, String> {
        if let Some(reason) = &self.renamed {
            return Err(reason.clone());
        }
        if self.wide.contains(&place.line) {
            return Err("its line has characters beyond ASCII, so that its column is not certain".to_owned());
        }
        let call = self.found.get(&(place.line, place.column));
        call.ok_or_else(|| "no call of a method stands there in the source; it may be in a macro".to_owned())
    }

    fn add(&mut self, name: &syn::Ident, at: Span, arguments: &Punctuated<syn::Expr, syn::Token![,]>) {
        let start = at.start();
        let arguments = arguments.iter().map(written).collect();
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
    fn argument_before_end(&self, distance: usize) -> Result<&Written, String> {
        let index = self.arguments.len().checked_sub(distance + 1);
        let index = index.ok_or_else(|| format!("`{}` has too few arguments", self.name))?;
        self.arguments[index]
            .as_ref()
            .ok_or_else(|| format!("no constant stands in the place of the ordering of `{}`", self.name))
    }

    /// How far from the last argument the ordering of an operation stands that it makes, where this
    /// is the ordering of nothing else.
    fn distance(&self, word: &str, failing: bool) -> Result<usize, String> {
        match (self.name.as_str(), word, failing) {
            ("load", "load", false) | ("store", "store", false) | ("fence", "fence", false) => Ok(0),
            ("compare_exchange" | "compare_exchange_weak", "update", _) => Ok(usize::from(!failing)),
            ("fetch_update" | "try_update" | "update", "update", false) => Ok(2),
            ("fetch_update" | "try_update" | "update", ..) => {
                Err(format!("one ordering of `{}` is that of a load and an exchange", self.name))
            }
            (name, "update", false) if UPDATES.contains(&name) => Ok(0),
            (name, ..) => Err(format!("`{name}` is given no ordering for this access")),
        }
    }

    fn said(&self, action: &Action) -> Result<Said, String> {
        let at = |distance| self.argument_before_end(distance).map(|written| written.ordering);
        match self.name.as_str() {
            "load" => Ok(Said::Load(at(0)?)),
            "store" => Ok(Said::Store(at(0)?)),
            "fence" => Ok(Said::Fence(at(0)?)),
            "compare_exchange" | "compare_exchange_weak" => {
                Ok(Said::CompareExchange { success: at(1)?, failure: at(0)? })
            }
            "fetch_update" | "try_update" | "update" => {
                let (success, failure) = (at(2)?, at(1)?);
                match action {
                    Action::Load { .. } => Ok(Said::Load(failure)),
                    _ => Ok(Said::CompareExchange { success, failure }),
                }
            }
            name if UPDATES.contains(&name) => Ok(Said::ReadModifyWrite(at(0)?)),
            other => Err(format!("`{other}` is no method of an atomic whose ordering is known")),
        }
    }
}

/// Macros of the library whose arguments are expressions.
const EXPRESSIONS: [&str; 6] =
    ["assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne"];

/// Methods that load and store at once, with one ordering.
const UPDATES: [&str; 10] = [
    "swap",
    "fetch_add",
    "fetch_sub",
    "fetch_and",
    "fetch_nand",
    "fetch_or",
    "fetch_xor",
    "fetch_max",
    "fetch_min",
    "fetch_not",
];

/// The file that a text says. Its spans count bytes of the text.
pub(crate) fn parsed(text: &str) -> Result<syn::File, String> {
    if text.starts_with('\u{feff}') {
        return Err("its source begins with a mark of its byte order".to_owned());
    }
    let unreadable = |error: &dyn std::fmt::Display| format!("its source cannot be read: {error}");
    let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| unreadable(&error))?;
    syn::parse2(tokens).map_err(|error| unreadable(&error))
}

/// The ordering that an expression names.
fn written(expression: &syn::Expr) -> Option<Written> {
    match expression {
        syn::Expr::Path(path) if path.qself.is_none() => {
            let segments = &path.path.segments;
            let name = &segments.last()?.ident;
            let ordering = AtomicOrdering::named(&name.to_string())?;
            Some(Written { ordering, range: name.span().byte_range(), is_qualified: segments.len() > 1 })
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

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // What stands in these is evaluated as it is written.
        let is_known = call.path.get_ident().is_some_and(|name| EXPRESSIONS.contains(&name.to_string().as_str()));
        let arguments = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Some(arguments) = is_known.then(|| call.parse_body_with(arguments).ok()).flatten() {
            let mut own = Self { found: BTreeMap::new(), wide: Vec::new(), renamed: None };
            arguments.iter().for_each(|argument| own.visit_expr(argument));
            self.found.extend(own.found);
        }
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
                    AtomicU32::swap(&x, 1, SeqCst);\n    x.fetch_update(Release, Acquire, |_| None);\n    m!(x.load(SeqCst));\n    \
                    assert!(!x.load(SeqCst));\n}\n";
        assert_eq!(said(text, 2, 7).as_deref(), Ok("load:Acquire"));
        assert_eq!(said(text, 4, 10).as_deref(), Ok("store:Release"));
        assert_eq!(said(text, 5, 5).as_deref(), Ok("fence:SeqCst"));
        assert_eq!(said(text, 6, 7).as_deref(), Ok("cas:AcqRel/Relaxed"));
        assert!(said(text, 7, 7).is_err_and(|why| why.contains("no constant")));
        assert_eq!(said(text, 8, 5).as_deref(), Ok("rmw:SeqCst"));
        assert_eq!(said(text, 9, 7).as_deref(), Ok("load:Acquire"));
        assert!(said(text, 10, 10).is_err_and(|why| why.contains("macro")));
        assert!(said(text, 2, 8).is_err());
        assert_eq!(said(text, 11, 16).as_deref(), Ok("load:SeqCst"));
    }

    #[test]
    fn an_ordering_is_that_of_one_access() {
        let text = "fn f() {\n    x.compare_exchange(0, 1, AcqRel, Relaxed);\n    x.fetch_update(Release, Acquire, |_| None);\n    \
                    x.fetch_max(1, SeqCst);\n}\n";
        let calls = Calls::read(text).expect("it is Rust");
        let written = |line, word, failing| {
            let written = calls.written(Position { line, column: 7 }, word, failing)?;
            assert_eq!(&text[written.range.clone()], written.ordering.name());
            Ok::<_, String>(written.ordering)
        };
        assert_eq!(written(2, "update", false), Ok(AtomicOrdering::AcqRel));
        assert_eq!(written(2, "update", true), Ok(AtomicOrdering::Relaxed));
        assert_eq!(written(3, "update", false), Ok(AtomicOrdering::Release));
        assert!(written(3, "update", true).is_err_and(|why| why.contains("load and an exchange")));
        assert!(written(3, "load", false).is_err());
        assert_eq!(written(4, "update", false), Ok(AtomicOrdering::SeqCst));
        assert!(written(4, "load", false).is_err_and(|why| why.contains("no ordering")));
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
