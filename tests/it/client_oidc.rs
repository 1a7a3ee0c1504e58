//! OIDC as kube-client does it: a token that is over is refreshed, with the refresh token that came last.

use crate::{certificates::Authority, child, folder::Folder, tls_front::Front};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use listwatch::testing::ApiServer;
use serde_json::json;
use std::{
    io,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A token that is over after so many seconds. It is taken for over 10 s before.
fn token(name: &str, seconds: i64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() as i64;
    let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{name}", part(json!({"alg": "none"})), part(json!({"exp": now + seconds})))
}

/// The issuer: refresh token R1 gives token A and R2, that gives token B and R3, and so on.
async fn issuer(listener: TcpListener, url: String, bodies: Arc<Mutex<Vec<String>>>) -> io::Result<()> {
    loop {
        let (socket, _) = listener.accept().await?;
        let (url, bodies) = (url.clone(), Arc::clone(&bodies));
        tokio::spawn(async move { answer(socket, &url, &bodies).await });
    }
}

async fn answer(mut socket: TcpStream, url: &str, bodies: &Mutex<Vec<String>>) -> io::Result<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(socket.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        socket.read_exact(&mut body).await?;
        let answer = if head.starts_with("get /.well-known/openid-configuration ") {
            json!({"token_endpoint": format!("{url}/token")})
        } else {
            let mut bodies = bodies.lock().unwrap();
            bodies.push(String::from_utf8_lossy(&body).into_owned());
            let n = bodies.len();
            json!({"id_token": token(&format!("T{n}"), 11), "refresh_token": format!("R{}", n + 1), "token_type": "Bearer"})
        };
        let text = answer.to_string();
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", text.len());
        socket.write_all(format!("{head}{text}").as_bytes()).await?;
    }
}

#[tokio::test]
async fn a_token_that_is_over_is_refreshed() {
    let (server, folder, authority) = (ApiServer::start().await, Folder::new("oidc"), Authority::new("issuer"));
    let ca = folder.write("ca.pem", &authority.pem).display().to_string();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let front = Front::start(listener.local_addr().unwrap(), &authority.server(&["127.0.0.1"])).await;
    let bodies = Arc::<Mutex<Vec<String>>>::default();
    let issuer = tokio::spawn(issuer(listener, front.url(), Arc::clone(&bodies)));
    let user = format!(
        "auth-provider: {{name: oidc, config: {{idp-issuer-url: '{}', client-id: c, client-secret: s, \
         id-token: '{}', refresh-token: R1}}}}",
        front.url(),
        token("T0", -60)
    );
    let path = folder.kubeconfig(&format!("server: '{}'", server.url()), &user).display().to_string();
    // The issuer is believed by the roots of the system, which this variable stands for.
    let told = child::lists(2, &[("KUBECONFIG", &path), ("SSL_CERT_FILE", &ca)]).await;
    assert_eq!(told, ["listed", "listed"]);
    issuer.abort();
    let requests = server.requests();
    let shown: Vec<_> =
        requests.iter().filter_map(|request| request.header("authorization")?.rsplit('.').next()).collect();
    assert_eq!(shown, ["T1", "T2"]);
    let bodies = bodies.lock().unwrap().clone();
    for (body, refresh) in bodies.iter().zip(["refresh_token=R1", "refresh_token=R2"]) {
        assert!(body.contains("grant_type=refresh_token") && body.contains(refresh), "{body}");
    }

    // An issuer that cannot be had: told without anything of the configuration.
    let told = child::lists(1, &[("KUBECONFIG", &path)]).await;
    assert!(told[0].contains("auth provider") && !told[0].contains("R1"), "{told:?}");
}
