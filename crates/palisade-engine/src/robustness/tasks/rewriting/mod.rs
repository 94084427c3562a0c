//! Programs of events and tasks said in other ways, to compare: by two threads after the paper, and
//! by threads alone.
//!
//! No verdict rests on these programs.

mod addresses;
mod body;
mod threads;
mod two_threads;

pub use threads::as_threads;
pub use two_threads::two_threads;

use thiserror::Error;

/// Why a program cannot be said in another way.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotRewritten {
    /// Threads stand beside the events.
    #[error("the thread `{0}` belongs to no event")]
    Thread(String),
    /// A task posts itself, directly or by others.
    #[error("the task `{0}` posts itself again")]
    Recursion(String),
    /// A post may be made any number of times by one invocation.
    #[error("`{0}` posts in a loop")]
    Loop(String),
    /// An event may occur any number of times, or a thread has any number of copies.
    #[error("`{0}` has any number of copies")]
    AnyNumber(String),
    /// Posts do nothing to store buffers.
    #[error("posts are plain, and no queue of threads leaves store buffers alone")]
    PlainPosts,
    /// The domain has not both 0 and 1.
    #[error("the domain has not both 0 and 1")]
    Domain,
    /// The result would be very long.
    #[error("the result would have more than {0} labels")]
    TooLarge(usize),
}

/// Labels that a template may have at most.
const MOST_LABELS: usize = 20_000;
