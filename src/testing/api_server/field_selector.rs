//! Field selectors.

use super::resource::Resource;
use serde_json::Value;

/// Requirements on fields; an object must meet all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSelector {
    terms: Vec<(String, bool, String)>,
}

impl FieldSelector {
    /// # Errors
    ///
    /// The text of the server: a term that is none, or a field the resource cannot be selected by.
    pub(super) fn parse(text: &str, resource: &Resource) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in text.split(',').filter(|term| !term.is_empty()) {
            let (path, equal, value) = term
                .split_once("!=")
                .map(|(path, value)| (path, false, value))
                .or_else(|| term.split_once("==").map(|(path, value)| (path, true, value)))
                .or_else(|| term.split_once('=').map(|(path, value)| (path, true, value)))
                .ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{term}'"))?;
            let known = matches!(path, "metadata.name" | "metadata.namespace")
                || resource.fields.iter().any(|field| field == path);
            if !known {
                let plain = !resource.custom && resource.fields.is_empty();
                return Err(if plain {
                    format!(r#""{path}" is not a known field selector: only "metadata.name", "metadata.namespace""#)
                } else {
                    format!("field label not supported: {path}")
                });
            }
            terms.push((path.to_owned(), equal, value.to_owned()));
        }
        Ok(Self { terms })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn matches(&self, object: &Value) -> bool {
        self.terms.iter().all(|(path, equal, value)| (field(object, path) == *value) == *equal)
    }
}

/// The field as text; absent ones are empty.
fn field(object: &Value, path: &str) -> String {
    match path.split('.').try_fold(object, |value, name| value.get(name)) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
