//! Machine code to program.
