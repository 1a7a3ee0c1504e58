//! Feeds the `metrics` facade with what a stream's figures gain. Names follow client-go's reflector metrics.

use super::Stats;
use metrics::{Label, counter, gauge, histogram};

/// Which stream it is: its name and its resource.
pub(super) struct Labels(Vec<Label>);

impl Labels {
    pub(super) fn new(name: &str, resource: &str) -> Self {
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
        if after.watch_time > before.watch_time {
            let stood = after.watch_time - before.watch_time;
            histogram!("reflector_watch_duration_seconds", self.0.iter()).record(stood);
        }
        if after.last_version != before.last_version
            && let Ok(version) = after.last_version.as_str().parse::<f64>()
        {
            gauge!("reflector_last_resource_version", self.0.iter()).set(version);
        }
    }
}
