//! Indexes: of one state with the content, at any time, with nothing left behind.

use super::thing::{Thing, feed, fold, listed, thing};
use crate::objects::config_map;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::OwnerReference};
use kube::core::{Expression, Selector};
use listwatch::{Event, Store};

fn letters(thing: &Thing) -> Vec<char> {
    thing.label.chars().collect()
}

#[test]
fn any_number_of_values_move_with_the_object() {
    let store = Store::new();
    let index = store.index("letters", letters);
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1).label("xy"), thing("b", 1).label("y"), thing("c", 1)], "1"));
    assert_eq!((index.count(&'x'), index.count(&'y'), index.get(&'y').len()), (1, 2, 2));
    feed(&mut part, [Event::modified(thing("a", 2).label("yz"))]);
    assert_eq!((index.count(&'x'), index.count(&'y'), index.count(&'z')), (0, 2, 1));
    assert_eq!(index.get(&'z')[0].version, "2");
    feed(&mut part, [Event::deleted(thing("a", 3).label("other"))]);
    assert_eq!((index.count(&'y'), index.count(&'z')), (1, 0), "by what is held, not by what the deletion carries");
    assert_eq!(index.values(), ['y'], "no empty sets");
    feed(&mut part, listed([], "4"));
    assert!(index.values().is_empty());
}

#[test]
fn values_twice_in_one_object_count_once() {
    let store = Store::of([thing("a", 1).label("xx")]);
    let index = store.index("letters", letters);
    assert_eq!((index.count(&'x'), index.values()), (1, vec!['x']));
    feed(&mut fold(&store), [Event::deleted(thing("a", 2))]);
    assert!(index.values().is_empty());
}

#[test]
fn a_snapshot_has_its_own_state_of_the_index() {
    let store = Store::of([thing("a", 1).label("x")]);
    let before = store.snapshot();
    let index = store.index("letters", letters);
    let indexed = store.snapshot();
    feed(&mut fold(&store), [Event::modified(thing("a", 2).label("y"))]);
    for snapshot in [&before, &indexed] {
        let view = snapshot.by(&index);
        assert_eq!((view.count(&'x'), view.count(&'y'), view.values()), (1, 0, vec!['x']));
        assert_eq!(view.get(&'x').next().unwrap().version, "1", "also in a snapshot that is older than the index");
    }
    assert_eq!(store.snapshot().by(&index).values(), ['y']);
    let other = Store::of([thing("b", 1).label("z")]);
    assert_eq!(other.snapshot().by(&index).values(), ['z'], "or of another store");
}

#[test]
fn a_snapshot_in_progress_is_not_in_an_index_that_is_made_meanwhile() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1).label("x"), thing("b", 1).label("x")], "1"));
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("a", 2).label("y"))]);
    let index = store.index("letters", letters);
    assert_eq!((index.count(&'x'), index.count(&'y')), (2, 0));
    feed(&mut part, [Event::SnapshotEnd("2".into())]);
    assert_eq!((index.count(&'x'), index.count(&'y')), (0, 1));
}

#[test]
fn an_index_without_a_handle_costs_nothing_more() {
    let store = Store::new();
    let called = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = called.clone();
    let index = store.index("counting", move |_: &Thing| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        [()]
    });
    let mut part = fold(&store);
    feed(&mut part, [Event::added(thing("a", 1))]);
    let before = called.load(std::sync::atomic::Ordering::Relaxed);
    assert!(before > 0);
    drop(index);
    feed(&mut part, [Event::added(thing("b", 2))]);
    assert_eq!(called.load(std::sync::atomic::Ordering::Relaxed), before);
}

fn labelled(name: &str, label: &str) -> ConfigMap {
    let mut object = config_map(name, "1");
    object.metadata.labels = Some([("app".to_string(), label.to_string())].into());
    object
}

#[test]
fn ready_made_ones_and_label_selectors() {
    let mut owned = config_map("owned", "1");
    owned.metadata.owner_references = Some(vec![
        OwnerReference { uid: "o1".into(), ..OwnerReference::default() },
        OwnerReference { uid: "o2".into(), ..OwnerReference::default() },
    ]);
    let store = Store::of([labelled("a", "shop"), labelled("b", "till"), owned]);
    assert_eq!(store.index_by_namespace().count("ns"), 3);
    assert_eq!(store.index_by_label("app").count("shop"), 1);
    assert_eq!((store.index_by_owner().count("o1"), store.index_by_owner().count("o2")), (1, 1));
    let selected = |selector: Selector| {
        let mut names: Vec<_> = store.snapshot().select(&selector).map(|o| o.metadata.name.clone().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(selected(Selector::from(Expression::Equal("app".into(), "shop".into()))), ["a"]);
    assert_eq!(selected(Selector::from(Expression::DoesNotExist("app".into()))), ["owned"]);
    assert_eq!(selected(Selector::default()), ["a", "b", "owned"]);
}

#[test]
fn by_node() {
    use k8s_openapi::api::core::v1::{Pod, PodSpec};
    let pod = |name: &str, node: Option<&str>| {
        let mut pod =
            Pod { spec: Some(PodSpec { node_name: node.map(Into::into), ..PodSpec::default() }), ..Pod::default() };
        pod.metadata.name = Some(name.into());
        pod
    };
    let index = Store::of([pod("a", Some("n1")), pod("b", Some("n1")), pod("c", None)]).index_by_node();
    assert_eq!((index.count("n1"), index.values().len()), (2, 1));
}
