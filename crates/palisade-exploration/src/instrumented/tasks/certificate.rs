//! The certificate: the explored set, in the terms of the checker.

use super::control::{Attacker, Main};
use super::place::Place;
use super::system::{TaskSystem, Tasks};
use crate::instrumented::certificate::{self, live};
use crate::instrumented::system::Phase;
use crate::lazy::{Entry, Exploration};
use palisade_evidence::{MainState, TaskCertificate, TaskConfiguration, TaskPhase, TaskToken, Tokens};

type Tables<'s, 'p> = certificate::Tables<'s, 'p, Tasks>;

/// The certificate of a robust program whose system was explored to the end.
pub fn certificate(system: &TaskSystem<'_>, explored: &Exploration) -> TaskCertificate {
    let mut tables = Tables::new(system);
    let nodes = explored.maximal();
    let configurations =
        nodes.map(|node| configuration(system, &mut tables, explored.control(node), explored.entries(node))).collect();
    let (locals, memories) = tables.finish();
    TaskCertificate { live: live(system.program()), locals, memories, configurations }
}

fn configuration(
    system: &TaskSystem<'_>,
    tables: &mut Tables<'_, '_>,
    control: u32,
    entries: &[Entry],
) -> TaskConfiguration {
    let control = system.control(control);
    let main = match control.phase.main {
        Main::Idle => MainState::Idle,
        Main::Runs(local) => MainState::Runs(tables.local(local)),
        Main::Blocked => MainState::Blocked,
    };
    TaskConfiguration {
        memory: tables.memory(control.memory),
        locked: control.locked,
        main,
        main_joined: control.phase.main_joined,
        phase: phase(system, tables, control.phase.attack),
        tokens: entries.iter().filter_map(|entry| token(tables, *entry)).collect(),
    }
}

fn phase(system: &TaskSystem<'_>, tables: &mut Tables<'_, '_>, phase: Phase) -> TaskPhase {
    match phase {
        Phase::Sc => TaskPhase::Sc,
        Phase::Delayed(number) => {
            let Attacker { on_main, local, buffer, store_address } = system.attacker(number).clone();
            TaskPhase::Delayed { on_main, local: local.map(|local| tables.local(local)), buffer, store_address }
        }
        Phase::Helped(number) => {
            let helped = system.helped(number).clone();
            TaskPhase::Helped {
                store_address: helped.store_address,
                levels: helped.path.levels,
                section: helped.path.section,
            }
        }
    }
}

/// What an entry counts. Spare occurrences are none where nothing may have any number.
fn token(tables: &mut Tables<'_, '_>, entry: Entry) -> Option<(TaskToken, Tokens)> {
    let token = match Place::of_number(entry.place) {
        Place::Own(local, joined) => TaskToken::Own(tables.local(local), joined),
        Place::Pending(local, joined) => TaskToken::Pending(tables.local(local), joined),
        Place::Start(event) => TaskToken::Start(event),
        Place::Spare => return None,
    };
    Some((token, entry.tokens.into()))
}
