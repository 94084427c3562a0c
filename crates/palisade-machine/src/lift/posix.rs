//! Locks, condition variables and semaphores of POSIX: what each of their functions does in one
//! step.
//!
//! The functions of the C library keep owners and counts in data of the thread's own. What they
//! promise needs none of that. The first four bytes of an object hold all that counts here:
//!
//! | object | word |
//! |---|---|
//! | `pthread_mutex_t` | 0, or another number while it is held |
//! | `pthread_rwlock_t` | how many readers hold it, or [`WRITER`] |
//! | `sem_t` | what it counts |
//! | `pthread_cond_t` | nothing: copies sleep there |
//!
//! So does glibc with what it makes at first. Functions that take, give back or wake are locked
//! updates, as POSIX wants memory to be synchronised [POSIX.1-2017, 4.12]; of those that give up it
//! wants nothing.

use super::decode::MemoryOperand;
use super::environment::ARGUMENTS;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, RegisterId, Value};
use palisade_syntax::x86::fold::{binary, truncate};

/// A call of one of the functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Posix {
    /// Something is taken.
    Take(Held, Trial),
    /// It is given back.
    Give(Held),
    /// The copy gives a mutex back, sleeps at a condition variable, and takes the mutex again.
    Sleep {
        /// Whether it goes on after some time.
        is_timed: bool,
    },
    /// Those who sleep at a condition variable go on.
    Wake {
        /// Whether all do, or one.
        all: bool,
    },
}

/// What is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// A mutex.
    Mutex,
    /// A lock of readers and writers, by a reader.
    Reader,
    /// The same, by a writer. Who gives it back is known by its word.
    Writer,
    /// One of what a semaphore counts.
    Semaphore,
}

/// What happens while it is not to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    /// The copy waits.
    Waits,
    /// It goes on without.
    GoesOn,
    /// It waits, or goes on without after some time.
    WaitsForSomeTime,
}

/// What an access does for a function of POSIX, beside its update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It waits until this holds of what it finds.
    Until(Expression, Trial),
    /// It tries to take something.
    Try,
    /// It only looks whether something is to be had.
    Look,
    /// It gives something back.
    Give,
    /// It gives a mutex back, and the copy sleeps at an address then.
    Sleep { address: Value, is_timed: bool },
    /// Sleepers go on.
    Wake { all: bool },
}

/// The word of a lock that a writer holds.
const WRITER: Value = 1 << 31;

/// What a function returns that has not got what it wanted.
const BUSY: Value = 16;
const TIMED_OUT: Value = 110;
/// The number of the error with which `sem_trywait` fails.
const AGAIN: Value = 11;

impl Posix {
    /// The object: its first argument.
    pub(crate) const WORD: MemoryOperand = word_of(ARGUMENTS[0]);
    /// The mutex that `pthread_cond_wait` is given: its second argument.
    pub(crate) const MUTEX: MemoryOperand = word_of(ARGUMENTS[1]);
    /// How far the kind of a mutex is from its word, in glibc.
    const KIND: u64 = 16;

