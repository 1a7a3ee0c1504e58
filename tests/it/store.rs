//! The store, fed by folds directly: what it holds, what it tells, what it waits for.

mod changed;
mod changes;
mod checkpoint;
mod history;
mod index;
mod ledger;
mod lifecycle;
mod long_snapshot;
mod model;
mod parts;
mod subscribe;
mod thing;
mod unreadable;
mod wait;
mod wakes;
