//! A server that answers 429 for as long as it is busy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::Recovery;
use listwatch::client::{Client, Collection};
use listwatch::source::Strategy;

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

const FLAGS: [&str; 3] =
    ["--max-requests-inflight=1", "--max-mutating-requests-inflight=1", "--enable-priority-and-fairness=false"];
const PATH: &str = "/api/v1/namespaces/limits/configmaps";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_server_is_asked_again_when_it_says() {
    let server = Server::start(&FLAGS).await;
    let kube = server.kube("token").await; // an admin: exempt from the limits
    let writer = Writer::new(&kube, "limits", "it").await;
    writer.create(0..200).await;
    let wanted = writer::list(&kube, PATH).await;

    let user = server.kube("user").await;
    let stop = AtomicBool::new(false);
    let crowd = join_all((0..16).map(|_| async {
        while !stop.load(Ordering::Relaxed) {
            let request = http::Request::get(PATH).body(Vec::new()).expect("a valid path");
            let _ = user.request_text(request).await;
        }
    }));
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("user")).await.expect("a client");
    let source = Collection::<ConfigMap>::namespaced(client, "limits");
    let follower = Follower::start(source, |events| events.strategy(Strategy::ListConsistent).page_size(5));
    let turned_away = async {
        follower.until("told 429", |account| account.errors.iter().any(|error| error.is_too_many_requests())).await;
        stop.store(true, Ordering::Relaxed);
    };
    tokio::join!(crowd, turned_away);
    follower.equals(&wanted).await;
    let account = follower.account();
    for error in &account.errors {
        assert!(error.is_too_many_requests(), "{error:?}");
        assert_eq!(error.recovery(), Recovery::Relist);
        assert_eq!(error.retry_after(), Some(Duration::from_secs(1)));
    }
}
