//! Writes: create, update, merge patch, delete.

use super::{
    refusal::{Cause, Refusal},
    resource::Resource,
    state::Data,
};
use serde_json::{Map, Value, json};
use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// The key of an object in storage.
pub(super) fn key(resource: &Resource, namespace: &str, name: &str) -> String {
    if resource.namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
}

impl Data {
    /// Stamps and stores a new object.
    ///
    /// # Errors
    ///
    /// The status of a real server: name missing, version set, already there.
    pub(super) fn create(
        &mut self,
        resource: &Resource,
        namespace: &str,
        mut object: Value,
    ) -> Result<Arc<Value>, Refusal> {
        normalize(&mut object, resource);
        if object["metadata"]["resourceVersion"].as_str().is_some_and(|version| !version.is_empty()) {
            return Err(Refusal::bare("resourceVersion should not be set on objects to be created"));
        }
        let metadata = &mut object["metadata"];
        if metadata["name"].as_str().unwrap_or_default().is_empty() {
            let Some(prefix) = metadata["generateName"].as_str().filter(|prefix| !prefix.is_empty()) else {
                return Err(name_required(resource));
            };
            metadata["name"] = format!("{prefix}{}", random_suffix()).into();
        }
        let name = metadata["name"].as_str().unwrap_or_default().to_owned();
        let key = key(resource, namespace, &name);
        if self.history.get(&resource.qualified(), &key).is_some() {
            let message = format!("{} \"{name}\" already exists", resource.qualified());
            let status = Refusal::new(409).with_reason("AlreadyExists").with_message(message);
            return Err(status.about(&resource.plural, &resource.group, &name));
        }
        if resource.namespaced {
            metadata["namespace"] = namespace.into();
        }
        metadata["uid"] = random_uid().into();
        metadata["creationTimestamp"] = now().into();
        if resource.generation {
            metadata["generation"] = 1.into();
        }
        if resource.qualified() == "namespaces" {
            metadata["labels"]["kubernetes.io/metadata.name"] = name.as_str().into();
            object["spec"] = json!({"finalizers": ["kubernetes"]});
            object["status"] = json!({"phase": "Active"});
        }
        self.store(resource, &key, Some(object)).ok_or_else(|| Refusal::internal_error("the object is gone"))
    }

    /// Replaces an object that exists; without a difference nothing is written.
    ///
    /// # Errors
    ///
    /// The status of a real server: not found, another version or uid.
    pub(super) fn update(
        &mut self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        mut object: Value,
    ) -> Result<Arc<Value>, Refusal> {
        let key = key(resource, namespace, name);
        let old = self.history.get(&resource.qualified(), &key).ok_or_else(|| not_found(resource, name))?;
        normalize(&mut object, resource);
        let given = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let stored = |field: &str| old["metadata"][field].as_str().unwrap_or_default().to_owned();
        let (version, uid) = (given("resourceVersion"), given("uid"));
        if !uid.is_empty() && uid != stored("uid") {
            return Err(conflict(resource, name, &uid_changed(resource, &key, &uid, &stored("uid"))));
        }
        if !version.is_empty() && version != stored("resourceVersion") {
            return Err(conflict(resource, name, MODIFIED));
        }
        for field in
            ["name", "namespace", "uid", "creationTimestamp", "generation", "deletionTimestamp", "resourceVersion"]
        {
            match old["metadata"].get(field) {
                Some(value) => object["metadata"][field] = value.clone(),
                None => drop(object["metadata"].as_object_mut().and_then(|members| members.remove(field))),
            }
        }
        if resource.generation && object.get("spec") != old.get("spec") {
            object["metadata"]["generation"] = (old["metadata"]["generation"].as_u64().unwrap_or(0) + 1).into();
        }
        if object == *old {
            return Ok(old);
        }
        let gone = !object["metadata"]["deletionTimestamp"].is_null() && !has_finalizers(&object);
        let next = (!gone).then_some(object);
        Ok(self.store(resource, &key, next).unwrap_or(old))
    }

    /// Creates an object or replaces the one that is there.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create) and [`update`](Self::update).
    pub(super) fn apply(
        &mut self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        object: Value,
    ) -> Result<Arc<Value>, Refusal> {
        match self.history.get(&resource.qualified(), &key(resource, namespace, name)) {
            Some(_) => self.update(resource, namespace, name, object),
            None => self.create(resource, namespace, object),
        }
    }

