use super::{hash::fnv1a, parse::InvalidShard};
use crate::Identity;
use std::{
    fmt,
    ops::{Bound, RangeBounds},
};

/// A part of a collection: the objects whose uid, or namespace, hashes into these ranges.
///
/// Shards that partition the 64 bits of the hash (FNV-1a) partition the objects. Each process of a group mirrors one:
/// `Shard::of(index, count)`. The text form is the server's `shardSelector`.
///
/// ```
/// use listwatch::{Identity, source::Shard};
///
/// let shards = [Shard::of(0, 2)?, Shard::of(1, 2)?];
/// assert_eq!(
///     shards[0].to_string(),
///     "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
/// );
/// assert_eq!(shards[1].to_string().parse::<Shard>()?, shards[1]);
///
/// let object = Identity { uid: "5a3f", name: "a", ..Identity::default() };
/// assert_eq!(shards.iter().filter(|shard| shard.contains(&object)).count(), 1);
/// assert!(Shard::of(2, 2).is_err());
/// # Ok::<_, listwatch::source::InvalidShard>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[doc(alias("shardSelector", "NewShardedListWatch", "NewShardRangeSelector"))]
pub struct Shard {
    field: ShardField,
    /// At least one, first and last hash of each.
    ranges: Vec<(u64, u64)>,
}

/// What is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShardField {
    /// `object.metadata.uid`: spreads evenly. An object that is created anew may be in another shard.
    Uid,
    /// `object.metadata.namespace`: keeps the objects of a namespace together. Shards are as even as the namespaces are
    /// many and unlike: names that differ in their last letter alone hash close to each other.
    Namespace,
}

impl Shard {
    /// Shard number `index` (from 0) of `count` of the same size, by uid.
    ///
    /// # Errors
    ///
    /// `count` is 0, or `index` is not below it.
    pub fn of(index: u32, count: u32) -> Result<Self, InvalidShard> {
        if index >= count {
            return Err(InvalidShard::new(format!("there is no shard {index} of {count}")));
        }
        let start = |index: u32| (u128::from(index) << 64) / u128::from(count);
        let (first, end) = (start(index), start(index + 1));
        Self::new(ShardField::Uid, first, end)
    }

    /// The objects whose field hashes into a range.
    ///
    /// # Errors
    ///
    /// The range is empty.
    ///
    /// ```
    /// use listwatch::source::{Shard, ShardField};
    ///
    /// let upper_half = Shard::range(ShardField::Uid, 0x8000_0000_0000_0000..)?;
    /// assert_eq!(upper_half, Shard::of(1, 2)?);
    /// assert!(Shard::range(ShardField::Uid, 7..7).is_err());
    /// # Ok::<_, listwatch::source::InvalidShard>(())
    /// ```
    pub fn range(field: ShardField, hashes: impl RangeBounds<u64>) -> Result<Self, InvalidShard> {
        let start = match hashes.start_bound() {
            Bound::Included(first) => u128::from(*first),
            Bound::Excluded(before) => u128::from(*before) + 1,
            Bound::Unbounded => 0,
        };
        let end = match hashes.end_bound() {
            Bound::Included(last) => u128::from(*last) + 1,
            Bound::Excluded(end) => u128::from(*end),
            Bound::Unbounded => 1 << 64,
        };
        Self::new(field, start, end)
    }

    /// From a hash to before another one: `end` is at most 2^64.
    pub(super) fn new(field: ShardField, start: u128, end: u128) -> Result<Self, InvalidShard> {
        let (Ok(first), Some(Ok(last))) = (u64::try_from(start), end.checked_sub(1).map(u64::try_from)) else {
            return Err(InvalidShard::new("a hash has 64 bits"));
        };
        if first > last {
            return Err(InvalidShard::new("a range is empty"));
        }
        Ok(Shard { field, ranges: vec![(first, last)] })
    }

    /// The same by another field.
    #[must_use]
    pub fn by(mut self, field: ShardField) -> Self {
        self.field = field;
        self
    }

    /// What is in either.
    ///
    /// # Errors
    ///
    /// They hash different fields.
    pub fn or(mut self, other: &Shard) -> Result<Self, InvalidShard> {
        if self.field != other.field {
            return Err(InvalidShard::new("all ranges must be of the same field"));
        }
        self.ranges.extend_from_slice(&other.ranges);
        Ok(self)
    }

    /// What is hashed.
    pub fn field(&self) -> ShardField {
        self.field
    }

    /// Whether the object is in this shard.
    pub fn contains(&self, object: &Identity<'_>) -> bool {
        let hash = fnv1a(match self.field {
            ShardField::Uid => object.uid,
            ShardField::Namespace => object.namespace,
        });
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&hash))
    }
}

/// The server's `shardSelector`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (first, last)) in self.ranges.iter().enumerate() {
            let (or, end) = (if n == 0 { "" } else { " || " }, u128::from(*last) + 1);
            write!(f, "{or}shardRange({}, '{first:#018x}', '{end:#018x}')", self.field)?;
        }
        Ok(())
    }
}

impl fmt::Display for ShardField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ShardField::Uid => "object.metadata.uid",
            ShardField::Namespace => "object.metadata.namespace",
        })
    }
}
