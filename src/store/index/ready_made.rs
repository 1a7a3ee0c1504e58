//! Indexes that many consumers want.

use super::Index;
use crate::{Object, Store};

impl<K: Object> Store<K> {
    /// By namespace; cluster-scoped objects are under `""`.
    ///
    /// ```
    /// use listwatch::{Object, Raw, Store};
    ///
    /// let store = Store::of([Raw::decode(br#"{"metadata":{"namespace":"shop","name":"cart"}}"#)?]);
    /// assert_eq!(store.index_by_namespace().count("shop"), 1);
    /// # Ok::<(), listwatch::DecodeError>(())
    /// ```
    #[doc(alias = "NamespaceIndex")]
    pub fn index_by_namespace(&self) -> Index<K, Box<str>> {
        self.index("namespace", |object: &K| [Box::from(object.identity().namespace)])
    }
}

#[cfg(feature = "kube")]
impl<K: Object + kube_core::Resource> Store<K> {
    /// By the value of one label; objects without it are under none.
    pub fn index_by_label(&self, label: impl Into<String>) -> Index<K, Box<str>> {
        let label = label.into();
        self.index(&format!("label {label}"), move |object: &K| {
            object.meta().labels.as_ref()?.get(&label).map(|value| Box::from(value.as_str()))
        })
    }

    /// By the uid of each owner.
    pub fn index_by_owner(&self) -> Index<K, Box<str>> {
        self.index("owner", |object: &K| {
            let owners = object.meta().owner_references.iter().flatten();
            owners.map(|owner| Box::from(owner.uid.as_str())).collect::<Vec<_>>()
        })
    }
}

impl<K: Object + serde::Serialize> Store<K> {
    /// By the node that a pod, or anything with a `spec.nodeName`, is bound to; those that are not yet are under none.
    ///
    /// Of a type that is known, `store.index("node", |pod: &Pod| pod.spec.as_ref()?.node_name.clone())` is faster: this
    /// one asks serde.
    pub fn index_by_node(&self) -> Index<K, Box<str>> {
        self.index("node", |object: &K| {
            let value = serde_json::to_value(object).ok()?;
            value.pointer("/spec/nodeName")?.as_str().map(Box::from)
        })
    }
}
