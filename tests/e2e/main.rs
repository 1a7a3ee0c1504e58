//! End-to-end tests: the library against a real kube-apiserver over embedded etcd.
//!
//! `cargo test --test e2e` runs them; plain `cargo test` does not. They need Go, which builds the server in
//! `apiserver/` (minutes the first time).

#[allow(dead_code, reason = "the chaos run uses the rest")]
mod account;
mod defined;
mod follower;
mod recorded;
#[allow(dead_code, reason = "the chaos run uses the rest")]
mod server;
mod writer;

mod absent;
#[cfg(all(feature = "kube-client", feature = "kube-runtime"))]
mod bridge;
mod compression;
mod connections;
mod consistency;
mod contexts;
mod custom_resource;
mod definitions;
mod expiry;
mod harness;
mod kinds;
mod limits;
mod many;
mod mirror;
mod refused;
mod restart;
mod rotation;
mod shards;
mod strategies;
mod warm_start;
mod writers;
