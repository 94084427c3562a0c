//! Writer of thread transition systems, for nets that are one.

use super::Written;
use palisade_model::net::{Arcs, Count, Net, OmegaCount, PlaceId, Problem, Query};
use std::fmt::Write;

pub(super) fn write(problem: &Problem) -> Result<Written, String> {
    let Problem { net, query } = problem;
    let mut refusal = "no unit holds the shared states".to_owned();
    for unit in &net.units {
        match System::over(net, unit).and_then(|system| Ok((system.text(net)?, system.targets(query)?))) {
            Ok((text, targets)) => return Ok(Written { net: text, query: Some(targets), notes: Vec::new() }),
            Err(reason) => refusal = reason,
        }
    }
    Err(refusal)
}

/// What a place is in the thread transition system.
#[derive(Clone, Copy)]
enum Role {
    Shared(usize),
    Local(usize),
}

struct System {
    roles: Vec<Role>,
    shared: usize,
    local: usize,
}

impl System {
    /// The unit's places as shared states, all others as local ones; those marked initially become
    /// state 0.
    fn over(net: &Net, unit: &[PlaceId]) -> Result<Self, String> {
        let is_shared = |place: &PlaceId| unit.binary_search(place).is_ok();
        let first = |shared: bool| {
            net.place_ids()
                .filter(|place| is_shared(place) == shared)
                .find(|place| net.initial[place.index()] != OmegaCount::Finite(Count::ZERO))
        };
        let (Some(shared_start), Some(local_start)) = (first(true), first(false)) else {
            return Err("no local state holds any number of threads initially".to_owned());
        };
        for place in net.place_ids() {
            let expected = if place == shared_start {
                OmegaCount::Finite(Count::ONE)
            } else if place == local_start {
                OmegaCount::Omega
            } else {
                OmegaCount::Finite(Count::ZERO)
            };
            if net.initial[place.index()] != expected {
                return Err(format!(
                    "place `{}` holds {} initially, which is not how threads start",
                    net.places[place.index()].name,
                    net.initial[place.index()]
                ));
            }
        }
        let (mut shared, mut local) = (1, 1);
        let mut roles = Vec::with_capacity(net.places.len());
        for place in net.place_ids() {
            let next = |counter: &mut usize, starts: bool| {
                if starts {
                    return 0;
                }
                *counter += 1;
                *counter - 1
            };
            roles.push(if is_shared(&place) {
                Role::Shared(next(&mut shared, place == shared_start))
            } else {
                Role::Local(next(&mut local, place == local_start))
            });
        }
        Ok(Self { roles, shared, local })
    }

    fn text(&self, net: &Net) -> Result<String, String> {
        let mut text = format!("{} {}\n", self.shared, self.local);
        for transition in &net.transitions {
            let refuse = || format!("transition `{}` is no step of one thread", transition.name);
            let (shared_from, from) = self.split(&transition.pre).ok_or_else(refuse)?;
            let (shared_to, mut to) = self.split(&transition.post).ok_or_else(refuse)?;
            let &[local_from] = from.as_slice() else { return Err(refuse()) };
            let arrow = if let (2, Some(stays)) = (to.len(), to.iter().position(|local| *local == local_from)) {
                to.remove(stays);
                "+>"
            } else {
                "->"
            };
            let &[local_to] = to.as_slice() else { return Err(refuse()) };
            writeln!(text, "{shared_from} {local_from} {arrow} {shared_to} {local_to}")
                .expect("a string takes all that is written");
        }
        Ok(text)
    }

    fn targets(&self, query: &Query) -> Result<String, String> {
        if query.targets.is_empty() {
            return Err("the format needs a target".to_owned());
        }
        let mut text = String::new();
        for target in &query.targets {
            let Some((shared, locals)) = self.split(&target.demands).filter(|(_, locals)| !locals.is_empty()) else {
                return Err("a target has to ask for one shared state and for threads".to_owned());
            };
            let locals: Vec<String> = locals.iter().map(ToString::to_string).collect();
            writeln!(text, "{shared}|{}", locals.join(",")).expect("a string takes all that is written");
        }
        Ok(text)
    }

    /// The one shared state and the local states among the arcs, as often as their weights say.
    fn split(&self, arcs: &Arcs) -> Option<(usize, Vec<usize>)> {
        /// More threads in one step or target are not written out.
        const MANY: u64 = 1000;
        let mut shared = None;
        let mut locals = Vec::new();
        for (place, count) in arcs {
            match self.roles[place.index()] {
                Role::Shared(state) if *count == Count::ONE && shared.is_none() => shared = Some(state),
                Role::Shared(_) => return None,
                Role::Local(state) => {
                    let threads = count.to_u64().filter(|threads| *threads <= MANY)?;
                    locals.extend((0..threads).map(|_| state));
                }
            }
        }
        shared.map(|shared| (shared, locals))
    }
}
