//! Which proxy requests go through, chosen as kubectl chooses it.

use super::{http::is_loopback, kubeconfig::Loaded};
use crate::Error;
use reqwest::{ClientBuilder, NoProxy, Proxy, Url};

/// The proxy of the kubeconfig stands for any server; one of the environment for those that are neither on this host
/// nor in `NO_PROXY`.
pub(super) fn through_proxy(builder: ClientBuilder, loaded: &Loaded, base: &Url) -> Result<ClientBuilder, Error> {
    let builder = builder.no_proxy(); // reqwest would take `ALL_PROXY` too, which kubectl does not know
    if let Some(url) = &loaded.proxy {
        return match proxy(url) {
            Some(proxy) => Ok(builder.proxy(proxy)),
            None => Err(loaded.error("proxy-url cannot be used")),
        };
    }
    match of_environment(base.scheme()) {
        Some((name, url)) if !is_loopback(base) => match proxy(&url) {
            Some(proxy) => Ok(builder.proxy(proxy.no_proxy(NoProxy::from_env()))),
            None => Err(loaded.error(&format!("{name} of the environment cannot be used"))),
        },
        _ => Ok(builder),
    }
}

/// The variable that names a proxy for servers of this scheme, with its value.
pub(super) fn of_environment(scheme: &str) -> Option<(&'static str, String)> {
    let value = |name| std::env::var(name).ok().filter(|value| !value.is_empty()).map(|value| (name, value));
    match scheme {
        "https" => value("HTTPS_PROXY").or_else(|| value("https_proxy")),
        // In a CGI program, HTTP_PROXY is a header of whoever asks.
        _ if std::env::var_os("REQUEST_METHOD").is_some() => value("http_proxy"),
        _ => value("HTTP_PROXY").or_else(|| value("http_proxy")),
    }
}

/// Go's `socks5` leaves names to the proxy, as `socks5h` does elsewhere, and takes what has no scheme for `http`.
fn proxy(url: &str) -> Option<Proxy> {
    let url = match url.split_once("://") {
        Some(("socks5", rest)) => format!("socks5h://{rest}"),
        Some(("http" | "https" | "socks5h", _)) => url.to_owned(),
        Some(_) => return None, // reqwest would go without one
        None => format!("http://{url}"),
    };
    Proxy::all(url).ok()
}
