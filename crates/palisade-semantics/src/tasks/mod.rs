//! Event-driven programs at work: the multi-threaded semantics under SC and TSO, with tasks
//! [NETYS18, §2 and §3].
//!
//! An *invocation* is one run of an event's handler, a task or a thread. An event may occur when
//! the main thread is idle and its guard holds; its handler then runs on the main thread. A post
//! makes a pending invocation, which begins on the main thread when that is idle, or on a thread of
//! its own. The main thread runs one invocation at a time, to its end, and takes pending ones in
//! any order. An invocation that comes to its end inside a locked section never returns. Under TSO
//! each thread has a store buffer; that of the main thread outlives its invocations.
//!
//! DIVERGENCE: a thread of the paper can be taken again by another task; here every posted task has
//! a fresh one, as nothing orders two tasks of a background thread that other schedules could not
//! put on two of them.
//!
//! A [`TaskMachine`] is the step relation, instruction by instruction; [`TaskMachine::steps`] lists
//! what can happen in a state and [`TaskMachine::apply`] lets it happen. [`task_final_states`]
//! lists what computations come to, serial ones among them; [`oracle`] enumerates all computations
//! of small programs.

mod execution;
mod final_states;
mod from_threads;
mod machine;
pub mod oracle;
mod order;
mod refusal;
mod state;

pub use final_states::{TaskExplorationError, TaskFinalStates, TaskModel, task_final_states};
pub use from_threads::task_computation;
pub use machine::TaskMachine;
pub use order::{is_out_of_order, most_executed};
pub use refusal::TaskRefusal;
pub use state::{InvocationId, InvocationState, Status, TaskEffect, TaskState, TaskStep, Worker};
