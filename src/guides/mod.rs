//! Guides, each for one thing that you are about to do. Their code is compiled and run by the tests.
//!
//! | you | guide |
//! |---|---|
//! | know client-go | [coming from client-go](coming_from_client_go) |
//! | know kube-runtime | [coming from kube-runtime](coming_from_kube_runtime/index.html) |
//! | put a step of your own into the pipeline | [writing an operator](writing_an_operator) |
//! | mirror something that is not an API server | [writing a source](writing_a_source) |
//! | send events or changes elsewhere | [writing a sink](writing_a_sink) |
//! | test your code without a cluster | [testing your pipeline](testing_your_pipeline) |
//! | run it in production | [operating it](operating) |
//! | wonder which requests are made | [list or watch-list](list_or_watch_list) |
//! | hold many objects | [slim objects](slim_objects) |
//! | want to avoid what others ran into | [pitfalls] |
//! | ask why | [design], [compare] |
//!
//! Code in the guides is meant for a crate with these dependencies, and stands, where nothing else is shown, in an
//! `async fn main() -> Result<(), Box<dyn std::error::Error>>` under `#[tokio::main]`:
//!
//! ```toml
//! [dependencies]
//! futures = "0.3"
//! k8s-openapi = { version = "0.29", features = ["latest"] }
//! listwatch = { version = "0.1", features = ["testing"] }
//! pin-project = "1"
//! serde = { version = "1", features = ["derive"] }
//! serde_json = "1"
//! tokio = { version = "1", features = ["full", "test-util"] }
//! tokio-util = "0.7"
//! tracing-subscriber = { version = "0.3", features = ["env-filter"] }
//! ```
//!
//! The feature `testing` is there because a server in the same process, `ApiServer`, stands for the cluster. With a
//! cluster, `Client::infer().await?` takes its place, and `testing` moves to the dev-dependencies.

#[doc = include_str!("coming_from_client_go.md")]
pub mod coming_from_client_go {}

#[doc = include_str!("coming_from_kube_runtime.md")]
#[cfg(feature = "kube-runtime")]
pub mod coming_from_kube_runtime {}

#[doc = include_str!("writing_an_operator.md")]
pub mod writing_an_operator {}

#[doc = include_str!("writing_a_source.md")]
pub mod writing_a_source {}

#[doc = include_str!("writing_a_sink.md")]
pub mod writing_a_sink {}

#[doc = include_str!("testing_your_pipeline.md")]
pub mod testing_your_pipeline {}

#[doc = include_str!("operating.md")]
pub mod operating {}

#[doc = include_str!("list_or_watch_list.md")]
pub mod list_or_watch_list {}

#[doc = include_str!("slim_objects.md")]
pub mod slim_objects {}

#[doc = include_str!("pitfalls.md")]
pub mod pitfalls {}

#[doc = include_str!("../../DESIGN.md")]
pub mod design {}

#[doc = include_str!("../../COMPARE.md")]
pub mod compare {}
