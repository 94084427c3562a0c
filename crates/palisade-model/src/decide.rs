//! The scheduler: several methods take turns at a question until one of them answers.
//!
//! A method that answers one question at once can get lost in the next, and nothing tells
//! beforehand: an exact search finds a violation in a small instance and drowns in a large one, the
//! net of an attack is answered by a relation between pairs of places or not at all. So methods
//! take turns ([`decide`]). In each round every [`Method`] may do as much work as the round allows;
//! the next round allows four times as much ([`Schedule`]). What a method keeps from round to round
//! is its own affair.
//!
//! Work is counted in nodes of explorations, and in what takes as long, never in time: so the
//! method that answers, and what it answers, depend neither on clocks nor on the number of jobs.
//!
//! A question is whatever the methods work on together: the attacks of a program, one attack past
//! obstacles, a property. To ask a new kind of question, write a type that holds it with what is
//! known so far, and a function per method.

use crate::limits::{Halt, StopReason};

/// Rounds of work that grows from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// What the first round allows.
    pub first: u64,
    /// How many times as much each round allows as the one before.
    pub growth: u64,
    /// What the last round allows.
    pub most: u64,
}

/// One round of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// How much work each method may do.
    pub work: u64,
    /// How many rounds came before.
    pub number: u32,
    /// Whether no round follows.
    pub is_last: bool,
    /// How much work the next round would allow.
    pub next_work: u64,
}

impl Schedule {
    /// Rounds that allow four times as much each, without end.
    pub const fn growing_from(first: u64) -> Self {
        Self { first, growth: 4, most: u64::MAX }
    }

    /// The rounds.
    fn rounds(self) -> impl Iterator<Item = Round> {
        let round = move |work: u64, number| {
            let next_work = work.saturating_mul(self.growth);
            Round { work, number, is_last: work >= self.most, next_work }
        };
        let next =
            move |before: &Round| (!before.is_last).then(|| round(before.next_work.min(self.most), before.number + 1));
        std::iter::successors(Some(round(self.first.min(self.most), 0)), next)
    }
}

impl Round {
    /// A round without others.
    pub const fn only(work: u64) -> Self {
        Self { work, number: 0, is_last: true, next_work: work }
    }
}

/// What a turn gives: an answer, or none as far as the round allows.
pub type Turn<A, E> = Result<Option<A>, Halt<E>>;

/// A way to answer questions of type `Q` by answers of type `A`.
pub struct Method<Q: ?Sized, A, E> {
    /// Its name, for those who ask which method has answered.
    pub name: &'static str,
    /// Takes a turn.
    pub turn: fn(&mut Q, Round) -> Turn<A, E>,
}

/// An answer, with the method that found it.
pub struct Decision<A> {
    /// What was found.
    pub answer: A,
    /// The method that found it.
    pub method: &'static str,
}

/// Lets the methods take turns, in their order, until one of them answers.
///
/// # Errors
///
/// [`StopReason::Budget`] when the last round has passed without an answer; what else stops a
/// method ends the schedule.
pub fn decide<Q: ?Sized, A, E>(
    question: &mut Q,
    methods: &[Method<Q, A, E>],
    schedule: Schedule,
) -> Result<Decision<A>, Halt<E>> {
    for round in schedule.rounds() {
        for method in methods {
            match (method.turn)(question, round) {
                Ok(Some(answer)) => return Ok(Decision { answer, method: method.name }),
                Ok(None) | Err(Halt::Stopped(StopReason::Budget)) => {}
                Err(halt) => return Err(halt),
            }
        }
    }
    Err(StopReason::Budget.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which methods have had turns, and with how much work.
    #[derive(Default)]
    struct Log(Vec<(char, u64)>);

    fn gives_up(log: &mut Log, round: Round) -> Turn<u64, ()> {
        log.0.push(('a', round.work));
        Err(StopReason::Budget.into())
    }

    #[allow(clippy::unnecessary_wraps, reason = "methods take turns alike")]
    fn needs_thirty(log: &mut Log, round: Round) -> Turn<u64, ()> {
        log.0.push(('b', round.work));
        Ok((round.work >= 30).then_some(round.work))
    }

    fn fails(_: &mut Log, _: Round) -> Turn<u64, ()> {
        Err(Halt::Fault(()))
    }

    #[test]
    fn methods_take_turns_until_one_answers() {
        let mut log = Log::default();
        let methods = [Method { name: "a", turn: gives_up }, Method { name: "b", turn: needs_thirty }];
        let found = decide(&mut log, &methods, Schedule::growing_from(10)).expect("40 is enough");
        assert_eq!((found.answer, found.method), (40, "b"));
        assert_eq!(log.0, [('a', 10), ('b', 10), ('a', 40), ('b', 40)]);
    }

    #[test]
    fn the_last_round_ends_the_schedule() {
        let mut log = Log::default();
        let methods = [Method { name: "a", turn: gives_up }];
        let ended = decide(&mut log, &methods, Schedule { most: 50, ..Schedule::growing_from(10) });
        assert!(matches!(ended, Err(halt) if halt.is_budget()));
        assert_eq!(log.0, [('a', 10), ('a', 40), ('a', 50)]);
    }

    #[test]
    fn a_fault_ends_the_schedule() {
        let methods = [Method { name: "fails", turn: fails }, Method { name: "b", turn: needs_thirty }];
        let mut log = Log::default();
        assert!(matches!(decide(&mut log, &methods, Schedule::growing_from(u64::MAX)), Err(Halt::Fault(()))));
        assert!(log.0.is_empty());
    }
}
