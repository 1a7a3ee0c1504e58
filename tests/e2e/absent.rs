//! A kind that is not installed yet: empty until it comes, emptied when it goes, picked up when it comes back.

use std::future::ready;
use std::time::Duration;

use futures::StreamExt;
use kube::api::DynamicObject;
use listwatch::State;
use listwatch::client::{Client, Collection};
use listwatch::source::Strategy;

use crate::defined::{create, define, is_served, kind, path, remove};
use crate::follower::Follower;
use crate::server::Server;
use crate::writer;

#[tokio::test]
async fn a_definition_comes_goes_and_comes_back() {
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let late = kind("absent.listwatch.dev", "Late");
    let follow = |strategy| {
        let all = Collection::<DynamicObject>::all_with(client.clone(), &late);
        Follower::start(all, |events| {
            events.strategy(strategy).absent_is_empty().look_again(Duration::from_millis(500))
        })
    };
    let followers = [Strategy::WatchListFirst, Strategy::ListConsistent].map(follow);
    for follower in &followers {
        follower.store.ready_within(Duration::from_secs(20)).await.expect("it is empty, and complete");
        assert_eq!((follower.store.len(), follower.store.state()), (0, State::Live));
    }
    for names in [["a", "b"], ["b", "c"]] {
        define(&kube, &late).await;
        is_served(&kube, &late).await;
        create(&kube, &late, &names).await;
        let wanted = writer::list(&kube, &path(&late)).await;
        assert_eq!(wanted.len(), 2);
        for follower in &followers {
            follower.equals(&wanted).await;
        }
        remove(&kube, &late).await;
        for follower in &followers {
            follower.until("emptied", |account| account.objects.is_empty()).await;
        }
    }
    for follower in followers {
        // Live again once the relist after the watch's 404 has shown that it is gone.
        let mut live = follower.store.states().filter(|state| ready(*state == State::Live));
        live.next().await.expect("live");
        let (store, account) = follower.stop().await;
        assert!(store.is_empty() && account.gaps.is_empty(), "{:?}", account.gaps);
        let others: Vec<_> = account.errors.iter().filter(|error| !error.is_not_found()).collect();
        eprintln!(
            "absent: {} times told 404, {} other errors: {others:?}",
            account.errors.len() - others.len(),
            others.len()
        );
    }
}
