//! `shardRange(object.metadata.uid, '0x…', '0x…') || …`, as the API server reads it.

use super::{Shard, ShardField};
use std::{borrow::Cow, fmt, str::FromStr};

/// What is no shard: an empty range, a number of bits, a text that the server would not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidShard {
    what: Cow<'static, str>,
}

impl InvalidShard {
    pub(super) fn new(what: impl Into<Cow<'static, str>>) -> Self {
        InvalidShard { what: what.into() }
    }
}

impl fmt::Display for InvalidShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no such shard: {}", self.what)
    }
}

impl std::error::Error for InvalidShard {}

/// # Errors
///
/// What the server would refuse: hashes of other than 16 digits in lower case (2^64 has 17), an empty range, another
/// field, different fields.
impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(text: &str) -> Result<Self, InvalidShard> {
        let mut ranges = text.split("||").map(range);
        let first = ranges.next().unwrap_or_else(|| range(text))?;
        ranges.try_fold(first, |shard, other| shard.or(&other?))
    }
}

fn range(text: &str) -> Result<Shard, InvalidShard> {
    let not_one = || InvalidShard::new("it is no shardRange(FIELD, 'START', 'END')");
    let arguments = text.trim().strip_prefix("shardRange").ok_or_else(not_one)?.trim_start();
    let arguments = arguments.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(not_one)?;
    let arguments: Vec<_> = arguments.split(',').map(str::trim).collect();
    let [field, start, end] = arguments[..] else { return Err(not_one()) };
    let field = match field {
        "object.metadata.uid" => ShardField::Uid,
        "object.metadata.namespace" => ShardField::Namespace,
        _ => return Err(InvalidShard::new("the field is neither object.metadata.uid nor object.metadata.namespace")),
    };
    Shard::new(field, hash(start)?, hash(end)?)
}

fn hash(literal: &str) -> Result<u128, InvalidShard> {
    let no_hash = || InvalidShard::new("a hash is '0x' and 16 hexadecimal digits in lower case");
    let quoted = |quote: char| literal.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let text = quoted('\'').or_else(|| quoted('"')).ok_or_else(no_hash)?;
    let digits = text.strip_prefix("0x").ok_or_else(no_hash)?;
    let lower = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if !lower || (digits.len() != 16 && text != "0x10000000000000000") {
        return Err(no_hash());
    }
    u128::from_str_radix(digits, 16).map_err(|_| no_hash())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOWER: &str = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
    const UPPER: &str = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";

    /// The server's own table (`TestParse`, `TestParseRoundTrip`).
    #[test]
    fn it_reads_what_the_server_reads() {
        let namespaced = "shardRange(object.metadata.namespace, '0x00000000000000aa', '0x00000000000000ff')";
        let both = format!("{LOWER} || {UPPER}");
        for text in [LOWER, UPPER, namespaced, &both] {
            assert_eq!(text.parse::<Shard>().map(|shard| shard.to_string()).as_deref(), Ok(text));
        }
        for loose in [
            "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')",
            "  shardRange( object.metadata.uid ,  '0x0000000000000000' ,  '0x8000000000000000' )  ",
            r#"shardRange(object.metadata.uid, "0x0000000000000000", "0x8000000000000000")"#,
        ] {
            assert_eq!(loose.parse::<Shard>(), Shard::of(0, 2), "{loose}");
        }
    }

    #[test]
    fn it_refuses_what_the_server_refuses() {
        let mixed =
            format!("{LOWER} || shardRange(object.metadata.namespace, '0x8000000000000000', '0x9000000000000000')");
        let and = format!("{LOWER} && {UPPER}");
        let trailing = format!("{LOWER} ||");
        for text in [
            "",
            "shardRange(object.metadata.uid, '0000000000000000', '0x8000000000000000')",
            "shardRange(object.metadata.uid, '0x', '0x8000000000000000')",
            "shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')",
            "invalidFunc(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
            "shardRange(object.metadata.uid, '0x000000000000000000', '0x8000000000000000')",
            "shardRange(object.metadata.uid, '0x000000000000000g', '0x8000000000000000')",
            "shardRange(object.metadata.uid, '0x000000000000000A', '0x8000000000000000')",
            "shardRange(object.metadata.uid, 0, 8)",
            "object.metadata.uid > '0x0'",
            "shardRange(object.metadata.uid, '0x0000000000000000')",
            "shardRange(object.metadata.uid, '0x0', '0x8000000000000000')",
            "shardRange(object.metadata.uid, '0x0000000000000000', '0x20000000000000000')",
            "shardRange(object.metadata.uid, '0x10000000000000000', '0x10000000000000000')",
            "shardRange(object.metadata.uid, '0x8000000000000000', '0x8000000000000000')",
            "shardRange(object.metadata.uid, '0xffffffffffffffff', '0x0000000000000000')",
            &mixed,
            &and,
            &trailing,
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
