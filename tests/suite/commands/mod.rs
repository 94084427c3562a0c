//! The command line: what commands print, refuse and end with.

mod bench;
mod bounded_steps;
mod bounded_values;
mod check_many;
mod check_progress;
mod check_properties;
mod checks_and_warnings;
mod clear_refusals;
mod closed_output;
mod command_line;
mod convert;
mod first_errors;
mod folders;
mod language;
mod large_inputs;
pub(crate) mod limits;
mod limits_large;
mod limits_of_commands;
mod matrix;
mod never_green;
mod orderings;
mod prove;
mod toy_question;
mod users_words;
mod verify;
mod watchdog;