    /// The function of a name, with what the C library puts in front of some.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let plain = name.trim_start_matches('_').trim_start_matches("new_");
        let (object, function) = ["pthread_mutex_", "pthread_rwlock_", "pthread_cond_", "sem_"]
            .into_iter()
            .find_map(|object| Some((object, plain.strip_prefix(object)?)))?;
        let timed = |trial: &str| match trial {
            "" => Some(Trial::Waits),
            "try" => Some(Trial::GoesOn),
            "timed" | "clock" => Some(Trial::WaitsForSomeTime),
            _ => None,
        };
        let taken = |held: Held, verb: &str| Some(Self::Take(held, timed(function.strip_suffix(verb)?)?));
        match (object, function) {
            ("pthread_mutex_", "unlock") => Some(Self::Give(Held::Mutex)),
            ("pthread_mutex_", _) => taken(Held::Mutex, "lock"),
            ("pthread_rwlock_", "unlock") => Some(Self::Give(Held::Writer)),
            ("pthread_rwlock_", _) => taken(Held::Reader, "rdlock").or_else(|| taken(Held::Writer, "wrlock")),
            ("pthread_cond_", "signal") => Some(Self::Wake { all: false }),
            ("pthread_cond_", "broadcast") => Some(Self::Wake { all: true }),
            ("pthread_cond_", "wait") => Some(Self::Sleep { is_timed: false }),
            ("pthread_cond_", "timedwait" | "clockwait") => Some(Self::Sleep { is_timed: true }),
            ("sem_", "post") => Some(Self::Give(Held::Semaphore)),
            ("sem_", _) => taken(Held::Semaphore, "wait"),
            _ => None,
        }
    }

    /// Whether the copy may wait.
    pub(crate) fn may_wait(self) -> bool {
        !matches!(self, Self::Take(_, Trial::GoesOn) | Self::Give(_) | Self::Wake { .. })
    }

    /// The number that it returns where it has not got what it wanted, with the number of the error
    /// that it sets, if it sets one; nothing if it always gets it.
    pub(crate) fn failure(self) -> Option<(Value, Option<Value>)> {
        match self {
            Self::Take(_, Trial::Waits) | Self::Give(_) | Self::Wake { .. } | Self::Sleep { is_timed: false } => None,
            Self::Take(Held::Semaphore, Trial::GoesOn) => Some((-1, Some(AGAIN))),
            Self::Take(Held::Semaphore, Trial::WaitsForSomeTime) => Some((-1, Some(TIMED_OUT))),
            Self::Take(_, Trial::GoesOn) => Some((BUSY, None)),
            Self::Take(_, Trial::WaitsForSomeTime) | Self::Sleep { is_timed: true } => Some((TIMED_OUT, None)),
        }
    }

    /// Whether it sets the number of the last error.
    pub(crate) fn sets_error(self) -> bool {
        matches!(self.failure(), Some((_, Some(_))))
    }

    /// The operands whose words are mutexes.
    pub(crate) fn mutex(self) -> Option<MemoryOperand> {
        match self {
            Self::Take(Held::Mutex, _) | Self::Give(Held::Mutex) => Some(Self::WORD),
            Self::Sleep { .. } => Some(Self::MUTEX),
            Self::Take(..) | Self::Give(_) | Self::Wake { .. } => None,
        }
    }

    /// The words that it accesses.
    pub(crate) fn operands(self) -> Vec<MemoryOperand> {
        match self {
            Self::Sleep { .. } => vec![Self::WORD, Self::MUTEX],
            Self::Take(..) | Self::Give(_) | Self::Wake { .. } => vec![Self::WORD],
        }
    }

    /// Where the kind of a mutex stands, by its address.
    pub(crate) fn kind_of(mutex: u64) -> u64 {
        mutex.wrapping_add(Self::KIND)
    }

    /// Whether mutexes of a kind are what is said here: those that know no owner.
    pub(crate) fn is_plain(kind: Value) -> bool {
        /// `PTHREAD_MUTEX_NORMAL` and `PTHREAD_MUTEX_ADAPTIVE_NP`; a flag says that no lock is
        /// elided.
        const KINDS: [Value; 4] = [0, 3, 256, 259];
        KINDS.contains(&kind)
    }
}

const fn word_of(family: u8) -> MemoryOperand {
    MemoryOperand { base: Some(family), index: None, displacement: 0, bytes: 4 }
}

impl Held {
    /// What is to be had, of what a word holds.
    pub(crate) fn is_free(self) -> Expression {
        match self {
            Self::Mutex | Self::Writer => binary(Op::Equal, Expression::Old, Expression::Constant(0)),
            Self::Reader => binary(Op::Less, Expression::Old, Expression::Constant(WRITER)),
            Self::Semaphore => binary(Op::Greater, Expression::Old, Expression::Constant(0)),
        }
    }

