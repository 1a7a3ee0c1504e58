use super::structure::Structure;

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

    fn count(&mut self, json: &[u8], from: usize) {
        self.lengths.clear();
        self.lengths.reserve(16);
        self.open.clear();
        self.open.reserve(16);
        self.next = 0;
        self.end = json.len();
        let (mut top, mut structure) = (OBJECT, Structure::default());
        for start in (from..json.len()).step_by(64) {
            let marks = structure.marks(&json[start..]);
            let mut all = marks.opens | marks.closes | marks.commas;
            while all != 0 {
                let at = start + all.trailing_zeros() as usize;
                all &= all - 1;
                match json[at] {
                    b',' => {
                        if let Some(length) = self.lengths.get_mut(top as usize) {
                            *length += 1;
                        }
                    }
                    b'{' => {
                        self.open.push(top);
                        top = OBJECT;
                    }
                    b'[' => {
                        self.open.push(top);
                        top = self.lengths.len() as u32;
                        self.lengths.push(u32::from(json.get(at + 1) != Some(&b']')));
                    }
                    _ => {
                        top = self.open.pop().unwrap_or(OBJECT);
                        if self.open.is_empty() {
                            self.end = at + 1;
                            return;
                        }
                    }
                }
            }
        }
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
