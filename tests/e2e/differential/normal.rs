//! Gives alike names to what two servers must number differently.

use serde_json::Value;
use std::collections::BTreeMap;

/// The versions that a conversation knows, by the names it gave them.
#[derive(Clone, Debug, Default)]
pub struct Versions(BTreeMap<u64, String>);

impl Versions {
    pub fn learn(&mut self, name: &str, version: &str) {
        if let Ok(version) = version.parse() {
            self.0.insert(version, name.to_owned());
        }
    }

    pub fn find(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(_, known)| *known == name).map(|(version, _)| *version)
    }

    /// The newest known version that is not newer.
    fn name(&self, version: &str) -> String {
        let Ok(number) = version.parse::<u64>() else { return version.to_owned() };
        if number == 0 || number >= FAR {
            return version.to_owned();
        }
        self.0.range(..=number).next_back().map_or_else(|| "before".to_owned(), |(_, name)| name.clone())
    }

    /// A document with names for versions, and without what differs by nature.
    pub fn document(&self, document: &mut Value) {
        match document {
            Value::Object(members) => {
                for name in ["uid", "creationTimestamp", "managedFields", "storageVersionHash"] {
                    members.remove(name);
                }
                for (name, value) in members {
                    match (name.as_str(), &*value) {
                        ("resourceVersion", Value::String(version)) => *value = self.name(version).into(),
                        ("continue", Value::String(token)) => *value = self.token(token).into(),
                        ("message", Value::String(text)) => *value = self.text(text).into(),
                        ("retryAfterSeconds", _) => *value = "some".into(),
                        _ => self.document(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.document(item)),
            _ => {}
        }
    }

    /// A message with names for versions: for numbers after these words.
    fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        let next = |rest: &str| {
            let ends = ["version: ", "current: ", " ("].map(|word| rest.find(word).map(|at| at + word.len()));
            ends.into_iter().flatten().min()
        };
        while let Some(at) = next(rest) {
            let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
            out += &rest[..at];
            out += &self.name(&rest[at..at + digits]);
            rest = &rest[at + digits..];
        }
        out + rest
    }

    fn token(&self, token: &str) -> String {
        let Some(bytes) = decode(token) else { return token.to_owned() };
        let Ok(mut document) = serde_json::from_slice::<Value>(&bytes) else { return token.to_owned() };
        if let Some(version) = document["rv"].as_i64().filter(|version| *version > 0) {
            document["rv"] = self.name(&version.to_string()).into();
        }
        document.to_string()
    }
}

/// No server of these tests gets this far.
pub const FAR: u64 = 9_999_999;

/// Base64 for URLs, without padding.
fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut bits, mut have) = (Vec::new(), 0_u32, 0);
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push(u8::try_from(bits >> have & 0xff).ok()?);
        }
    }
    Some(out)
}
