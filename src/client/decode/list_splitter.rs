use super::scan::{ValueEnd, is_space};
use crate::Error;
use bytes::{Bytes, BytesMut};

/// One value of a list's body that someone is to decode.
#[derive(Debug, PartialEq)]
pub(super) enum Token {
    Item(Bytes),
    Metadata(Bytes),
}

/// Cuts a list's body into its items and its metadata while it arrives, in whatever order they stand. Keeps nothing
/// but the unfinished value, and that only up to a size.
#[derive(Debug)]
pub(super) struct ListSplitter {
    max: usize,
    /// What has come and was not looked at yet.
    chunk: Bytes,
    /// What earlier chunks brought of the value that is being kept.
    begun: BytesMut,
    value: ValueEnd,
    state: State,
    pub(super) kind: Option<String>,
    pub(super) api_version: Option<String>,
    has_items: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Before the list's `{`.
    Start,
    /// Before a key, or the `}` of an empty object.
    FirstKey,
    /// After a comma.
    NextKey,
    Key,
    Colon(Key),
    Value(Key),
    /// Inside of a value that is kept.
    Keep(Key),
    /// Inside of a value that nobody wants.
    Skip,
    AfterValue,
    /// After the `[` of the items.
    FirstItem,
    /// After a comma.
    NextItem,
    Item,
    AfterItem,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    Items,
    Metadata,
    Kind,
    ApiVersion,
    Other,
}

impl ListSplitter {
    pub(super) fn new(max: usize) -> Self {
        ListSplitter {
            max,
            chunk: Bytes::new(),
            begun: BytesMut::new(),
            value: ValueEnd::default(),
            state: State::Start,
            kind: None,
            api_version: None,
            has_items: false,
        }
    }

