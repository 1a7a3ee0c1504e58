//! One word on how an object is, whatever its kind.

use super::{pod_status::pod_status, tone::Tone};
use kube::core::DynamicObject;
use serde_json::Value;

/// Of a pod what kubectl says; of others the phase, readiness or replicas, where they have one. Never anything of a
/// body beyond `status` and the number of replicas.
pub fn status(object: &DynamicObject, is_pod: bool) -> String {
    let (meta, data) = (&object.metadata, &object.data);
    if is_pod {
        return pod_status(data, meta.deletion_timestamp.is_some());
    }
    if meta.deletion_timestamp.is_some() {
        return "Terminating".to_owned();
    }
    let status = &data["status"];
    if let Some(phase) = status["phase"].as_str() {
        return phase.to_owned();
    }
    if let Some(wanted) = data["spec"]["replicas"].as_u64() {
        return format!("{}/{wanted}", status["readyReplicas"].as_u64().unwrap_or_default());
    }
    let ready = status["conditions"].as_array().into_iter().flatten().find(|condition| condition["type"] == "Ready");
    ready.map_or_else(String::new, |ready: &Value| if ready["status"] == "True" { "Ready" } else { "NotReady" }.into())
}

/// Whether that is well, on its way, or not.
pub fn tone(status: &str) -> Tone {
    if let Some((ready, wanted)) = status.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))) {
        return if (wanted..=u64::MAX).contains(&ready) { Tone::Good } else { Tone::Changed };
    }
    match status {
        "" => Tone::Quiet,
        "Running" | "Succeeded" | "Completed" | "Active" | "Ready" | "Bound" | "Available" => Tone::Good,
        "Failed" | "Unknown" | "NotReady" | "Lost" | "Evicted" | "OOMKilled" | "NodeLost" => Tone::Bad,
        _ if ["BackOff", "Err", "Error", "Cannot"].iter().any(|part| status.contains(part)) => Tone::Bad,
        _ => Tone::Changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(value: Value, is_pod: bool) -> String {
        status(&serde_json::from_value(value).expect("an object"), is_pod)
    }

    #[test]
    fn by_what_the_kind_has() {
        let meta = json!({"name": "a"});
        assert_eq!(of(json!({"metadata": meta, "status": {"phase": "Running", "reason": "Evicted"}}), true), "Evicted");
        assert_eq!(of(json!({"metadata": meta, "status": {"phase": "Active"}}), false), "Active");
        assert_eq!(of(json!({"metadata": meta, "spec": {"replicas": 3}}), false), "0/3");
        let conditions = |ready: &str| json!([{"type": "DiskPressure"}, {"type": "Ready", "status": ready}]);
        assert_eq!(of(json!({"metadata": meta, "status": {"conditions": conditions("True")}}), false), "Ready");
        assert_eq!(of(json!({"metadata": meta, "status": {"conditions": conditions("Unknown")}}), false), "NotReady");
        let going = json!({"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(of(json!({"metadata": going, "status": {"phase": "Active"}}), false), "Terminating");
        assert_eq!(of(json!({"metadata": meta, "data": {"password": "secret"}}), false), "");
    }

    #[test]
    fn tones() {
        for (status, expected) in [
            ("Running", Tone::Good),
            ("18/18", Tone::Good),
            ("3/18", Tone::Changed),
            ("ContainerCreating", Tone::Changed),
            ("Init:0/1", Tone::Changed),
            ("CrashLoopBackOff", Tone::Bad),
            ("Init:ErrImagePull", Tone::Bad),
            ("", Tone::Quiet),
        ] {
            assert_eq!(tone(status), expected, "{status}");
        }
    }
}