    /// Applies a JSON merge patch (RFC 7386).
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub(super) fn patch(
        &mut self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Arc<Value>, Refusal> {
        let old = self.history.get(&resource.qualified(), &key(resource, namespace, name));
        let mut object = Value::clone(&*old.ok_or_else(|| not_found(resource, name))?);
        merge(&mut object, patch);
        self.update(resource, namespace, name, object)
    }

    /// Deletes an object, or marks it if it has finalizers. The object as the deletion left it.
    ///
    /// # Errors
    ///
    /// The status of a real server: not found, preconditions not met.
    pub(super) fn delete(
        &mut self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        options: &Value,
    ) -> Result<Arc<Value>, Refusal> {
        let key = key(resource, namespace, name);
        let old = self.history.get(&resource.qualified(), &key).ok_or_else(|| not_found(resource, name))?;
        check_preconditions(resource, name, &options["preconditions"], &old["metadata"])?;
        if !has_finalizers(&old) || resource.qualified() == "namespaces" {
            return Ok(self.store(resource, &key, None).unwrap_or(old));
        }
        if old["metadata"]["deletionTimestamp"].is_string() {
            return Ok(old);
        }
        let mut object = Value::clone(&old);
        object["metadata"]["deletionTimestamp"] = now().into();
        object["metadata"]["deletionGracePeriodSeconds"] = 0.into();
        Ok(self.store(resource, &key, Some(object)).unwrap_or(old))
    }

    fn store(&mut self, resource: &Resource, key: &str, object: Option<Value>) -> Option<Arc<Value>> {
        self.history.write(&resource.qualified(), key, object)
    }
}

const MODIFIED: &str = "the object has been modified; please apply your changes to the latest version and try again";

pub(super) fn not_found(resource: &Resource, name: &str) -> Refusal {
    let message = format!("{} \"{name}\" not found", resource.qualified());
    Refusal::new(404).with_message(message).about(&resource.plural, &resource.group, name)
}

fn conflict(resource: &Resource, name: &str, why: &str) -> Refusal {
    let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", resource.qualified());
    Refusal::new(409).with_message(message).about(&resource.plural, &resource.group, name)
}

fn uid_changed(resource: &Resource, key: &str, given: &str, stored: &str) -> String {
    let group = if resource.group.is_empty() { String::new() } else { format!("{}/", resource.group) };
    let plural = &resource.plural;
    format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{group}{plural}/{key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {given}, UID in object meta: {stored}"
    )
}

fn name_required(resource: &Resource) -> Refusal {
    let message = "Required value: name or generateName is required".to_owned();
    let cause = Cause { reason: "FieldValueRequired", message, field: "metadata.name" };
    Refusal::invalid(&resource.kind, "", vec![cause])
}

fn check_preconditions(resource: &Resource, name: &str, wanted: &Value, stored: &Value) -> Result<(), Refusal> {
    let (kind, group) = (&resource.kind, &resource.group);
    let refuse = |field: &str, given: &str, stored: &str, why: &str| {
        let message = format!(
            "Operation cannot be fulfilled on {kind} \"{name}\": the {field} in the precondition ({given}) does not match the {field} in record ({stored}). The object might have been {why}"
        );
        Err(Refusal::new(409).with_message(message).about(kind, group, name))
    };
    let stored = |field: &str| stored[field].as_str().unwrap_or_default();
    match (wanted["uid"].as_str(), wanted["resourceVersion"].as_str()) {
        (Some(uid), _) if uid != stored("uid") => refuse("UID", uid, stored("uid"), "deleted and then recreated"),
        (_, Some(version)) if version != stored("resourceVersion") => {
            refuse("ResourceVersion", version, stored("resourceVersion"), "modified")
        }
        _ => Ok(()),
    }
}

fn has_finalizers(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
}

/// Sees to it that there is an object with a type and metadata.
fn normalize(object: &mut Value, resource: &Resource) {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    object["kind"] = resource.kind.as_str().into();
    object["apiVersion"] = resource.api_version().into();
    if !object["metadata"].is_object() {
        object["metadata"] = Value::Object(Map::new());
    }
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else {
        patch.clone_into(target);
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else { return };
    for (name, value) in members {
        if value.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}

fn random_suffix() -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    (0..5).map(|_| char::from(LETTERS[fastrand::usize(..LETTERS.len())])).collect()
}

fn random_uid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76 | 0xc << 60) | 0x4 << 76 | 0x8 << 60;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// The time in RFC 3339, in whole seconds.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86400, seconds % 86400);
    // Days to a civil date, counting years from March.
    let shifted = days + 719_468;
    let (century, day) = (shifted / 146_097, shifted % 146_097);
    let year_of = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of + year_of / 4 - year_of / 100);
    let month_of = (5 * day_of_year + 2) / 153;
    let date = day_of_year - (153 * month_of + 2) / 5 + 1;
    let month = if month_of < 10 { month_of + 3 } else { month_of - 9 };
    let year = year_of + century * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}