    /// The next bytes; only once `next` has said that it needs more.
    pub(super) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty());
        self.chunk = chunk;
    }

    /// The next value, or `None` where more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<Token>, Error> {
        loop {
            if let State::Key | State::Keep(_) | State::Item = self.state {
                let Some(json) = self.keep()? else { return Ok(None) };
                if let Some(token) = self.kept(json)? {
                    return Ok(Some(token));
                }
            } else if self.state == State::Skip {
                let Some(end) = self.value.find(&self.chunk) else {
                    self.chunk.clear();
                    return Ok(None);
                };
                let _ = self.chunk.split_to(end);
                self.state = State::AfterValue;
            } else {
                let Some(at) = self.chunk.iter().position(|b| !is_space(*b)) else {
                    self.chunk.clear();
                    return Ok(None);
                };
                let byte = self.chunk[at];
                let _ = self.chunk.split_to(at);
                self.byte(byte)?;
            }
        }
    }

    /// One byte between values; those that belong to the list itself are taken, the first of a value stays.
    fn byte(&mut self, byte: u8) -> Result<(), Error> {
        let (state, taken) = match (self.state, byte) {
            (State::Start, b'{') => (State::FirstKey, true),
            (State::FirstKey | State::NextKey, b'"') => (State::Key, false),
            (State::Colon(key), b':') => (State::Value(key), true),
            (State::Value(Key::Items), b'[') if !self.has_items => {
                self.has_items = true;
                (State::FirstItem, true)
            }
            (State::Value(Key::Items), b'n') if !self.has_items => {
                self.has_items = true;
                (State::Keep(Key::Items), false)
            }
            (State::Value(Key::Items), _) if self.has_items => return Err(Error::not_a_list("its items come twice")),
            (State::Value(Key::Items), _) => return Err(Error::not_a_list("its items are no array")),
            (State::Value(_), b',' | b':' | b'}' | b']') => return Err(malformed()),
            (State::Value(Key::Other), _) => (State::Skip, false),
            (State::Value(key), _) => (State::Keep(key), false),
            (State::FirstItem, b']') | (State::AfterItem, b']') => (State::AfterValue, true),
            (State::FirstItem | State::NextItem, b',' | b':' | b'}' | b']') => return Err(malformed()),
            (State::FirstItem | State::NextItem, _) => (State::Item, false),
            (State::AfterItem, b',') => (State::NextItem, true),
            (State::AfterValue, b',') => (State::NextKey, true),
            (State::AfterValue | State::FirstKey, b'}') => {
                self.check_kind()?;
                (State::End, true)
            }
            (State::End, _) => return Err(Error::not_a_list("something follows it")),
            (State::Start, _) => return Err(Error::not_a_list("it is no JSON object")),
            _ => return Err(malformed()),
        };
        self.state = state;
        if taken {
            let _ = self.chunk.split_to(1);
        }
        Ok(())
    }

    /// The value that is being kept, once it is whole: a slice of the chunk where that holds all of it.
    fn keep(&mut self) -> Result<Option<Bytes>, Error> {
        let end = self.value.find(&self.chunk);
        let here = end.unwrap_or(self.chunk.len());
        if self.begun.len() + here > self.max {
            return Err(Error::garbage(format!("a part of the list is larger than {} bytes", self.max)));
        }
        let bytes = self.chunk.split_to(here);
        if end.is_some() && self.begun.is_empty() {
            return Ok(Some(bytes));
        }
        self.begun.extend_from_slice(&bytes);
        Ok(end.map(|_| self.begun.split().freeze()))
    }

    fn kept(&mut self, json: Bytes) -> Result<Option<Token>, Error> {
        let (state, token) = match self.state {
            State::Item => (State::AfterItem, Some(Token::Item(json))),
            State::Key => (State::Colon(key(&json)?), None),
            State::Keep(Key::Metadata) => (State::AfterValue, Some(Token::Metadata(json))),
            State::Keep(Key::Items) if &*json == b"null" => (State::AfterValue, None),
            State::Keep(Key::Kind) => {
                self.kind = text(&json)?;
                if let Some(kind @ ("Table" | "Status")) = self.kind.as_deref() {
                    return Err(Error::not_a_list(format!("it is a {kind}")));
                }
                (State::AfterValue, None)
            }
            State::Keep(Key::ApiVersion) => {
                self.api_version = text(&json)?;
                (State::AfterValue, None)
            }
            _ => return Err(malformed()),
        };
        self.state = state;
        Ok(token)
    }

    /// No items are none, but then it must at least call itself a list.
    fn check_kind(&self) -> Result<(), Error> {
        match self.kind.as_deref() {
            _ if self.has_items => Ok(()),
            Some(kind) if kind.ends_with("List") => Ok(()),
            Some(_) => Err(Error::not_a_list("it is of another kind, without items")),
            None => Err(Error::not_a_list("it has neither items nor a kind")),
        }
    }

    /// The body has ended.
    pub(super) fn finish(&self) -> Result<(), Error> {
        match self.state {
            State::End => Ok(()),
            State::Start => Err(Error::not_a_list("it is empty")),
            _ => Err(Error::interrupted("the list ended before its end")),
        }
    }
}

fn malformed() -> Error {
    Error::not_a_list("it is no JSON")
}

fn key(json: &[u8]) -> Result<Key, Error> {
    let text: String = serde_json::from_slice(json).map_err(|_| malformed())?;
    Ok(match &*text {
        "items" => Key::Items,
        "metadata" => Key::Metadata,
        "kind" => Key::Kind,
        "apiVersion" => Key::ApiVersion,
        _ => Key::Other,
    })
}

