//! When a state that is listed stands for one that is not.
//!
//! A state *covers* another one with the same memory, stage and λ, the same invocation and the same
//! pending tasks (late or not) if events may occur as often at least, if `path`, `spoiling`,
//! `current` and `on` say as much at least, and if `cut`, `own` and the lateness of tasks say no
//! more. Whatever happens in the covered state happens in the covering one, with a covering state
//! behind it, and if the one accepts, so does the other. So closure up to covering is enough.

use hashbrown::HashMap;
use palisade_evidence::{AccessLevels, PendingTask, PivotStage, SerialState};

/// A task without what says whether it is late.
type Task = (bool, usize);

/// What a state has in common with those that it covers.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Shape {
    memory: usize,
    stage: u8,
    pivot: Option<usize>,
    run: Option<(Task, bool)>,
    kids: Vec<Task>,
    stack: Vec<Task>,
}

impl Shape {
    fn of(state: &SerialState) -> Self {
        let task = |task: &PendingTask| (task.main, task.local);
        let stage = match state.stage {
            PivotStage::Before => 0,
            PivotStage::In => 1,
            PivotStage::After => 2,
        };
        Self {
            memory: state.memory,
            stage,
            pivot: state.pivot,
            run: state.run.as_ref().map(|run| (task(&run.task), run.begun)),
            kids: state.run.iter().flat_map(|run| &run.kids).map(task).collect(),
            stack: state.stack.iter().map(task).collect(),
        }
    }
}

/// The states of a certificate, to look for those that cover one.
pub(super) struct Listed<'a> {
    by_shape: HashMap<Shape, Vec<&'a SerialState>>,
}

impl<'a> Listed<'a> {
    pub(super) fn new(states: &'a [SerialState]) -> Self {
        let mut by_shape: HashMap<Shape, Vec<&SerialState>> = HashMap::new();
        for state in states {
            by_shape.entry(Shape::of(state)).or_default().push(state);
        }
        Self { by_shape }
    }

    /// Whether a listed state covers this one.
    pub(super) fn cover(&self, state: &SerialState) -> bool {
        self.by_shape.get(&Shape::of(state)).is_some_and(|listed| listed.iter().any(|it| covers(it, state)))
    }
}

/// Whether a state covers another one of the same shape.
fn covers(this: &SerialState, other: &SerialState) -> bool {
    let cut = match (&this.cut, &other.cut) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(this), Some(other)) => within(this, other),
    };
    let runs = this.run.iter().zip(&other.run).all(|(own, others)| {
        let may_be_cut = other.cut.is_none();
        (!own.task.late || others.task.late)
            && no_later(&own.kids, &others.kids)
            && (!may_be_cut || within(&own.own, &others.own))
    });
    cut && runs
        && no_later(&this.stack, &other.stack)
        && this.starts.len() == other.starts.len()
        && this.starts.iter().zip(&other.starts).all(|(own, others)| own >= others)
        && (this.on || !other.on)
        && within(&other.path, &this.path)
        && within(&other.spoiling, &this.spoiling)
        && within(&other.current, &this.current)
}

/// Whether each of these tasks that is late is late among the others, too.
fn no_later(these: &[PendingTask], others: &[PendingTask]) -> bool {
    these.iter().zip(others).all(|(this, other)| !this.late || other.late)
}

/// Whether all accesses of the one are among those of the other.
fn within(less: &AccessLevels, more: &AccessLevels) -> bool {
    less.iter().all(|(address, writes)| more.iter().any(|(at, written)| at == address && (*written || !writes)))
}