    /// The try that takes it; one that fails stores what was there.
    pub(crate) fn taken(self, register: RegisterId, address: Expression) -> Action {
        let free = Expression::Constant(0);
        let one = |new| Action::Cas { register: Some(register), address: address.clone(), expected: free, new };
        let more = |by: Op| binary(by, Expression::Old, self.is_free());
        let update = |new| Action::Rmw { register: Some(register), address: address.clone(), new };
        match self {
            Self::Mutex => one(Expression::Constant(1)),
            Self::Writer => one(Expression::Constant(WRITER)),
            Self::Reader => update(more(Op::Add)),
            Self::Semaphore => update(more(Op::Subtract)),
        }
    }

    /// What the word holds when it is given back.
    pub(crate) fn given(self) -> Expression {
        let one = Expression::Constant(1);
        match self {
            Self::Mutex => Expression::Constant(0),
            Self::Semaphore => truncate(binary(Op::Add, Expression::Old, one), 32, false),
            // One reader less, or the writer. Who gives back what nobody holds leaves it so.
            Self::Reader | Self::Writer => {
                let is_of_readers = binary(Op::Less, Expression::Old, Expression::Constant(WRITER));
                let is_read = binary(
                    Op::And,
                    binary(Op::Greater, Expression::Old, Expression::Constant(0)),
                    is_of_readers.clone(),
                );
                let less = binary(Op::Subtract, Expression::Old, is_read);
                binary(Op::Multiply, less, is_of_readers)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_many_names() {
        for (name, expected) in [
            ("pthread_mutex_lock", Some(Posix::Take(Held::Mutex, Trial::Waits))),
            ("___pthread_mutex_lock", Some(Posix::Take(Held::Mutex, Trial::Waits))),
            ("pthread_mutex_clocklock", Some(Posix::Take(Held::Mutex, Trial::WaitsForSomeTime))),
            ("pthread_rwlock_tryrdlock", Some(Posix::Take(Held::Reader, Trial::GoesOn))),
            ("__pthread_rwlock_unlock", Some(Posix::Give(Held::Writer))),
            ("pthread_cond_timedwait", Some(Posix::Sleep { is_timed: true })),
            ("__new_sem_trywait", Some(Posix::Take(Held::Semaphore, Trial::GoesOn))),
            ("sem_post", Some(Posix::Give(Held::Semaphore))),
            ("pthread_mutex_init", None),
            ("pthread_barrier_wait", None),
            ("sem_getvalue", None),
        ] {
            assert_eq!(Posix::named(name), expected, "{name}");
        }
    }

    #[test]
    fn words_say_who_holds_a_lock() {
        let of = |expression: &Expression, old| expression.evaluate_with_old(&[], old, None).expect("a number");
        for (held, old, free, taken, given) in [
            (Held::Mutex, 0, 1, 1, 0),
            (Held::Mutex, 2, 0, 2, 0),
            (Held::Writer, 0, 1, WRITER, 0),
            (Held::Writer, 3, 0, 3, 2),
            (Held::Writer, WRITER, 0, WRITER, 0),
            (Held::Reader, 0, 1, 1, 0),
            (Held::Reader, 2, 1, 3, 1),
            (Held::Reader, WRITER, 0, WRITER, 0),
            (Held::Semaphore, 0, 0, 0, 1),
            (Held::Semaphore, 2, 1, 1, 3),
        ] {
            assert_eq!(of(&held.is_free(), old), free, "{held:?} {old}");
            assert_eq!(of(&held.given(), old), given, "{held:?} {old}");
            let stored = match held.taken(RegisterId::from_index(0), Expression::Constant(64)) {
                Action::Cas { expected, new, .. } if of(&expected, old) == old => of(&new, old),
                Action::Cas { .. } => old,
                Action::Rmw { new, .. } => of(&new, old),
                other => panic!("{other:?}"),
            };
            assert_eq!(stored, taken, "{held:?} {old}");
        }
    }
}
