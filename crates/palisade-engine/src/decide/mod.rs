//! The scheduler ([`palisade_model::decide`]), with all schedules of the engine in one place.

pub(crate) mod schedule;

pub(crate) use palisade_model::decide::{Method, Round, Schedule, Turn, decide};
