use super::{or_default, some_millis};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expected {
    /// Names, or `namespace/name`. Null is not judged.
    pub final_store: Option<Vec<String>>,
    pub relists: Relists,
    pub notes: Option<String>,
    pub events: Option<Vec<Vec<String>>>,
    #[serde(deserialize_with = "or_default")]
    pub final_data: BTreeMap<String, Value>,
    #[serde(deserialize_with = "or_default")]
    pub final_uids: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub errors: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub timing: Timing,
}

/// Bounds on how long the mirror takes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timing {
    #[serde(deserialize_with = "some_millis")]
    pub synced_within_ms: Option<Duration>,
    #[serde(deserialize_with = "some_millis")]
    pub stopped_within_ms: Option<Duration>,
}

/// How many completed lists may follow the first: empty is not judged.
#[derive(Clone, Debug, Default)]
pub struct Relists(pub Vec<u64>);

impl<'de> Deserialize<'de> for Relists {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        match Value::deserialize(json)? {
            Value::Null => Some(Vec::new()),
            Value::Array(any) => any.iter().map(Value::as_u64).collect::<Option<_>>(),
            one => one.as_u64().map(|one| vec![one]),
        }
        .map(Relists)
        .ok_or_else(|| de::Error::custom("relists: a number, a list of numbers or null"))
    }
}

impl Expected {
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |event: &&Vec<String>| !(2..=3).contains(&event.len());
        match self.events.iter().flatten().find(wrong) {
            Some(event) => Err(format!("an event is a type, a name and perhaps a uid, not {event:?}")),
            None => Ok(()),
        }
    }

    /// How long the notes ask to go on watching after the last step: `Observe for 2 s.`
    pub fn observe(&self) -> Option<Duration> {
        let (_, rest) = self.notes.as_deref()?.split_once("Observe for ")?;
        let mut words = rest.split_whitespace();
        let amount: f64 = words.next()?.parse().ok()?;
        let unit = match words.next()?.trim_end_matches(|c: char| !c.is_ascii_alphabetic()) {
            "ms" => 1e-3,
            "s" | "second" | "seconds" => 1.0,
            _ => return None,
        };
        Some(Duration::from_secs_f64(amount * unit))
    }
}
