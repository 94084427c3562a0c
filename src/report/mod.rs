//! Reports: text, JSON and pictures of verdicts and witnesses.
