//! Fences: involved labels, eliminating sets, the 0/1 program, cost functions.
