//! From the bytes of a body to objects and events. Splitting is on bytes, as they arrive; what an object is, its own
//! type says.

mod decoding;
mod event;
mod frame_splitter;
mod kinds;
mod list_decoder;
mod list_splitter;
mod meta;
mod object;
mod reused;
mod scan;
mod status;
mod unreadable;
mod watch_decoder;
mod workers;

pub use self::list_decoder::ListDecoder;
pub use self::watch_decoder::WatchDecoder;

pub(super) use self::status::status_in;

/// client-go's limit for one event.
const DEFAULT_MAX: usize = 16 << 20;
