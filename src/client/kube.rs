use super::{Headers, ListDecoder, Request, Response, WatchDecoder, answer::judged, chain::chain};
use crate::{
    Error, Object, Status,
    source::{ListBody, ListParams, ListWatch, WatchBody, WatchParams},
};
use futures::{StreamExt, TryStreamExt};
use http_body_util::BodyExt;
use kube_client::{Api, client::Body};

/// Who has a `kube::Client` brings it, with all its layers. Note kube-client's own retries of 429, 503 and 504 lie
/// below, unless its `Config` says otherwise: failures come later and rarer than the server sends them.
impl<K> ListWatch for Api<K>
where
    K: Object + kube_core::Resource + Clone,
{
    type Object = K;

    async fn list_page(&self, params: ListParams) -> Result<ListBody<K>, Error> {
        let decoder = ListDecoder::new().max_item_size(params.max_event_size);
        let request = Request::list(self.resource_url().to_owned(), params);
        Ok(decoder.decode(send::<K>(self, "list", request).await?.into_body()))
    }

    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<K>, Error> {
        let decoder = WatchDecoder::new().max_event_size(params.max_event_size);
        let request = Request::watch(self.resource_url().to_owned(), params);
        Ok(decoder.decode(send::<K>(self, "watch", request).await?.into_body()))
    }

    fn resource(&self) -> &str {
        self.resource_url().rsplit('/').next().unwrap_or_default()
    }

    fn namespace(&self) -> &str {
        Api::namespace(self).unwrap_or_default()
    }
}

async fn send<K: kube_core::Resource + Clone>(api: &Api<K>, verb: &str, request: Request) -> Result<Response, Error> {
    let request = if K::metadata_api() { request.metadata_only() } else { request };
    let mut outgoing = http::Request::get(request.path_and_query());
    for (name, value) in request.headers().iter() {
        outgoing = outgoing.header(name, value);
    }
    let answered = async {
        let outgoing = outgoing.body(Body::empty()).map_err(|_| Error::config("the request cannot be written"))?;
        let answer = api.clone().into_client().send(outgoing).await.map_err(unanswered)?;
        judged(response(answer)).await
    };
    answered.await.map_err(|error| {
        let url = api.resource_url();
        error.with_request(format!("{verb} {}", url.rsplit('/').next().unwrap_or_default()))
    })
}

fn response(answer: http::Response<Body>) -> Response {
    let (head, body) = answer.into_parts();
    let mut headers = Headers::default();
    for (name, value) in &head.headers {
        if let Ok(value) = value.to_str() {
            headers.add(name.as_str(), value);
        }
    }
    let chunks = body.into_data_stream().map_err(|error| Error::interrupted(chain(&error)));
    Response::new(head.status.as_u16(), chunks.boxed()).with_headers(headers)
}

/// What failed before there was an answer. Errors about credentials may quote what a command printed.
fn unanswered(error: kube_client::Error) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(at) = cause {
        if at.is::<kube_client::client::AuthError>() {
            let status = Status::from_code(401).with_reason("Unauthorized");
            return Error::from_status(status.with_message("no credential: kube-client has failed to get one"));
        }
        cause = at.source();
    }
    Error::unreachable(chain(&error))
}
