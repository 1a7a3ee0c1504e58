//! A persistent hash trie: clones share everything, edits copy only the path that is shared, in safe code.
//!
//! Hashes and equality come from the caller, so that keys can live inside of the items. Leaves are one allocation and
//! small, because a copied leaf touches the count of each of its items; branches are narrow for the same reason.

mod diff;
mod iter;
mod release;
pub(crate) use self::diff::Diff;
pub(crate) use self::iter::{IntoIter, Iter};
pub(crate) use self::release::elsewhere;
use std::sync::Arc;

const BITS: u32 = 3;
const FAN: usize = 1 << BITS;
/// A leaf that would grow beyond this is split.
const MAX_LEAF: usize = 8;
/// A branch whose leaves hold this few together becomes a leaf again.
const MIN_BRANCH: usize = 4;

/// An item, its hash, and a number that the user of the trie is free to use: 16 bytes for an `Arc`.
pub(crate) struct Entry<T> {
    pub(crate) hash: u32,
    pub(crate) tag: u32,
    /// `None` only while a leaf that nobody shares is taken apart.
    item: Option<T>,
}

enum Node<T> {
    Empty,
    Leaf(Arc<[Entry<T>]>),
    Branch(Arc<[Node<T>; FAN]>),
}

/// The trie. Dropping it frees what nobody shares: a bounded part at once, the rest on tokio's blocking threads.
pub(crate) struct Trie<T> {
    root: Node<T>,
    len: usize,
    release: fn(Node<T>),
}

impl<T> Entry<T> {
    pub(crate) fn new(hash: u32, tag: u32, item: T) -> Self {
        Entry { hash, tag, item: Some(item) }
    }

    /// The item. Every entry that a reader can reach has one.
    pub(crate) fn item(&self) -> Option<&T> {
        self.item.as_ref()
    }

    pub(crate) fn into_item(self) -> Option<T> {
        self.item
    }

    fn is(&self, hash: u32, eq: &mut impl FnMut(&T) -> bool) -> bool {
        self.hash == hash && self.item.as_ref().is_some_and(eq)
    }

    fn take(&mut self) -> Self {
        Entry { hash: self.hash, tag: self.tag, item: self.item.take() }
    }
}

impl<T: Clone> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Entry { hash: self.hash, tag: self.tag, item: self.item.clone() }
    }
}

impl<T> Clone for Node<T> {
    fn clone(&self) -> Self {
        match self {
            Node::Empty => Node::Empty,
            Node::Leaf(leaf) => Node::Leaf(Arc::clone(leaf)),
            Node::Branch(branch) => Node::Branch(Arc::clone(branch)),
        }
    }
}

impl<T> Node<T> {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Node::Empty, Node::Empty) => true,
            (Node::Leaf(a), Node::Leaf(b)) => Arc::ptr_eq(a, b),
            (Node::Branch(a), Node::Branch(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

fn slot(hash: u32, depth: u32) -> usize {
    (hash >> (u32::BITS - BITS * (depth + 1))) as usize & (FAN - 1)
}

/// Where a leaf has this hash. Which of few entries it is cannot be predicted, so the first are looked at without a
/// branch.
fn position<T>(leaf: &[Entry<T>], hash: u32) -> Option<usize> {
    let last = leaf.len().checked_sub(1)?;
    let found = (1..4).map(|at| at.min(last)).fold(0, |found, at| if leaf[at].hash == hash { at } else { found });
    if leaf[found].hash == hash { Some(found) } else { leaf.iter().position(|entry| entry.hash == hash) }
}

/// Whether the hash has bits left below this depth.
fn can_split(depth: u32) -> bool {
    BITS * (depth + 1) <= u32::BITS
}

impl<T> Clone for Trie<T> {
    fn clone(&self) -> Self {
        Trie { root: self.root.clone(), len: self.len, release: self.release }
    }
}

impl<T> Trie<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether both are one and the same, not only equal.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.root.same(&other.root)
    }

    fn leaf(&self, hash: u32) -> &[Entry<T>] {
        let (mut node, mut depth) = (&self.root, 0);
        loop {
            match node {
                Node::Empty => return &[],
                Node::Leaf(leaf) => return leaf,
                Node::Branch(branch) => node = &branch[slot(hash, depth)],
            }
            depth += 1;
        }
    }

    /// An item of this hash, which is most likely the one that is sought; no code of the item's runs.
    pub(crate) fn candidate(&self, hash: u32) -> Option<&T> {
        let leaf = self.leaf(hash);
        leaf[position(leaf, hash)?].item()
    }

    pub(crate) fn entry(&self, hash: u32, mut eq: impl FnMut(&T) -> bool) -> Option<&Entry<T>> {
        self.leaf(hash).iter().find(|entry| entry.is(hash, &mut eq))
    }

    pub(crate) fn get(&self, hash: u32, eq: impl FnMut(&T) -> bool) -> Option<&T> {
        self.entry(hash, eq)?.item()
    }

    pub(crate) fn iter(&self) -> Iter<'_, T> {
        Iter::new(&self.root, self.len)
    }

    /// The items with their hashes and tags.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        let mut entries = self.iter();
        std::iter::from_fn(move || entries.next_entry())
    }
}

