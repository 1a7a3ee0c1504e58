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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_token_is_good_for_ten_seconds_and_none_is_an_error() {
        let path = std::env::temp_dir().join(format!("listwatch-token-file-{}", std::process::id()));
        let source = TokenFile::new(&path);
        std::fs::write(&path, "T1\n").expect("written");
        let token = source.fetch().await.expect("a token");
        assert_eq!((token.header(), token.lifetime()), (Some("Bearer T1"), Some(Duration::from_secs(10))));
        std::fs::write(&path, " \n").expect("written");
        let empty = source.fetch().await.unwrap_err().to_string();
        assert!(empty.contains("is empty") && empty.contains(&path.display().to_string()), "{empty}");
        std::fs::remove_file(&path).expect("removed");
        assert!(source.fetch().await.is_err());
    }
}
