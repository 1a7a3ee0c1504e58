//! Whether a request has what a step wants of it.

use super::{
    format::{Expect, Wanted},
    http::Request,
};

/// What of the request is not as expected, if anything.
pub fn mismatch(expect: &Expect, request: &Request) -> Option<String> {
    if expect.method != request.method || expect.path != request.path {
        return Some(format!("{} {} is expected", expect.method, expect.path));
    }
    let query = |name: &str, wanted: &Wanted| {
        let values: Vec<&str> = request.query.iter().filter(|(n, _)| n == name).map(|(_, v)| &**v).collect();
        (!wanted.takes(&values, |wanted, value| {
            wanted == value
                || wanted == "*"
                || (name == "watch" && [wanted, value].iter().all(|v| matches!(*v, "true" | "1")))
        }))
        .then(|| format!("{name} is {values:?}, expected is {wanted}"))
    };
    let header = |name: &str, wanted: &Wanted| {
        let name = name.to_ascii_lowercase();
        let values: Vec<&str> = request.headers.iter().filter(|(n, _)| *n == name).map(|(_, v)| &**v).collect();
        (!wanted.takes(&values, |wanted, value| match wanted.strip_prefix('~') {
            Some(part) => value.contains(part),
            None => wanted == value || wanted == "*",
        }))
        .then(|| format!("the header {name} is another than expected"))
    };
    let mut queries = expect.query.iter().map(|(name, wanted)| query(name, wanted));
    let mut headers = expect.headers.iter().map(|(name, wanted)| header(name, wanted));
    queries.find_map(|found| found).or_else(|| headers.find_map(|found| found))
}

impl Wanted {
    /// Whether the values given under a name are taken: none, or only empty ones, count as absent.
    fn takes(&self, values: &[&str], equal: impl Fn(&str, &str) -> bool + Copy) -> bool {
        let present = values.iter().any(|value| !value.is_empty());
        match self {
            Wanted::Absent => !present,
            Wanted::Is(wanted) if wanted.is_empty() => !present,
            Wanted::Is(wanted) => present && values.iter().all(|value| equal(wanted, value)),
            Wanted::AnyOf(any) => any.iter().any(|wanted| wanted.takes(values, equal)),
        }
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wanted::Absent => f.write_str("none"),
            Wanted::Is(wanted) => write!(f, "{wanted:?}"),
            Wanted::AnyOf(any) => {
                for (index, wanted) in any.iter().enumerate() {
                    write!(f, "{}{wanted}", if index == 0 { "" } else { " or " })?;
                }
                Ok(())
            }
        }
    }
}
