//! Shards of a collection: which object is in which, and that together they are the whole.

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::DynamicObject;
use listwatch::{
    Error, Event, Identity, Object, Raw, Reflector, Store,
    client::{Client, Collection, Request, RequestKind, Response},
    source::{ListPart, ListWatch, Shard, ShardField, Strategy},
    testing::{ApiServer, Resource},
};
use proptest::prelude::*;
use serde_json::json;
use std::{collections::BTreeSet, ops::Bound, time::Duration};

fn identity<'a>(namespace: &'a str, uid: &'a str) -> Identity<'a> {
    Identity { namespace, uid, ..Identity::default() }
}

proptest! {
    #[test]
    fn each_object_is_in_one_shard_of_so_many(uids in prop::collection::vec(".{0,40}", 1..50), count in 1u32..300) {
        let shards: Vec<_> = (0..count).map(|index| Shard::of(index, count).unwrap()).collect();
        for uid in &uids {
            for field in [ShardField::Uid, ShardField::Namespace] {
                let object = identity(uid, uid);
                let holding = shards.iter().filter(|shard| (*shard).clone().by(field).contains(&object)).count();
                prop_assert_eq!(holding, 1, "{:?}", uid);
            }
        }
    }

    #[test]
    fn whatever_the_cuts_are(cuts in prop::collection::btree_set(1u64.., 0..20), uids in prop::collection::vec(".*", 1..50)) {
        let cuts: Vec<_> = cuts.into_iter().collect();
        let mut shards = Vec::new();
        let mut start = 0;
        for cut in cuts {
            shards.push(Shard::range(ShardField::Uid, start..cut).unwrap());
            start = cut;
        }
        shards.push(Shard::range(ShardField::Uid, start..).unwrap());
        let whole = shards[1..].iter().try_fold(shards[0].clone(), |all, shard| all.or(shard)).unwrap();
        for uid in &uids {
            prop_assert_eq!(shards.iter().filter(|shard| shard.contains(&identity("", uid))).count(), 1);
            prop_assert!(whole.contains(&identity("", uid)));
        }
        prop_assert_eq!(whole.to_string().parse::<Shard>(), Ok(whole.clone()));
    }
}

#[test]
fn ends_are_what_the_server_says_of_them() {
    // types.go of apimachinery 0.36, and TestHashField.
    let quarter = |index| Shard::of(index, 4).unwrap().to_string();
    assert_eq!(quarter(1), "shardRange(object.metadata.uid, '0x4000000000000000', '0x8000000000000000')");
    assert_eq!(quarter(3), "shardRange(object.metadata.uid, '0xc000000000000000', '0x10000000000000000')");
    let thirds = Shard::of(1, 3).unwrap().by(ShardField::Namespace).to_string();
    assert_eq!(thirds, "shardRange(object.metadata.namespace, '0x5555555555555555', '0xaaaaaaaaaaaaaaaa')");
    let empty = Shard::range(ShardField::Uid, 0xcbf2_9ce4_8422_2325..=0xcbf2_9ce4_8422_2325).unwrap();
    assert!(empty.contains(&identity("", "")), "the hash of nothing");
    let after = (Bound::Excluded(0xcbf2_9ce4_8422_2325), Bound::Unbounded);
    assert!(!Shard::range(ShardField::Uid, after).unwrap().contains(&identity("", "")));
    assert!(Shard::of(0, 0).is_err() && Shard::range(ShardField::Uid, ..0).is_err());
    assert!(Shard::of(0, 2).unwrap().or(&Shard::of(1, 2).unwrap().by(ShardField::Namespace)).is_err());
}

#[test]
fn the_field_that_was_chosen_is_hashed_and_no_other() {
    let uids = Shard::of(0, 2).unwrap();
    let (inside, outside) = (uid(&uids, true), uid(&uids, false));
    assert!(uids.contains(&identity(&outside, &inside)) && !uids.contains(&identity(&inside, &outside)));
    let namespaces = uids.by(ShardField::Namespace);
    assert!(namespaces.contains(&identity(&inside, &outside)) && !namespaces.contains(&identity(&outside, &inside)));
}

