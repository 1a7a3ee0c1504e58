use crate::{BoxError, GrammarError, Key, Status};
use std::{fmt, sync::Arc, time::Duration};

mod decode;
mod recover;
mod unreadable;
pub use self::decode::DecodeError;
pub use self::recover::{Recover, Recovery};
pub use self::unreadable::{Unreadable, UnreadableAs};

/// What failed, and what the stream that yielded it does next. Opaque, one word, cheap to clone.
///
/// A stream yields errors as items and goes on; [`recovery`](Error::recovery) says how.
///
/// # Formatting
///
/// `Display` prints this level only, [`source`](std::error::Error::source) has the rest. Neither they nor `Debug`
/// ever show a credential or an object's content. The text is not stable.
///
/// ```
/// use listwatch::{Error, Status};
///
/// let error = Error::from_status(Status::from_code(410).with_reason("Expired"));
/// assert!(error.is_expired());
/// assert_eq!(error.status().map(|status| status.code), Some(410));
/// assert_eq!(size_of::<Error>(), size_of::<usize>());
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: Kind,
    recovery: Recovery,
    retry_after: Option<Duration>,
    status: Option<Status>,
    object: Option<Unreadable>,
    what: Option<Box<str>>,
    request: Option<Box<str>>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unreachable,
    Interrupted,
    Silent,
    Answered,
    ErrorEvent,
    Garbage,
    NotAList,
    ShortWatch,
    Unreadable,
    NoWatchList,
    Refused,
    AnotherType,
    Grammar,
    Inconsistent,
    Config,
    NoResource,
    Other,
}

/// How sources and operators make errors. A `ListWatch` of one's own needs the first six.
impl Error {
    /// The server gave no answer: refused, reset or closed before it answered, a name not found, TLS, no answer in time.
    pub fn unreachable(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Unreachable).caused_by(source)
    }

    /// The answer began and then broke off.
    pub fn interrupted(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Interrupted).caused_by(source)
    }

    /// The server answered with this status.
    pub fn from_status(status: Status) -> Self {
        Self::with_status(Kind::Answered, status)
    }

    /// The server sent an `ERROR` event with this status.
    pub fn from_event(status: Status) -> Self {
        Self::with_status(Kind::ErrorEvent, status)
    }

    /// The answer is not what was asked for: no JSON, a line that is no event, an unknown type of event, too large.
    /// `what` says so in the source's own words, without the bytes.
    pub fn garbage(what: impl Into<String>) -> Self {
        Self::new(Kind::Garbage).saying(what)
    }

    /// One object does not decode; the rest goes on.
    pub fn unreadable(object: Unreadable, source: DecodeError) -> Self {
        let mut inner = Inner::new(Kind::Unreadable);
        inner.object = Some(object);
        Error(Arc::new(inner)).caused_by(source)
    }

    /// The source offers no watch-list; a LIST is tried instead.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(Kind::NoWatchList).saying(what)
    }

    /// Anything else. A watch that yields it is followed by a relist.
    pub fn other(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Other).caused_by(source)
    }

    /// A store, a fold or an operator does not take an event; the stream goes on without it.
    pub fn refused(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::Refused).caused_by(source)
    }

    /// An object is of another kind than the one expected; the stream goes on without it.
    pub fn wrong_kind(what: impl Into<String>) -> Self {
        Self::new(Kind::AnotherType).saying(what)
    }

    /// A configuration cannot be used; `what` names the place, never a secret.
    pub fn config(what: impl Into<String>) -> Self {
        Self::new(Kind::Config).saying(what)
    }

    /// A name means nothing that the server lists; `what` is the whole sentence, with where it was looked for.
    pub fn no_resource(what: impl Into<String>) -> Self {
        Self::new(Kind::NoResource).saying(what)
    }

    pub(crate) fn grammar(source: GrammarError) -> Self {
        Self::new(Kind::Grammar).caused_by(source)
    }

    pub(crate) fn inconsistent(what: impl Into<String>) -> Self {
        Self::new(Kind::Inconsistent).saying(what)
    }

    pub(crate) fn not_a_list(what: impl Into<String>) -> Self {
        Self::new(Kind::NotAList).saying(what)
    }

    pub(crate) fn silent(what: impl Into<String>) -> Self {
        Self::new(Kind::Silent).saying(what)
    }

    pub(crate) fn short_watch(source: impl Into<BoxError>) -> Self {
        Self::new(Kind::ShortWatch).caused_by(source)
    }

    /// The same error with another recovery.
    #[must_use]
    pub fn with_recovery(self, recovery: Recovery) -> Self {
        self.edit(|inner| inner.recovery = recovery)
    }

    /// The same error with a time to wait, cut to 5 minutes.
    #[must_use]
    pub fn with_retry_after(self, wait: Duration) -> Self {
        self.edit(|inner| inner.retry_after = Some(wait.min(MAX_RETRY_AFTER)))
    }

    /// The same error, saying which request failed, such as `list pods`. Must hold no credential.
    #[must_use]
    pub fn with_request(self, request: impl Into<String>) -> Self {
        self.edit(|inner| inner.request = Some(request.into().into()))
    }

    fn new(kind: Kind) -> Self {
        Error(Arc::new(Inner::new(kind)))
    }

    fn with_status(kind: Kind, status: Status) -> Self {
        let wait = status.retry_after;
        let error = Self::new(kind).edit(|inner| inner.status = Some(status));
        match wait {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        }
    }

    fn caused_by(self, source: impl Into<BoxError>) -> Self {
        self.edit(|inner| inner.source = Some(source.into().into()))
    }

    fn saying(self, what: impl Into<String>) -> Self {
        self.edit(|inner| inner.what = Some(what.into().into()))
    }

    fn edit(mut self, edit: impl FnOnce(&mut Inner)) -> Self {
        edit(Arc::make_mut(&mut self.0));
        self
    }
}

