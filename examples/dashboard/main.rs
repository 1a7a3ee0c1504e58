//! A live map of a cluster in a browser: each namespace and object a tile, changes flashing.
//!
//! ```sh
//! cargo run --example dashboard                               # a server in this process: no cluster is needed
//! cargo run --example dashboard -- pods nodes widgets         # other resources of it
//! cargo run --example dashboard -- --cluster pods deploy -A   # your cluster, as kubectl finds it
//! ```
//!
//! Then open the address that it prints. [`feed`] is where the library is used: a store for each resource, and one
//! subscription to it for each browser, however slow. Of an object the page is told its name, age and status, never its
//! body; of Secrets the program itself asks for the metadata alone.

#[path = "../mirror/churn.rs"]
mod churn;
#[path = "../mirror/cluster.rs"]
#[allow(dead_code, reason = "the mirror uses more of it")]
mod cluster;
#[path = "../mirror/demo.rs"]
mod demo;
#[path = "../mirror/failure.rs"]
#[allow(dead_code, reason = "the mirror uses more of it")]
mod failure;
mod feed;
#[path = "../mirror/pipeline.rs"]
#[allow(dead_code, reason = "the mirror uses more of it")]
mod pipeline;
#[path = "../mirror/pod_status.rs"]
mod pod_status;
#[path = "../mirror/scope.rs"]
mod scope;
mod serve;
#[path = "../mirror/status.rs"]
mod status;
mod tile;
#[path = "../mirror/tone.rs"]
mod tone;
#[path = "../mirror/waits.rs"]
#[allow(dead_code, reason = "the mirror uses more of it")]
mod waits;

use self::{
    cluster::{Target, connect},
    demo::Demo,
    failure::Failure,
    feed::Feed,
    scope::Scope,
    serve::Site,
};
use clap::Parser;
use std::{net::SocketAddr, process::ExitCode};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// A live map of a cluster, served to browsers on this machine.
///
/// Without a cluster it starts an API server in this process, fills it and keeps changing it.
#[derive(Debug, Parser)]
#[command(name = "dashboard", max_term_width = 100)]
struct Args {
    /// What to show: plurals, short names or kinds, if need be with their group, such as `deployments.apps`
    #[arg(default_values = ["pods"])]
    resources: Vec<String>,
    #[command(flatten)]
    scope: Scope,
    /// Where to serve the page; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_env_filter(EnvFilter::from_default_env()).with_writer(std::io::stderr).init();
    match run(Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

async fn run(args: Args) -> Result<(), Failure> {
    let stop = CancellationToken::new();
    let demo = if args.scope.is_cluster() { None } else { Some(Demo::start().await?) };
    let client = connect(&args.scope, demo.as_ref().map(Demo::url).as_deref()).await?;
    let mut feeds = Vec::new();
    for name in &args.resources {
        let target = Target::find(client.clone(), &args.scope, name).await?;
        feeds.push(Feed::start(target, stop.clone()));
    }
    let source = match (&args.scope.context, args.scope.is_cluster()) {
        (Some(context), _) => context.clone(),
        (None, true) => "the current context".to_owned(),
        (None, false) => "a server in this process".to_owned(),
    };
    let listener = TcpListener::bind(args.listen).await;
    let listener = listener.map_err(|error| Failure::of(format_args!("listening at {}", args.listen), &error))?;
    let address = listener.local_addr()?;
    println!("http://{address}");
    let end = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            end.cancel();
        }
    });
    Ok(serve::serve(listener, Site { source, feeds, address }, stop).await?)
}
