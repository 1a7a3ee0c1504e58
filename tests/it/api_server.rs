//! The API server in this process: that it answers as a real one does, and fails as asked.

mod client;
mod faults;
mod http2;
mod list;
mod watch;
mod write;
