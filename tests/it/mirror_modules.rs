//! Those modules of the example `mirror` that bring tests of their own: an example that `cargo test` runs as a test is not
//! built as a program, which the module `mirror` needs.
#![allow(dead_code, reason = "the program uses more of them than their tests do")]

#[path = "../../examples/mirror/age.rs"]
mod age;
#[path = "../../examples/mirror/cli.rs"]
mod cli;
#[path = "../../examples/mirror/failure.rs"]
mod failure;
#[path = "../../examples/mirror/memory.rs"]
mod memory;
#[path = "../../examples/mirror/news.rs"]
mod news;
#[path = "../../examples/mirror/pod_status.rs"]
mod pod_status;
#[path = "../../examples/mirror/rate.rs"]
mod rate;
#[path = "../../examples/mirror/scope.rs"]
mod scope;
#[path = "../../examples/mirror/screen.rs"]
mod screen;
#[path = "../../examples/mirror/status.rs"]
mod status;
#[path = "../../examples/mirror/table.rs"]
mod table;
#[path = "../../examples/mirror/tone.rs"]
mod tone;
#[path = "../../examples/mirror/tui/mod.rs"]
mod tui;
#[path = "../../examples/mirror/waits.rs"]
mod waits;
