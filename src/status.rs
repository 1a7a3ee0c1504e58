use std::{fmt, time::Duration};

/// What an API server says about a request that failed, or in an `ERROR` event: the part of `meta/v1 Status` that
/// decides what comes next.
///
/// Every field may be absent on the wire: proxies and aggregated servers are less careful than the API server.
///
/// ```
/// let body = r#"{"kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"too old"}"#;
/// let status: listwatch::Status = serde_json::from_str(body)?;
/// assert_eq!((status.code, &*status.reason), (410, "Expired"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(default, from = "Wire", into = "Wire")]
#[non_exhaustive]
pub struct Status {
    /// The HTTP status code; 0 where none was given.
    pub code: u16,
    /// A machine-readable reason such as `Expired`; `""` where none was given.
    pub reason: String,
    /// A sentence for people. Never shown whole by this crate: what a server writes here is the server's.
    pub message: String,
    /// Details, each with a type (`"reason"` on the wire) and a message.
    pub causes: Vec<StatusCause>,
    /// When to ask again.
    pub retry_after: Option<Duration>,
}

/// One cause of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct StatusCause {
    /// A machine-readable type such as `ResourceVersionTooLarge`.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

impl Status {
    /// A status of this code alone.
    pub fn from_code(code: u16) -> Self {
        Status { code, ..Status::default() }
    }

    /// The same with a reason, such as `Expired`.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// The same with a message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The same with one cause more.
    #[must_use]
    pub fn with_cause(mut self, reason: impl Into<String>, message: impl Into<String>) -> Self {
        self.causes.push(StatusCause { reason: reason.into(), message: message.into() });
        self
    }

    /// The same with a time to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }
}

/// Reason and code; of the message at most 200 characters, without control characters.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.code)?;
        if !self.reason.is_empty() {
            f.write_str(" ")?;
            printable(&self.reason, 60, f)?;
        }
        if !self.message.is_empty() {
            f.write_str(": ")?;
            printable(&self.message, 200, f)?;
        }
        Ok(())
    }
}

fn printable(text: &str, most: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut chars = text.chars();
    chars.by_ref().take(most).try_for_each(|c| fmt::Write::write_char(f, if c.is_control() { ' ' } else { c }))?;
    if chars.next().is_some() { f.write_str("…") } else { Ok(()) }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Status({self})")
    }
}

/// As it stands on the wire.
#[derive(Default, serde::Deserialize, serde::Serialize)]
#[serde(default)]
struct Wire {
    kind: Option<String>,
    #[serde(rename = "apiVersion")]
    api_version: Option<String>,
    status: Option<String>,
    message: Option<String>,
    reason: Option<String>,
    details: Option<WireDetails>,
    code: Option<u16>,
}

#[derive(Default, serde::Deserialize, serde::Serialize)]
#[serde(default, rename_all = "camelCase")]
struct WireDetails {
    causes: Option<Vec<StatusCause>>,
    retry_after_seconds: Option<u64>,
}

impl From<Wire> for Status {
    fn from(wire: Wire) -> Self {
        let details = wire.details.unwrap_or_default();
        Status {
            code: wire.code.unwrap_or_default(),
            reason: wire.reason.unwrap_or_default(),
            message: wire.message.unwrap_or_default(),
            causes: details.causes.unwrap_or_default(),
            retry_after: details.retry_after_seconds.filter(|s| *s > 0).map(Duration::from_secs),
        }
    }
}

impl From<Status> for Wire {
    fn from(status: Status) -> Self {
        Wire {
            kind: Some("Status".into()),
            api_version: Some("v1".into()),
            status: Some("Failure".into()),
            message: Some(status.message),
            reason: Some(status.reason),
            details: Some(WireDetails {
                causes: Some(status.causes),
                retry_after_seconds: status.retry_after.map(|wait| wait.as_secs()),
            }),
            code: Some(status.code),
        }
    }
}
