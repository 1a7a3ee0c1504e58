//! client-go's reflector tests, retold: `README.md` has the table, each test's name begins with its row's id.
//!
//! Input and expectation are client-go's (v0.36.6), except where the table says that a row deviates. Sources are
//! scripted and time is paused, except where a row is about the wire.

mod detector;
mod pager;
mod play;
mod reflector;
mod retry;
mod shards;
mod stores;
mod table;
mod watch_list;
