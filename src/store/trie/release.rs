//! Freeing a trie without holding up whoever dropped it last.

use super::{Node, Trie};
use std::sync::Arc;
use tokio::runtime::Handle;

/// Nodes that are freed at once: some tens of microseconds.
const AT_ONCE: u32 = 512;

impl<T> Drop for Trie<T> {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.root, Node::Empty) {
            Node::Empty => {}
            root => (self.release)(root),
        }
    }
}

/// Frees what nobody shares of a node: a bounded part here, the rest on the runtime's blocking threads where there
/// is one.
pub(super) fn release<T: Send + Sync + 'static>(node: Node<T>) {
    let (mut budget, mut rest) = (AT_ONCE, Vec::new());
    free(node, &mut budget, &mut rest);
    elsewhere(rest);
}

fn free<T>(node: Node<T>, budget: &mut u32, rest: &mut Vec<Node<T>>) {
    if *budget == 0 {
        if !matches!(node, Node::Empty) {
            rest.push(node);
        }
        return;
    }
    match node {
        Node::Empty => {}
        Node::Leaf(leaf) => {
            *budget -= 1;
            drop(leaf);
        }
        Node::Branch(branch) => {
            if let Some(children) = Arc::into_inner(branch) {
                *budget -= 1;
                children.into_iter().for_each(|child| free(child, budget, rest));
            }
        }
    }
}

/// Drops many values, on a blocking thread of the runtime where there is one.
pub(crate) fn elsewhere<T: Send + 'static>(many: Vec<T>) {
    if many.is_empty() {
        return;
    }
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn_blocking(move || drop(many));
    }
}
