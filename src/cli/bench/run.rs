//! One run of a benchmark: a tool on a net, or on one property of its query.

use crate::cli::net_input::NetOptions;
use crate::net::Quantifier;
use std::path::PathBuf;

/// What is asked: a net with its question, or with one property of its query.
#[derive(Clone, Debug)]
pub(super) struct NetQuestion {
    /// The net.
    pub(super) net: PathBuf,
    /// The property, where the net has a query of the Model Checking Contest.
    pub(super) property: Option<AskedProperty>,
}

/// A property of a query.
#[derive(Clone, Debug)]
pub(super) struct AskedProperty {
    /// Its id.
    pub(super) id: String,
    /// How it is put: what other tools answer is about that.
    pub(super) quantifier: Quantifier,
    /// Whether it is a formula about markings, and not targets to be covered.
    pub(super) is_of_reachability: bool,
    /// Whether the query has no other.
    pub(super) is_only_one: bool,
}

impl NetQuestion {
    /// Its name in tables: the net's path, and behind it the property where there are several.
    pub(super) fn name(&self) -> String {
        let net = self.net.display();
        match &self.property {
            Some(property) if !property.is_only_one => format!("{net}#{}", property.id),
            _ => net.to_string(),
        }
    }

    /// How to read it.
    pub(super) fn options(&self) -> NetOptions {
        let property = self.property.as_ref().map(|property| property.id.clone());
        NetOptions { property, ..NetOptions::default() }
    }
}

/// A run to be made.
pub(super) struct Run {
    /// Its id (see [`Record::id`]).
    pub(super) id: String,
    /// What is asked.
    pub(super) asked: NetQuestion,
    /// The number of the tool.
    pub(super) tool: usize,
    /// The repetition, from 1.
    pub(super) repetition: u32,
}
