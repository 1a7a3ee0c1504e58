use super::text::{CLASS, COMMA, NOTHING, OPENS, QUOTE, quote_or_backslash};

/// How many elements the arrays ahead have, in the order in which they begin. Only hints: nothing is checked.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    lengths: Vec<u32>,
    /// The number of the array that begins next.
    next: usize,
    /// Where the counted bytes end.
    end: usize,
    open: Vec<u32>,
}

/// An open object among the open arrays.
const OBJECT: u32 = u32::MAX;

impl Arrays {
    /// The length of the array that begins at `at`, counted together with all within it.
    pub(super) fn enter(&mut self, json: &[u8], at: usize) -> usize {
        if at >= self.end {
            self.count(json, at);
        }
        let length = self.lengths.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        length as usize
    }

    /// The array that begins at `at` is passed over.
    pub(super) fn pass(&mut self, at: usize) {
        if at < self.end {
            self.next += 1;
        }
    }

    fn count(&mut self, json: &[u8], mut at: usize) {
        self.lengths.clear();
        self.lengths.reserve(16);
        self.open.clear();
        self.open.reserve(16);
        self.next = 0;
        let mut top = OBJECT;
        while let Some(&byte) = json.get(at) {
            at += 1;
            match CLASS[byte as usize] {
                NOTHING => {}
                COMMA => {
                    if let Some(length) = self.lengths.get_mut(top as usize) {
                        *length += 1;
                    }
                }
                QUOTE => loop {
                    let Some(end) = json.get(at..).and_then(quote_or_backslash) else {
                        self.end = json.len();
                        return;
                    };
                    at += end + 1;
                    if json[at - 1] == b'"' {
                        break;
                    }
                    at += 1;
                },
                OPENS => {
                    self.open.push(top);
                    top = if byte == b'{' {
                        OBJECT
                    } else {
                        self.lengths.push(u32::from(json.get(at) != Some(&b']')));
                        self.lengths.len() as u32 - 1
                    };
                }
                _ => {
                    top = self.open.pop().unwrap_or(OBJECT);
                    if self.open.is_empty() {
                        break;
                    }
                }
            }
        }
        self.end = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(json: &str) -> Vec<u32> {
        let mut arrays = Arrays::default();
        arrays.enter(json.as_bytes(), 0);
        arrays.lengths
    }

    #[test]
    fn arrays_are_counted_in_the_order_in_which_they_begin() {
        assert_eq!(lengths(r#"[1,[2,3],{"a":[],"b":[{"c,":"],["},5],"d":1},"\",",[[]]],[9]"#), [5, 2, 0, 2, 1, 0]);
    }

    #[test]
    fn what_is_no_json_is_counted_without_end_nor_panic() {
        for json in ["[", "[1,", "[\"", "[\"\\", "[}", "[{]", "]", ""] {
            lengths(json);
        }
    }
}
