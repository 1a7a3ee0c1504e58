use std::fmt;

/// HTTP headers, in order; names compare without regard to case. `Debug` shows names only: values may be secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(Box<str>, Box<str>)>);

impl Headers {
    /// The first value of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// One value for this name, in place of any others.
    pub fn set(&mut self, name: &str, value: impl Into<Box<str>>) {
        self.remove(name);
        self.add(name, value);
    }

    /// One value more for this name.
    pub fn add(&mut self, name: &str, value: impl Into<Box<str>>) {
        self.0.push((name.into(), value.into()));
    }

    /// No value for this name.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}
