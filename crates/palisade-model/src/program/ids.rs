//! Index newtypes over the arenas of a program.

/// Declares index newtypes over arenas, by the prefix they are printed with and the visibility of their number.
macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident($number:vis u32), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($number u32);

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
pub(crate) use index_type;

index_type!(
    /// A thread of a program (a template, when it has several copies).
    ThreadId(u32), "t"
);
index_type!(
    /// A label of a thread, local to it.
    LabelId(u32), "l"
);
index_type!(
    /// A register of a thread, local to it.
    RegisterId(u32), "r"
);
index_type!(
    /// An instruction of a thread, local to it.
    InstructionId(u32), "i"
);
index_type!(
    /// A named address of a program.
    AddressId(u32), "a"
);
