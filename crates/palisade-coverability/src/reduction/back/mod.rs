//! The way back: evidence on the smaller net becomes evidence on the original one.

mod certificate;
mod meter;
mod run;

use super::log::{MoveId, Origin, Removal, Start};
use meter::Meter;
use palisade_evidence::{NetCertificate, NetRun};
use palisade_model::limits::{Budget, StopReason};
use palisade_model::net::{PlaceId, Problem};

/// The way back from a reduced problem to the original one.
#[derive(Clone, Debug)]
pub struct Back {
    /// The original problem.
    pub(super) original: Problem,
    /// The original places, by reduced place.
    pub(super) places: Vec<PlaceId>,
    /// Transitions of the working net, by reduced transition; none for those that only lose tokens,
    /// which no run needs.
    pub(super) transitions: Vec<Option<MoveId>>,
    /// Numbers of the original targets, by reduced target.
    pub(super) targets: Vec<usize>,
    /// Where the transitions of the working net come from.
    pub(super) origins: Vec<Origin>,
    /// What was done, first to last.
    pub(super) log: Vec<Removal>,
    /// What runs on the original net begin with.
    pub(super) starts: Vec<Start>,
}

impl Back {
    /// The run of the original net that a run of the reduced net stands for. Nothing when the given
    /// run is none.
    ///
    /// # Errors
    ///
    /// When the budget ends first. Its work counts arcs.
    pub fn run(&self, run: &NetRun, budget: &Budget) -> Result<Option<NetRun>, StopReason> {
        let meter = Meter::new(budget);
        let mapped = run::map(self, run, &meter);
        meter.finish(mapped)
    }

    /// The certificate of the original net that a certificate of the reduced net stands for.
    /// Nothing when it reasons with a trap that only holds without the transitions that were left
    /// out, or when it would grow too large.
    ///
    /// # Errors
    ///
    /// When the budget ends first. Its work counts entries of markings.
    pub fn certificate(
        &self,
        certificate: &NetCertificate,
        budget: &Budget,
    ) -> Result<Option<NetCertificate>, StopReason> {
        let meter = Meter::new(budget);
        let mapped = certificate::map(self, certificate, &meter);
        meter.finish(mapped)
    }
}
