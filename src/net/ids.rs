//! Index newtypes over the arenas of a net.

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the element at `index` of its arena.
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("arenas stay below 2^32 elements"))
            }

            /// The position in the arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

index_type!(
    /// A place of a net.
    PlaceId, "p"
);
index_type!(
    /// A transition of a net.
    TransitionId, "t"
);
