//! What stands within arrays and objects.

use super::reader::{NotTaken, Reader, Taken, Text};
use serde::{
    Deserializer,
    de::{DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor},
};

/// The elements of an array.
pub(super) struct Elements<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// As counted.
    left: usize,
    first: bool,
}

impl<'a, 'de> Elements<'a, 'de> {
    pub(super) fn new(reader: &'a mut Reader<'de>, length: usize) -> Self {
        Elements { reader, left: length, first: true }
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = NotTaken;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Taken<Option<T::Value>> {
        match self.reader.peek()? {
            b']' => return Ok(None),
            _ if std::mem::take(&mut self.first) => {}
            b',' => self.reader.take(),
            _ => return Err(NotTaken),
        }
        self.left = self.left.saturating_sub(1);
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// The members of an object. Who asks for one more than there are takes the bracket that ends it; who does not leaves one
/// too many, so that nothing is taken in the end.
pub(super) struct Members<'a, 'de> {
    reader: &'a mut Reader<'de>,
    first: bool,
}

impl<'a, 'de> Members<'a, 'de> {
    pub(super) fn new(reader: &'a mut Reader<'de>) -> Self {
        Members { reader, first: true }
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = NotTaken;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Taken<Option<T::Value>> {
        match self.reader.peek()? {
            b'}' => return self.reader.close(b'}').map(|()| None),
            _ if std::mem::take(&mut self.first) => {}
            b',' => self.reader.take(),
            _ => return Err(NotTaken),
        }
        seed.deserialize(Name(self.reader)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Taken<T::Value> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// The name of a member. Names that stand for something else than text are left to `serde_json`.
struct Name<'a, 'de>(&'a mut Reader<'de>);

impl<'de> Deserializer<'de> for Name<'_, 'de> {
    type Error = NotTaken;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Taken<V::Value> {
        match self.0.text()? {
            Text::Plain(text) => visitor.visit_borrowed_str(text),
            Text::Unescaped(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Taken<V::Value> {
        if name.starts_with('$') {
            return Err(NotTaken);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, _: V) -> Taken<V::Value> {
        Err(NotTaken)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Taken<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(self, _: &'static str, _: &'static [&'static str], _: V) -> Taken<V::Value> {
        Err(NotTaken)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Taken<V::Value> {
        Err(NotTaken)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Taken<V::Value> {
        Err(NotTaken)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// A variant that has content: `{"variant":content}`.
pub(super) struct Variant<'a, 'de>(pub(super) &'a mut Reader<'de>);

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = NotTaken;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Taken<(T::Value, Self)> {
        let variant = seed.deserialize(Name(&mut *self.0))?;
        self.0.expect(b':')?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = NotTaken;

    fn unit_variant(self) -> Taken<()> {
        Err(NotTaken)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Taken<T::Value> {
        seed.deserialize(&mut *self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Taken<V::Value> {
        self.0.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Taken<V::Value> {
        self.0.deserialize_any(visitor)
    }
}
