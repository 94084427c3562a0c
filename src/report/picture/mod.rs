//! Pictures of a violation: Mermaid sequence diagram, Graphviz graph of its trace, SVG of the computation.

mod dot;
mod mermaid;
mod svg;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::svg;
