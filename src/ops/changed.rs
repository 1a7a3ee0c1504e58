//! Ready-made questions for [`only_changed_by`](crate::EventStreamExt::only_changed_by): what differs between two
//! states of an object.

#[cfg(feature = "kube")]
use kube_core::{Resource, ResourceExt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// Whether `metadata.generation` differs, which servers count up with each change of the spec of most kinds. Objects
/// without one always pass.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use listwatch::ops::changed;
///
/// let mut old = Pod::default();
/// old.metadata.generation = Some(1);
/// let mut new = old.clone();
/// assert!(!changed::generation(&old, &new));
/// new.metadata.generation = Some(2);
/// assert!(changed::generation(&old, &new));
/// ```
#[cfg(feature = "kube")]
pub fn generation<K: Resource>(old: &K, new: &K) -> bool {
    let (old, new) = (old.meta().generation, new.meta().generation);
    old != new || new.is_none()
}

/// Whether `metadata.labels` differ; none are as good as empty.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use listwatch::ops::changed;
///
/// let (old, mut new) = (Pod::default(), Pod::default());
/// new.metadata.labels = Some([("app".into(), "cart".into())].into());
/// assert!(changed::labels(&old, &new) && !changed::labels(&new, &new));
/// ```
#[cfg(feature = "kube")]
pub fn labels<K: Resource>(old: &K, new: &K) -> bool {
    old.labels() != new.labels()
}

/// Whether `metadata.annotations` differ; none are as good as empty.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use listwatch::ops::changed;
///
/// let (old, mut new) = (Pod::default(), Pod::default());
/// new.metadata.annotations = Some([("checked".into(), "yes".into())].into());
/// assert!(changed::annotations(&old, &new) && !changed::annotations(&new, &new));
/// ```
#[cfg(feature = "kube")]
pub fn annotations<K: Resource>(old: &K, new: &K) -> bool {
    old.annotations() != new.annotations()
}

/// Whether the field `spec` differs, for any object that serializes. One that does not serialize passes.
///
/// Serializes both objects; [`generation`] costs nothing, where the kind has one.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use listwatch::ops::changed;
///
/// let (old, mut new) = (Pod::default(), Pod::default());
/// new.metadata.generation = Some(2);
/// assert!(!changed::spec(&old, &new));
/// new.spec.get_or_insert_default().node_name = Some("node-1".into());
/// assert!(changed::spec(&old, &new));
/// ```
pub fn spec<K: Serialize>(old: &K, new: &K) -> bool {
    let (Ok(old), Ok(new)) = (serde_json::to_vec(old), serde_json::to_vec(new)) else { return true };
    match (spec_of(&old), spec_of(&new)) {
        (Some(old), Some(new)) => old.get() != new.get() && differ(old, new),
        (old, new) => old.is_some() || new.is_some(),
    }
}

fn spec_of(json: &[u8]) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow, default)]
        spec: Option<&'a RawValue>,
    }
    serde_json::from_slice::<Outer<'_>>(json).ok()?.spec
}

/// The same fields in another order, as hash maps have them, are no difference.
fn differ(old: &RawValue, new: &RawValue) -> bool {
    let value = |json: &RawValue| serde_json::from_str::<Value>(json.get()).ok();
    value(old) != value(new)
}
