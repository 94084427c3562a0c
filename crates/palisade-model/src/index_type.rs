//! Index newtypes, which programs and nets have over their arenas.

/// Declares index newtypes over arenas, by the prefix they are printed with and the visibility of
/// their number.
macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident($number:vis u32), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($number u32);

        impl $name {
            /// The id of the element at `index` of its arena.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("arenas stay below 2^32 elements"))
            }

            /// The position in the arena.
            #[inline]
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
pub(crate) use index_type;
