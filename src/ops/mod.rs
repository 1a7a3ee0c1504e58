//! The operators, one file each.

mod fold;

pub(crate) use self::fold::sealed;
pub use self::fold::{Fold, IntoFold, Itself};
