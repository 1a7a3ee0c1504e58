use super::{
    arrays::Arrays,
    text::plain_end,
    values::{Elements, Members, Variant},
};
use serde::{
    Deserialize, Deserializer,
    de::{Visitor, value::BorrowedStrDeserializer},
};
use std::fmt;

/// Reads one value. What it takes, `serde_json` takes too, and makes the same of it; what it does not take may still be
/// fine.
#[derive(Debug)]
pub(super) struct Reader<'de> {
    json: &'de str,
    at: usize,
    /// Levels that may still be opened.
    depth: u8,
    arrays: Arrays,
}

/// `serde_json`'s limit.
const DEPTH: u8 = 127;

/// Not taken: the reason is left to `serde_json`.
#[derive(Debug)]
pub(super) struct NotTaken;

pub(super) type Taken<T> = Result<T, NotTaken>;

impl serde::de::Error for NotTaken {
    fn custom<T: fmt::Display>(_: T) -> Self {
        NotTaken
    }
}

impl std::error::Error for NotTaken {}

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not taken")
    }
}

/// A string without its quotes.
pub(super) enum Text<'de> {
    Plain(&'de str),
    Unescaped(String),
}

impl<'de> Reader<'de> {
    /// A whole value with nothing but space around it.
    pub(super) fn read<T: Deserialize<'de>>(json: &'de [u8]) -> Taken<T> {
        let json = str::from_utf8(json).map_err(|_| NotTaken)?;
        let mut reader = Reader { json, at: 0, depth: DEPTH, arrays: Arrays::default() };
        let mut value = T::deserialize(&mut reader);
        if reader.peek().is_ok() {
            value = Err(NotTaken);
        }
        value
    }

    /// The first byte that is no space.
    pub(super) fn peek(&mut self) -> Taken<u8> {
        loop {
            match self.json.as_bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(byte) => return Ok(*byte),
                None => return Err(NotTaken),
            }
        }
    }

    /// Takes the byte that `peek` has shown.
    pub(super) fn take(&mut self) {
        self.at += 1;
    }

    pub(super) fn expect(&mut self, byte: u8) -> Taken<()> {
        if self.peek()? != byte {
            return Err(NotTaken);
        }
        self.take();
        Ok(())
    }

    fn word(&mut self, word: &str) -> Taken<()> {
        let rest = self.json.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(NotTaken);
        }
        self.at += word.len();
        Ok(())
    }

    /// Takes the bracket that begins an array or an object.
    fn open(&mut self) -> Taken<()> {
        self.depth = self.depth.checked_sub(1).ok_or(NotTaken)?;
        self.take();
        Ok(())
    }

    /// Takes the one that ends it.
    pub(super) fn close(&mut self, bracket: u8) -> Taken<()> {
        self.depth += 1;
        self.expect(bracket)
    }

    /// The string whose quote comes next.
    pub(super) fn text(&mut self) -> Taken<Text<'de>> {
        self.expect(b'"')?;
        let (start, bytes) = (self.at, self.json.as_bytes());
        let end = plain_end(bytes, start).ok_or(NotTaken)?;
        if bytes[end] == b'"' {
            self.at = end + 1;
            return self.json.get(start..end).map(Text::Plain).ok_or(NotTaken);
        }
        self.pass_text(end)?;
        let quoted = self.json.get(start - 1..self.at).ok_or(NotTaken)?;
        serde_json::from_str(quoted).map(Text::Unescaped).map_err(|_| NotTaken)
    }

    /// To the end of the string that goes on at `from`.
    fn pass_text(&mut self, from: usize) -> Taken<()> {
        let bytes = self.json.as_bytes();
        self.at = from;
        loop {
            self.at = plain_end(bytes, self.at).ok_or(NotTaken)? + 1;
            match bytes[self.at - 1] {
                b'"' => return Ok(()),
                b'\\' => self.pass_escape()?,
                _ => return Err(NotTaken),
            }
        }
    }

    fn pass_escape(&mut self) -> Taken<()> {
        let rest = &self.json.as_bytes()[self.at..];
        self.at += match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => 5,
            _ => return Err(NotTaken),
        };
        Ok(())
    }

    /// The text of the number that comes next, and whether it is a whole one.
    fn number(&mut self) -> Taken<(&'de str, bool)> {
        let (start, bytes) = (self.at, self.json.as_bytes());
        let digits = |at: usize| bytes.get(at..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let whole = digits(at);
        if whole == 0 || whole > 1 && bytes[at] == b'0' {
            return Err(NotTaken);
        }
        at += whole;
        let end_of_whole = at;
        if bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            if fraction == 0 {
                return Err(NotTaken);
            }
            at += 1 + fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at);
            if exponent == 0 {
                return Err(NotTaken);
            }
            at += exponent;
        }
        self.at = at;
        Ok((self.json.get(start..at).ok_or(NotTaken)?, at == end_of_whole))
    }

    /// To the end of the value that comes next, which must be JSON all the same.
    pub(super) fn pass(&mut self) -> Taken<()> {
        // One bit a level: whether it is an object.
        let (mut objects, mut depth) = (0_u128, 0);
        loop {
            let byte = self.peek()?;
            match byte {
                b'"' => self.pass_text(self.at + 1)?,
                b'{' | b'[' => {
                    if byte == b'[' {
                        self.arrays.pass(self.at);
                    }
                    self.take();
                    let (object, close) = if byte == b'{' { (1, b'}') } else { (0, b']') };
                    if self.peek()? == close {
                        self.take();
                    } else {
                        depth += 1;
                        if depth > self.depth {
                            return Err(NotTaken);
                        }
                        objects = objects << 1 | object;
                        if object == 1 {
                            self.pass_key()?;
                        }
                        continue;
                    }
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => drop(self.number()?),
            }
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let object = objects & 1 == 1;
                match self.peek()? {
                    b',' => {
                        self.take();
                        if object {
                            self.pass_key()?;
                        }
                        break;
                    }
                    b'}' if object => self.take(),
                    b']' if !object => self.take(),
                    _ => return Err(NotTaken),
                }
                depth -= 1;
                objects >>= 1;
            }
        }
    }

    fn pass_key(&mut self) -> Taken<()> {
        self.expect(b'"')?;
        self.pass_text(self.at)?;
        self.expect(b':')
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Taken<V::Value> {
        let (text, whole) = self.number()?;
        // "-0" is a float, as for `serde_json`.
        if whole && text != "-0" {
            if let Ok(number) = text.parse() {
                return visitor.visit_u64(number);
            }
            if let Ok(number) = text.parse() {
                return visitor.visit_i64(number);
            }
        }
        let number: f64 = text.parse().map_err(|_| NotTaken)?;
        if number.is_finite() { visitor.visit_f64(number) } else { Err(NotTaken) }
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = NotTaken;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Taken<V::Value> {
        match self.peek()? {
            b'"' => self.deserialize_str(visitor),
            b'{' => {
                self.open()?;
                // Nothing comes after it, so that large objects are made where they go.
                visitor.visit_map(Members::new(self))
            }
            b'[' => {
                let length = self.arrays.enter(self.json.as_bytes(), self.at);
                self.open()?;
                let elements = visitor.visit_seq(Elements::new(self, length))?;
                self.close(b']').map(|()| elements)
            }
            b't' => self.word("true").and_then(|()| visitor.visit_bool(true)),
            b'f' => self.word("false").and_then(|()| visitor.visit_bool(false)),
            b'n' => self.word("null").and_then(|()| visitor.visit_unit()),
            _ => self.visit_number(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Taken<V::Value> {
        if self.peek()? != b'"' {
            return self.deserialize_any(visitor);
        }
        match self.text()? {
            Text::Plain(text) => visitor.visit_borrowed_str(text),
            Text::Unescaped(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Taken<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Taken<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Taken<V::Value> {
        if self.peek()? == b'n' {
            return self.word("null").and_then(|()| visitor.visit_none());
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Taken<V::Value> {
        if name.starts_with('$') {
            return Err(NotTaken); // serde_json's own
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Taken<V::Value> {
        match self.peek()? {
            b'"' => match self.text()? {
                Text::Plain(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
                Text::Unescaped(_) => Err(NotTaken),
            },
            b'{' => {
                self.open()?;
                let value = visitor.visit_enum(Variant(self))?;
                self.close(b'}').map(|()| value)
            }
            _ => Err(NotTaken),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Taken<V::Value> {
        self.pass()?;
        visitor.visit_unit()
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Taken<V::Value> {
        Err(NotTaken)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Taken<V::Value> {
        Err(NotTaken)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char unit unit_struct seq tuple tuple_struct map struct
    }
}
