use super::{AnySource, Credential};
use crate::{Error, Status};
use std::{fmt, time::Duration};
use tokio::{sync::Mutex, time::Instant};

/// A source that failed is left alone for so long where an older credential serves.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// The credential in use, shared by all requests of a client. Whoever finds it stale fetches it for the others.
pub(in crate::client) struct Cache {
    source: Box<dyn AnySource>,
    held: Mutex<Option<Held>>,
}

struct Held {
    credential: Credential,
    until: Option<Instant>,
}

impl Cache {
    pub(in crate::client) fn new(source: Box<dyn AnySource>) -> Self {
        Cache { source, held: Mutex::new(None) }
    }

    /// The credential for the next request.
    pub(in crate::client) async fn current(&self) -> Result<Credential, Error> {
        let mut held = self.held.lock().await;
        if let Some(Held { credential, until }) = &*held
            && until.is_none_or(|until| Instant::now() < until)
        {
            return Ok(credential.clone());
        }
        match self.fetch(&mut held).await {
            Ok(credential) => Ok(credential),
            Err(error) => match &mut *held {
                Some(old) => {
                    tracing::warn!(%error, "the last credential stays in use");
                    old.until = Some(Instant::now() + AFTER_FAILURE);
                    Ok(old.credential.clone())
                }
                None => Err(error),
            },
        }
    }

    /// Another credential than the one that was refused, if there is one.
    pub(in crate::client) async fn other_than(&self, refused: &Credential) -> Result<Option<Credential>, Error> {
        let mut held = self.held.lock().await;
        if let Some(Held { credential, .. }) = &*held
            && !credential.shows_the_same(refused)
        {
            return Ok(Some(credential.clone())); // another request has fetched it
        }
        *held = None;
        let fresh = self.fetch(&mut held).await?;
        Ok((!fresh.shows_the_same(refused)).then_some(fresh))
    }

    async fn fetch(&self, held: &mut Option<Held>) -> Result<Credential, Error> {
        let credential = self.source.fetch().await.map_err(|error| {
            let status = Status::from_code(401).with_reason("Unauthorized");
            Error::from_status(status.with_message(format!("no credential: {error}")))
        })?;
        let until = credential.lifetime().map(|time| Instant::now() + time);
        *held = Some(Held { credential: credential.clone(), until });
        Ok(credential)
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BoxError;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    /// Says T1, T2 and so on, from the `fails` on errors.
    fn counting(valid_for: Option<Duration>, fails: usize) -> (Cache, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        let source = move || {
            let n = counter.fetch_add(1, Relaxed) + 1;
            async move {
                if n >= fails {
                    return Err(BoxError::from("the vault is closed"));
                }
                let credential = Credential::bearer(format!("T{n}"));
                Ok(match valid_for {
                    Some(time) => credential.valid_for(time),
                    None => credential,
                })
            }
        };
        (Cache::new(Box::new(source)), calls)
    }

    async fn shown(cache: &Cache) -> String {
        cache.current().await.expect("a credential").header().unwrap_or_default().to_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn a_credential_is_kept_until_its_time_is_over() {
        let (cache, calls) = counting(Some(Duration::from_secs(60)), 9);
        assert_eq!(shown(&cache).await, "Bearer T1");
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(shown(&cache).await, "Bearer T1");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(shown(&cache).await, "Bearer T2");
        assert_eq!(calls.load(Relaxed), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn one_refusal_is_one_call_for_all_who_were_refused() {
        let (cache, calls) = counting(None, 9);
        let first = cache.current().await.unwrap();
        let others = futures::future::join_all((0..10).map(|_| cache.other_than(&first))).await;
        assert!(others.iter().all(|other| other.as_ref().unwrap().as_ref().unwrap().header() == Some("Bearer T2")));
        assert_eq!(calls.load(Relaxed), 2);
        tokio::time::advance(Duration::from_secs(1 << 20)).await;
        assert_eq!(shown(&cache).await, "Bearer T2");
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_again_is_no_other() {
        let cache = Cache::new(Box::new(async || Ok::<_, BoxError>(Credential::bearer("T"))));
        let first = cache.current().await.unwrap();
        assert_eq!(cache.other_than(&first).await.unwrap(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_fails_leaves_the_last_one_in_use_until_it_is_refused() {
        let (cache, calls) = counting(Some(Duration::from_secs(1)), 2);
        let first = cache.current().await.unwrap();
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(shown(&cache).await, "Bearer T1");
        assert_eq!(shown(&cache).await, "Bearer T1");
        assert_eq!(calls.load(Relaxed), 2, "a failed source is not asked at each request");
        let error = cache.other_than(&first).await.unwrap_err();
        assert!(error.is_unauthorized() && error.to_string().contains("the vault is closed"), "{error}");
    }
}
