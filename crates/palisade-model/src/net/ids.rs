//! Index newtypes over the arenas of a net.

use crate::index_type::index_type;

index_type!(
    /// A place of a net.
    PlaceId(pub u32), "p"
);
index_type!(
    /// A transition of a net.
    TransitionId(pub u32), "t"
);
