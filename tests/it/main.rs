//! One binary, one module per concern: linking is what tests cost.

mod objects;
mod source;
