//! Names of objects: words by which answers call them.

/// The name of a type without modules and parameters; of arrays, tuples and references, that of the
/// first type in them.
pub(crate) fn of_type(full: &str) -> String {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let first = full.trim_start_matches(|character| !is_part(character));
    let first = first.strip_prefix("mut ").or_else(|| first.strip_prefix("dyn ")).unwrap_or(first);
    let path = first.split(|character| !is_part(character) && character != ':').next().unwrap_or_default();
    let name = path.rsplit("::").next().unwrap_or_default();
    if name.is_empty() { "object".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::of_type;
    use std::any::type_name;
    use std::sync::atomic::AtomicBool;
    use std::sync::{Condvar, Mutex};

    #[test]
    fn every_type_has_a_word() {
        assert_eq!(of_type(type_name::<Mutex<Vec<u8>>>()), "Mutex");
        assert_eq!(of_type(type_name::<[AtomicBool; 2]>()), "AtomicBool");
        assert_eq!(of_type(type_name::<[[u8; 2]; 3]>()), "u8");
        assert_eq!(of_type(type_name::<(Mutex<bool>, Condvar)>()), "Mutex");
        assert_eq!(of_type(type_name::<(u32, bool)>()), "u32");
        assert_eq!(of_type(type_name::<&'static [AtomicBool]>()), "AtomicBool");
        assert_eq!(of_type(type_name::<&'static mut u64>()), "u64");
        assert_eq!(of_type(type_name::<Box<dyn Fn() + Send>>()), "Box");
        assert_eq!(of_type(type_name::<&'static (dyn std::fmt::Debug + Sync)>()), "Debug");
        assert_eq!(of_type(type_name::<()>()), "object");
        assert_eq!(of_type(type_name::<fn(u32) -> bool>()), "fn");
    }
}