fn key(object: &impl Object) -> String {
    let Identity { namespace, name, resource_version, .. } = object.identity();
    format!("{namespace}/{name}@{resource_version}")
}

/// The keys of all stores, each of which must be in one alone.
fn union<K: Object>(stores: &[Store<K>]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for store in stores {
        for object in store.snapshot().iter() {
            assert!(all.insert(key(&**object)), "{} is in two shards", key(&**object));
        }
    }
    all
}

/// Mirrors of all shards follow a server that is written to, whether it shards or not.
async fn follows(server: &ApiServer, field: ShardField, strategy: Strategy, resource: &str) {
    let client = Client::new(&server.url()).unwrap();
    let found = client.discover(resource).await.unwrap().resource;
    let write = |n: usize, value: usize| {
        let metadata = json!({"name": format!("m{n}"), "namespace": format!("{}-shop", n % 9)});
        server.apply(resource, json!({"metadata": metadata, "data": {"value": value.to_string()}}));
    };
    (0..40).for_each(|n| write(n, 0));
    let reflectors: Vec<_> = (0..3)
        .map(|index| {
            let all = Collection::<DynamicObject>::all_with(client.clone(), &found);
            let shard = all.shard(Shard::of(index, 3).unwrap().by(field));
            Reflector::new(shard).strategy(strategy).page_size(7).spawn()
        })
        .collect();
    let stores: Vec<_> = reflectors.iter().map(|reflector| reflector.store().clone()).collect();
    for store in &stores {
        store.ready().await.unwrap();
        assert!(!store.is_empty(), "40 objects in 9 namespaces leave none of three shards empty");
    }
    (30..60).for_each(|n| write(n, 1));
    (0..20).for_each(|n| drop(server.delete(resource, &format!("{}-shop/m{n}", n % 9))));
    let has: BTreeSet<_> = server
        .list(resource)
        .iter()
        .map(|object| {
            let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
            format!("{}/{}@{}", text("namespace"), text("name"), text("resourceVersion"))
        })
        .collect();
    let same = async {
        while union(&stores) != has {
            tokio::time::sleep(Duration::from_millis(5)).await
        }
    };
    tokio::time::timeout(Duration::from_secs(20), same).await.expect("the shards make up the whole");
}

#[tokio::test]
async fn shards_follow_a_server_that_shards_and_one_that_does_not() {
    for sharding in [true, false] {
        let server = ApiServer::builder().sharding(sharding).start().await.unwrap();
        server.register(Resource::custom("carts.shop.example"));
        for strategy in [Strategy::WatchListFirst, Strategy::ListConsistent] {
            follows(&server, ShardField::Uid, strategy, "configmaps").await;
            follows(&server, ShardField::Namespace, strategy, "carts.shop.example").await;
        }
    }
}

/// The client of a server that answers lists with `list`, and watches with these lines.
fn scripted(list: String, lines: String) -> Client {
    Client::with_transport(move |request: Request| {
        let answer = if request.kind() == RequestKind::Watch {
            let body = stream::iter([Ok(lines.clone().into())]).chain(stream::pending());
            Response::new(200, body).with_header("Content-Type", "application/json")
        } else {
            Response::json(200, list.clone())
        };
        async move { Ok::<_, Error>(answer) }
    })
}

