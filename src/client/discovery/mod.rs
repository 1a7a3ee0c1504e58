//! Which resources a server has, and which one a word means.
mod documents;
mod fetch;
mod resolve;
mod resource;

pub use self::resource::Discovered;
