//! Pods of 1.5 kB, as `peers/server` makes them, and sources of any number of them without a network.

#![allow(dead_code, reason = "each bench uses its part")]

use bytes::Bytes;
use futures::{Stream, stream};
use listwatch::{
    DecodeError, Error, Identity, Object,
    client::{Client, Request, RequestKind, Response},
};

/// The JSON of one Pod.
pub fn pod(n: usize, version: usize) -> String {
    format!(
        concat!(
            r#"{{"metadata":{{"name":"pod-{n:06}","namespace":"ns-{ns:03}","uid":"00000000-0000-4000-8000-{n:012}","#,
            r#""resourceVersion":"{version}","creationTimestamp":"2023-11-14T22:13:20Z","labels":{{"app":"app-{app}","#,
            r#""pod-template-hash":"5d4f8c7b9"}},"annotations":{{"checksum/config":"e3b0c44298fc1c149afbf4c8996fb924"}},"#,
            r#""ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"11111111-1111-4111-8111-111111111111"}}]}},"#,
            r#""spec":{{"containers":[{{"name":"main","image":"registry.example.com/app:v1.2.3","ports":[{{"name":"http","#,
            r#""containerPort":8080,"protocol":"TCP"}}],"env":[{{"name":"A","value":"1"}},{{"name":"B","value":"two"}},"#,
            r#"{{"name":"C","value":"three"}}],"resources":{{}},"terminationMessagePath":"/dev/termination-log","#,
            r#""imagePullPolicy":"IfNotPresent"}}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst","#,
            r#""serviceAccountName":"default","nodeName":"node-{node:03}","schedulerName":"default-scheduler"}},"#,
            r#""status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True","lastProbeTime":null,"#,
            r#""lastTransitionTime":"2023-11-14T22:13:30Z"}},{{"type":"PodScheduled","status":"True","lastProbeTime":null,"#,
            r#""lastTransitionTime":"2023-11-14T22:13:21Z"}}],"hostIP":"10.0.0.1","podIP":"10.1.2.3","containerStatuses":"#,
            r#"[{{"name":"main","state":{{}},"lastState":{{}},"ready":true,"restartCount":0,"image":"registry.example.com/app:v1.2.3","#,
            r#""imageID":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","containerID":"containerd://bbbb"}}]}}}}"#,
        ),
        n = n,
        ns = n % 100,
        version = version,
        app = n % 50,
        node = n % 300,
    )
}

/// A list of so many, in chunks of some 64 KiB that are made as they are read.
pub fn list(pods: usize) -> impl Stream<Item = Result<Bytes, Error>> + Send + 'static {
    const A_CHUNK: usize = 48;
    let chunks = (0..pods.div_ceil(A_CHUNK)).map(move |chunk| {
        let from = chunk * A_CHUNK;
        let mut text = String::new();
        for n in from..pods.min(from + A_CHUNK) {
            text.push_str(if n == 0 {
                r#"{"kind":"PodList","metadata":{"resourceVersion":"1000000"},"items":["#
            } else {
                ","
            });
            text.push_str(&pod(n, n + 1));
        }
        if from + A_CHUNK >= pods {
            text.push_str("]}");
        }
        Ok(text.into())
    });
    stream::iter(chunks)
}

/// A client of a server that has so many Pods, lists them in one answer, and never says more.
pub fn client(pods: usize) -> Client {
    Client::with_transport(move |request: Request| async move {
        Ok::<_, Error>(match request.kind() {
            RequestKind::List => Response::new(200, list(pods)),
            _ => Response::new(200, stream::pending()),
        })
    })
}

/// What a scheduler's view of a Pod needs.
#[derive(serde::Deserialize)]
pub struct SlimPod {
    metadata: Metadata,
    spec: Spec,
    status: Status,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    namespace: Box<str>,
    name: Box<str>,
    uid: Box<str>,
    resource_version: Box<str>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<Box<str>>,
}

#[derive(serde::Deserialize)]
struct Status {
    phase: Option<Box<str>>,
}

impl Object for SlimPod {
    fn identity(&self) -> Identity<'_> {
        let Metadata { namespace, name, uid, resource_version } = &self.metadata;
        Identity { namespace, name, uid, resource_version }
    }

    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        listwatch::decode_json(json)
    }
}
