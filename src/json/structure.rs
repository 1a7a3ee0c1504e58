//! Where brackets and commas stand outside of strings, found for 64 bytes at a time.

use wide::u8x64;

/// Of 64 bytes, the first one's bit being the lowest: what stands outside of strings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    /// `{` and `[`.
    pub(crate) opens: u64,
    /// `}` and `]`.
    pub(crate) closes: u64,
    pub(crate) commas: u64,
}

/// What the bytes so far leave open; the next ones may follow at any cut.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    in_string: bool,
    /// The last byte was a backslash that the next byte belongs to.
    escaped: bool,
}

impl Structure {
    /// The marks of the next bytes, at most 64; more are not looked at.
    #[inline]
    pub(crate) fn marks(&mut self, bytes: &[u8]) -> Marks {
        match bytes.first_chunk() {
            Some(block) => self.outside(find(block), 64),
            None => {
                let mut block = [0; 64];
                block[..bytes.len()].copy_from_slice(bytes);
                self.outside(find(&block), bytes.len())
            }
        }
    }

    fn outside(&mut self, found: Found, len: usize) -> Marks {
        let quotes = found.quotes & !self.escaped(found.backslashes, len);
        // A bit is set from a quote that begins a string to the byte before the one that ends it.
        let mut inside = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << shift;
        }
        if self.in_string {
            inside = !inside;
        }
        self.in_string = inside >> 63 == 1;
        let Marks { opens, closes, commas } = found.marks;
        Marks { opens: opens & !inside, closes: closes & !inside, commas: commas & !inside }
    }

    /// Which bytes an odd number of backslashes stands before.
    fn escaped(&mut self, mut backslashes: u64, len: usize) -> u64 {
        let mut escaped = u64::from(self.escaped);
        self.escaped &= len == 0;
        backslashes &= !escaped;
        while backslashes != 0 {
            let next = backslashes.trailing_zeros() as usize + 1;
            backslashes &= backslashes - 1;
            if next == len {
                self.escaped = true;
            } else {
                escaped |= 1 << next;
                backslashes &= !(1 << next);
            }
        }
        escaped
    }
}

/// Of 64 bytes, whatever they stand in.
struct Found {
    quotes: u64,
    backslashes: u64,
    marks: Marks,
}

fn find(block: &[u8; 64]) -> Found {
    let bytes = u8x64::from(*block);
    // `[` and `]` are made `{` and `}`, from which they differ in one bit.
    let braces = bytes | u8x64::splat(0x20);
    let equal = |bytes: u8x64, byte| bytes.simd_eq(u8x64::splat(byte)).to_bitmask();
    Found {
        quotes: equal(bytes, b'"'),
        backslashes: equal(bytes, b'\\'),
        marks: Marks { opens: equal(braces, b'{'), closes: equal(braces, b'}'), commas: equal(bytes, b',') },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Byte by byte: the marks of all bytes, as places.
    fn by_bytes(json: &[u8]) -> [Vec<usize>; 3] {
        let (mut in_string, mut escaped, mut found) = (false, false, [const { Vec::new() }; 3]);
        for (at, byte) in json.iter().enumerate() {
            match byte {
                _ if std::mem::take(&mut escaped) && matches!(byte, b'"' | b'\\') => continue,
                b'\\' => escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => found[0].push(at),
                b'}' | b']' => found[1].push(at),
                b',' => found[2].push(at),
                _ => {}
            }
        }
        found
    }

    fn in_blocks(json: &[u8], cut: usize) -> [Vec<usize>; 3] {
        let (mut structure, mut found) = (Structure::default(), [const { Vec::new() }; 3]);
        let (before, after) = json.split_at(cut);
        for (start, part) in [(0, before), (cut, after)] {
            for (n, block) in part.chunks(64).enumerate() {
                let Marks { opens, closes, commas } = structure.marks(block);
                for (places, bits) in found.iter_mut().zip([opens, closes, commas]) {
                    places.extend((0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| start + 64 * n + bit));
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn marks_are_those_outside_of_strings_whatever_the_cut(
            json in prop::collection::vec(prop::sample::select(br#"{}[],,""\\ a\x5b"#.to_vec()), 0..300),
            cut in any::<prop::sample::Index>(),
        ) {
            prop_assert_eq!(in_blocks(&json, cut.index(json.len() + 1)), by_bytes(&json));
        }
    }
}
