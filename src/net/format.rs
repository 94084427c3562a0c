//! The formats nets are read from and written to.

/// A net format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// mist's `.spec`: guarded commands over counters, with the target.
    Spec,
}

impl Format {
    /// The extensions the formats are known by.
    pub const EXTENSIONS: [&str; 1] = [".spec"];

    /// The format a file's name tells, by its extension before `.gz`.
    pub fn of_name(name: &str) -> Option<Format> {
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "spec" => Some(Format::Spec),
            _ => None,
        }
    }
}
