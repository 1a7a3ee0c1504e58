//! A source of one's own: a directory of YAML files, mirrored like a cluster.
//!
//! ```sh
//! cargo run --example yaml_directory
//! ```
//!
//! Each file is one object. The directory is looked at again and again, and what differs is told as events. Files have no
//! history: a watch that stands elsewhere than the directory is refused with 410, and the stream relists by itself.

use futures::{StreamExt, stream};
use listwatch::{
    DecodeError, Error, EventStreamExt, Object, Raw, Status, Store, Unreadable, UnreadableAs,
    source::{Body, ListBody, ListMeta, ListParams, ListPart, ListWatch, WatchBody, WatchParams, WireEvent},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs, io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

#[derive(Clone)]
struct YamlDirectory {
    path: PathBuf,
    seen: Arc<Mutex<Seen>>,
}

/// What was told last: how many changes there were, and of each file the last one and its text.
#[derive(Default)]
struct Seen {
    version: u64,
    files: BTreeMap<String, (u64, String)>,
}

/// What one look found.
enum Found {
    Put(Result<Raw, Error>),
    Gone(Raw),
}

impl YamlDirectory {
    fn new(path: impl Into<PathBuf>) -> Self {
        YamlDirectory { path: path.into(), seen: Arc::default() }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> io::Result<BTreeMap<String, String>> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            if let (Some("yaml"), Some(name)) = (path.extension().and_then(|e| e.to_str()), path.file_stem()) {
                files.insert(name.to_string_lossy().into_owned(), fs::read_to_string(&path)?);
            }
        }
        Ok(files)
    }

    /// What differs from the last look, each with a version of its own.
    fn look(&self) -> io::Result<Vec<Found>> {
        let (files, mut seen) = (self.read()?, self.seen());
        let mut found = Vec::new();
        for (name, (_, text)) in seen.files.clone().into_iter().filter(|(name, _)| !files.contains_key(name)) {
            seen.files.remove(&name);
            seen.version += 1;
            found.extend(object(UnreadableAs::Deleted, &name, &text, seen.version).ok().map(Found::Gone));
        }
        for (name, text) in files {
            if seen.files.get(&name).is_none_or(|(_, before)| *before != text) {
                seen.version += 1;
                found.push(Found::Put(object(UnreadableAs::Modified, &name, &text, seen.version)));
                let version = seen.version;
                seen.files.insert(name, (version, text));
            }
        }
        Ok(found)
    }
}

/// The file's name is the object's name and uid. What does not decode is one bad object, not a bad directory.
fn object(came_as: UnreadableAs, name: &str, yaml: &str, version: u64) -> Result<Raw, Error> {
    let decoded = serde_saphyr::from_str::<Value>(yaml).map_err(|error| DecodeError::new(error.to_string()));
    let raw = decoded.and_then(|mut value| {
        let meta = value.as_object_mut().ok_or_else(|| DecodeError::new("not a map"))?.entry("metadata");
        let Some(meta) = meta.or_insert_with(|| json!({})).as_object_mut() else {
            return Err(DecodeError::new("its metadata is not a map"));
        };
        meta.extend(
            [("name", name.to_owned()), ("uid", name.to_owned()), ("resourceVersion", version.to_string())]
                .map(|(key, value)| (key.to_owned(), Value::from(value))),
        );
        Raw::decode(value.to_string().as_bytes())
    });
    raw.map_err(|error| {
        let known = Unreadable::new(came_as, "", name).with_identity(name, version.to_string());
        Error::unreadable(known, error)
    })
}

impl ListWatch for YamlDirectory {
    type Object = Raw;

    async fn list_page(&self, _: ListParams) -> Result<ListBody<Raw>, Error> {
        self.look().map_err(Error::unreachable)?;
        let seen = self.seen();
        let items = seen.files.iter().map(|(name, (version, text))| {
            object(UnreadableAs::Listed, name, text, *version).map(|object| ListPart::Item(object.into()))
        });
        let meta = ListPart::Meta(ListMeta::new(seen.version.to_string()));
        Ok(Body::new(stream::iter(items.chain([Ok(meta)]).collect::<Vec<_>>())))
    }

    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<Raw>, Error> {
        if params.resource_version != self.seen().version.to_string().as_str() {
            return Err(Error::from_status(Status::from_code(410).with_reason("Expired")));
        }
        let looks = stream::unfold(self.clone(), |directory| async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let events = match directory.look() {
                Ok(found) => found.into_iter().map(told).collect(),
                Err(error) => vec![Err(Error::interrupted(error))],
            };
            Some((stream::iter(events), directory))
        });
        Ok(Body::new(looks.flatten()))
    }

    fn supports_watch_list(&self) -> bool {
        false
    }

    fn resource(&self) -> &str {
        "files"
    }
}

fn told(found: Found) -> Result<WireEvent<Raw>, Error> {
    match found {
        Found::Put(object) => object.map(WireEvent::modified),
        Found::Gone(object) => Ok(WireEvent::deleted(object)),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("yaml-directory-{}", std::process::id()));
    fs::create_dir_all(&path)?;
    fs::write(path.join("cart.yaml"), "data:\n  color: blue\n")?;
    fs::write(path.join("broken.yaml"), "data: [1, 2\n")?;

    let store = Store::new();
    let mut errors = Vec::new();
    let mut changes = YamlDirectory::new(&path).events().reflect(&store).on_error(|error| errors.push(error));
    while !store.snapshot().is_ready() {
        changes.next().await;
    }
    println!("{:?}; not readable: {:?}", store.keys().collect::<Vec<_>>(), store.unreadable());
    assert!(store.contains("cart") && store.unreadable().len() == 1);

    fs::write(path.join("till.yaml"), "data:\n  color: red\n")?;
    fs::remove_file(path.join("cart.yaml"))?;
    fs::write(path.join("broken.yaml"), "data: [1, 2]\n")?;
    while store.contains("cart") || !store.contains("till") || !store.contains("broken") {
        if let Some(change) = changes.next().await {
            println!("{} {:?}", change.name(), change.key());
        }
    }
    assert!(store.unreadable().is_empty());
    drop(changes);
    assert_eq!(errors.len(), 1, "{errors:?}");
    fs::remove_dir_all(path)?;
    Ok(())
}
