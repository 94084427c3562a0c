//! What holds of the readers of machine code: files of roles, snapshots and images.

use super::programs;
use palisade::machine::read_with;
use palisade::report::documents;
use palisade::syntax::{Format, check, text_of};
use std::io::{Error, ErrorKind};

/// The image of roles that come without one.
const IMAGE: &[u8] = include_bytes!("../../../crates/palisade-machine/tests/images/deque-O2");

/// The roles of an image that comes without them.
const ROLES: &str =
    "image = \"image\"\n[[role]]\nfunction = \"owner\"\n[[role]]\nfunction = \"thief\"\ncopies = \"*\"\n";

/// Roles and, behind a line `%%`, a snapshot.
pub(super) fn roles(input: &[u8]) {
    let line = b"\n%%\n";
    let cut = input.windows(line.len()).position(|part| part == line);
    let (roles, snapshot) = cut.map_or((input, &[][..]), |at| (&input[..at], &input[at + line.len()..]));
    read(roles, snapshot, IMAGE);
}

/// An image alone.
pub(super) fn image(input: &[u8]) {
    read(ROLES.as_bytes(), &[], input);
}

/// What holds of any bytes that the reader takes for roles, a snapshot and an image.
fn read(roles: &[u8], snapshot: &[u8], image: &[u8]) {
    let lifted = text_of("roles.toml", roles).and_then(|source| {
        read_with("roles.toml", &source, |name| match name {
            "image" => Ok(image.to_vec()),
            "snapshot" => Ok(snapshot.to_vec()),
            _ => Err(Error::from(ErrorKind::NotFound)),
        })
    });
    match lifted {
        Err(error) => {
            assert!(!error.render(true).is_empty());
            documents::refusal(&error);
        }
        Ok(mut program) => {
            programs::survives_printing(&program, Format::Machine);
            if let Err(errors) = check(&mut program) {
                programs::can_be_shown(&errors, &program.source, true);
            }
        }
    }
}
