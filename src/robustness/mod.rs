//! Robustness: attacks, instrumentation, counter abstraction, verdicts and witnesses.
