use super::{Credential, CredentialSource};
use crate::BoxError;
use std::{path::PathBuf, time::Duration};

/// A bearer token in a file that others replace, such as a service account's: read again every 10 s at most, and when
/// the server refuses it.
#[derive(Clone, Debug)]
pub struct TokenFile(PathBuf);

impl TokenFile {
    /// Read at the first request, not now.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        TokenFile(path.into())
    }
}

impl CredentialSource for TokenFile {
    async fn fetch(&self) -> Result<Credential, BoxError> {
        let path = self.0.clone();
        let token = tokio::task::spawn_blocking(move || std::fs::read_to_string(path))
            .await?
            .map_err(|error| format!("token file {}: {error}", self.0.display()))?;
        if token.trim().is_empty() {
            return Err(format!("token file {} is empty", self.0.display()).into());
        }
        Ok(Credential::bearer(token).valid_for(Duration::from_secs(10)))
    }
}
