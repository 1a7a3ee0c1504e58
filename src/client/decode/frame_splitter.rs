use super::scan::is_space;
use crate::Error;
use bytes::{Bytes, BytesMut};
use memchr::memchr;

/// Cuts a watch's body into lines. Keeps nothing but the unfinished line, and that only up to a size.
#[derive(Debug)]
pub(super) struct FrameSplitter {
    max: usize,
    chunk: Bytes,
    begun: BytesMut,
}

impl FrameSplitter {
    pub(super) fn new(max: usize) -> Self {
        FrameSplitter { max, chunk: Bytes::new(), begun: BytesMut::new() }
    }

    /// The next bytes; only once `next` has said that it needs more.
    pub(super) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty());
        self.chunk = chunk;
    }

    /// The next line that is not blank, without the space around it; `None` where more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let end = memchr(b'\n', &self.chunk);
            let here = end.unwrap_or(self.chunk.len());
            if self.begun.len() + here > self.max {
                return Err(Error::garbage(format!("an event is larger than {} bytes", self.max)));
            }
            let bytes = self.chunk.split_to(here);
            if end.is_none() {
                self.begun.extend_from_slice(&bytes);
                return Ok(None);
            }
            let _ = self.chunk.split_to(1);
            let line = trimmed(if self.begun.is_empty() {
                bytes
            } else {
                self.begun.extend_from_slice(&bytes);
                self.begun.split().freeze()
            });
            if !line.is_empty() {
                return Ok(Some(line));
            }
        }
    }

    /// The line that the end of the body ended, if it is not blank.
    pub(super) fn finish(&mut self) -> Option<Bytes> {
        let line = trimmed(self.begun.split().freeze());
        (!line.is_empty()).then_some(line)
    }
}

fn trimmed(line: Bytes) -> Bytes {
    let start = line.iter().position(|b| !is_space(*b)).unwrap_or(line.len());
    let end = line.iter().rposition(|b| !is_space(*b)).map_or(start, |last| last + 1);
    line.slice(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(chunks: &[&'static str]) -> Vec<String> {
        let mut splitter = FrameSplitter::new(100);
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.push(Bytes::from_static(chunk.as_bytes()));
            while let Some(line) = splitter.next().unwrap() {
                found.push(String::from_utf8_lossy(&line).into_owned());
            }
        }
        found.extend(splitter.finish().map(|line| String::from_utf8_lossy(&line).into_owned()));
        found
    }

    #[test]
    fn lines_end_at_newlines_and_blank_ones_are_nothing() {
        assert_eq!(frames(&["a\n\r\n \n\nb\r\n"]), ["a", "b"]);
        assert_eq!(frames(&["a", "", "\nb", "c\n", "\n", "d"]), ["a", "bc", "d"]);
        assert_eq!(frames(&["", " ", "\r"]), Vec::<String>::new());
    }

    #[test]
    fn a_chunk_that_holds_a_line_whole_is_not_copied() {
        let chunk = Bytes::from(b"  abc \n".to_vec());
        let place = chunk.as_ptr() as usize + 2;
        let mut splitter = FrameSplitter::new(64);
        splitter.push(chunk);
        assert_eq!(splitter.next().unwrap().expect("a line").as_ptr() as usize, place);
    }

    #[test]
    fn a_line_over_the_limit_is_an_error_before_it_is_memory() {
        let mut splitter = FrameSplitter::new(10);
        splitter.push(Bytes::from_static(b"0123456789\n012345"));
        assert!(splitter.next().unwrap().is_some());
        assert!(splitter.next().unwrap().is_none());
        splitter.push(Bytes::from_static(b"67890"));
        assert!(splitter.next().unwrap_err().is_garbage());
        assert!(splitter.begun.len() <= 10);
    }
}
