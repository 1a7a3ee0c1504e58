//! 429 on demand: the server gives the mirrors' user no seat at all, by its own priority and fairness.

use kube::Client;
use serde_json::{Value, json};

const GROUP: &str = "/apis/flowcontrol.apiserver.k8s.io/v1";

/// From now on the mirrors are turned away.
pub async fn begin(client: &Client) {
    let level = json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "PriorityLevelConfiguration",
        "metadata": { "name": "chaos" },
        "spec": {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": 0,
                "lendablePercent": 0,
                "borrowingLimitPercent": 0,
                "limitResponse": { "type": "Reject" },
            },
        },
    });
    let everything =
        json!({ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": true, "namespaces": ["*"] });
    let schema = json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "FlowSchema",
        "metadata": { "name": "chaos" },
        "spec": {
            "priorityLevelConfiguration": { "name": "chaos" },
            "matchingPrecedence": 100,
            "rules": [{
                "subjects": [{ "kind": "User", "user": { "name": "user" } }],
                "resourceRules": [everything],
            }],
        },
    });
    post(client, "prioritylevelconfigurations", &level).await;
    post(client, "flowschemas", &schema).await;
}

/// They are served again.
pub async fn end(client: &Client) {
    for plural in ["flowschemas", "prioritylevelconfigurations"] {
        let request = http::Request::delete(format!("{GROUP}/{plural}/chaos")).body(Vec::new());
        let answer = client.request_text(request.expect("a valid path")).await;
        answer.expect("end the throttling");
    }
}

async fn post(client: &Client, plural: &str, object: &Value) {
    let request = http::Request::post(format!("{GROUP}/{plural}"))
        .header("Content-Type", "application/json")
        .body(object.to_string().into_bytes());
    client.request_text(request.expect("a valid path")).await.expect("begin the throttling");
}
