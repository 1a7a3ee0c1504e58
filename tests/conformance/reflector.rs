//! R1 to R34: `reflector_test.go`.

mod backoff;
mod kinds;
mod life;
mod list;
mod watch;
mod wire;
