//! Continue tokens.

use super::refusal::Refusal;
use base64_url::{decode, encode};
use serde::Deserialize;

/// Where a paged list goes on, and in which version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// -1: in the newest state, whatever the earlier pages showed.
    pub(super) revision: i64,
    /// The first key that may follow, relative to the collection.
    pub(super) start: String,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    v: String,
    #[serde(default)]
    rv: i64,
    #[serde(default)]
    start: String,
}

impl Token {
    /// The token after this key. Tokens of the watch cache begin with a slash, those of storage do not.
    pub(super) fn after(revision: u64, key: &str, cached: bool) -> String {
        let slash = if cached { "/" } else { "" };
        Self::write(i64::try_from(revision).unwrap_or(i64::MAX), &format!("{slash}{key}\0"))
    }

    /// The same place, but in whatever state the server has then.
    pub(super) fn inconsistent(&self) -> String {
        Self::write(-1, &self.start)
    }

    fn write(revision: i64, start: &str) -> String {
        let mut out = format!(r#"{{"v":"meta.k8s.io/v1","rv":{revision},"start":"#).into_bytes();
        super::encode::string(&mut out, start);
        out.push(b'}');
        encode(&out)
    }

    /// The start without the slash.
    pub(super) fn key(&self) -> &str {
        self.start.strip_prefix('/').unwrap_or(&self.start)
    }

    /// # Errors
    ///
    /// 400 with the text of a real server.
    pub(super) fn read(text: &str) -> Result<Self, Refusal> {
        let invalid =
            |why: String| Refusal::bad_request(format!("invalid continue token: continue key is not valid: {why}"));
        let bytes = decode(text).map_err(|at| invalid(format!("illegal base64 data at input byte {at}")))?;
        let document: Document = serde_json::from_slice(&bytes).map_err(|_| {
            let first = bytes.first().map_or(' ', |&byte| char::from(byte));
            invalid(format!("invalid character '{first}' looking for beginning of value"))
        })?;
        if document.v != "meta.k8s.io/v1" {
            return Err(invalid(format!("server does not recognize this encoded version {}", document.v)));
        }
        if document.rv == 0 {
            return Err(invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)".to_owned()));
        }
        if document.start.is_empty() {
            return Err(invalid("encoded start key empty (version meta.k8s.io/v1)".to_owned()));
        }
        Ok(Self { revision: document.rv, start: document.start })
    }
}

/// Base64 for URLs, without padding.
mod base64_url {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    pub(super) fn encode(bytes: &[u8]) -> String {
        let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for group in bytes.chunks(3) {
            let bits = group.iter().enumerate().fold(0_u32, |bits, (i, &byte)| bits | u32::from(byte) << (16 - 8 * i));
            for place in 0..=group.len() {
                out.push(char::from(ALPHABET[(bits >> (18 - 6 * place)) as usize & 63]));
            }
        }
        out
    }

    /// The bytes, or the place of the first character that cannot be.
    pub(super) fn decode(text: &str) -> Result<Vec<u8>, usize> {
        let mut out = Vec::with_capacity(text.len() * 3 / 4);
        let (mut bits, mut have) = (0_u32, 0);
        for (at, byte) in text.bytes().enumerate() {
            let six = ALPHABET.iter().position(|&letter| letter == byte).ok_or(at)?;
            bits = bits << 6 | u32::try_from(six).unwrap_or_default();
            have += 6;
            if have >= 8 {
                have -= 8;
                out.push((bits >> have & 0xff) as u8);
            }
        }
        if text.len() % 4 == 1 { Err(text.len()) } else { Ok(out) }
    }
}
