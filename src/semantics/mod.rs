//! Operational SC and TSO: step relations, computations, traces, happens-before.