fn text(json: &[u8]) -> Result<Option<String>, Error> {
    serde_json::from_slice(json).map_err(|_| Error::not_a_list("its kind or apiVersion is no string"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(json: &str) -> Result<Vec<String>, Error> {
        let mut splitter = ListSplitter::new(1 << 20);
        splitter.push(Bytes::copy_from_slice(json.as_bytes()));
        let mut found = Vec::new();
        while let Some(token) = splitter.next()? {
            let (Token::Item(json) | Token::Metadata(json)) = token;
            found.push(String::from_utf8_lossy(&json).into_owned());
        }
        splitter.finish().map(|()| found)
    }

    #[test]
    fn metadata_and_items_come_in_their_order() {
        let body = r#" { "kind" : "PodList","metadata":{"resourceVersion":"7"} , "items":[ {"a":1} ,{"b":"]}"}]} "#;
        assert_eq!(split(body).unwrap(), [r#"{"resourceVersion":"7"}"#, r#"{"a":1}"#, r#"{"b":"]}"}"#]);
        let body = r#"{"apiVersion":"v1","items":[{"a":1}],"kind":"PodList","metadata":{}}"#;
        assert_eq!(split(body).unwrap(), [r#"{"a":1}"#, "{}"]);
    }

    #[test]
    fn no_items_are_none() {
        for items in [r#""items":[],"#, r#""items":null,"#, ""] {
            let body = format!(r#"{{"kind":"PodList",{items}"metadata":{{}}}}"#);
            assert_eq!(split(&body).unwrap(), ["{}"], "{items}");
        }
    }

    #[test]
    fn escaped_keys_are_keys_and_other_values_are_skipped() {
        assert_eq!(split(r#"{"\u0069tems":[1],"x":{"items":[2]},"y":-3,"z":"items"}"#).unwrap(), ["1"]);
    }

    #[test]
    fn what_is_no_list_is_said_to_be_none() {
        for body in [
            "",
            " ",
            "<html>",
            "[]",
            "null",
            "\u{feff}{}",
            "{}",
            r#"{"kind":"Pod","metadata":{"name":"a"}}"#,
            r#"{"kind":"Status","metadata":{},"items":[]}"#,
            r#"{"kind":"Table","metadata":{},"rows":[]}"#,
            r#"{"metadata":{},"rows":[],"kind":"Table"}"#,
            r#"{"metadata":{}}"#,
            r#"{"items":{}}"#,
            r#"{"items":"a"}"#,
            r#"{"items":nil}"#,
            r#"{"items":[],"items":[]}"#,
            r#"{"items":[]} x"#,
            r#"{"items":[]}{}"#,
            r#"{"items":[,]}"#,
            r#"{"items":[1,]}"#,
            r#"{"items":[1 2]}"#,
            r#"{"items":[1}}"#,
            r#"{"items" []}"#,
            r#"{"items":[],}"#,
            r#"{"a":}"#,
            r#"{a:1,"items":[]}"#,
            r#"{"kind":1,"items":[]}"#,
        ] {
            let error = split(body).expect_err(body);
            assert!(error.is_garbage() && error.to_string().contains("not a list"), "{body}: {error}");
        }
    }

    #[test]
    fn a_list_that_ends_early_is_interrupted() {
        let body = r#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"a":1}]}"#;
        for cut in 1..body.len() {
            let error = split(&body[..cut]).expect_err("cut");
            assert!(error.is_interrupted(), "{cut}: {error}");
        }
    }

    #[test]
    fn an_item_over_the_limit_is_an_error_before_it_is_memory() {
        let mut splitter = ListSplitter::new(64);
        splitter.push(Bytes::from_static(br#"{"items":["#));
        assert!(splitter.next().unwrap().is_none());
        for _ in 0..3 {
            splitter.push(Bytes::from_static(b"[[[[[[[[[[[[[[[[[[[["));
            assert!(splitter.next().unwrap().is_none());
        }
        splitter.push(Bytes::from_static(b"[[[[["));
        assert!(splitter.next().unwrap_err().is_garbage());
        assert!(splitter.begun.len() <= 64);
    }

    #[test]
    fn a_chunk_that_holds_an_item_whole_is_not_copied() {
        let chunk = Bytes::from(br#"{"items":[{"a":1}]}"#.to_vec());
        let place = chunk.as_ptr() as usize..chunk.as_ptr() as usize + chunk.len();
        let mut splitter = ListSplitter::new(64);
        splitter.push(chunk);
        let Some(Token::Item(item)) = splitter.next().unwrap() else { panic!("no item") };
        assert!(place.contains(&(item.as_ptr() as usize)));
    }
}
