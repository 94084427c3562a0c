//! Nothing: what is checked is in the tests.
