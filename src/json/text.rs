//! Where strings end, and which bytes between them matter.

use memchr::memchr2;

pub(crate) const NOTHING: u8 = 0;
pub(crate) const QUOTE: u8 = 1;
pub(crate) const COMMA: u8 = 2;
pub(crate) const OPENS: u8 = 3;
const CLOSES: u8 = 4;
/// What a byte outside of strings means for the structure of JSON; the class that is not named here closes.
pub(crate) const CLASS: [u8; 256] = {
    let mut class = [NOTHING; 256];
    class[b'"' as usize] = QUOTE;
    class[b',' as usize] = COMMA;
    class[b'{' as usize] = OPENS;
    class[b'[' as usize] = OPENS;
    class[b'}' as usize] = CLOSES;
    class[b']' as usize] = CLOSES;
    class
};

/// The end of the bytes before a quote or a backslash.
///
/// Most strings are short: their first bytes are looked at here, eight at a time, before `memchr2` is worth its call.
pub(crate) fn quote_or_backslash(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(word) = word(bytes, from) {
        let found = zero_bytes(word ^ repeat(b'"')) | zero_bytes(word ^ repeat(b'\\'));
        if found != 0 {
            return Some(from + found.trailing_zeros() as usize / 8);
        }
        from += 8;
        if from == 32 {
            break;
        }
    }
    memchr2(b'"', b'\\', &bytes[from..]).map(|n| from + n)
}

/// The end of the bytes before a quote, a backslash or what may not stand in a string.
pub(super) fn plain_end(bytes: &[u8], mut from: usize) -> Option<usize> {
    while let Some(word) = word(bytes, from) {
        let found = zero_bytes(word ^ repeat(b'"')) | zero_bytes(word ^ repeat(b'\\')) | control_bytes(word);
        if found != 0 {
            return Some(from + found.trailing_zeros() as usize / 8);
        }
        from += 8;
    }
    let rest = bytes.get(from..)?;
    rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).map(|n| from + n)
}

fn word(bytes: &[u8], from: usize) -> Option<u64> {
    bytes.get(from..)?.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

const fn repeat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The high bit of each byte that is zero; only the lowest one set is to be trusted.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(repeat(1)) & !word & repeat(0x80)
}

/// The high bit of each byte below a space; only the lowest one set is to be trusted.
fn control_bytes(word: u64) -> u64 {
    word.wrapping_sub(repeat(0x20)) & !word & repeat(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_found_at_any_place() {
        for n in 0..70 {
            for byte in [b'"', b'\\'] {
                let mut bytes = vec![0xff; n];
                bytes.extend([byte, b'"', b'\\']);
                assert_eq!(quote_or_backslash(&bytes), Some(n));
                assert_eq!(quote_or_backslash(&bytes[..n]), None);
            }
        }
    }

    #[test]
    fn a_string_ends_at_a_quote_an_escape_or_a_control_character() {
        for n in 0..40 {
            for byte in [b'"', b'\\', 0, b'\n', 0x1f] {
                for filler in [b' ', b'a', 0x7f, 0xff, b'!', b'#', b'[', b']'] {
                    let mut bytes = vec![filler; n];
                    bytes.extend([byte, 0, b'"', b'a', b'a', b'a', b'a', b'a', b'a']);
                    assert_eq!(plain_end(&bytes, 0), Some(n));
                    assert_eq!(plain_end(&bytes, n), Some(n));
                    assert_eq!(plain_end(&bytes[..n], 0), None);
                }
            }
        }
        assert_eq!(plain_end(b"", 1), None);
    }
}
