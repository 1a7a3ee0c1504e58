use super::{Ordered, WantedMap, millis, or_default, setup::StepDo, setup::When, some_millis};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub expect: Expect,
    pub respond: Respond,
    /// Instead of `respond` where the request does not allow gzip.
    pub respond_plain: Option<Respond>,
    #[serde(default)]
    pub optional: bool,
    pub repeat: Option<Repeat>,
    #[serde(default, deserialize_with = "or_default")]
    pub actions: Vec<StepAction>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    #[serde(default = "get")]
    pub method: String,
    pub path: String,
    #[serde(default, deserialize_with = "or_default")]
    pub query: WantedMap,
    #[serde(default, deserialize_with = "or_default")]
    pub headers: WantedMap,
    #[serde(default, deserialize_with = "some_millis")]
    pub min_gap_ms: Option<Duration>,
    #[serde(default, deserialize_with = "some_millis")]
    pub max_gap_ms: Option<Duration>,
    pub connection: Option<NewConnection>,
}

fn get() -> String {
    "GET".into()
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewConnection {
    New,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    #[serde(default = "once")]
    pub min: u32,
    #[serde(default = "endless")]
    pub max: u32,
    #[serde(default, deserialize_with = "some_millis")]
    pub for_ms: Option<Duration>,
}

fn once() -> u32 {
    1
}

fn endless() -> u32 {
    u32::MAX
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepAction {
    #[serde(default, rename = "when")]
    pub _when: When,
    #[serde(rename = "do")]
    pub action: StepDo,
    pub value: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Respond {
    /// None: the fault comes before any byte of an answer.
    #[serde(default = "ok")]
    pub status: Option<u16>,
    #[serde(default)]
    pub headers: Ordered<String>,
    pub body: Option<Box<RawValue>>,
    pub body_gen: Option<Generated>,
    pub chunks: Option<Vec<Chunk>>,
    #[serde(default, deserialize_with = "millis")]
    pub header_delay_ms: Duration,
    pub split_bytes: Option<usize>,
}

#[expect(clippy::unnecessary_wraps, reason = "the default of a field that may be null")]
fn ok() -> Option<u16> {
    Some(200)
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    #[serde(default, deserialize_with = "millis")]
    pub after_ms: Duration,
    pub data: Option<String>,
    pub data_b64: Option<String>,
    pub data_gen: Option<Generated>,
    pub split_bytes: Option<usize>,
    pub fault: Option<Fault>,
    /// Of a half-open stream. This server speaks HTTP/1.1, which has no pings: the kernel keeps the transport alive
    /// either way, and the client has to notice the silence.
    #[serde(rename = "transport_alive")]
    pub _transport_alive: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A clean end of the body; the connection stays.
    Eof,
    Reset,
    /// The socket is kept open; nothing more is sent or answered.
    HalfOpen,
}

/// Data made by a template, for each `i` in `from..=to`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    pub template: String,
    pub from: i64,
    pub to: i64,
    #[serde(default)]
    pub separator: String,
    #[serde(default)]
    pub prefix: String,
    #[serde(default)]
    pub suffix: String,
    pub split_bytes: Option<usize>,
}

impl Step {
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(Repeat { min, max, .. }) = self.repeat
            && (max < min || max == 0)
        {
            return Err(format!("repeat from {min} to {max} times"));
        }
        [Some(&self.respond), self.respond_plain.as_ref()].into_iter().flatten().try_for_each(Respond::check)
    }

    /// How often this step has to be, and may be, played.
    pub fn times(&self) -> (u32, u32) {
        self.repeat.map_or((1, 1), |repeat| (repeat.min, repeat.max))
    }
}

impl Respond {
    /// Whether the answer says that the connection ends with it.
    pub fn closes(&self) -> bool {
        let header = |(name, value): &(String, String)| {
            name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("close")
        };
        self.headers.0.iter().any(header)
    }

    fn check(&self) -> Result<(), String> {
        if usize::from(self.body.is_some()) + usize::from(self.body_gen.is_some()) + usize::from(self.chunks.is_some())
            > 1
        {
            return Err("only one of body, body_gen and chunks".into());
        }
        let chunks = self.chunks.as_deref().unwrap_or_default();
        for (index, chunk) in chunks.iter().enumerate() {
            if chunk.fault.is_some() && index + 1 < chunks.len() {
                return Err(format!("chunk {}: nothing comes after a fault", index + 1));
            }
            if let Some(Err(error)) = chunk.data_b64.as_ref().map(|data| STANDARD.decode(data)) {
                return Err(format!("chunk {}: data_b64: {error}", index + 1));
            }
            if self.status.is_none() && chunk.has_data() {
                return Err(format!("chunk {}: an answer without a status has no data", index + 1));
            }
        }
        Ok(())
    }
}

impl Chunk {
    pub fn has_data(&self) -> bool {
        self.data.is_some() || self.data_b64.is_some() || self.data_gen.is_some()
    }
}
