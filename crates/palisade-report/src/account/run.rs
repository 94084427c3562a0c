//! The steps of a computation, of threads or of events and tasks, or those of an execution graph,
//! as a table.

use crate::computation::ComputationReport;
use crate::graph::Graph;
use crate::scene::Scene;

/// The steps of a computation.
#[derive(Clone, Debug)]
pub enum Run<'a> {
    /// Copies of threads take them.
    Threads(ComputationReport<'a>),
    /// Copies of threads take them, and the edges say what no interleaving does.
    Graph(Graph<'a>),
    /// Events, tasks and threads take them.
    Events(Scene),
}

impl Run<'_> {
    /// The steps as a table: all of them, where much is to be said.
    pub fn text(&self, verbosity: u8) -> String {
        match self {
            Self::Threads(computation) => computation.table(verbosity),
            Self::Graph(graph) => graph.computation.table(verbosity) + &graph.text(),
            Self::Events(scene) => scene.text(),
        }
    }
}
