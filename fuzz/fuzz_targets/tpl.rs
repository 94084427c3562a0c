#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| palisade_fuzz::check("tpl", input));
