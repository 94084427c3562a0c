//! Numbers in evidence: as JSON numbers while they fit 64 bits, as strings of decimal digits
//! beyond, `"*"` for ω.

use crate::Tokens;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use palisade_model::net::{Count, OmegaCount};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// The longest number that is read, in decimal digits.
const MOST_DIGITS: usize = 20_000;

/// A number in its written form.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Written {
    /// A JSON number that is not negative.
    Natural(u64),
    /// A negative JSON number.
    Negative(i64),
    /// A string.
    Text(String),
}

/// A kind of number with a written form.
pub(super) trait Number: Sized {
    /// What is expected, for errors.
    const EXPECTED: &'static str;

    /// Its written form.
    fn write(&self) -> Written;

    /// The number that a form writes, if it writes one.
    fn read(written: Written) -> Option<Self>;
}

/// A number as it is written and read.
pub(super) struct N<T>(pub(super) T);

impl<T: Number> Serialize for N<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.write() {
            Written::Natural(value) => serializer.serialize_u64(value),
            Written::Negative(value) => serializer.serialize_i64(value),
            Written::Text(text) => serializer.serialize_str(&text),
        }
    }
}

impl<'de, T: Number> Deserialize<'de> for N<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor(PhantomData))
    }
}

struct NumberVisitor<T>(PhantomData<T>);

impl<T: Number> NumberVisitor<T> {
    fn number<E: Error>(written: &Written) -> Result<N<T>, E> {
        // Every number has one form: no string where a JSON number would do, no zeros in front.
        let number = T::read(written.clone()).filter(|number| number.write() == *written);
        number.map(N).ok_or_else(|| E::custom(format_args!("expected {}", T::EXPECTED)))
    }
}

impl<T: Number> Visitor<'_> for NumberVisitor<T> {
    type Value = N<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<N<T>, E> {
        Self::number(&Written::Natural(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<N<T>, E> {
        Self::number(&u64::try_from(value).map_or(Written::Negative(value), Written::Natural))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<N<T>, E> {
        if text.len() > MOST_DIGITS {
            return Err(E::custom(format_args!("a number has more than {MOST_DIGITS} digits")));
        }
        Self::number(&Written::Text(text.to_owned()))
    }
}

impl Number for Count {
    const EXPECTED: &'static str = "a natural number, from 2^64 on a string of its decimal digits";

    fn write(&self) -> Written {
        self.to_u64().map_or_else(|| Written::Text(self.to_string()), Written::Natural)
    }

    fn read(written: Written) -> Option<Self> {
        match written {
            Written::Natural(value) => Some(value.into()),
            Written::Text(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
            _ => None,
        }
    }
}

impl Number for OmegaCount {
    const EXPECTED: &'static str = "a natural number, from 2^64 on a string of its decimal digits, or \"*\"";

    fn write(&self) -> Written {
        match self {
            Self::Finite(count) => count.write(),
            Self::Omega => Written::Text("*".to_owned()),
        }
    }

    fn read(written: Written) -> Option<Self> {
        match written {
            Written::Text(text) if text == "*" => Some(Self::Omega),
            written => Count::read(written).map(Self::Finite),
        }
    }
}

impl Number for BigInt {
    const EXPECTED: &'static str = "an integer, beyond 64 bits a string of its decimal digits";

    fn write(&self) -> Written {
        match (self.to_u64(), self.to_i64()) {
            (Some(value), _) => Written::Natural(value),
            (None, Some(value)) => Written::Negative(value),
            (None, None) => Written::Text(self.to_string()),
        }
    }

    fn read(written: Written) -> Option<Self> {
        match written {
            Written::Natural(value) => Some(value.into()),
            Written::Negative(value) => Some(value.into()),
            Written::Text(text) => {
                let digits = text.strip_prefix('-').unwrap_or(&text);
                if digits.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
            }
        }
    }
}

impl Number for Tokens {
    const EXPECTED: &'static str = "a natural number below 2^64, or \"*\"";

    fn write(&self) -> Written {
        match self {
            Self::Finite(count) => Written::Natural(*count),
            Self::Omega => Written::Text("*".to_owned()),
        }
    }

    fn read(written: Written) -> Option<Self> {
        match written {
            Written::Natural(value) => Some(Self::Finite(value)),
            Written::Text(text) if text == "*" => Some(Self::Omega),
            _ => None,
        }
    }
}
