//! What kind of failure an error is, by reason first, then code.

use crate::{Error, Status, error::Kind};

/// The classes of the decision table. A stream's end is not an error: see `plan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The version or token is no longer held.
    Gone,
    /// The server has not reached the version.
    TooLarge,
    Busy,
    /// 401.
    Auth,
    /// 403, and an `ERROR` event with 404.
    Hidden,
    /// 404 as the answer: there is no such resource.
    Absent,
    /// 405.
    NotAllowed,
    /// 400, 422.
    BadRequest,
    /// 406, 415, 501.
    NotOffered,
    /// Any other 5xx.
    Fault,
    /// An `ERROR` event with InternalError, or code 500 without a reason.
    Internal,
    /// Any other `ERROR` event with a 5xx: on a watch a reason to relist, unlike an answer with that code.
    FaultEvent,
    Unreachable,
    /// A body that broke off.
    Interrupted,
    /// A body that stayed silent.
    Silent,
    Garbage,
    /// No watch-list: the source says so.
    Unsupported,
    Other,
}

pub(crate) fn classify(error: &Error) -> Class {
    match error.kind() {
        Kind::Unreachable => Class::Unreachable,
        Kind::Interrupted => Class::Interrupted,
        Kind::Silent => Class::Silent,
        Kind::Garbage | Kind::NotAList => Class::Garbage,
        Kind::NoWatchList => Class::Unsupported,
        Kind::Answered => error.status().map_or(Class::Other, |status| of_status(status, false)),
        Kind::ErrorEvent => error.status().map_or(Class::Other, |status| of_status(status, true)),
        _ => Class::Other,
    }
}

fn of_status(status: &Status, event: bool) -> Class {
    if is_too_large(Some(status)) {
        return Class::TooLarge;
    }
    match &*status.reason {
        "Expired" | "Gone" => Class::Gone,
        "TooManyRequests" => Class::Busy,
        "Unauthorized" => Class::Auth,
        "NotFound" if !event => Class::Absent,
        "Forbidden" | "NotFound" => Class::Hidden,
        "MethodNotAllowed" => Class::NotAllowed,
        "BadRequest" | "Invalid" => Class::BadRequest,
        "NotAcceptable" | "UnsupportedMediaType" => Class::NotOffered,
        "InternalError" if event => Class::Internal,
        "InternalError" | "ServerTimeout" | "Timeout" | "ServiceUnavailable" => fault(event),
        reason => match status.code {
            410 => Class::Gone,
            429 => Class::Busy,
            401 => Class::Auth,
            404 if !event => Class::Absent,
            403 | 404 => Class::Hidden,
            405 => Class::NotAllowed,
            400 | 422 => Class::BadRequest,
            406 | 415 | 501 => Class::NotOffered,
            500 if event && reason.is_empty() => Class::Internal,
            500..=599 => fault(event),
            _ => Class::Other,
        },
    }
}

fn fault(event: bool) -> Class {
    if event { Class::FaultEvent } else { Class::Fault }
}

const TOO_LARGE: &str = "Too large resource version";

/// Three shapes in the wild: a typed cause, a cause's message, and only the message.
pub(crate) fn is_too_large(status: Option<&Status>) -> bool {
    let Some(status) = status else { return false };
    let timeout = status.reason == "Timeout" || (status.reason.is_empty() && status.code == 504);
    status.causes.iter().any(|cause| cause.reason == "ResourceVersionTooLarge")
        || (timeout
            && (status.message.contains(TOO_LARGE) || status.causes.iter().any(|c| c.message.contains(TOO_LARGE))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: Status) -> Class {
        classify(&Error::from_status(status))
    }
    fn event(status: Status) -> Class {
        classify(&Error::from_event(status))
    }

    #[test]
    fn the_reason_comes_before_the_code() {
        assert_eq!(answered(Status::from_code(500).with_reason("Expired")), Class::Gone);
        assert_eq!(answered(Status::from_code(0).with_reason("Forbidden")), Class::Hidden);
        assert_eq!(answered(Status::from_code(404).with_reason("SomethingNew")), Class::Absent);
    }

    #[test]
    fn every_code_has_its_class() {
        for (code, class) in [
            (400, Class::BadRequest),
            (401, Class::Auth),
            (403, Class::Hidden),
            (404, Class::Absent),
            (405, Class::NotAllowed),
            (406, Class::NotOffered),
            (409, Class::Other),
            (410, Class::Gone),
            (415, Class::NotOffered),
            (418, Class::Other),
            (422, Class::BadRequest),
            (429, Class::Busy),
            (500, Class::Fault),
            (501, Class::NotOffered),
            (502, Class::Fault),
            (504, Class::Fault),
            (302, Class::Other),
        ] {
            assert_eq!(answered(Status::from_code(code)), class, "{code}");
        }
    }

    #[test]
    fn every_reason_has_its_class() {
        for (reason, class) in [
            ("BadRequest", Class::BadRequest),
            ("Expired", Class::Gone),
            ("Forbidden", Class::Hidden),
            ("Gone", Class::Gone),
            ("InternalError", Class::Fault),
            ("Invalid", Class::BadRequest),
            ("MethodNotAllowed", Class::NotAllowed),
            ("NotAcceptable", Class::NotOffered),
            ("NotFound", Class::Absent),
            ("ServerTimeout", Class::Fault),
            ("ServiceUnavailable", Class::Fault),
            ("Timeout", Class::Fault),
            ("TooManyRequests", Class::Busy),
            ("Unauthorized", Class::Auth),
            ("UnsupportedMediaType", Class::NotOffered),
            ("Conflict", Class::Other),
        ] {
            assert_eq!(answered(Status::from_code(0).with_reason(reason)), class, "{reason}");
        }
    }

    #[test]
    fn internal_is_an_event_with_that_reason_or_a_bare_500() {
        assert_eq!(event(Status::from_code(500)), Class::Internal);
        assert_eq!(event(Status::from_code(500).with_reason("InternalError")), Class::Internal);
        assert_eq!(event(Status::from_code(500).with_reason("StorageReadError")), Class::FaultEvent);
        assert_eq!(event(Status::from_code(503)), Class::FaultEvent);
        assert_eq!(answered(Status::from_code(500).with_reason("InternalError")), Class::Fault);
    }

    #[test]
    fn only_an_answer_says_that_there_is_no_such_resource() {
        assert_eq!(answered(Status::from_code(0).with_reason("NotFound")), Class::Absent);
        assert_eq!(event(Status::from_code(404).with_reason("NotFound")), Class::Hidden);
        assert_eq!(event(Status::from_code(404)), Class::Hidden);
    }

    #[test]
    fn a_too_large_version_has_three_shapes() {
        let timeout = || Status::from_code(504).with_reason("Timeout");
        assert_eq!(answered(timeout().with_cause("ResourceVersionTooLarge", "")), Class::TooLarge);
        assert_eq!(answered(timeout().with_cause("", TOO_LARGE)), Class::TooLarge);
        assert_eq!(
            answered(timeout().with_message("Timeout: Too large resource version: 9, current: 4")),
            Class::TooLarge
        );
        assert_eq!(answered(Status::from_code(504).with_message(TOO_LARGE)), Class::TooLarge);
        assert_eq!(answered(Status::from_code(500).with_message(TOO_LARGE)), Class::Fault);
        assert_eq!(answered(timeout()), Class::Fault);
    }
}
