//! The format of a case, as README.md tells it. A field that is not in there is refused by its name: a runner that
//! passes over what it does not know would call a case passed that it has not played.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, value::RawValue};
use std::{collections::BTreeMap, fmt, marker::PhantomData, time::Duration};

mod conversation;
mod expected;
mod setup;

pub use self::conversation::{Chunk, Expect, Fault, Generated, NewConnection, Respond, Step};
pub use self::expected::Expected;
pub use self::setup::{ClientSetup, Consumer, Initial, Setup, SetupAction, SetupDo, StepDo};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    #[serde(default)]
    pub source: String,
    #[serde(default, rename = "url")]
    pub _url: String,
    #[serde(default)]
    pub title: String,
    #[serde(default, rename = "theme")]
    pub _theme: String,
    #[serde(default, rename = "fault")]
    pub _fault: String,
    #[serde(default, rename = "right_behaviour")]
    pub right_behaviour: String,
    #[serde(default)]
    pub setup: Setup,
    pub conversation: Vec<Step>,
    #[serde(default)]
    pub expected: Expected,
}

/// A case that cannot be read.
#[derive(Clone, Debug)]
pub struct Misread {
    /// As it names itself, else by its place.
    pub id: String,
    pub error: String,
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be read: {}", self.id, self.error)
    }
}

/// The cases of a file: one that cannot be read is an error in its place.
pub fn read(text: &str) -> Result<Vec<Result<Case, Misread>>, String> {
    let cases: Vec<Box<RawValue>> = match serde_json::from_str(text) {
        Ok(cases) => cases,
        // One case alone is a file, too.
        Err(_) if text.trim_start().starts_with('{') => vec![serde_json::from_str(text).map_err(|e| e.to_string())?],
        Err(error) => return Err(error.to_string()),
    };
    let read = |(index, raw): (usize, Box<RawValue>)| {
        let case: Result<Case, _> = serde_json::from_str(raw.get());
        let case = case.map_err(|e| e.to_string()).and_then(|case| case.check().map(|()| case));
        case.map_err(|error| {
            let id = serde_json::from_str::<Value>(raw.get()).ok().and_then(|v| v["id"].as_str().map(String::from));
            Misread { id: id.unwrap_or_else(|| format!("case {}", index + 1)), error }
        })
    };
    Ok(cases.into_iter().enumerate().map(read).collect())
}

impl Case {
    /// What the types alone do not say.
    fn check(&self) -> Result<(), String> {
        if self.conversation.is_empty() {
            return Err("a conversation needs a step".into());
        }
        for (index, step) in self.conversation.iter().enumerate() {
            step.check().map_err(|error| format!("step {}: {error}", index + 1))?;
        }
        self.setup.check(self.conversation.len())?;
        self.expected.check()
    }
}

/// `Duration` from a number of milliseconds.
pub(crate) fn millis<'de, D: Deserializer<'de>>(json: D) -> Result<Duration, D::Error> {
    Ok(Duration::from_secs_f64(f64::deserialize(json)?.max(0.0) / 1e3))
}

pub(crate) fn some_millis<'de, D: Deserializer<'de>>(json: D) -> Result<Option<Duration>, D::Error> {
    Ok(Option::<f64>::deserialize(json)?.map(|ms| Duration::from_secs_f64(ms.max(0.0) / 1e3)))
}

/// An absent value and a null one are the same: the default.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(json: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(json)?.unwrap_or_default())
}

/// A JSON object whose order counts.
#[derive(Clone, Debug)]
pub struct Ordered<V>(pub Vec<(String, V)>);

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Ordered(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> de::Visitor<'de> for Entries<V> {
            type Value = Ordered<V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_unit<E>(self) -> Result<Ordered<V>, E> {
                Ok(Ordered::default())
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Ordered<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        json.deserialize_any(Entries(PhantomData))
    }
}

/// What a query parameter or a header must be.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// Absent or empty.
    Absent,
    /// This value, by the rules of where it stands.
    Is(String),
    AnyOf(Vec<Wanted>),
}

impl<'de> Deserialize<'de> for Wanted {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        fn wanted(value: Value) -> Result<Wanted, String> {
            Ok(match value {
                Value::Null => Wanted::Absent,
                Value::String(text) => Wanted::Is(text),
                Value::Bool(_) | Value::Number(_) => Wanted::Is(value.to_string()),
                Value::Array(any) => Wanted::AnyOf(any.into_iter().map(wanted).collect::<Result<_, _>>()?),
                Value::Object(_) => return Err("a value, a list of values or null is expected, not an object".into()),
            })
        }
        wanted(Value::deserialize(json)?).map_err(de::Error::custom)
    }
}

pub type WantedMap = BTreeMap<String, Wanted>;
