#![doc = include_str!("metrics.md")]

use super::Stats;
use metrics::{Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

/// Which stream it is: its name and its resource.
pub(super) struct Labels(Vec<Label>);

impl Labels {
    pub(super) fn new(name: &str, resource: &str) -> Self {
        describe();
        Labels(vec![Label::new("name", name.to_owned()), Label::new("resource", resource.to_owned())])
    }

    pub(super) fn tell(&self, before: &Stats, after: &Stats) {
        for (name, before, after) in [
            ("reflector_lists_total", before.lists_done, after.lists_done),
            ("reflector_watches_total", before.watches, after.watches),
            ("reflector_short_watches_total", before.short_watches, after.short_watches),
            ("reflector_events_total", before.events, after.events),
            ("reflector_skipped_objects_total", before.skipped, after.skipped),
            ("reflector_errors_total", before.errors, after.errors),
        ] {
            if after > before {
                counter!(name, self.0.iter()).increment(after - before);
            }
        }
        if after.lists_done > before.lists_done {
            histogram!("reflector_list_duration_seconds", self.0.iter()).record(after.last_list_time);
            histogram!("reflector_items_per_list", self.0.iter()).record(after.last_list_objects as f64);
        }
        if after.watches_done > before.watches_done {
            let stood = after.watch_time - before.watch_time;
            histogram!("reflector_watch_duration_seconds", self.0.iter()).record(stood);
            histogram!("reflector_items_per_watch", self.0.iter()).record(after.last_watch_events as f64);
        }
        if after.last_version != before.last_version
            && let Some(version) = low_digits(after.last_version.as_str())
        {
            gauge!("reflector_last_resource_version", self.0.iter()).set(version);
        }
    }
}

/// What a version's last 15 digits say: as many as a float holds exactly, and as many as client-go shows.
fn low_digits(version: &str) -> Option<f64> {
    if !version.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    version[version.len().saturating_sub(15)..].parse().ok()
}

/// What exporters say about each: the first words of its row in the table.
fn describe() {
    describe_counter!("reflector_lists_total", "Snapshots completed, by LIST or watch-list");
    describe_histogram!("reflector_list_duration_seconds", Unit::Seconds, "From a snapshot's request to its end");
    describe_histogram!("reflector_items_per_list", "Objects in a snapshot");
    describe_counter!("reflector_watches_total", "Requests for a watch or a watch-list");
    describe_counter!("reflector_short_watches_total", "Watches that ended at once without an event");
    describe_histogram!("reflector_watch_duration_seconds", Unit::Seconds, "From a watch's request to its end");
    describe_histogram!("reflector_items_per_watch", "What a watch brought until it ended");
    describe_gauge!("reflector_last_resource_version", "The last 15 digits of the version that a watch would start at");
    describe_counter!("reflector_events_total", "Events of watches");
    describe_counter!("reflector_skipped_objects_total", "Objects that did not decode");
    describe_counter!("reflector_errors_total", "Failures told on the stream");
}

#[cfg(test)]
mod tests {
    use super::low_digits;

    #[test]
    fn versions_as_floats_hold_them() {
        assert_eq!(low_digits("42"), Some(42.0));
        assert_eq!(low_digits("1234567890123456789"), Some(567_890_123_456_789.0));
        assert_eq!(low_digits(""), None);
        assert_eq!(low_digits("9007199254740993x"), None);
        assert_eq!(low_digits("é23456789012345"), None, "15 bytes from the end is within a character");
    }
}
