//! S01 to S53: the tests of client-go's stores, queues, informers and controller, numbered here.

mod content;
mod controller;
mod handlers;
mod index;
mod informer;
mod metrics;
mod queue;
