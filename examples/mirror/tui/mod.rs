//! The full screen: what it holds, how it looks, what keys do. Nothing in here knows of a terminal.

mod draw;
mod keys;
mod model;

pub use self::{draw::draw, keys::Action, model::Model};

#[cfg(test)]
mod tests;
