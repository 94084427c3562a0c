//! The words for fences.

/// Which fence stands at a label. A full fence does what a store fence does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FenceWord {
    /// `sfence`.
    Store,
    /// `mfence`.
    Full,
}

impl FenceWord {
    /// The word for it in texts.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Store => "sfence",
            Self::Full => "mfence",
        }
    }
}
