//! The machine's registers and their parts.

use super::Architecture;

/// The parts of a general-purpose register that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Bits 0 to 7.
    LowByte,
    /// Bits 8 to 15.
    HighByte,
    /// Bits 0 to 15.
    Word,
    /// Bits 0 to 31.
    Double,
    /// Bits 0 to 63.
    Quad,
}

impl Part {
    /// The width in bits.
    pub fn bits(self) -> u8 {
        match self {
            Self::LowByte | Self::HighByte => 8,
            Self::Word => 16,
            Self::Double => 32,
            Self::Quad => 64,
        }
    }

    /// The lowest part of so many bits.
    pub fn of_bits(bits: u8) -> Self {
        match bits {
            8 => Self::LowByte,
            16 => Self::Word,
            32 => Self::Double,
            _ => Self::Quad,
        }
    }
}

/// A register named in the text: a whole one or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MachineRegister {
    /// Which of the 16 general-purpose registers, or [`INSTRUCTION_POINTER`].
    pub family: u8,
    /// The part.
    pub part: Part,
}

/// The family of `rip`.
pub const INSTRUCTION_POINTER: u8 = 16;

/// The legacy registers in the machine's order.
const LEGACY: [&str; 8] = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"];

impl MachineRegister {
    /// The register with the given name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let found = |family: usize, part| Some(Self { family: u8::try_from(family).expect("17 families"), part });
        match name.as_str() {
            "rip" => return found(INSTRUCTION_POINTER.into(), Part::Quad),
            "eip" => return found(INSTRUCTION_POINTER.into(), Part::Double),
            _ => {}
        }
        for (family, stem) in LEGACY.iter().enumerate() {
            if let Some(prefix) = name.strip_suffix(stem) {
                match prefix {
                    "" => return found(family, Part::Word),
                    "e" => return found(family, Part::Double),
                    "r" => return found(family, Part::Quad),
                    _ => {}
                }
            }
            // al, ah, …; spl, bpl, sil, dil.
            let byte = if family < 4 { &stem[..1] } else { stem };
            match name.strip_prefix(byte) {
                Some("l") => return found(family, Part::LowByte),
                Some("h") if family < 4 => return found(family, Part::HighByte),
                _ => {}
            }
        }
        let rest = name.strip_prefix('r')?;
        let digits = rest.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let family: usize = digits.parse().ok().filter(|number| (8..16).contains(number))?;
        match &rest[digits.len()..] {
            "" => found(family, Part::Quad),
            "d" => found(family, Part::Double),
            "w" => found(family, Part::Word),
            "b" | "l" => found(family, Part::LowByte),
            _ => None,
        }
    }

    /// The whole register of a family, as wide as the architecture has it.
    pub fn whole(family: u8, architecture: Architecture) -> Self {
        let part = match architecture {
            Architecture::X86 => Part::Double,
            Architecture::X86_64 => Part::Quad,
        };
        Self { family, part }
    }

    /// The name in the case usual for the architecture's tests: `EAX`, `rax`.
    pub fn name(self, architecture: Architecture) -> String {
        let name = if self.family == INSTRUCTION_POINTER {
            (if self.part == Part::Quad { "rip" } else { "eip" }).to_owned()
        } else if let Some(stem) = LEGACY.get(usize::from(self.family)) {
            let byte = if self.family < 4 { &stem[..1] } else { stem };
            match self.part {
                Part::LowByte => format!("{byte}l"),
                Part::HighByte => format!("{byte}h"),
                Part::Word => (*stem).to_owned(),
                Part::Double => format!("e{stem}"),
                Part::Quad => format!("r{stem}"),
            }
        } else {
            let suffix = match self.part {
                Part::LowByte | Part::HighByte => "b",
                Part::Word => "w",
                Part::Double => "d",
                Part::Quad => "",
            };
            format!("r{}{suffix}", self.family)
        };
        match architecture {
            Architecture::X86 => name.to_ascii_uppercase(),
            Architecture::X86_64 => name,
        }
    }

    /// Whether it came with 64 bits, whole or as this part: an instruction then has a REX prefix.
    pub fn is_extended(self) -> bool {
        let new_byte = self.part == Part::LowByte && self.family >= 4;
        self.family >= 8 || new_byte || self.part == Part::Quad
    }

    /// Whether the architecture has it.
    pub fn exists_in(self, architecture: Architecture) -> bool {
        let new_byte = self.part == Part::LowByte && self.family >= 4;
        architecture == Architecture::X86_64 || (self.family < 8 && self.part != Part::Quad && !new_byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_registers_agree() {
        for family in 0..16 {
            for part in [Part::LowByte, Part::HighByte, Part::Word, Part::Double, Part::Quad] {
                if part == Part::HighByte && family >= 4 {
                    continue;
                }
                let register = MachineRegister { family, part };
                let name = register.name(Architecture::X86_64);
                assert_eq!(MachineRegister::named(&name), Some(register), "{name}");
            }
        }
        assert_eq!(MachineRegister::named("x"), None);
        assert_eq!(MachineRegister::named("r16"), None);
        assert_eq!(MachineRegister::named("EAX").map(|register| register.name(Architecture::X86)), Some("EAX".into()));
        assert!(MachineRegister::named("sil").is_some_and(|register| !register.exists_in(Architecture::X86)));
    }
}
