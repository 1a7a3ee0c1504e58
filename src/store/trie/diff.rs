use super::{Entry, FAN, Node, leaf_of, slot};

/// The difference between two tries: pairs of before and after, neither twice. Holds what it has still to visit.
pub(crate) struct Diff<T> {
    stack: Vec<(Node<T>, Node<T>, u32)>,
    ready: Vec<Pair<T>>,
    equal: fn(&T, &T) -> bool,
    same: fn(&T, &T) -> bool,
}

type Pair<T> = (Option<Entry<T>>, Option<Entry<T>>);

impl<T: Clone> Diff<T> {
    pub(super) fn new(old: Node<T>, new: Node<T>, equal: fn(&T, &T) -> bool, same: fn(&T, &T) -> bool) -> Self {
        Diff { stack: vec![(old, new, 0)], ready: Vec::new(), equal, same }
    }

    fn leaves(&mut self, old: &[Entry<T>], new: &[Entry<T>]) {
        let finds = |a: &Entry<T>, among: &[Entry<T>]| {
            let equal = self.equal;
            among
                .iter()
                .position(|b| a.hash == b.hash && matches!((a.item(), b.item()), (Some(a), Some(b)) if equal(a, b)))
        };
        for before in old {
            match finds(before, new).map(|at| &new[at]) {
                Some(after) => {
                    let same = matches!((before.item(), after.item()), (Some(a), Some(b)) if (self.same)(a, b));
                    if !same || before.tag != after.tag {
                        self.ready.push((Some(before.clone()), Some(after.clone())));
                    }
                }
                None => self.ready.push((Some(before.clone()), None)),
            }
        }
        for after in new {
            if finds(after, old).is_none() {
                self.ready.push((None, Some(after.clone())));
            }
        }
    }
}

/// The children of a node, as if it were a branch at this depth.
fn children<T: Clone>(node: Node<T>, depth: u32) -> [Node<T>; FAN] {
    match node {
        Node::Branch(branch) => (*branch).clone(),
        Node::Leaf(leaf) => std::array::from_fn(|i| {
            leaf_of(leaf.iter().filter(|entry| slot(entry.hash, depth) == i).cloned().collect())
        }),
        Node::Empty => std::array::from_fn(|_| Node::Empty),
    }
}

impl<T: Clone> Iterator for Diff<T> {
    type Item = Pair<T>;

    fn next(&mut self) -> Option<Pair<T>> {
        loop {
            if let Some(pair) = self.ready.pop() {
                return Some(pair);
            }
            let (old, new, depth) = self.stack.pop()?;
            if old.same(&new) {
                continue;
            }
            match (&old, &new) {
                (Node::Branch(_), _) | (_, Node::Branch(_)) => {
                    let pairs = children(old, depth).into_iter().zip(children(new, depth));
                    self.stack.extend(pairs.filter(|(a, b)| !a.same(b)).map(|(a, b)| (a, b, depth + 1)));
                }
                (Node::Leaf(a), Node::Leaf(b)) => self.leaves(a, b),
                (Node::Leaf(a), Node::Empty) => self.leaves(a, &[]),
                (Node::Empty, Node::Leaf(b)) => self.leaves(&[], b),
                (Node::Empty, Node::Empty) => {}
            }
        }
    }
}
