//! Evidence: certificates, net runs and TSO witnesses, as data and as documented text (CERTIFICATE.md).
//!
//! Data only: nothing here decides whether evidence is right. [`verify`](crate::verify) does that, with code of its
//! own. This room uses `program` and `net` for their ids and counts, and nothing else.

mod net;

pub use net::{Invariant, NetCertificate, NetRun, OmegaMarking, PlaceWeights, Refutation, TokenMarking, WeightedTrap};
