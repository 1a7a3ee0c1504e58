//! Memory stays bounded whatever the server sends, and a stop ends any wait at once.

mod counted;
mod memory;
mod stop;
mod store;
mod tap;
