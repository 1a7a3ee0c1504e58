//! The one word that kubectl has for how a pod is.

use serde_json::Value;

/// What `kubectl get pods` prints under STATUS, from a pod's JSON.
pub fn pod_status(pod: &Value, deleting: bool) -> String {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let phase = text(&status["phase"]).unwrap_or("Unknown");
    let reason = text(&status["reason"]);
    let mut word = gated(status).or(reason).unwrap_or(phase).to_owned();
    if let Some(initializing) = initializing(spec, status) {
        word = initializing;
    } else {
        let containers = list(&status["containerStatuses"]);
        if let Some(said) = containers.iter().find_map(said) {
            word = said;
        }
        let is_up = |container: &Value| container["state"].get("running").is_some() && container["ready"] == true;
        if word == "Completed" && containers.iter().any(is_up) {
            let ready = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
            word = if list(&status["conditions"]).iter().any(ready) { "Running" } else { "NotReady" }.to_owned();
        }
    }
    if deleting && reason == Some("NodeLost") {
        "Unknown".to_owned()
    } else if deleting && !matches!(phase, "Failed" | "Succeeded") {
        "Terminating".to_owned()
    } else {
        word
    }
}

/// Where the pod's init containers stand, unless they are done.
fn initializing(spec: &Value, status: &Value) -> Option<String> {
    let declared = list(&spec["initContainers"]);
    let is_sidecar = |name: &Value| declared.iter().any(|c| c["name"] == *name && c["restartPolicy"] == "Always");
    list(&status["initContainerStatuses"]).iter().enumerate().find_map(|(at, container)| {
        let state = &container["state"];
        if state["terminated"]["exitCode"] == 0 || is_sidecar(&container["name"]) && container["started"] == true {
            return None;
        }
        let waits = text(&state["waiting"]["reason"]).filter(|reason| *reason != "PodInitializing");
        Some(match (state.get("terminated"), waits) {
            (Some(terminated), _) => format!("Init:{}", ended(terminated)),
            (None, Some(reason)) => format!("Init:{reason}"),
            (None, None) => format!("Init:{at}/{}", declared.len()),
        })
    })
}

/// What a container says of itself, if it waits or has ended.
fn said(container: &Value) -> Option<String> {
    let state = &container["state"];
    let waits = text(&state["waiting"]["reason"]).map(str::to_owned);
    waits.or_else(|| state.get("terminated").map(ended))
}

fn ended(terminated: &Value) -> String {
    match (text(&terminated["reason"]), terminated["signal"].as_i64().unwrap_or(0)) {
        (Some(reason), _) => reason.to_owned(),
        (None, 0) => format!("ExitCode:{}", terminated["exitCode"].as_i64().unwrap_or(0)),
        (None, signal) => format!("Signal:{signal}"),
    }
}

fn gated(status: &Value) -> Option<&str> {
    let gated = |condition: &&Value| condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated";
    list(&status["conditions"]).iter().find(gated).map(|_| "SchedulingGated")
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(status: Value) -> String {
        pod_status(&json!({"spec": {"initContainers": [{"name": "i"}]}, "status": status}), false)
    }

    #[test]
    fn phase_and_reason() {
        assert_eq!(of(json!({"phase": "Pending"})), "Pending");
        assert_eq!(of(json!({"phase": "Failed", "reason": "Evicted"})), "Evicted");
        assert_eq!(of(json!(null)), "Unknown");
        let gated = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]});
        assert_eq!(of(gated), "SchedulingGated");
    }

    #[test]
    fn containers_that_wait_or_ended() {
        let with = |state: Value| of(json!({"phase": "Running", "containerStatuses": [{"state": state}]}));
        assert_eq!(with(json!({"running": {}})), "Running");
        assert_eq!(with(json!({"waiting": {"reason": "CrashLoopBackOff"}})), "CrashLoopBackOff");
        assert_eq!(with(json!({"terminated": {"reason": "OOMKilled"}})), "OOMKilled");
        assert_eq!(with(json!({"terminated": {"exitCode": 3}})), "ExitCode:3");
        assert_eq!(with(json!({"terminated": {"exitCode": 137, "signal": 9}})), "Signal:9");
    }

    #[test]
    fn one_container_completed_beside_a_running_one() {
        let status = |ready: &str| {
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": ready}], "containerStatuses": [
                {"state": {"terminated": {"reason": "Completed"}}}, {"ready": true, "state": {"running": {}}}]})
        };
        assert_eq!(of(status("True")), "Running");
        assert_eq!(of(status("False")), "NotReady");
    }

    #[test]
    fn init_containers() {
        let with =
            |state: Value| of(json!({"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": state}]}));
        assert_eq!(with(json!({"running": {}})), "Init:0/1");
        assert_eq!(with(json!({"waiting": {"reason": "PodInitializing"}})), "Init:0/1");
        assert_eq!(with(json!({"waiting": {"reason": "ErrImagePull"}})), "Init:ErrImagePull");
        assert_eq!(with(json!({"terminated": {"exitCode": 1, "reason": "Error"}})), "Init:Error");
        assert_eq!(with(json!({"terminated": {"exitCode": 0}})), "Pending");
    }

    #[test]
    fn deletion() {
        let pod = |status: Value| pod_status(&json!({ "status": status }), true);
        assert_eq!(pod(json!({"phase": "Running"})), "Terminating");
        assert_eq!(pod(json!({"phase": "Succeeded"})), "Succeeded");
        assert_eq!(pod(json!({"phase": "Running", "reason": "NodeLost"})), "Unknown");
    }
}
