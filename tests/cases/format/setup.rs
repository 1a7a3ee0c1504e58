use super::{Ordered, millis, or_default, some_millis};
use serde::Deserialize;
use std::time::Duration;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    pub typed: Option<String>,
    pub note: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub client: ClientSetup,
    #[serde(deserialize_with = "or_default")]
    pub consumer: Consumer,
    #[serde(deserialize_with = "or_default")]
    pub auth: Auth,
    pub files: Ordered<String>,
    pub env: Ordered<String>,
    pub cwd: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub tls: bool,
    #[serde(deserialize_with = "or_default")]
    pub actions: Vec<SetupAction>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientSetup {
    pub page_size: Option<u32>,
    pub initial: Option<Initial>,
    #[serde(deserialize_with = "some_millis")]
    pub watchlist_deadline_ms: Option<Duration>,
    #[serde(deserialize_with = "some_millis")]
    pub watch_timeout_ms: Option<Duration>,
    #[serde(deserialize_with = "some_millis")]
    pub connect_timeout_ms: Option<Duration>,
    pub allow_bookmarks: Option<bool>,
    pub label_selector: Option<String>,
    #[serde(deserialize_with = "some_millis")]
    pub resync_ms: Option<Duration>,
    #[serde(deserialize_with = "some_millis")]
    pub backoff_initial_ms: Option<Duration>,
    #[serde(deserialize_with = "some_millis")]
    pub backoff_max_ms: Option<Duration>,
    pub backoff_factor: Option<f64>,
    pub jitter: Option<f64>,
    #[serde(deserialize_with = "some_millis")]
    pub backoff_reset_after_ms: Option<Duration>,
    #[serde(deserialize_with = "or_default")]
    pub metadata_only: bool,
    #[serde(deserialize_with = "or_default")]
    pub dynamic: bool,
    /// Heeded by having no queue: what waits for a slow consumer is the difference to the present state.
    #[serde(rename = "max_pending")]
    pub _max_pending: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Initial {
    #[default]
    List,
    #[serde(alias = "watch_list")]
    Watchlist,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Consumer {
    #[serde(deserialize_with = "millis")]
    pub handler_delay_ms: Duration,
    #[serde(deserialize_with = "or_default")]
    pub only_first_event: bool,
    #[serde(deserialize_with = "or_default")]
    pub throws_on: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Auth {
    pub token_file: Option<String>,
    pub exec_plugin: Option<Vec<Credential>>,
    pub provider: Option<Vec<ProviderToken>>,
}

/// What an exec plugin prints in one run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credential {
    pub token: String,
    #[serde(default, deserialize_with = "some_millis")]
    pub expires_in_ms: Option<Duration>,
}

/// What one call of a source of credentials returns: a token, or null for a call that fails.
pub type ProviderToken = Option<String>;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupAction {
    #[serde(default, deserialize_with = "some_millis")]
    pub at_ms_after_sync: Option<Duration>,
    /// Step number, counted from 1, and milliseconds after its first request.
    pub at_ms_after_step: Option<(usize, u64)>,
    #[serde(rename = "do")]
    pub action: SetupDo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetupDo {
    Stop,
    ForceRelist,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    #[default]
    BeforeFault,
    #[serde(alias = "before_response", alias = "before_respond")]
    BeforeAnswer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepDo {
    WriteTokenFile,
    ServerRevokes,
}

impl Consumer {
    pub fn is_slow(&self) -> bool {
        !self.handler_delay_ms.is_zero()
    }
}

impl Setup {
    pub(super) fn check(&self, steps: usize) -> Result<(), String> {
        for action in &self.actions {
            match (action.at_ms_after_sync, action.at_ms_after_step) {
                (Some(_), None) => {}
                (None, Some((step, _))) if (1..=steps).contains(&step) => {}
                (None, Some((step, _))) => return Err(format!("an action after step {step} of {steps}")),
                _ => return Err("an action is either at_ms_after_sync or at_ms_after_step".into()),
            }
        }
        Ok(())
    }
}
