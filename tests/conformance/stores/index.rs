//! S06, S10 to S12, S35: indexes, of `store_test.go`, `thread_safe_store_test.go` and `shared_informer_test.go`.

use crate::play::{Fed, add, cm, delete, spec, update};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{Event, Store, store::Index};

/// The values of an object: what stands in its data under `values`, separated by commas.
fn values(object: &ConfigMap) -> Vec<String> {
    let data = object.data.as_ref().and_then(|data| data.get("values"));
    data.into_iter().flat_map(|values| values.split(',')).map(str::to_owned).collect()
}

fn indexed(store: &Store<ConfigMap>) -> Index<ConfigMap, String> {
    store.index("by-value", values)
}

fn with(spec: &str, values: &str) -> ConfigMap {
    let mut object = cm(spec);
    object.data = Some([("values".to_owned(), values.to_owned())].into());
    object
}

fn of(index: &Index<ConfigMap, String>, value: &str) -> String {
    let mut found: Vec<_> = index.get(value).iter().map(|object| spec(object)).collect();
    found.sort();
    found.join(" ")
}

fn all_values(index: &Index<ConfigMap, String>) -> Vec<String> {
    let mut values = index.values();
    values.sort();
    values
}

#[test]
fn s06_an_index_returns_every_member_of_a_value() {
    let mut fed = Fed::new();
    let index = indexed(&fed.store);
    fed.tell([Event::added(with("a@1", "x")), Event::added(with("b@2", "y")), Event::added(with("c@3", "x"))]);
    assert_eq!(of(&index, "x"), "a@1 c@3");
    assert_eq!(of(&index, "y"), "b@2");
    assert_eq!(of(&index, "z"), "");
}

#[test]
fn s10_the_last_key_of_a_value_takes_the_value_along() {
    let mut fed = Fed::new();
    let index = indexed(&fed.store);
    fed.tell([Event::added(with("a@1", "x")), delete("a@2")]);
    assert!(index.values().is_empty(), "no empty set is left");
    assert_eq!(index.count("x"), 0);
}

#[test]
fn s11_one_of_two_keys_leaves_the_value() {
    let mut fed = Fed::new();
    let index = indexed(&fed.store);
    fed.tell([Event::added(with("a@1", "x")), Event::added(with("b@2", "x")), delete("a@3")]);
    assert_eq!(all_values(&index), ["x"]);
    assert_eq!(of(&index, "x"), "b@2");
}

#[test]
fn s12_an_object_of_several_values_moves_between_them() {
    let mut fed = Fed::new();
    let index = indexed(&fed.store);
    fed.tell([Event::added(with("a@1", "foo,bar")), Event::added(with("b@2", "bar"))]);
    assert_eq!((of(&index, "foo"), of(&index, "bar")), ("a@1".into(), "a@1 b@2".into()));
    fed.tell([Event::modified(with("a@3", "bar,baz"))]);
    assert_eq!(all_values(&index), ["bar", "baz"]);
    assert_eq!((of(&index, "bar"), of(&index, "baz")), ("a@3 b@2".into(), "a@3".into()));
    fed.tell([delete("a@4")]);
    assert_eq!(all_values(&index), ["bar"]);
    assert_eq!(of(&index, "bar"), "b@2");
}

#[test]
fn s35_an_index_added_late_is_usable_at_once() {
    let mut fed = Fed::new();
    fed.replace("plain@1", "1");
    fed.tell([Event::added(with("a@2", "x")), Event::added(with("b@3", "x,y"))]);
    let index = indexed(&fed.store);
    assert_eq!((of(&index, "x"), of(&index, "y")), ("a@2 b@3".into(), "b@3".into()));
    fed.tell([update("a@4"), add("c@5")]);
    assert_eq!(of(&index, "x"), "b@3", "and follows what comes then");
}
