use std::{fmt, sync::Arc, time::Duration};

/// What a client shows to the server. `Debug` shows none of it.
///
/// ```
/// use listwatch::client::Credential;
///
/// let credential = Credential::bearer("hunter2");
/// assert!(!format!("{credential:?}").contains("hunter2"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    authorization: Option<Arc<str>>,
    identity: Option<Identity>,
    valid_for: Option<Duration>,
}

/// A client certificate with its key, both PEM.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::client) struct Identity {
    pub(in crate::client) certificate: Arc<str>,
    pub(in crate::client) key: Arc<str>,
}

impl Credential {
    /// A bearer token; space around it is no part of it.
    pub fn bearer(token: impl AsRef<str>) -> Self {
        Self::authorization(format!("Bearer {}", token.as_ref().trim()))
    }

    /// The whole value of the `Authorization` header.
    pub fn authorization(value: impl Into<String>) -> Self {
        Credential { authorization: Some(value.into().into()), ..Self::none() }
    }

    /// A client certificate and its key, both PEM.
    pub fn certificate(certificate: impl Into<String>, key: impl Into<String>) -> Self {
        let identity = Identity { certificate: certificate.into().into(), key: key.into().into() };
        Credential { identity: Some(identity), ..Self::none() }
    }

    /// Nothing: the server sees an anonymous user, or one whom the transport shows.
    pub fn none() -> Self {
        Credential { authorization: None, identity: None, valid_for: None }
    }

    /// When its source is to be asked again, from now. Default: once the server refuses it.
    #[must_use]
    pub fn valid_for(mut self, time: Duration) -> Self {
        self.valid_for = Some(time);
        self
    }

    /// The same with a bearer token, if there is one.
    pub(super) fn and_bearer(mut self, token: Option<String>) -> Self {
        self.authorization = token.and_then(|token| Self::bearer(token).authorization);
        self
    }

    pub(super) fn lifetime(&self) -> Option<Duration> {
        self.valid_for
    }

    pub(in crate::client) fn header(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    pub(in crate::client) fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// Whether the server would see the same.
    pub(super) fn shows_the_same(&self, other: &Credential) -> bool {
        self.authorization == other.authorization && self.identity == other.identity
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("authorization", &self.authorization.is_some())
            .field("certificate", &self.identity.is_some())
            .field("valid_for", &self.valid_for)
            .finish()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}
