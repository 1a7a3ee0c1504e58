use crate::DecodeError;

/// What names one instance of an object, borrowed from it; `""` stands for what is absent.
///
/// One method gives all four because methods called `uid()` or `namespace()` would clash with `kube::ResourceExt`
/// wherever both traits are imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity<'a> {
    /// `""` for cluster-scoped objects.
    pub namespace: &'a str,
    /// The name within the namespace.
    pub name: &'a str,
    /// Another uid under the same name is another object.
    pub uid: &'a str,
    /// The version of this state of the object.
    pub resource_version: &'a str,
}

impl Identity<'_> {
    /// Whether both name the same state of the same object: same uid and version, neither empty.
    pub fn is_unchanged_from(&self, other: &Identity<'_>) -> bool {
        !self.uid.is_empty()
            && !self.resource_version.is_empty()
            && self.uid == other.uid
            && self.resource_version == other.resource_version
    }
}

/// What can be listed, watched and stored.
///
/// With the feature `kube`, every `kube_core::Resource` that deserializes has it: k8s-openapi's types, derived
/// custom resources, `DynamicObject`, `PartialObjectMeta<K>`. A slim struct of one's own has it in a few lines,
/// and then only the fields that it names are decoded and held:
///
/// ```
/// use listwatch::{DecodeError, Identity, Object};
///
/// #[derive(serde::Deserialize)]
/// struct SlimPod {
///     metadata: Meta,
/// }
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Meta {
///     namespace: Box<str>,
///     name: Box<str>,
///     uid: Box<str>,
///     resource_version: Box<str>,
/// }
///
/// impl Object for SlimPod {
///     fn identity(&self) -> Identity<'_> {
///         let Meta { namespace, name, uid, resource_version } = &self.metadata;
///         Identity { namespace, name, uid, resource_version }
///     }
///     fn decode(json: &[u8]) -> Result<Self, DecodeError> {
///         listwatch::decode_json(json)
///     }
/// }
///
/// let pod = SlimPod::decode(br#"{"metadata":{"namespace":"shop","name":"cart","uid":"u","resourceVersion":"7"}}"#)?;
/// assert_eq!(pod.identity().name, "cart");
/// # Ok::<(), DecodeError>(())
/// ```
pub trait Object: Send + Sync + Sized + 'static {
    /// What names this object. Must not change while the object lives.
    fn identity(&self) -> Identity<'_>;

    /// The object from its JSON, of any shape that the server may send.
    ///
    /// # Errors
    ///
    /// Where the JSON does not fit the type. The stream then yields an error item with [`Recovery::Skip`](crate::Recovery::Skip) and goes on.
    fn decode(json: &[u8]) -> Result<Self, DecodeError>;

    /// Whether objects of this type hold their own `apiVersion` and `kind`, as dynamic ones do. API servers leave both
    /// out of the items of a list; such a type gets to see the list's. Default: no, which costs nothing.
    fn carries_kind() -> bool {
        false
    }
}

#[cfg(feature = "kube")]
impl<K> Object for K
where
    K: kube_core::Resource + serde::de::DeserializeOwned + Send + Sync + 'static,
{
    fn identity(&self) -> Identity<'_> {
        let meta = self.meta();
        Identity {
            namespace: meta.namespace.as_deref().unwrap_or_default(),
            name: meta.name.as_deref().unwrap_or_default(),
            uid: meta.uid.as_deref().unwrap_or_default(),
            resource_version: meta.resource_version.as_deref().unwrap_or_default(),
        }
    }

    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        crate::decode_json(json)
    }

    /// Types whose kind is known only at run time: `DynamicObject`, `Object<P, U>`, `PartialObjectMeta` of them.
    fn carries_kind() -> bool {
        std::any::TypeId::of::<K::DynamicType>() == std::any::TypeId::of::<kube_core::ApiResource>()
    }
}

/// An object that says itself of which kind it is: what [`expect_kind`](crate::EventStreamExt::expect_kind) asks for.
pub trait Kinded: Object {
    /// `apiVersion` and `kind` of this instance; `None` where it carries none.
    fn api_version_kind(&self) -> Option<(&str, &str)>;
}

#[cfg(feature = "kube")]
impl Kinded for kube_core::DynamicObject {
    fn api_version_kind(&self) -> Option<(&str, &str)> {
        self.types.as_ref().map(|types| (&*types.api_version, &*types.kind))
    }
}

#[cfg(feature = "kube")]
impl<K: kube_core::Resource + Send + Sync + 'static> Kinded for kube_core::PartialObjectMeta<K> {
    fn api_version_kind(&self) -> Option<(&str, &str)> {
        self.types.as_ref().map(|types| (&*types.api_version, &*types.kind))
    }
}
