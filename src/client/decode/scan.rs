use crate::json::{CLASS, COMMA, NOTHING, OPENS, QUOTE, quote_or_backslash};

/// Finds where a JSON value ends, over cuts at any byte. Counts brackets and skips strings; that the value is JSON at
/// all is for whoever decodes it. Neither recurses nor keeps bytes.
#[derive(Debug, Default)]
pub(super) struct ValueEnd {
    mode: Mode,
    depth: u64,
    in_string: bool,
    escaped: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Mode {
    #[default]
    NotBegun,
    /// An object, an array or a string: ends with its last byte.
    Closed,
    /// A number or a word: ends before what cannot belong to it.
    Open,
}

impl ValueEnd {
    /// How many of `bytes` belong to the value, once its end is among them; the next call begins a new value.
    /// `None`: all of them, and more is to come.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.mode == Mode::NotBegun {
            self.mode = match bytes.first()? {
                b'{' | b'[' | b'"' => Mode::Closed,
                _ => Mode::Open,
            };
        }
        let end = match self.mode {
            Mode::Open => bytes.iter().position(|b| matches!(b, b',' | b':' | b'}' | b']' | b'"') || is_space(*b)),
            _ => self.find_closed(bytes),
        }?;
        *self = ValueEnd::default();
        Some(end)
    }

    fn find_closed(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            if self.in_string {
                if self.escaped {
                    bytes.get(at)?;
                    at += 1;
                    self.escaped = false;
                }
                at += quote_or_backslash(bytes.get(at..)?)? + 1;
                if bytes[at - 1] == b'\\' {
                    self.escaped = true;
                    continue;
                }
                self.in_string = false;
                if self.depth == 0 {
                    return Some(at);
                }
            }
            loop {
                let byte = *bytes.get(at)?;
                at += 1;
                match CLASS[byte as usize] {
                    NOTHING | COMMA => {}
                    QUOTE => break,
                    OPENS => self.depth += 1,
                    _ => {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            return Some(at);
                        }
                    }
                }
            }
            self.in_string = true;
        }
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
