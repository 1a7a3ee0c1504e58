//! A live mirror of one resource of a Kubernetes API server.
//!
//! ```sh
//! cargo run --example mirror                                  # a server in this process: no cluster is needed
//! cargo run --example mirror -- --view lines                  # lines rather than the full screen
//! cargo run --example mirror -- --once                        # prints the table and ends
//! cargo run --example mirror -- widgets -n shop               # another resource of it
//! cargo run --example mirror -- --cluster deploy -A           # your cluster, as kubectl finds it
//! cargo run --example mirror -- --context prod -l app=web --output json
//! ```
//!
//! [`pipeline`] is where the library is used; the rest is a command line around it.

mod age;
mod churn;
mod cli;
mod cluster;
mod demo;
mod failure;
mod follow;
mod full_screen;
mod memory;
mod news;
mod once;
mod pipeline;
mod pod_status;
mod rate;
mod scope;
mod screen;
mod status;
mod table;
mod tone;
mod tui;
mod view;
mod waits;

use self::{
    cli::{Args, Format},
    cluster::Target,
    demo::Demo,
    failure::Failure,
    pipeline::Mirror,
    screen::Screen,
    table::Columns,
    view::View,
};
use clap::Parser;
use std::{
    io::{self, IsTerminal},
    process::ExitCode,
};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    trace(args.verbose);
    let stop = CancellationToken::new();
    tokio::spawn(cancel_at_the_end(stop.clone()));
    match run(args, stop).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

async fn run(args: Args, stop: CancellationToken) -> Result<(), Failure> {
    let interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
    let full_screen = args.full_screen(interactive).map_err(|why| Failure::Said(why.to_owned()))?;
    let demo = if args.scope.is_cluster() { None } else { Some(Demo::start().await?) };
    let find = async {
        let client = cluster::connect(&args.scope, demo.as_ref().map(Demo::url).as_deref()).await?;
        Target::find(client, &args.scope, &args.resource).await
    };
    let target = stop.run_until_cancelled(find).await.ok_or(Failure::Interrupted)??;
    let (what, columns) = (target.resource.plural.clone(), Columns::of(&target.resource, target.across_namespaces));
    let mirror = Mirror::of(target, stop);
    if full_screen {
        return full_screen::show(mirror, &what, columns).await;
    }
    // Bars would be torn by traces, and stand in the way of who reads JSON.
    let screen = Screen::new(args.output == Format::Json || args.verbose > 0);
    if args.once {
        once::print(mirror, &what, columns, args.output, screen, args.scope.timeout).await
    } else {
        follow::follow(mirror, &what, View::new(columns, args.output, screen)).await
    }
}

/// Ctrl-C, or the end of the session: a terminal must be left as it was found.
async fn cancel_at_the_end(stop: CancellationToken) {
    #[cfg(unix)]
    let ended = async {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut terminate, mut hangup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        tokio::select! {
            result = tokio::signal::ctrl_c() => result,
            _ = terminate.recv() => Ok(()),
            _ = hangup.recv() => Ok(()),
        }
    };
    #[cfg(not(unix))]
    let ended = tokio::signal::ctrl_c();
    if ended.await.is_ok() {
        stop.cancel();
    }
}

/// Traces go to standard error. RUST_LOG says which, else the number of `v`.
fn trace(verbose: u8) {
    let level = match verbose {
        0 => "off",
        1 => "listwatch=debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let colours = io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(io::stderr).init();
}
