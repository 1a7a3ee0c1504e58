//! What an answer means, judged before any of its body is decoded.

use super::{Response, decode::status_in, retry_after::retry_after};
use crate::{Error, Status};
use futures::StreamExt;
use std::time::{Duration, SystemTime};
use tokio::time::timeout;

/// So much of an error's body is read.
const MAX_ERROR_BODY: usize = 64 << 10;
/// And for so long.
const ERROR_BODY_TIME: Duration = Duration::from_secs(10);

/// The answer, if it is the JSON that was asked for.
pub(super) async fn judged(response: Response) -> Result<Response, Error> {
    match response.status() {
        200 => match response.headers().get("content-type").map(media_type) {
            None | Some("application/json") => Ok(response),
            Some(other) => Err(Error::garbage(format!("it is of type {}", shortened(other)))),
        },
        status @ (0..300) => Err(Error::garbage(format!("its status is {status}"))),
        status @ 300..400 => Err(redirected(status, response.headers().get("location"))),
        _ => Err(failure(response).await),
    }
}

fn media_type(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(at, _)| &text[..at])
}

fn redirected(status: u16, location: Option<&str>) -> Error {
    let host = location.and_then(|location| location.split("://").nth(1)).map(|rest| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.rsplit('@').next().unwrap_or_default()
    });
    let message = match host {
        Some(host) => format!("a redirect to {}, which is not followed", shortened(host)),
        None => "a redirect, which is not followed".to_owned(),
    };
    Error::from_status(Status::from_code(status).with_message(message))
}

/// An answer that is an error: what it says itself, else its code.
async fn failure(response: Response) -> Error {
    let code = response.status();
    let wait = response.headers().get("retry-after").and_then(|value| retry_after(value, SystemTime::now()));
    let kind = response.headers().get("content-type").map(media_type).map(shortened).unwrap_or_default().to_owned();
    let mut body = Vec::new();
    let mut chunks = response.into_body();
    // However it ends, what has come of it is looked at.
    let _ = timeout(ERROR_BODY_TIME, async {
        while let Some(Ok(chunk)) = chunks.next().await {
            body.extend_from_slice(&chunk[..chunk.len().min(MAX_ERROR_BODY - body.len())]);
            if body.len() == MAX_ERROR_BODY {
                break;
            }
        }
    })
    .await;
    let mut status = status_in(&body).unwrap_or_else(|| {
        Status::from_code(code).with_message(format!("an answer without a Status, of type {kind:?}"))
    });
    if status.code == 0 {
        status.code = code;
    }
    status.retry_after = wait.or(status.retry_after);
    Error::from_status(status)
}
