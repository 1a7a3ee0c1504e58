use crate::json::Structure;
use memchr::memchr2;

/// Finds where a JSON value ends, over cuts at any byte. Counts brackets and skips strings; that the value is JSON at
/// all is for whoever decodes it. Neither recurses nor keeps bytes.
#[derive(Debug, Default)]
pub(super) enum ValueEnd {
    #[default]
    NotBegun,
    /// An object or an array: ends with its last byte.
    Brackets { depth: u64, structure: Structure },
    /// A string: ends with its second quote.
    Text { begun: bool, escaped: bool },
    /// A number or a word: ends before what cannot belong to it.
    Word,
}

impl ValueEnd {
    /// How many of `bytes` belong to the value, once its end is among them; the next call begins a new value.
    /// `None`: all of them, and more is to come.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        if let ValueEnd::NotBegun = self {
            *self = match bytes.first()? {
                b'{' | b'[' => ValueEnd::Brackets { depth: 0, structure: Structure::default() },
                b'"' => ValueEnd::Text { begun: false, escaped: false },
                _ => ValueEnd::Word,
            };
        }
        let end = match self {
            ValueEnd::Brackets { depth, structure } => end_of_brackets(bytes, depth, structure),
            ValueEnd::Text { begun, escaped } => end_of_text(bytes, begun, escaped),
            _ => bytes.iter().position(|b| matches!(b, b',' | b':' | b'}' | b']' | b'"') || is_space(*b)),
        }?;
        *self = ValueEnd::NotBegun;
        Some(end)
    }
}

fn end_of_brackets(bytes: &[u8], depth: &mut u64, structure: &mut Structure) -> Option<usize> {
    for start in (0..bytes.len()).step_by(64) {
        let marks = structure.marks(&bytes[start..]);
        let closes = u64::from(marks.closes.count_ones());
        if closes < *depth {
            *depth = *depth + u64::from(marks.opens.count_ones()) - closes;
            continue;
        }
        let mut brackets = marks.opens | marks.closes;
        while brackets != 0 {
            let at = brackets.trailing_zeros();
            brackets &= brackets - 1;
            if marks.opens >> at & 1 == 1 {
                *depth += 1;
                continue;
            }
            *depth = depth.saturating_sub(1);
            if *depth == 0 {
                return Some(start + at as usize + 1);
            }
        }
    }
    None
}

fn end_of_text(bytes: &[u8], begun: &mut bool, escaped: &mut bool) -> Option<usize> {
    let mut at = usize::from(!std::mem::replace(begun, true));
    loop {
        if *escaped {
            bytes.get(at)?;
            at += 1;
            *escaped = false;
        }
        at += memchr2(b'"', b'\\', bytes.get(at..)?)? + 1;
        if bytes[at - 1] == b'"' {
            return Some(at);
        }
        *escaped = true;
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(json: &[u8]) -> Option<usize> {
        ValueEnd::default().find(json)
    }

    #[test]
    fn closed_values_end_with_their_last_byte() {
        assert_eq!(ends(br#"{"a":"}]\"}","b":[{}]},"#), Some(22));
        assert_eq!(ends(br#""a\\" "#), Some(5));
        assert_eq!(ends(b"[1,[2]]"), Some(7));
        assert_eq!(ends(br#"{"a":"#), None);
        assert_eq!(ends(b""), None);
    }

    #[test]
    fn numbers_and_words_end_before_what_follows() {
        for after in [",", "}", "]", " ", "\n", ":", "\""] {
            assert_eq!(ends(format!("-1.5e3{after}").as_bytes()), Some(6), "{after:?}");
        }
        assert_eq!(ends(b"null"), None, "more may come");
        assert_eq!(ends(b","), Some(0), "an empty value");
    }

    #[test]
    fn a_cut_at_any_byte_changes_nothing() {
        let json =
            br#"{"a long key that is longer than thirty-two bytes":"\\\"\u00e9 and a value as long \\","b":[1,"]"]} "#;
        let whole = ends(json).expect("it ends");
        assert_eq!(whole, json.len() - 1);
        for cut in 0..json.len() {
            let mut end = ValueEnd::default();
            match end.find(&json[..cut]) {
                Some(n) => assert_eq!(n, whole, "{cut}"),
                None => assert_eq!(end.find(&json[cut..]), Some(whole - cut), "{cut}"),
            }
        }
    }

    #[test]
    fn depth_costs_nothing() {
        let mut end = ValueEnd::default();
        assert_eq!(end.find(&vec![b'['; 1 << 20]), None);
        assert_eq!(end.find(&vec![b']'; 1 << 20]), Some(1 << 20));
    }
}
