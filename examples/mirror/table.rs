//! Objects as lines of a table, aligned as kubectl's.

use super::{age::age, pod_status::pod_status};
use k8s_openapi::jiff::Timestamp;
use kube::core::{ApiResource, DynamicObject};

/// Which columns a table has.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    namespace: bool,
    pod: bool,
}

impl Columns {
    /// Those of a resource, with the namespace where several may come.
    pub fn of(resource: &ApiResource, namespace: bool) -> Self {
        Columns { namespace, pod: resource.group.is_empty() && resource.kind == "Pod" }
    }

    /// Their names.
    pub fn names(self) -> Vec<String> {
        let pod: &[&str] = if self.pod { &["STATUS", "NODE"] } else { &[] };
        let first: &[&str] = if self.namespace { &["NAMESPACE", "NAME"] } else { &["NAME"] };
        [first, pod, &["AGE"]].concat().into_iter().map(str::to_owned).collect()
    }

    /// The same with how an object is, which the full screen has for every kind.
    pub fn names_with_status(self) -> Vec<String> {
        let mut names = self.names();
        if !self.pod {
            names.insert(names.len() - 1, "STATUS".to_owned());
        }
        names
    }

    /// Whether they are those of pods.
    pub fn is_pod(self) -> bool {
        self.pod
    }

    /// Whether the namespace is one of them.
    pub fn has_namespace(self) -> bool {
        self.namespace
    }

    /// The cells of an object.
    pub fn cells(self, object: &DynamicObject, now: Timestamp) -> Vec<String> {
        let meta = &object.metadata;
        let mut cells = Vec::with_capacity(5);
        if self.namespace {
            cells.push(meta.namespace.clone().unwrap_or_default());
        }
        cells.push(meta.name.clone().unwrap_or_default());
        cells.extend(self.facts(object));
        cells.push(age(meta.creation_timestamp.as_ref(), now));
        cells
    }

    /// The cells between name and age: of a pod, how and where it is.
    pub fn facts(self, object: &DynamicObject) -> impl Iterator<Item = String> {
        let pod = self.pod.then(|| {
            let node = object.data["spec"]["nodeName"].as_str().unwrap_or("<none>");
            [pod_status(&object.data, object.metadata.deletion_timestamp.is_some()), node.to_owned()]
        });
        pod.into_iter().flatten()
    }
}

/// Pads cells so that they stand under each other. Its columns only grow.
#[derive(Debug, Default)]
pub struct Table {
    widths: Vec<usize>,
}

impl Table {
    /// Makes room for these cells.
    pub fn fit(&mut self, cells: &[String]) {
        self.widths.resize(self.widths.len().max(cells.len()), 0);
        for (width, cell) in self.widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count());
        }
    }

    /// A line of these cells. What a terminal would obey rather than print becomes a question mark.
    pub fn line(&mut self, cells: &[String]) -> String {
        self.fit(cells);
        let padded = cells.iter().zip(&self.widths).map(|(cell, width)| {
            let shown: String = cell.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            format!("{shown:width$}")
        });
        let line = padded.collect::<Vec<_>>().join("   ");
        line.trim_end().to_owned()
    }
}

/// A whole table, its head first.
pub fn table<'a>(
    columns: Columns,
    objects: impl IntoIterator<Item = &'a DynamicObject>,
    now: Timestamp,
) -> Vec<String> {
    let mut rows = vec![columns.names()];
    rows.extend(objects.into_iter().map(|object| columns.cells(object, now)));
    let mut table = Table::default();
    rows.iter().for_each(|cells| table.fit(cells));
    rows.iter().map(|cells| table.line(cells)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::GroupVersionKind;
    use serde_json::json;

    fn object(value: serde_json::Value) -> DynamicObject {
        serde_json::from_value(value).expect("an object")
    }

    fn pods() -> Vec<DynamicObject> {
        let at = "2026-01-01T00:00:00Z";
        [
            json!({"metadata": {"namespace": "shop", "name": "cart-1", "creationTimestamp": at},
                "spec": {"nodeName": "node-1"}, "status": {"phase": "Running"}}),
            json!({"metadata": {"namespace": "kube-system", "name": "dns"}, "status": {"phase": "Pending"}}),
        ]
        .map(object)
        .to_vec()
    }

    fn columns(kind: &str, namespace: bool) -> Columns {
        Columns::of(&ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind)), namespace)
    }

    #[test]
    fn pods_have_status_and_node() {
        let now = "2026-01-01T00:01:30Z".parse().expect("a time");
        let lines = table(columns("Pod", true), &pods(), now);
        assert_eq!(
            lines,
            [
                "NAMESPACE     NAME     STATUS    NODE     AGE",
                "shop          cart-1   Running   node-1   90s",
                "kube-system   dns      Pending   <none>   <unknown>",
            ]
        );
    }

    #[test]
    fn others_have_an_age() {
        let now = "2026-01-01T03:00:00Z".parse().expect("a time");
        assert_eq!(table(columns("ConfigMap", false), &pods()[..1], now), ["NAME     AGE", "cart-1   3h"]);
    }

    #[test]
    fn nothing_controls_the_terminal() {
        assert_eq!(Table::default().line(&["a\x1b[2J".to_owned(), "b\nc".to_owned()]), "a?[2J   b?c");
    }
}