/// The longest `Retry-After` that is believed.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

impl Inner {
    fn new(kind: Kind) -> Self {
        let recovery = match kind {
            Kind::Unreadable | Kind::Refused | Kind::AnotherType | Kind::Grammar | Kind::Inconsistent => Recovery::Skip,
            Kind::NoWatchList => Recovery::Fallback,
            Kind::NotAList | Kind::Other | Kind::Config | Kind::NoResource => Recovery::Relist,
            _ => Recovery::Resume,
        };
        Inner { kind, recovery, retry_after: None, status: None, object: None, what: None, request: None, source: None }
    }
}

/// What the error says.
impl Error {
    /// What the stream that yielded this does next.
    pub fn recovery(&self) -> Recovery {
        self.0.recovery
    }

    /// When the server wants to be asked again: at most 5 minutes.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// What the server said: of an answer that is an error, or of an `ERROR` event.
    pub fn status(&self) -> Option<&Status> {
        self.0.status.as_ref()
    }

    /// What is known of an object that does not decode.
    pub fn object(&self) -> Option<&Unreadable> {
        self.0.object.as_ref()
    }

    /// The request that failed, such as `list pods`, where the source said it.
    pub fn request(&self) -> Option<&str> {
        self.0.request.as_deref()
    }

    pub(crate) fn kind(&self) -> Kind {
        self.0.kind
    }

    /// This occurs when the server gave no answer.
    pub fn is_unreachable(&self) -> bool {
        self.0.kind == Kind::Unreachable
    }

