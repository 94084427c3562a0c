//! Petri nets as files: readers and writers of the formats in which the field keeps nets and their
//! questions.
//!
//! [`read`] takes a document, which may be compressed, to a
//! [`Problem`](palisade_model::net::Problem) or to what is wrong in it; [`write()`] makes
//! documents. What the formats are called is [`Format`](palisade_model::net::Format) and
//! [`QueryFormat`](palisade_model::net::QueryFormat).

mod read;
mod write;

pub use read::{
    Document, ReadProperties, ReadQuestion, read, read_any_question, read_built_in, read_built_in_properties,
    read_properties, read_question, read_reach_question, read_with_query,
};
pub use write::{WriteError, Written, with_comment, write};
