use super::Snapshot;
use crate::Object;
use kube_core::{Resource, Selector, SelectorExt};
use std::sync::Arc;

impl<K: Object + Resource> Snapshot<K> {
    /// The objects that a label selector matches, in no order. Goes through all of them; where one label decides,
    /// [`index_by_label`](super::Store::index_by_label) does not.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube::core::{Expression, Selector};
    /// use listwatch::{Object, Store};
    ///
    /// let store = Store::of([ConfigMap::decode(br#"{"metadata":{"name":"a","labels":{"app":"shop"}}}"#)?]);
    /// let shop = Selector::from(Expression::Equal("app".into(), "shop".into()));
    /// assert_eq!(store.snapshot().select(&shop).count(), 1);
    /// # Ok::<(), listwatch::DecodeError>(())
    /// ```
    pub fn select<'a>(&'a self, selector: &'a Selector) -> impl Iterator<Item = &'a Arc<K>> {
        self.iter().filter(|object| match &object.meta().labels {
            Some(labels) => selector.matches(labels),
            None => selector.matches(&std::collections::BTreeMap::new()),
        })
    }
}
