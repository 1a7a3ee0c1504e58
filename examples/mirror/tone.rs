//! How good news is, for its colour.

/// What a line or a word is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Changed,
    Bad,
    Quiet,
}
