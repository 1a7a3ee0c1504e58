//! The testing room: synthetic streams, scripted sources and the laws of operators. Time in it is tokio's, so that
//! `start_paused` drives every test that needs no socket.

pub mod laws;
mod raw;
mod script;

pub use self::raw::raw;
pub use self::script::{Script, events, script};
