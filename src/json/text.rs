//! Where strings end.

use wide::u8x16;

/// The end of the bytes before a quote, a backslash or what may not stand in a string.
#[inline]
pub(super) fn plain_end(bytes: &[u8], mut from: usize) -> Option<usize> {
    while let Some(block) = bytes.get(from..)?.first_chunk() {
        let block = u8x16::from(*block);
        let control = block.min(u8x16::splat(0x1f)).simd_eq(block);
        let ends = control | block.simd_eq(u8x16::splat(b'"')) | block.simd_eq(u8x16::splat(b'\\'));
        let ends = ends.to_bitmask();
        if ends != 0 {
            return Some(from + ends.trailing_zeros() as usize);
        }
        from += 16;
    }
    let rest = bytes.get(from..)?;
    rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).map(|n| from + n)
}

#[cfg(test)]
mod tests {
    use super::*;

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