    /// This occurs when an answer broke off, or stayed silent for too long.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.0.kind, Kind::Interrupted | Kind::Silent)
    }

    /// This occurs when a version or a continue token is no longer held by the server: 410.
    pub fn is_expired(&self) -> bool {
        self.status().is_some_and(|s| matches!(&*s.reason, "Expired" | "Gone") || s.code == 410)
    }

    /// This occurs when the server has not reached a version yet: restored from a backup, or a replica that lags.
    pub fn is_too_large_version(&self) -> bool {
        crate::source::is_too_large(self.status())
    }

    /// This occurs when the server asks for fewer requests: 429.
    pub fn is_too_many_requests(&self) -> bool {
        self.status().is_some_and(|s| s.reason == "TooManyRequests" || s.code == 429)
    }

    /// This occurs when credentials are not accepted: 401.
    pub fn is_unauthorized(&self) -> bool {
        self.status().is_some_and(|s| s.reason == "Unauthorized" || s.code == 401)
    }

    /// This occurs when the credentials have no right to this: 403.
    pub fn is_forbidden(&self) -> bool {
        self.status().is_some_and(|s| s.reason == "Forbidden" || s.code == 403)
    }

    /// This occurs when the server does not know the resource: 404.
    pub fn is_not_found(&self) -> bool {
        self.status().is_some_and(|s| s.reason == "NotFound" || s.code == 404)
    }

    /// This occurs when the resource cannot be watched: 405 on a watch. [`poll_every`](crate::source::ListWatch::poll_every) can.
    pub fn is_unwatchable(&self) -> bool {
        self.status().is_some_and(|s| s.reason == "MethodNotAllowed" || s.code == 405)
    }

    /// This occurs when an answer is not what was asked for: not JSON, not a list, not an event.
    pub fn is_garbage(&self) -> bool {
        matches!(self.0.kind, Kind::Garbage | Kind::NotAList)
    }

    /// This occurs when a watch ended within a second without an event.
    #[doc(alias = "VeryShortWatchError")]
    pub fn is_short_watch(&self) -> bool {
        self.0.kind == Kind::ShortWatch
    }

    /// This occurs when one object does not decode; [`object`](Error::object) says which.
    pub fn is_unreadable(&self) -> bool {
        self.0.kind == Kind::Unreadable
    }

    /// This occurs when a watch-list is not offered, or did not come to its end.
    pub fn is_unsupported(&self) -> bool {
        self.0.kind == Kind::NoWatchList
    }

    /// This occurs when a store, a fold or an operator does not take an event.
    pub fn is_refused(&self) -> bool {
        self.0.kind == Kind::Refused
    }

    /// This occurs when an object is of another kind than the one expected.
    pub fn is_wrong_kind(&self) -> bool {
        self.0.kind == Kind::AnotherType
    }

    /// This occurs when an event stands where the grammar does not allow it.
    pub fn is_grammar(&self) -> bool {
        self.0.kind == Kind::Grammar
    }

    /// This occurs when [`verify_with`](crate::EventStreamExt::verify_with) finds that a snapshot is not what the
    /// server lists at its version; the text names the objects.
    pub fn is_inconsistent(&self) -> bool {
        self.0.kind == Kind::Inconsistent
    }

    /// This occurs when a configuration cannot be used.
    pub fn is_config(&self) -> bool {
        self.0.kind == Kind::Config
    }

    /// This occurs when a name means nothing that the server lists: it has no such resource, or it is a subresource.
    pub fn is_no_resource(&self) -> bool {
        self.0.kind == Kind::NoResource
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(request) = &inner.request {
            write!(f, "{request}: ")?;
        }
        f.write_str(match inner.kind {
            Kind::Unreachable => "the server gave no answer",
            Kind::Interrupted => "the answer broke off",
            Kind::Silent => "the answer stayed silent",
            Kind::Answered => "the server answered",
            Kind::ErrorEvent => "the watch brought an error",
            Kind::Garbage => "the answer is not what was asked for",
            Kind::NotAList => "the answer is not a list",
            Kind::ShortWatch => "the watch ended at once without an event",
            Kind::Unreadable => "an object does not decode",
            Kind::NoWatchList => "no watch-list",
            Kind::Refused => "an event was refused",
            Kind::AnotherType => "an object of another kind",
            Kind::Grammar => "an event out of place",
            Kind::Inconsistent => "what is mirrored is not what the server has",
            Kind::Config => "the configuration cannot be used",
            Kind::NoResource => return f.write_str(inner.what.as_deref().unwrap_or_default()),
            Kind::Other => "the source failed",
        })?;
        if let Some(what) = &inner.what {
            write!(f, ": {what}")?;
        }
        if let Some(status) = &inner.status {
            write!(f, ": {status}")?;
        }
        if let Some(object) = &inner.object {
            write!(f, ": {object}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Error");
        out.field("message", &format_args!("{self}")).field("recovery", &self.0.recovery);
        if let Some(wait) = self.0.retry_after {
            out.field("retry_after", &wait);
        }
        if let Some(source) = &self.0.source {
            out.field("source", &format_args!("{source}"));
        }
        out.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// So that streams of `Result<_, String>` can be reflected.
impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}

impl Recover for Error {
    fn recovery(&self) -> Recovery {
        self.0.recovery
    }
    fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }
    fn object(&self) -> Option<&Unreadable> {
        self.0.object.as_ref()
    }
}

impl Unreadable {
    /// The key of the object.
    pub fn key(&self) -> Key<'_> {
        Key { namespace: &self.namespace, name: &self.name }
    }
}
