use std::fmt;

/// An object's JSON does not fit its type.
///
/// Says where and what kind of thing is wrong, never what the object holds: the JSON may be a Secret's.
///
/// ```
/// use listwatch::DecodeError;
///
/// let error: DecodeError = serde_json::from_str::<u32>("\n  \"hunter2\"").unwrap_err().into();
/// let text = error.to_string();
/// assert!(text.contains("line 2") && text.contains("invalid type") && !text.contains("hunter2"), "{text}");
/// ```
#[derive(Clone, Debug)]
pub struct DecodeError {
    what: Box<str>,
}

impl DecodeError {
    /// `what` must say nothing of the object's content.
    pub fn new(what: impl Into<String>) -> Self {
        DecodeError { what: what.into().into() }
    }
}

impl From<serde_json::Error> for DecodeError {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        let said = if error.is_data() { without_content(&text) } else { "not JSON" };
        DecodeError::new(format!("{said} at line {} column {}", error.line(), error.column()))
    }
}

/// serde's messages quote values; of them only the words before the first value are kept.
fn without_content(text: &str) -> &str {
    let field = ["missing field `", "duplicate field `"].into_iter().find_map(|start| text.strip_prefix(start));
    if let Some(end) = field.and_then(|rest| rest.find('`')) {
        // The name of a field of the type, not of the object.
        let start = text.len() - field.map_or(0, str::len);
        return &text[..start + end + 1];
    }
    match text.split_once(['"', '`', ',']) {
        Some((words, _))
            if ["invalid type", "invalid value", "invalid length", "unknown"].iter().any(|w| words.starts_with(w)) =>
        {
            words.trim_end()
        }
        _ => "an object that does not fit its type",
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for DecodeError {}
