//! Text to program and back: readers, printers, diagnostics.
