//! The way back: evidence on the smaller net becomes evidence on the original one.

mod certificate;
mod run;

use super::log::{MoveId, Origin, Removal, Start};
use palisade_evidence::{NetCertificate, NetRun};
use palisade_model::net::{PlaceId, Problem};

/// The way back from a reduced problem to the original one.
#[derive(Clone, Debug)]
pub struct Back {
    /// The original problem.
    pub(super) original: Problem,
    /// The original places, by reduced place.
    pub(super) places: Vec<PlaceId>,
    /// Transitions of the working net, by reduced transition; none for those that only lose tokens, which no run needs.
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
    /// The run of the original net that a run of the reduced net stands for. Nothing when the given run is none.
    pub fn run(&self, run: &NetRun) -> Option<NetRun> {
        run::map(self, run)
    }

    /// The certificate of the original net that a certificate of the reduced net stands for. Nothing when it reasons
    /// with a trap that only holds without the transitions that were left out, or when it would grow too large.
    pub fn certificate(&self, certificate: &NetCertificate) -> Option<NetCertificate> {
        certificate::map(self, certificate)
    }
}
