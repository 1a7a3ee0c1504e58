use super::{Entry, Node, Trie};
use std::sync::Arc;

/// Borrows the trie.
pub(crate) struct Iter<'a, T> {
    stack: Vec<std::slice::Iter<'a, Node<T>>>,
    leaf: std::slice::Iter<'a, Entry<T>>,
    left: usize,
}

impl<'a, T> Iter<'a, T> {
    pub(super) fn new(root: &'a Node<T>, len: usize) -> Self {
        Iter { stack: vec![std::slice::from_ref(root).iter()], leaf: [].iter(), left: len }
    }
}

impl<'a, T> Iter<'a, T> {
    pub(super) fn next_entry(&mut self) -> Option<&'a Entry<T>> {
        loop {
            if let Some(entry) = self.leaf.next() {
                self.left -= 1;
                return Some(entry);
            }
            match self.stack.last_mut()?.next() {
                None => drop(self.stack.pop()),
                Some(Node::Empty) => {}
                Some(Node::Leaf(leaf)) => self.leaf = leaf.iter(),
                Some(Node::Branch(branch)) => self.stack.push(branch.iter()),
            }
        }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.next_entry()?.item()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// Owns what it has still to visit, and nothing else.
pub(crate) struct IntoIter<T> {
    stack: Vec<Node<T>>,
    leaf: Option<(Arc<[Entry<T>]>, usize)>,
    left: usize,
    /// Frees the rest where it is dropped early.
    release: fn(Node<T>),
}

impl<T: Clone> Trie<T> {
    pub(crate) fn into_iter(self) -> IntoIter<T> {
        IntoIter { stack: vec![self.root.clone()], leaf: None, left: self.len, release: self.release }
    }
}

impl<T> Clone for IntoIter<T> {
    fn clone(&self) -> Self {
        IntoIter { stack: self.stack.clone(), leaf: self.leaf.clone(), left: self.left, release: self.release }
    }
}

impl<T: Clone> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            if let Some((leaf, at)) = &mut self.leaf {
                if let Some(entry) = leaf.get(*at) {
                    *at += 1;
                    self.left -= 1;
                    return entry.item().cloned();
                }
                self.leaf = None;
            }
            match self.stack.pop()? {
                Node::Empty => {}
                Node::Leaf(leaf) => self.leaf = Some((leaf, 0)),
                Node::Branch(branch) => self.stack.extend(branch.iter().cloned()),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> Drop for IntoIter<T> {
    fn drop(&mut self) {
        for node in self.stack.drain(..) {
            (self.release)(node);
        }
    }
}
