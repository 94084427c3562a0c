//! The rungs as methods that take turns.

use super::{Climb, UNFINISHED};
use crate::decide::schedule::PROPERTIES;
use crate::decide::{Method, Round, Schedule, Turn, decide};
use crate::properties::{Rung, Why};
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::Halt;
use palisade_semantics::Model;

/// How the turns end: with an answer for every target, if only that there is none, or because of
/// what stops a rung.
type Ended = Result<(), Halt<Fault>>;

/// A climb with what the rungs have said so far.
struct Turns<'c, 'a, 'q> {
    climb: &'c mut Climb<'a, 'q>,
    /// Why robustness has no answer; nothing while it may be asked.
    robust: Option<Why>,
    /// Why the rungs that need turns have no answer yet.
    rungs: [(Rung, Why); 3],
    /// The rung to name, in a round, where there is no answer, and why.
    last: (Rung, Why),
}

/// Lets the rungs take turns until every target has an answer, if only that there is none.
pub(super) fn take_turns(climb: &mut Climb<'_, '_>) -> Ended {
    let schedule = Schedule { most: climb.options.most, ..PROPERTIES };
    let under_buffers = climb.options.model != Model::Sc;
    let rung = |rung| {
        let is_asked = under_buffers && climb.wants(rung);
        (rung, if is_asked { UNFINISHED } else { Why::NotForThis })
    };
    let rungs = [Rung::Buffers, Rung::Snapshots, Rung::Enriched].map(rung);
    let robust = if climb.wants(Rung::ScRobust) { None } else { Some(Why::NotForThis) };
    let mut turns = Turns { climb, robust, rungs, last: (Rung::Sc, Why::NotForThis) };
    let methods = [
        Method { name: "sc", turn: Turns::interleavings },
        Method { name: "buffers", turn: Turns::buffers_first },
        Method { name: "snapshots", turn: Turns::snapshots },
        Method { name: "enriched", turn: Turns::enriched },
        Method { name: "buffers", turn: Turns::buffers_last },
        Method { name: "sc-robust", turn: Turns::robust },
        Method { name: "none", turn: Turns::end },
    ];
    decide(&mut turns, &methods, schedule)?.answer
}

/// What a rung gives in its turn: what stops it ends the turns.
fn turn(said: Result<(), Halt<Fault>>) -> Turn<Ended, Fault> {
    Ok(said.err().map(Err))
}

impl Turns<'_, '_, '_> {
    fn interleavings(&mut self, round: Round) -> Turn<Ended, Fault> {
        let climb = &mut *self.climb;
        self.last = (climb.options.by.unwrap_or(Rung::Sc), Why::NotForThis);
        // Robustness says that what holds under SC holds.
        let needs_sc = climb.wants(Rung::Sc) || climb.wants(Rung::ScRobust);
        if !needs_sc || climb.interleavings.is_some() {
            return Ok(None);
        }
        turn(climb.sc(round.work).map(|why| {
            if why.is_some() {
                self.last = (Rung::Sc, UNFINISHED);
            }
        }))
    }

    /// Of any number of copies a violation takes few as a rule, and the first turn has seen these:
    /// then proofs come first.
    fn are_buffers_last(&self, round: Round) -> bool {
        round.number > 0 && self.climb.program.is_parameterized()
    }

    fn buffers_first(&mut self, round: Round) -> Turn<Ended, Fault> {
        if self.are_buffers_last(round) { Ok(None) } else { self.rung(0, |own| own.climb.buffers(round.work)) }
    }

    fn buffers_last(&mut self, round: Round) -> Turn<Ended, Fault> {
        if self.are_buffers_last(round) { self.rung(0, |own| own.climb.buffers(round.work)) } else { Ok(None) }
    }

    fn snapshots(&mut self, round: Round) -> Turn<Ended, Fault> {
        self.rung(1, |own| own.climb.snapshots(round.work))
    }

    fn enriched(&mut self, round: Round) -> Turn<Ended, Fault> {
        self.rung(2, |own| {
            let options = own.climb.options;
            // For programs that are not robust. Robustness knows no bound on configurations.
            let is_turn = own.robust == Some(Why::NotRobust) && options.most == u64::MAX;
            if options.by.is_some() || is_turn {
                return own.climb.enriched(round.work);
            }
            Ok(own.robust.map_or(UNFINISHED, |_| Why::NotForThis))
        })
    }

    /// The turn of a rung that is not finished.
    fn rung(&mut self, rung: usize, ask: impl FnOnce(&mut Self) -> Result<Why, Halt<Fault>>) -> Turn<Ended, Fault> {
        if self.climb.is_done() || self.rungs[rung].1 != UNFINISHED {
            return Ok(None);
        }
        turn(ask(self).map(|why| self.rungs[rung].1 = why))
    }

    fn robust(&mut self, round: Round) -> Turn<Ended, Fault> {
        let climb = &mut *self.climb;
        let is_asked = !climb.is_done() && climb.options.model != Model::Sc;
        if !is_asked || self.robust.is_some() || climb.interleavings.is_none() {
            return Ok(None);
        }
        turn(climb.robust(round.work).map(|why| {
            self.robust = Some(why).filter(|why| *why != UNFINISHED);
            if climb.options.by == Some(Rung::ScRobust) {
                self.last = (Rung::ScRobust, why);
            }
        }))
    }

    /// Ends the turns when all targets have answers, when no rung can go on, and when no round
    /// follows.
    fn end(&mut self, round: Round) -> Turn<Ended, Fault> {
        let climb = &mut *self.climb;
        if climb.is_done() {
            return Ok(Some(Ok(())));
        }
        // Of those that have no answer, name one that can go on, or else the first.
        let asked = self.rungs.iter().filter(|(rung, _)| climb.options.model != Model::Sc && climb.wants(*rung));
        let open = asked.min_by_key(|(rung, why)| (*why != UNFINISHED, *rung)).copied();
        let (rung, why) = open.filter(|_| self.last.1 != UNFINISHED).unwrap_or(self.last);
        let goes_on = why == UNFINISHED;
        if goes_on && !round.is_last {
            return Ok(None);
        }
        let most = climb.options.most;
        let why = if goes_on && most < u64::MAX { Why::Larger(most) } else { why };
        climb.leave_open(rung, why);
        Ok(Some(Ok(())))
    }
}
