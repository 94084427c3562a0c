//! Pictures of a violation: Mermaid sequence diagram, Graphviz graph of its trace, SVG of the
//! computation; those of events and tasks ([`scene_svg`], [`scene_mermaid`]) with a column for each
//! thread and a colour for each occurrence of an event; those of an execution ([`execution_svg`],
//! [`execution_dot`]) with a column for each thread and an arrow for each relation.
//! [`graph_litmus`] writes an execution graph as a litmus test in C.

mod actions;
mod c_litmus;
mod dot;
mod execution;
mod mermaid;
mod scene;
mod svg;

pub use c_litmus::graph_litmus;
pub use dot::dot;
pub use execution::{execution_dot, execution_svg};
pub use mermaid::mermaid;
pub use scene::{scene_mermaid, scene_svg};
pub use svg::svg;
