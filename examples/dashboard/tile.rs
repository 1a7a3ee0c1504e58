//! What the page is told of an object.

use super::{
    status::{status, tone},
    tone::Tone,
};
use kube::core::DynamicObject;
use listwatch::store::Noted;
use serde_json::{Value, json};

/// What happened to a tile of the resource with this number; `None` for what is not about one.
pub fn message(resource: usize, is_pod: bool, noted: &Noted<DynamicObject>) -> Option<Value> {
    match noted {
        Noted::Added { object, initial } => Some(tile(resource, is_pod, object, if *initial { "" } else { "added" })),
        Noted::Updated { new, .. } => Some(tile(resource, is_pod, new, "updated")),
        Noted::Deleted { last, .. } => {
            Some(json!({"op": "gone", "resource": resource, "namespace": last.namespace, "name": last.name}))
        }
        Noted::Synced { initial: true, .. } => Some(json!({"op": "complete", "resource": resource})),
        Noted::Synced { .. } | Noted::Bookmark(_) | Noted::Watching(_) => None,
    }
}

/// Names, age, status, version, and of a pod its node: nothing else of the body.
fn tile(resource: usize, is_pod: bool, object: &DynamicObject, news: &str) -> Value {
    let meta = &object.metadata;
    let status = status(object, is_pod);
    let tone = match tone(&status) {
        Tone::Good => "good",
        Tone::Changed => "changing",
        Tone::Bad => "bad",
        Tone::Quiet => "quiet",
    };
    json!({
        "op": "tile",
        "resource": resource,
        "namespace": meta.namespace.as_deref().unwrap_or_default(),
        "name": meta.name,
        "created": meta.creation_timestamp.as_ref().map(|time| time.0.as_second()),
        "version": meta.resource_version,
        "status": status,
        "tone": tone,
        "node": is_pod.then(|| object.data["spec"]["nodeName"].as_str()).flatten(),
        "news": news,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn nothing_of_a_body() {
        let secret = json!({
            "metadata": {"namespace": "shop", "name": "key", "annotations": {"last": "hunter2"}},
            "data": {"password": "hunter2"}, "stringData": {"a": "hunter2"}, "type": "hunter2",
        });
        let object = Arc::new(serde_json::from_value(secret).expect("an object"));
        let told = message(0, false, &Noted::Added { object, initial: false }).expect("a tile").to_string();
        assert!(told.contains("\"name\":\"key\"") && !told.contains("hunter2"), "{told}");
    }
}
