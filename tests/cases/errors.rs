//! The names that an error goes by in `expected.errors`.

use listwatch::Error;

/// Every name of an error: its status reason and code, and what its predicates say.
pub fn names(error: &Error) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if let Some(status) = error.status() {
        names.extend([status.reason.to_string(), status.code.to_string()]);
    }
    if let Some(object) = error.object() {
        names.extend(["Decode", "Unreadable", "Undecodable"].map(|name| format!("{name}({})", object.name)));
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    let says = |part: &str| text.to_ascii_lowercase().contains(part);
    let lacks_version = says("no resource version");
    let classes: [(bool, &[&str]); 20] = [
        (error.is_expired(), &["Expired", "Gone"]),
        (error.is_too_large_version(), &["ResourceVersionTooLarge", "TooLargeResourceVersion", "TooLarge"]),
        (error.is_too_many_requests(), &["TooManyRequests", "Throttled"]),
        (error.is_unauthorized(), &["Unauthorized"]),
        (error.is_forbidden(), &["Forbidden"]),
        (error.is_not_found(), &["NotFound", "ResourceNotFound"]),
        (error.is_unwatchable(), &["MethodNotAllowed", "NotWatchable", "Unwatchable"]),
        (error.status().is_some_and(|s| s.code == 500), &["InternalError", "ServerError"]),
        (error.status().is_some_and(|s| s.code == 503), &["ServiceUnavailable"]),
        (error.status().is_some_and(|s| s.code == 504), &["Timeout", "GatewayTimeout"]),
        (error.is_unreadable(), &["Decode", "Unreadable", "Undecodable"]),
        (error.is_garbage() && !lacks_version, &["Malformed", "Garbage", "Parse", "InvalidJson", "UnexpectedContent"]),
        (lacks_version, &["NoResourceVersion", "MissingResourceVersion"]),
        (error.is_garbage() && says("type"), &["UnknownEventType", "UnknownEvent"]),
        (error.is_garbage() && says("table"), &["Table", "NotAList"]),
        (error.is_unreachable(), &["Unreachable", "Connect", "ConnectionRefused", "ConnectionReset", "Network"]),
        (error.is_interrupted(), &["Interrupted", "ConnectionReset", "UnexpectedEof", "Cut", "Network", "Timeout"]),
        (error.is_short_watch(), &["ShortWatch", "VeryShortWatch"]),
        (error.is_unsupported(), &["Unsupported", "WatchListUnsupported", "NoWatchList"]),
        (error.is_wrong_kind(), &["WrongKind", "UnexpectedKind", "KindMismatch"]),
    ];
    for (holds, called) in classes {
        names.extend(called.iter().filter(|_| holds).map(|name| (*name).to_owned()));
    }
    names
}

/// Whether an error of these names is the one called `wanted`, however that is written.
pub fn is_called(names: &[String], wanted: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect()
    };
    names.iter().any(|name| plain(name) == plain(wanted))
}
