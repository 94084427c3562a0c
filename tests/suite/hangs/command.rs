//! `palisade check --ask hangs`: what it says, its exit status, its evidence.

use crate::documents;
use crate::piped::palisade;

