//! The bodies with which a server refuses.

use serde::Serialize;
use std::time::Duration;

/// A `Status` as the server sends it, in the body of an answer or in an ERROR event: what a refusal is on the wire,
/// member by member, where [`crate::Status`] is what a client makes of it.
///
/// The constructors named after a situation have the exact body of a real server; see
/// [`Fault::answer`](super::Fault::answer) and [`Fault::error_event`](super::Fault::error_event) for their use.
///
/// # Examples
///
/// ```
/// use listwatch::testing::Refusal;
///
/// let refusal = Refusal::watch_expired();
/// assert_eq!(refusal.code(), 410);
/// assert!(refusal.to_json().contains(r#""reason":"Expired""#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    document: Box<Document>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    kind: &'static str,
    api_version: &'static str,
    metadata: Metadata,
    status: &'static str,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    code: u16,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Metadata {
    #[serde(rename = "continue", skip_serializing_if = "String::is_empty")]
    token: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause>,
    #[serde(skip_serializing_if = "is_zero")]
    retry_after_seconds: u64,
}

/// One cause: its type (on the wire `reason`), what it says, and the field it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Cause {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) reason: &'static str,
    pub(super) message: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) field: &'static str,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(seconds: &u64) -> bool {
    *seconds == 0
}

impl Refusal {
    /// A refusal with this code, and the reason and message that usually go with it.
    #[must_use]
    pub fn new(code: u16) -> Self {
        let (reason, message) = usual(code);
        let document = Document {
            kind: "Status",
            api_version: "v1",
            metadata: Metadata::default(),
            status: "Failure",
            message: message.to_owned(),
            reason: reason.to_owned(),
            details: None,
            code,
        };
        Self { document: Box::new(document) }
    }

    /// Replaces the reason; empty leaves it out.
    #[must_use]
    pub fn with_reason(mut self, reason: &str) -> Self {
        reason.clone_into(&mut self.document.reason);
        self
    }

    /// Replaces the message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.document.message = message.into();
        self
    }

    /// Asks the client to come back after this time, in the details and, as an answer, in the header `Retry-After`.
    /// Whole seconds; the rest is dropped.
    #[must_use]
    pub fn with_retry_after(mut self, after: Duration) -> Self {
        self.document.details.get_or_insert_default().retry_after_seconds = after.as_secs();
        self
    }

    /// 410 Expired: a watch from a version that storage no longer has.
    #[must_use]
    pub fn watch_expired() -> Self {
        Self::new(410).with_message("The resourceVersion for the provided watch is too old.")
    }

    /// 410 Expired: a list at a version that storage no longer has.
    #[must_use]
    pub fn list_expired() -> Self {
        Self::new(410).with_message("The resourceVersion for the provided list is too old.")
    }

    /// 410 Expired: a watch from before what the watch cache has.
    #[must_use]
    pub fn too_old(version: u64, oldest: u64) -> Self {
        Self::new(410).with_message(format!("too old resource version: {version} ({oldest})"))
    }

    /// 504 Timeout: a version ahead of the server, which says how long to wait only when its watch cache answers.
    #[must_use]
    pub fn too_large(version: u64, current: u64) -> Self {
        Self::new(504)
            .with_reason("Timeout")
            .with_message(format!("Timeout: Too large resource version: {version}, current: {current}"))
            .with_cause(Cause {
                reason: "ResourceVersionTooLarge",
                message: "Too large resource version".to_owned(),
                field: "",
            })
    }

    /// 429: the watch cache is not ready.
    #[must_use]
    pub fn initializing() -> Self {
        Self::new(429).with_message("storage is (re)initializing").with_retry_after(Duration::from_secs(1))
    }

    /// 500 InternalError with this as the cause.
    #[must_use]
    pub fn internal_error(message: &str) -> Self {
        Self::new(500).with_message(format!("Internal error occurred: {message}")).with_cause(Cause {
            reason: "",
            message: message.to_owned(),
            field: "",
        })
    }

    /// 410 with a token to go on from the newest state instead.
    pub(super) fn continue_expired(token: String) -> Self {
        let mut refusal = Self::new(410).with_message(CONTINUE_EXPIRED);
        refusal.document.metadata.token = token;
        refusal
    }

    /// 422 about list options.
    pub(super) fn invalid_options(causes: Vec<Cause>) -> Self {
        let mut refusal = Self::invalid("ListOptions.meta.k8s.io", "", causes);
        let details = refusal.document.details.get_or_insert_default();
        "meta.k8s.io".clone_into(&mut details.group);
        "ListOptions".clone_into(&mut details.kind);
        refusal
    }

    /// 422 about an object.
    pub(super) fn invalid(kind: &str, name: &str, causes: Vec<Cause>) -> Self {
        let each: Vec<_> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let all = if each.len() == 1 { each.concat() } else { format!("[{}]", each.join(", ")) };
        let refusal = Self::new(422).with_message(format!("{kind} \"{name}\" is invalid: {all}"));
        refusal.with_details(Details { name: name.to_owned(), kind: kind.to_owned(), causes, ..Details::default() })
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400).with_message(message)
    }

    /// An error that the server never meant to show: 500 without a reason.
    pub(super) fn bare(message: impl Into<String>) -> Self {
        Self::new(500).with_reason("").with_message(message)
    }

    pub(super) fn no_such_resource() -> Self {
        Self::new(404).with_details(Details::default())
    }

    pub(super) fn no_such_method() -> Self {
        Self::new(405).with_details(Details::default())
    }

    /// An answer about one object of a resource (`plural` and `group`).
    pub(super) fn about(self, plural: &str, group: &str, name: &str) -> Self {
        self.with_details(Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: plural.to_owned(),
            ..Details::default()
        })
    }

    fn with_details(mut self, details: Details) -> Self {
        self.document.details = Some(details);
        self
    }

    fn with_cause(mut self, cause: Cause) -> Self {
        self.document.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// The HTTP code.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.document.code
    }

    /// What the header `Retry-After` says, in seconds.
    pub(super) fn retry_after(&self) -> Option<u64> {
        self.document.details.as_ref().map(|details| details.retry_after_seconds).filter(|&seconds| seconds > 0)
    }

    /// The document, compact and without a newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.document).unwrap_or_default()
    }
}

const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/// The reason and message that usually go with a code.
fn usual(code: u16) -> (&'static str, &'static str) {
    match code {
        400 => ("BadRequest", "the server rejected our request for an unknown reason"),
        401 => ("Unauthorized", "Unauthorized"),
        403 => ("Forbidden", "forbidden: not allowed"),
        404 => ("NotFound", "the server could not find the requested resource"),
        405 => ("MethodNotAllowed", "the server does not allow this method on the requested resource"),
        406 => ("NotAcceptable", "only the following media types are accepted: application/json"),
        409 => ("Conflict", "the server reported a conflict"),
        410 => ("Expired", "The resourceVersion for the provided watch is too old."),
        422 => ("Invalid", "the server rejected our request due to an error in our request"),
        429 => ("TooManyRequests", "the server has received too many requests and has asked us to try again later"),
        500 => ("InternalError", "Internal error occurred: injected"),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        504 => ("Timeout", "Timeout: request did not complete within the allotted timeout"),
        _ => ("", "unknown"),
    }
}
