//! From a request to its right answer.

use super::{
    answer::{Answer, Refused},
    discovery,
    encode::{self, Shape},
    list::{self, Collection},
    options::Options,
    refusal::Refusal,
    request::Request,
    resource::Resource,
    route::Route,
    settings::Settings,
    state::State,
    watch,
    write::not_found,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Answers a request as a healthy server does.
pub(super) async fn serve(state: &Arc<State>, settings: &Arc<Settings>, request: &Request) -> Answer {
    answer(state, settings, request).await.unwrap_or_else(Answer::from)
}

async fn answer(state: &Arc<State>, settings: &Arc<Settings>, request: &Request) -> Result<Answer, Refused> {
    let route = Route::find(&request.path, &state.lock());
    let method = request.method.as_str();
    match route {
        Route::Health => Ok(Answer::text(200, "text/plain; charset=utf-8", "ok")),
        Route::Version => Ok(discovery::version()),
        Route::Discovery(path) => discovery::discover(&path, &state.lock()),
        Route::NoSuchPath => Err(Refused::NoSuchPath),
        Route::NoSuchResource => Err(Refusal::no_such_resource().into()),
        Route::Collection { collection, namespace, watch } => match method {
            "GET" => read(state, settings, request, collection, watch).await,
            "POST" => {
                let resource = &collection.resource;
                let namespace = namespace.unwrap_or_default();
                if !resource.allows("create") || resource.namespaced == namespace.is_empty() {
                    return Err(Refusal::no_such_method().into());
                }
                let object = parse(request, resource)?;
                let given = object["metadata"]["namespace"].as_str().unwrap_or_default();
                if !given.is_empty() && given != namespace {
                    return Err(Refusal::bad_request(WRONG_NAMESPACE).into());
                }
                let created = state.change(|data| {
                    let known = namespace.is_empty() || data.history.get("namespaces", &namespace).is_some();
                    let namespaces = Resource::built_in("namespaces");
                    if known {
                        data.create(resource, &namespace, object)
                    } else {
                        Err(not_found(&namespaces, &namespace))
                    }
                })?;
                Ok(one(resource, &created, 201, Shape::Whole))
            }
            "DELETE" if collection.resource.allows("deletecollection") => {
                delete_all(state, settings, request, &collection)
            }
            _ => Err(Refusal::no_such_method().into()),
        },
        Route::Object { resource, namespace, name, watch } => {
            let at = (namespace.as_str(), name.as_str());
            if watch {
                let mut one = request.clone();
                one.query.push(("fieldSelector".to_owned(), format!("metadata.name={name}")));
                let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
                return read(state, settings, &one, Collection { resource, prefix }, true).await;
            }
            object(state, request, &resource, at)
        }
    }
}

const WRONG_NAMESPACE: &str = "the namespace of the provided object does not match the namespace sent on the request";

async fn read(
    state: &Arc<State>,
    settings: &Arc<Settings>,
    request: &Request,
    collection: Collection,
    watch: bool,
) -> Result<Answer, Refused> {
    let resource = &collection.resource;
    if !resource.allows("list") && !resource.allows("watch") {
        return Err(Refusal::no_such_method().into());
    }
    let (shape, as_list) = accepted(request)?;
    let options = Options::read(&request.query, resource, watch, settings)?;
    let verb = if options.watch { "watch" } else { "list" };
    if !resource.allows(verb) {
        let message = format!("{verb} is not supported on resources of kind \"{}\"", resource.qualified());
        let status = Refusal::new(405).with_message(message);
        return Err(status.about(&resource.plural, &resource.group, "").into());
    }
    if !options.watch {
        if shape == Shape::Metadata && !as_list {
            let kind = format!("*core.{}List", resource.kind);
            return Err(Refusal::new(406)
                .with_message(not_acceptable("PartialObjectMetadata", "a list", &kind))
                .into());
        }
        return list::list(state, settings, &collection, &options, shape).await;
    }
    if shape == Shape::Metadata && as_list {
        // A real server opens such a watch and ends it when the first event cannot be converted.
        return Ok(Answer::events(Box::pin(futures::stream::empty())));
    }
    watch::watch(state.clone(), settings.clone(), collection, options, shape)
}

fn object(state: &State, request: &Request, resource: &Resource, at: (&str, &str)) -> Result<Answer, Refused> {
    let (namespace, name) = at;
    let verb = match request.method.as_str() {
        "GET" => "get",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "",
    };
    if !resource.allows(verb) {
        return Err(Refusal::no_such_method().into());
    }
    match verb {
        "get" => {
            let (shape, as_list) = accepted(request)?;
            if as_list {
                let kind = format!("*core.{}", resource.kind);
                let message = not_acceptable("PartialObjectMetadataList", "not a list", &kind);
                return Err(Refusal::new(406).with_message(message).into());
            }
            let key = super::write::key(resource, namespace, name);
            let found = state.lock().history.get(&resource.qualified(), &key);
            Ok(one(resource, &*found.ok_or_else(|| not_found(resource, name))?, 200, shape))
        }
        "update" => {
            let object = parse(request, resource)?;
            let given = object["metadata"]["name"].as_str().unwrap_or_default();
            if given != name {
                let message = format!("the name of the object ({given}) does not match the name on the URL ({name})");
                return Err(Refusal::bad_request(message).into());
            }
            let updated = state.change(|data| data.update(resource, namespace, name, object))?;
            Ok(one(resource, &updated, 200, Shape::Whole))
        }
        "patch" => {
            let patch: Value = serde_json::from_slice(&request.body)
                .map_err(|error| Refusal::bad_request(format!("error decoding patch: {error}")))?;
            if request.header("content-type") != Some("application/merge-patch+json") {
                return Err(Refusal::new(415).with_reason("UnsupportedMediaType").with_message(PATCHES).into());
            }
            let patched = state.change(|data| data.patch(resource, namespace, name, &patch))?;
            Ok(one(resource, &patched, 200, Shape::Whole))
        }
        _ => {
            let options = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
            let gone = state.change(|data| data.delete(resource, namespace, name, &options))?;
            if gone["metadata"]["deletionTimestamp"].is_string() {
                return Ok(one(resource, &gone, 200, Shape::Whole));
            }
            let uid = gone["metadata"]["uid"].as_str().unwrap_or_default();
            Ok(deleted(resource, name, uid))
        }
    }
}

const PATCHES: &str =
    "the body of the request was in an unknown format - accepted media types include: application/merge-patch+json";

fn delete_all(
    state: &State,
    settings: &Settings,
    request: &Request,
    collection: &Collection,
) -> Result<Answer, Refused> {
    let Collection { resource, prefix } = collection;
    let options = Options::read(&request.query, resource, false, settings)?;
    let (gone, version) = state.change(|data| {
        let newest = data.history.revision();
        let objects = data.at(resource, prefix, "", newest);
        let chosen: Vec<_> = objects.into_iter().filter(|(_, object)| options.selects(object)).collect();
        for (key, _) in &chosen {
            let (namespace, name) = key.split_once('/').unwrap_or(("", key));
            // It was there a moment ago, under this lock.
            drop(data.delete(resource, namespace, name, &Value::Null));
        }
        (chosen.into_iter().map(|(_, object)| object).collect::<Vec<_>>(), newest)
    });
    Ok(list::deleted(resource, &gone, version))
}

fn one(resource: &Resource, object: &Value, code: u16, shape: Shape) -> Answer {
    let mut out = Vec::new();
    encode::object(&mut out, resource, object, shape, false);
    Answer::json(code, out)
}

/// The answer to a deletion.
fn deleted(resource: &Resource, name: &str, uid: &str) -> Answer {
    let mut details = json!({"name": name, "kind": resource.plural, "uid": uid});
    if !resource.group.is_empty() {
        details["group"] = resource.group.as_str().into();
    }
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
    let mut out = Vec::new();
    encode::document(&mut out, &status);
    Answer::json(200, out)
}

/// The object a client sent.
fn parse(request: &Request, resource: &Resource) -> Result<Value, Refused> {
    let kind = &resource.kind;
    let object: Value = serde_json::from_slice(&request.body).map_err(|error| {
        let message =
            format!("the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {error}");
        Refusal::bad_request(message)
    })?;
    let given = object["kind"].as_str().unwrap_or(kind);
    if given == kind {
        return Ok(object);
    }
    let version = &resource.version;
    let message = format!(
        "{given} in version \"{version}\" cannot be handled as a {kind}: converting ({version}.{given}) to (core.{kind}): unknown conversion"
    );
    Err(Refusal::bad_request(message).into())
}

/// In which shape the client wants objects, and whether it asked for the shape of a list.
fn accepted(request: &Request) -> Result<(Shape, bool), Refused> {
    let accept = request.header("accept").unwrap_or("*/*");
    for media in accept.split(',').map(str::trim) {
        let mut parts = media.split(';').map(str::trim);
        let json = matches!(parts.next(), Some("application/json" | "*/*" | "application/*"));
        let what = parts.find_map(|part| part.strip_prefix("as=")).unwrap_or_default();
        match what {
            "" if json => return Ok((Shape::Whole, false)),
            "PartialObjectMetadata" if json => return Ok((Shape::Metadata, false)),
            "PartialObjectMetadataList" if json => return Ok((Shape::Metadata, true)),
            _ => {}
        }
    }
    Err(Refusal::new(406).with_message(REPRESENTATIONS).about("", "", "").into())
}

const REPRESENTATIONS: &str = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

fn not_acceptable(asked: &str, what: &str, kind: &str) -> String {
    let verb = if what == "a list" { "is a list" } else { "is not a list" };
    format!("you requested {asked}, but the requested object {verb} ({kind})")
}
