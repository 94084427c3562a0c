//! The explored states as evidence.

use crate::levels::Levels;
use crate::state::{Pending, Pivot, Stage, State};
use crate::system::System;
use palisade_evidence::{
    AccessLevels, ConcurrencyCertificate, LocalState, PendingTask, PivotAccess, PivotStage, SerialRun, SerialState,
};
use palisade_model::program::LabelId;
use rustc_hash::FxHashMap;

/// The certificate of a closed set of states in which none accepts.
pub(super) fn of(system: &mut System<'_>, states: &[&State]) -> ConcurrencyCertificate {
    let mut writer = Writer { system, pivots: Vec::new(), pivot_numbers: FxHashMap::default() };
    let states = states.iter().map(|state| writer.state(state)).collect();
    let Writer { system, pivots, .. } = writer;
    let live = system.program.threads.iter().zip(system.locals.live()).map(|(thread, live)| {
        (0..thread.labels.len()).map(|label| live.at(LabelId::from_index(label)).collect()).collect()
    });
    let local = |local: &super::locals::Local| LocalState {
        thread: local.template,
        label: local.label,
        registers: local.registers.to_vec(),
        holding: false,
    };
    ConcurrencyCertificate {
        live: live.collect(),
        locals: system.locals.all().iter().map(local).collect(),
        memories: system
            .memories
            .all()
            .map(|memory| memory.iter().map(|(at, value)| (*at, *value)).collect())
            .collect(),
        pivots,
        states,
    }
}

/// Writes states down.
struct Writer<'a, 'p> {
    system: &'a mut System<'p>,
    pivots: Vec<PivotAccess>,
    pivot_numbers: FxHashMap<PivotAccess, usize>,
}

impl Writer<'_, '_> {
    fn state(&mut self, state: &State) -> SerialState {
        let monitor = &state.monitor;
        let pivot = monitor.pivot.map(|pivot| self.pivot(pivot));
        let run = state.run.as_ref().map(|run| SerialRun {
            task: PendingTask { main: run.main, local: run.local as usize, late: run.late },
            begun: run.begun,
            own: self.levels(&run.own),
            kids: run.kids.iter().map(task).collect(),
        });
        SerialState {
            memory: state.memory as usize,
            starts: state.starts.to_vec(),
            stage: match monitor.stage {
                Stage::Before => PivotStage::Before,
                Stage::In => PivotStage::In,
                Stage::After => PivotStage::After,
            },
            pivot,
            path: self.levels(&monitor.path),
            cut: monitor.cut.as_ref().map(|cut| self.levels(cut)),
            spoiling: self.levels(&monitor.spoiling),
            current: self.levels(&monitor.current),
            on: monitor.on,
            run,
            stack: state.stack.iter().map(task).collect(),
        }
    }

    fn levels(&self, levels: &Levels) -> AccessLevels {
        let mut entries: AccessLevels =
            levels.entries().map(|(number, written)| (self.system.numbering.address(number), written)).collect();
        entries.sort_unstable();
        entries
    }

    fn pivot(&mut self, pivot: Pivot) -> usize {
        let settled = self.system.locals.settled(pivot.local).expect("it has been settled before");
        let point = &settled.points[pivot.point as usize];
        let template = self.system.locals.get(pivot.local).template;
        let access = PivotAccess { template, instruction: point.instruction, registers: point.registers.to_vec() };
        *self.pivot_numbers.entry(access.clone()).or_insert_with(|| {
            self.pivots.push(access);
            self.pivots.len() - 1
        })
    }
}

fn task(pending: &Pending) -> PendingTask {
    PendingTask { main: pending.main, local: pending.local as usize, late: pending.late }
}
