//! S9: where figures go unless their user says otherwise.

/// client-go: a store that is given a name, and no provider of metrics, has the process's.
#[tokio::test(start_paused = true)]
#[cfg_attr(not(feature = "metrics"), ignore = "needs the feature `metrics`")]
async fn s09_figures_go_to_the_recorder_of_the_process() {
    #[cfg(feature = "metrics")]
    {
        use crate::play::{S, added, api, closing, during, mirror};
        use listwatch::{Store, source::ListWatch};

        let recorder = recorder::Versions::default();
        metrics::set_global_recorder(recorder.clone()).expect("no other test sets it");
        let store = Store::new();
        let api = api().on_watch([added("a@1"), closing("2"), added("b@7")]);
        let mut changes = mirror(api.events().name("s09"), &store);
        assert_eq!(recorder.of("s09"), None, "no figure before there is a version");
        during(&mut changes, S * 2).await;
        assert_eq!(recorder.of("s09"), Some(7.0));
        assert_eq!(store.resource_version().expect("a version"), "7");
    }
}

#[cfg(feature = "metrics")]
mod recorder {
    use metrics::{Counter, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
    use std::{
        collections::BTreeMap,
        sync::{Arc, Mutex},
    };

    /// The gauge of the version, by the stream's name.
    #[derive(Clone, Default)]
    pub(super) struct Versions(Arc<Mutex<BTreeMap<String, f64>>>);

    impl Versions {
        pub(super) fn of(&self, name: &str) -> Option<f64> {
            self.0.lock().unwrap().get(name).copied()
        }
    }

    struct Version(Versions, String);

    impl GaugeFn for Version {
        fn increment(&self, _: f64) {}
        fn decrement(&self, _: f64) {}
        fn set(&self, value: f64) {
            self.0.0.lock().unwrap().insert(self.1.clone(), value);
        }
    }

    impl Recorder for Versions {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
            Counter::noop()
        }
        fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
            let name = key.labels().find(|label| label.key() == "name").map(|label| label.value().to_owned());
            match name {
                Some(name) if key.name() == "reflector_last_resource_version" => {
                    Gauge::from_arc(Arc::new(Version(self.clone(), name)))
                }
                _ => Gauge::noop(),
            }
        }
        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            Histogram::noop()
        }
    }
}
