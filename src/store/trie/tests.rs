use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Pair = (u16, u16);

fn put(trie: &mut Trie<Arc<Pair>>, hash: fn(u16) -> u32, pair: Pair) -> Option<u16> {
    let old = trie.insert(Entry::new(hash(pair.0), 0, Arc::new(pair)), |a, b| a.0 == b.0);
    old.and_then(Entry::into_item).map(|old| old.1)
}

fn take(trie: &mut Trie<Arc<Pair>>, hash: fn(u16) -> u32, key: u16) -> Option<u16> {
    trie.remove(hash(key), |held| held.0 == key).and_then(Entry::into_item).map(|old| old.1)
}

fn content(trie: &Trie<Arc<Pair>>) -> BTreeMap<u16, u16> {
    trie.iter().map(|pair| **pair).collect()
}

fn spread(key: u16) -> u32 {
    u32::from(key).wrapping_mul(0x9E37_79B9)
}

/// All keys in a handful of hashes: leaves at the deepest level must hold any number.
fn crowded(key: u16) -> u32 {
    u32::from(key % 3)
}

fn against_a_map(hash: fn(u16) -> u32, steps: &[(u8, u16, u16)]) -> Result<(), TestCaseError> {
    let (mut trie, mut model) = (Trie::new(), BTreeMap::new());
    let mut held = Vec::new();
    for (step, (what, key, value)) in steps.iter().enumerate() {
        match what % 5 {
            0 | 1 => prop_assert_eq!(take(&mut trie, hash, *key), model.remove(key)),
            _ => prop_assert_eq!(put(&mut trie, hash, (*key, *value)), model.insert(*key, *value)),
        }
        prop_assert_eq!(trie.len(), model.len());
        prop_assert_eq!(trie.get(hash(*key), |pair| pair.0 == *key).map(|pair| pair.1), model.get(key).copied());
        if step % 16 == 0 {
            held.push((trie.clone(), model.clone()));
        }
    }
    held.push((trie.clone(), model.clone()));
    prop_assert_eq!(trie.into_iter().map(|pair| *pair).collect::<BTreeMap<_, _>>(), model);
    for (trie, model) in &held {
        prop_assert_eq!(&content(trie), model, "a clone keeps its state");
    }
    for ((old, before), (new, after)) in held.iter().zip(held.iter().rev()) {
        let mut replay = before.clone();
        for (gone, come) in old.diff(new, |a, b| a.0 == b.0, Arc::ptr_eq) {
            let (gone, come) = (gone.and_then(Entry::into_item), come.and_then(Entry::into_item));
            if let Some(gone) = &gone {
                prop_assert_eq!(replay.remove(&gone.0), Some(gone.1));
            }
            if let Some(come) = &come {
                prop_assert!(gone.as_ref().is_none_or(|gone| gone.0 == come.0));
                prop_assert_eq!(replay.insert(come.0, come.1), None, "told twice");
            }
        }
        prop_assert_eq!(&replay, after);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn is_a_map(steps in proptest::collection::vec((any::<u8>(), 0..400u16, any::<u16>()), 0..600)) {
        against_a_map(spread, &steps)?;
    }

    #[test]
    fn is_a_map_where_hashes_collide(steps in proptest::collection::vec((any::<u8>(), 0..60u16, any::<u16>()), 0..300)) {
        against_a_map(crowded, &steps)?;
    }
}

#[test]
fn nothing_is_left_behind() {
    let mut trie = Trie::new();
    let items: Vec<_> = (0..2000u16).map(|key| Arc::new((key, key))).collect();
    for item in &items {
        trie.insert(Entry::new(spread(item.0), 0, Arc::clone(item)), |a, b| a.0 == b.0);
    }
    let other = trie.clone();
    for item in &items {
        assert_eq!(take(&mut trie, spread, item.0), Some(item.0));
    }
    assert!(matches!(trie.root, Node::Empty));
    assert_eq!(Arc::strong_count(&items[7]), 2, "the clone still has it");
    drop(other);
    assert!(items.iter().all(|item| Arc::strong_count(item) == 1));
}

#[test]
fn the_difference_of_clones_is_empty() {
    let mut trie = Trie::new();
    for key in 0..100 {
        put(&mut trie, spread, (key, 0));
    }
    assert_eq!(trie.diff(&trie.clone(), |a, b| a.0 == b.0, Arc::ptr_eq).count(), 0);
    assert!(trie.same(&trie.clone()));
}

#[tokio::test]
async fn a_large_trie_is_freed_elsewhere_but_wholly() {
    let mut trie = Trie::new();
    let items: Vec<_> = (0..20_000u16).map(|key| Arc::new((key, key))).collect();
    for item in &items {
        trie.insert(Entry::new(spread(item.0), 0, Arc::clone(item)), |a, b| a.0 == b.0);
    }
    drop(trie);
    while items.iter().any(|item| Arc::strong_count(item) > 1) {
        tokio::task::yield_now().await;
    }
}

#[test]
fn entries_and_nodes_are_small() {
    assert_eq!(size_of::<Entry<Arc<u8>>>(), 16);
    assert_eq!(size_of::<Node<Arc<u8>>>(), 24);
}
