//! The formats nets and questions are read from and written to.

/// A net format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// mist's `.spec`: guarded commands over counters, with the target.
    Spec,
    /// A thread transition system (`.tts`), its target in a `.prop` beside it.
    Tts,
    /// PNML of place/transition nets, its question in a query file of the Model Checking Contest.
    Pnml,
    /// LoLA's `.lola`, its question in a formula file.
    Lola,
    /// TINA's textual `.net`, its question in a formula file.
    Tina,
    /// A picture for Graphviz; written only.
    Dot,
}

/// A format of questions that are not part of the net's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryFormat {
    /// Target states `s|l,l` of a thread transition system (`.prop`).
    Prop,
    /// Queries of the Model Checking Contest (`.xml`).
    MccXml,
    /// A formula as LoLA reads it (`.formula`), also for TINA's nets:
    /// `EF (p >= 1 AND {another place} >= 2)`.
    Formula,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] = [Self::Spec, Self::Tts, Self::Pnml, Self::Lola, Self::Tina, Self::Dot];

    /// The extension the format is known by, which is also its name on the command line.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Tts => "tts",
            Self::Pnml => "pnml",
            Self::Lola => "lola",
            Self::Tina => "net",
            Self::Dot => "dot",
        }
    }

    /// The format a file's name tells, by its extension before `.gz`.
    pub fn of_name(name: &str) -> Option<Format> {
        let extension = extension_of(name)?;
        Self::ALL.into_iter().find(|format| format.extension() == extension)
    }

    /// The format of the question that goes with a net of this one.
    pub fn query(self) -> Option<QueryFormat> {
        match self {
            Self::Tts => Some(QueryFormat::Prop),
            Self::Pnml => Some(QueryFormat::MccXml),
            Self::Lola | Self::Tina => Some(QueryFormat::Formula),
            Self::Spec | Self::Dot => None,
        }
    }
}

impl QueryFormat {
    /// All formats.
    pub const ALL: [QueryFormat; 3] = [Self::Prop, Self::MccXml, Self::Formula];

    /// The extension the format is known by.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Prop => "prop",
            Self::MccXml => "xml",
            Self::Formula => "formula",
        }
    }

    /// The format a file's name tells, by its extension before `.gz`.
    pub fn of_name(name: &str) -> Option<QueryFormat> {
        let extension = extension_of(name)?;
        Self::ALL.into_iter().find(|format| format.extension() == extension)
    }
}

fn extension_of(name: &str) -> Option<String> {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
}