impl<T: Clone + Send + Sync + 'static> Trie<T> {
    pub(crate) fn new() -> Self {
        Trie { root: Node::Empty, len: 0, release: release::release }
    }

    /// Inserts or replaces; returns what was there. Items are compared only where their hashes are the same.
    pub(crate) fn insert(&mut self, entry: Entry<T>, eq: impl Fn(&T, &T) -> bool) -> Option<Entry<T>> {
        let hash = entry.hash;
        let mut same = |held: &T| entry.item().is_some_and(|item| eq(held, item));
        let (mut node, mut depth) = (&mut self.root, 0);
        loop {
            match node {
                Node::Branch(branch) => {
                    node = &mut Arc::make_mut(branch)[slot(hash, depth)];
                    depth += 1;
                }
                Node::Leaf(leaf) => match leaf.iter().position(|held| held.is(hash, &mut same)) {
                    Some(at) => return Some(replace(leaf, at, entry)),
                    None if leaf.len() >= MAX_LEAF && can_split(depth) => *node = split(leaf, depth),
                    None => {
                        *leaf = match Arc::get_mut(leaf) {
                            Some(own) => own.iter_mut().map(Entry::take).chain([entry]).collect(),
                            None => leaf.iter().cloned().chain([entry]).collect(),
                        };
                        self.len += 1;
                        return None;
                    }
                },
                Node::Empty => {
                    *node = Node::Leaf(Arc::new([entry]));
                    self.len += 1;
                    return None;
                }
            }
        }
    }

    /// An item to edit in place; what is shared of its path is copied.
    pub(crate) fn get_mut(&mut self, hash: u32, mut eq: impl FnMut(&T) -> bool) -> Option<&mut T> {
        self.entry(hash, &mut eq)?;
        let (mut node, mut depth) = (&mut self.root, 0);
        loop {
            match node {
                Node::Branch(branch) => node = &mut Arc::make_mut(branch)[slot(hash, depth)],
                Node::Leaf(leaf) => {
                    let at = leaf.iter().position(|held| held.is(hash, &mut eq))?;
                    if Arc::get_mut(leaf).is_none() {
                        *leaf = leaf.iter().cloned().collect();
                    }
                    return Arc::get_mut(leaf)?[at].item.as_mut();
                }
                Node::Empty => return None,
            }
            depth += 1;
        }
    }

    /// Removes; returns what was there.
    pub(crate) fn remove(&mut self, hash: u32, mut eq: impl FnMut(&T) -> bool) -> Option<Entry<T>> {
        self.entry(hash, &mut eq)?; // no path is copied for nothing
        let old = remove(&mut self.root, hash, 0, &mut eq)?;
        self.len -= 1;
        Some(old)
    }

    /// Lazy, owned difference from `self` to `new`, before and after: what both share costs one comparison.
    pub(crate) fn diff(&self, new: &Self, equal: fn(&T, &T) -> bool, same: fn(&T, &T) -> bool) -> Diff<T> {
        Diff::new(self.root.clone(), new.root.clone(), equal, same)
    }
}

fn replace<T: Clone>(leaf: &mut Arc<[Entry<T>]>, at: usize, entry: Entry<T>) -> Entry<T> {
    if let Some(own) = Arc::get_mut(leaf) {
        return std::mem::replace(&mut own[at], entry);
    }
    let old = leaf[at].clone();
    let mut entry = Some(entry);
    *leaf = leaf
        .iter()
        .enumerate()
        .map(|(i, held)| if i == at { entry.take() } else { None }.unwrap_or_else(|| held.clone()))
        .collect();
    old
}

fn split<T: Clone>(leaf: &mut Arc<[Entry<T>]>, depth: u32) -> Node<T> {
    let mut parts: [Vec<Entry<T>>; FAN] = Default::default();
    match Arc::get_mut(leaf) {
        Some(own) => own.iter_mut().map(Entry::take).for_each(|entry| parts[slot(entry.hash, depth)].push(entry)),
        None => leaf.iter().cloned().for_each(|entry| parts[slot(entry.hash, depth)].push(entry)),
    }
    Node::Branch(Arc::new(parts.map(leaf_of)))
}

fn leaf_of<T>(entries: Vec<Entry<T>>) -> Node<T> {
    if entries.is_empty() { Node::Empty } else { Node::Leaf(entries.into()) }
}

fn remove<T: Clone>(node: &mut Node<T>, hash: u32, depth: u32, eq: &mut impl FnMut(&T) -> bool) -> Option<Entry<T>> {
    match node {
        Node::Empty => None,
        Node::Leaf(leaf) => {
            let at = leaf.iter().position(|held| held.is(hash, eq))?;
            let mut rest = Vec::with_capacity(leaf.len());
            match Arc::get_mut(leaf) {
                Some(own) => rest.extend(own.iter_mut().map(Entry::take)),
                None => rest.extend(leaf.iter().cloned()),
            }
            let old = rest.swap_remove(at);
            *node = leaf_of(rest);
            Some(old)
        }
        Node::Branch(branch) => {
            let children = Arc::make_mut(branch);
            let old = remove(&mut children[slot(hash, depth)], hash, depth + 1, eq);
            if let Some(merged) = merge(children) {
                *node = merged;
            }
            old
        }
    }
}

/// A branch that holds little becomes a leaf, so that a store that shrank does not keep the nodes of its best days.
fn merge<T: Clone>(children: &mut [Node<T>; FAN]) -> Option<Node<T>> {
    let mut len = 0;
    for child in &*children {
        match child {
            Node::Empty => {}
            Node::Leaf(leaf) => len += leaf.len(),
            Node::Branch(_) => return None,
        }
        if len > MIN_BRANCH {
            return None;
        }
    }
    let mut entries = Vec::with_capacity(len);
    for child in children {
        if let Node::Leaf(leaf) = child {
            match Arc::get_mut(leaf) {
                Some(own) => entries.extend(own.iter_mut().map(Entry::take)),
                None => entries.extend(leaf.iter().cloned()),
            }
        }
    }
    Some(leaf_of(entries))
}

#[cfg(test)]
mod tests;
