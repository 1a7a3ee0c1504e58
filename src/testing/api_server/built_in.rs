//! The resources a server has from the start.

use super::resource::Resource;

const TEMPLATE: &str = r#""template":{"metadata":{},"spec":{"containers":null}}"#;

/// The well-known built-in resources, as a real server serves them.
pub(super) fn built_in() -> Vec<Resource> {
    let mut all = core();
    all.extend(apps());
    all.extend(others());
    all
}

fn core() -> Vec<Resource> {
    let r = Resource::built_in;
    let create = ["create"];
    vec![
        r("bindings").verbs(create),
        r("configmaps").with_kind("ConfigMap").short_name("cm"),
        r("endpoints").with_kind("Endpoints").short_name("ep"),
        event_fields(r("events")).short_name("ev").uncached().blank(
            r#""involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":"""#,
        ),
        r("namespaces").short_name("ns").cluster_scoped().selectable("status.phase").blank(r#""spec":{},"status":{}"#),
        r("nodes").short_name("no").cluster_scoped().selectable("spec.unschedulable").blank(
            r#""spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}"#,
        ),
        r("persistentvolumeclaims")
            .with_kind("PersistentVolumeClaim")
            .short_name("pvc")
            .blank(r#""spec":{"resources":{}},"status":{}"#),
        r("persistentvolumes")
            .with_kind("PersistentVolume")
            .short_name("pv")
            .cluster_scoped()
            .blank(r#""spec":{},"status":{}"#),
        ["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.podIP"]
            .into_iter()
            .fold(r("pods").short_name("po").counted(), Resource::selectable)
            .blank(r#""spec":{"containers":null},"status":{}"#),
        r("replicationcontrollers")
            .with_kind("ReplicationController")
            .short_name("rc")
            .counted()
            .selectable("status.replicas")
            .blank(r#""spec":{},"status":{"replicas":0}"#),
        r("secrets").selectable("type"),
        r("serviceaccounts").with_kind("ServiceAccount").short_name("sa"),
        r("services")
            .short_name("svc")
            .selectable("spec.clusterIP")
            .selectable("spec.type")
            .blank(r#""spec":{},"status":{"loadBalancer":{}}"#),
    ]
}

fn event_fields(events: Resource) -> Resource {
    let fields = [
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ];
    fields.into_iter().fold(events, Resource::selectable)
}

fn apps() -> Vec<Resource> {
    let r = |name: &str| Resource::built_in(name).counted();
    let daemons =
        r#""status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}"#;
    vec![
        r("daemonsets.apps")
            .with_kind("DaemonSet")
            .short_name("ds")
            .blank(&format!(r#""spec":{{"selector":null,{TEMPLATE},"updateStrategy":{{}}}},{daemons}"#)),
        r("deployments.apps").short_name("deploy").blank(&format!(
            r#""spec":{{"replicas":0,"selector":null,{TEMPLATE},"strategy":{{}}}},"status":{{}}"#
        )),
        r("replicasets.apps")
            .with_kind("ReplicaSet")
            .short_name("rs")
            .selectable("status.replicas")
            .blank(&format!(r#""spec":{{"replicas":0,"selector":null,{TEMPLATE}}},"status":{{"replicas":0}}"#)),
        r("statefulsets.apps").with_kind("StatefulSet").short_name("sts").blank(&format!(
            r#""spec":{{"replicas":0,"selector":null,{TEMPLATE},"serviceName":"","updateStrategy":{{}}}},"status":{{"replicas":0,"availableReplicas":0}}"#
        )),
    ]
}

fn others() -> Vec<Resource> {
    let r = Resource::built_in;
    vec![
        r("tokenreviews.authentication.k8s.io").with_kind("TokenReview").cluster_scoped().verbs(["create"]),
        r("jobs.batch")
            .counted()
            .selectable("status.successful")
            .blank(&format!(r#""spec":{{{TEMPLATE}}},"status":{{}}"#)),
        r("cronjobs.batch").with_kind("CronJob").short_name("cj").counted().blank(&format!(
            r#""spec":{{"schedule":"","jobTemplate":{{"metadata":{{}},"spec":{{{TEMPLATE}}}}}}},"status":{{}}"#
        )),
        r("leases.coordination.k8s.io").blank(r#""spec":{}"#),
        r("endpointslices.discovery.k8s.io")
            .with_kind("EndpointSlice")
            .blank(r#""addressType":"","endpoints":null,"ports":null"#),
        r("ingresses.networking.k8s.io")
            .with_kind("Ingress")
            .short_name("ing")
            .counted()
            .blank(r#""spec":{},"status":{"loadBalancer":{}}"#),
        r("roles.rbac.authorization.k8s.io").blank(r#""rules":null"#),
        r("clusterroles.rbac.authorization.k8s.io").with_kind("ClusterRole").cluster_scoped().blank(r#""rules":null"#),
    ]
}
