//! The query of a list or watch: parsed, given its defaults and checked in the order of a real server.

use super::{
    field_selector::FieldSelector,
    label_selector::LabelSelector,
    refusal::{Cause, Refusal},
    resource::Resource,
    settings::Settings,
};
use crate::{Identity, source::Shard};

/// What a list or watch asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) watch: bool,
    pub(super) version: String,
    pub(super) version_match: String,
    pub(super) limit: usize,
    pub(super) token: String,
    pub(super) send_initial_events: Option<bool>,
    pub(super) bookmarks: bool,
    pub(super) timeout: i64,
    pub(super) labels: LabelSelector,
    pub(super) fields: FieldSelector,
    pub(super) shard: Option<Shard>,
}

impl Options {
    /// # Errors
    ///
    /// 400 for what cannot be parsed, 422 for what does not go together, 500 for what is no shard.
    pub(super) fn read(
        query: &[(String, String)],
        resource: &Resource,
        watch: bool,
        settings: &Settings,
    ) -> Result<Self, Refusal> {
        let watch_list = settings.watch_list;
        let text = |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let number = |name: &str| match text(name).unwrap_or_default() {
            "" => Ok(0),
            value => value
                .parse::<i64>()
                .map_err(|_| Refusal::bad_request(format!("strconv.ParseInt: parsing \"{value}\": invalid syntax"))),
        };
        let mut options = Self {
            watch: watch || text("watch").is_some_and(truth),
            version: text("resourceVersion").unwrap_or_default().to_owned(),
            version_match: text("resourceVersionMatch").unwrap_or_default().to_owned(),
            limit: usize::try_from(number("limit")?).unwrap_or(0),
            token: text("continue").unwrap_or_default().to_owned(),
            send_initial_events: text("sendInitialEvents").map(truth),
            bookmarks: text("allowWatchBookmarks").is_some_and(truth),
            timeout: number("timeoutSeconds")?,
            labels: LabelSelector::parse(text("labelSelector").unwrap_or_default()).map_err(Refusal::bad_request)?,
            fields: FieldSelector::default(),
            shard: None,
        };
        let fields = FieldSelector::parse(text("fieldSelector").unwrap_or_default(), resource);
        let newest = matches!(options.version.as_str(), "" | "0");
        if options.watch
            && watch_list
            && newest
            && options.send_initial_events.is_none()
            && options.version_match.is_empty()
        {
            options.send_initial_events = Some(true);
            "NotOlderThan".clone_into(&mut options.version_match);
        }
        let causes = if options.watch { options.check_watch(watch_list) } else { options.check_list() };
        if !causes.is_empty() {
            return Err(Refusal::invalid_options(causes));
        }
        options.fields = fields.map_err(Refusal::bad_request)?;
        if settings.sharding
            && let Some(selector) = text("shardSelector").filter(|selector| !selector.is_empty())
        {
            let shard =
                selector.parse::<Shard>().map_err(|why| Refusal::bare(format!("invalid shard selector: {why}")))?;
            options.shard = Some(shard);
        }
        Ok(options)
    }

    fn check_list(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        let version_match = self.version_match.as_str();
        if !version_match.is_empty() {
            if self.version.is_empty() {
                causes.push(match_forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"));
            }
            if !self.token.is_empty() {
                causes.push(match_forbidden("resourceVersionMatch is forbidden when continue is provided"));
            }
            if !matches!(version_match, "Exact" | "NotOlderThan") {
                causes.push(unsupported(version_match, r#""Exact", "NotOlderThan", """#));
            }
            if version_match == "Exact" && self.version == "0" {
                causes.push(match_forbidden(r#"resourceVersionMatch "exact" is forbidden for resourceVersion "0""#));
            }
        }
        if self.send_initial_events.is_some() {
            causes.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
        }
        causes
    }

    fn check_watch(&self, watch_list: bool) -> Vec<Cause> {
        let mut causes = Vec::new();
        let version_match = self.version_match.as_str();
        if self.send_initial_events.is_some() {
            if version_match != "NotOlderThan" {
                causes.push(match_forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
            }
            if !watch_list {
                causes.push(forbidden(
                    "sendInitialEvents",
                    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
                ));
            }
        }
        if !version_match.is_empty() {
            if self.send_initial_events.is_none() {
                causes.push(match_forbidden(
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
                ));
            }
            if version_match != "NotOlderThan" {
                causes.push(unsupported(version_match, r#""NotOlderThan""#));
            }
            if !self.token.is_empty() {
                causes.push(match_forbidden("resourceVersionMatch is forbidden when continue is provided"));
            }
        }
        causes
    }

    /// The version as a number; none is 0.
    ///
    /// # Errors
    ///
    /// The text of the server's parser.
    pub(super) fn parsed_version(&self) -> Result<u64, String> {
        if self.version.is_empty() {
            return Ok(0);
        }
        let digits = self.version.bytes().all(|byte| byte.is_ascii_digit());
        self.version.parse().ok().filter(|_| digits).ok_or_else(|| {
            let value = &self.version;
            format!(
                "resourceVersion: Invalid value: \"{value}\": strconv.ParseUint: parsing \"{value}\": invalid syntax"
            )
        })
    }

    pub(super) fn selects(&self, object: &serde_json::Value) -> bool {
        let of_shard = self.shard.as_ref().is_none_or(|shard| shard.contains(&named(object)));
        of_shard && self.labels.matches(object) && self.fields.matches(object)
    }

    pub(super) fn selective(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }
}

/// What an object is sharded by.
fn named(object: &serde_json::Value) -> Identity<'_> {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
    Identity { namespace: text("namespace"), uid: text("uid"), ..Identity::default() }
}

/// A flag of a query: anything but empty, "0" and "false" is true.
fn truth(text: &str) -> bool {
    !matches!(text, "0" | "false")
}

fn forbidden(field: &'static str, why: &str) -> Cause {
    Cause { reason: "FieldValueForbidden", message: format!("Forbidden: {why}"), field }
}

fn match_forbidden(why: &str) -> Cause {
    forbidden("resourceVersionMatch", why)
}

fn unsupported(value: &str, supported: &str) -> Cause {
    Cause {
        reason: "FieldValueNotSupported",
        message: format!("Unsupported value: \"{value}\": supported values: {supported}"),
        field: "resourceVersionMatch",
    }
}