/// A uid in the shard, or in the other.
fn uid(shard: &Shard, inside: bool) -> String {
    (0..).map(|n| format!("u{n}")).find(|uid| shard.contains(&identity("", uid)) == inside).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_elsewhere_moves_the_position_and_is_no_silence() {
    let shard = Shard::of(0, 2).unwrap();
    let (mine, other) = (uid(&shard, true), uid(&shard, false));
    let line = |kind: &str, uid: &str, version: u32| {
        let metadata = json!({"name": format!("{uid}-{version}"), "uid": uid, "resourceVersion": version.to_string()});
        format!("{}\n", json!({"type": kind, "object": {"metadata": metadata}}))
    };
    let lines = line("ADDED", &other, 8)
        + &line("MODIFIED", &other, 9)
        + &line("DELETED", &other, 5)
        + &line("ADDED", &mine, 10);
    let list = json!({"metadata": {"resourceVersion": "7"}, "items": []}).to_string();
    let collection = Collection::<ConfigMap>::all(scripted(list, lines)).shard(shard).decode_as::<Raw>();
    let mut events = collection.events().strategy(Strategy::List);
    let stats = events.stats();
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(events.next().await.unwrap().unwrap());
        if told.len() == 3 {
            assert!(matches!(&told[2], Event::Watching(_)), "{told:?}");
        }
    }
    assert!(matches!(&told[3], Event::Added(object) if object.identity().uid == mine), "{told:?}");
    assert_eq!((stats.get().events, stats.get().last_version.as_str()), (1, "10"));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_does_not_decode_is_told_by_its_shard_alone() {
    let (mine, other) = (Shard::of(0, 2).unwrap(), Shard::of(1, 2).unwrap());
    let bad = |uid: String| json!({"metadata": {"name": uid, "uid": uid, "resourceVersion": "5"}, "data": 7});
    let nameless = json!({"metadata": {"name": "x", "uid": 9, "resourceVersion": "5"}, "data": 7});
    let items = [bad(uid(&mine, true)), bad(uid(&mine, false)), nameless];
    let list = json!({"metadata": {"resourceVersion": "7"}, "items": items}).to_string();
    let lines: String =
        items.iter().map(|object| format!("{}\n", json!({"type": "ADDED", "object": object}))).collect();
    for shard in [mine.clone(), other] {
        let all = Collection::<ConfigMap>::all(scripted(list.clone(), lines.clone())).shard(shard.clone());
        let mut told = Vec::new();
        let mut events = all.events().strategy(Strategy::List);
        while let Ok(Some(item)) = tokio::time::timeout(Duration::from_millis(500), events.next()).await {
            told.extend(item.err().map(|error| error.object().unwrap().name.to_string()));
        }
        // Of which uid the third is cannot be read: every shard is told.
        let own = uid(&shard, true);
        assert_eq!(told, [&*own, "x", &*own, "x"]);
    }
}

#[tokio::test]
async fn how_many_objects_of_all_shards_are_left_is_not_told() {
    let shard = Shard::of(0, 2).unwrap();
    for (info, remaining) in [(json!(null), None), (json!({"selector": shard.to_string()}), Some(5))] {
        let meta = json!({"resourceVersion": "7", "continue": "t", "remainingItemCount": 5, "shardInfo": info});
        let client = scripted(json!({"metadata": meta, "items": []}).to_string(), String::new());
        let page =
            Collection::<ConfigMap>::all(client).shard(shard.clone()).list_page(Default::default()).await.unwrap();
        let told = page.filter_map(async |part| match part.unwrap() {
            ListPart::Meta(meta) => Some(meta.remaining_items),
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>().await, [remaining]);
    }
}

#[tokio::test]
async fn a_list_of_another_shard_ends_with_its_error() {
    let [mine, other] = [0, 1].map(|index| Shard::of(index, 2).unwrap());
    let items = [json!({"metadata": {"name": "a", "uid": uid(&mine, true)}})];
    let meta = json!({"resourceVersion": "7", "shardInfo": {"selector": other.to_string()}});
    let list = format!(r#"{{"metadata":{meta},"items":{}}}"#, json!(items));
    let all = Collection::<ConfigMap>::all(scripted(list, String::new())).shard(mine);
    let parts: Vec<_> = all.list_page(Default::default()).await.unwrap().collect().await;
    assert!(matches!(&parts[..], [Err(error)] if error.is_garbage()), "{parts:?}");
}
