//! [`script`] is what a seed decides, [`world`] plays it, [`checks`] and [`replay`] judge it, [`shrink`] cuts it down.

pub mod report;
pub mod script;
pub mod seed;
pub mod world;

mod checks;
mod crew;
mod faults;
mod history;
mod mirror;
mod quiet;
mod rate;
mod replay;
mod shrink;
mod subscriber;
mod thing;
mod timeline;
mod wire;
