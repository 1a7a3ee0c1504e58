//! The store, fed by folds directly: what it holds, what it tells, what it waits for.

mod changes;
mod history;
mod lifecycle;
mod model;
mod thing;
mod unreadable;
