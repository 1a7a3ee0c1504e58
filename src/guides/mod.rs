//! Guides, each for one thing that you are about to do. Their code is compiled and run by the tests.
//!
//! | you | guide |
//! |---|---|
//! | begin | [set up](set_up): dependencies, a first program, what to import |
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
//! Each piece of Rust in them is a whole program for a crate with the dependencies of [set up](set_up), or those that the
//! guide itself names, to be pasted as it stands. Most print nothing: they assert what they show. A server in the same process, `ApiServer`, stands for the
//! cluster; with one, `Client::infer().await?` takes its place.

#[doc = include_str!("set_up.md")]
pub mod set_up {}

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
