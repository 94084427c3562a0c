//! From the names of a text to their declarations and their other places.

use super::document::Document;
use crate::syntax::symbols::{Symbol, SymbolKind as Kind};
use lsp_types::{
    DocumentHighlight, DocumentSymbol, DocumentSymbolResponse, GotoDefinitionResponse, Location, Position, SymbolKind,
};

/// Where the name at a position is declared.
pub(super) fn definition(document: &Document, position: Position) -> Option<GotoDefinitionResponse> {
    let (symbol, _) = document.symbols().at(document.text.byte(position))?;
    let range = document.text.range(document.symbols().all[symbol].span);
    Some(GotoDefinitionResponse::Scalar(Location { uri: document.uri.clone(), range }))
}

/// Where the name at a position stands.
pub(super) fn references(document: &Document, position: Position, is_with_declaration: bool) -> Vec<Location> {
    let symbols = document.symbols();
    let Some((symbol, _)) = symbols.at(document.text.byte(position)) else { return Vec::new() };
    let declared = symbols.all[symbol].span;
    let places = symbols.places(symbol).filter(|span| is_with_declaration || *span != declared);
    places.map(|span| Location { uri: document.uri.clone(), range: document.text.range(span) }).collect()
}

/// The same, to be marked.
pub(super) fn highlights(document: &Document, position: Position) -> Vec<DocumentHighlight> {
    let places = references(document, position, true);
    places.into_iter().map(|place| DocumentHighlight { range: place.range, kind: None }).collect()
}

/// What the text declares: threads with their labels, locations, procedures.
pub(super) fn symbols(document: &Document) -> DocumentSymbolResponse {
    let all = &document.symbols().all;
    let is_listed = |symbol: &&Symbol| symbol.owner.is_none() && symbol.kind != Kind::Program;
    let top = all.iter().enumerate().filter(|(_, symbol)| is_listed(symbol));
    let outline = top.map(|(index, symbol)| {
        let is_inside = |own: &&Symbol| {
            let inside = symbol.extent.start <= own.span.start && own.span.end <= symbol.extent.end;
            own.kind == Kind::Label && own.owner == Some(index) && inside
        };
        let labels: Vec<DocumentSymbol> =
            all.iter().filter(is_inside).map(|own| listed(document, own, Vec::new())).collect();
        listed(document, symbol, labels)
    });
    DocumentSymbolResponse::Nested(outline.collect())
}

#[expect(deprecated, reason = "the type of the protocol has a field that is not used any more")]
fn listed(document: &Document, symbol: &Symbol, children: Vec<DocumentSymbol>) -> DocumentSymbol {
    let kind = match symbol.kind {
        Kind::Program => SymbolKind::MODULE,
        Kind::Thread | Kind::Task | Kind::Procedure => SymbolKind::FUNCTION,
        Kind::Event => SymbolKind::EVENT,
        Kind::Constant => SymbolKind::CONSTANT,
        Kind::Address | Kind::Register => SymbolKind::VARIABLE,
        Kind::Label => SymbolKind::KEY,
    };
    DocumentSymbol {
        name: symbol.name.clone(),
        detail: Some(symbol.kind.word().to_owned()),
        kind,
        tags: None,
        deprecated: None,
        range: document.text.range(symbol.extent),
        selection_range: document.text.range(symbol.span),
        children: (!children.is_empty()).then_some(children),
    }
}
