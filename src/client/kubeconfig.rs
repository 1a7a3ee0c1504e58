//! Configuration as kubectl finds it. kube-client parses it; what it says of a broken one is said here, with file,
//! context and field, and without quoting anything, since what is quoted may be a secret.

use crate::Error;
use kube_client::{
    Config,
    config::{Kubeconfig, KubeconfigError, LoadDataError},
};
use std::path::{Path, PathBuf};

/// Where a configuration is read from, so that it can be read again.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// These files, of which the first to name something wins.
    Files {
        paths: Vec<PathBuf>,
        context: Option<String>,
    },
    InCluster,
    Fixed(Box<Config>),
}

/// A configuration, and what kube-client's own type does not hold.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) config: Config,
    /// A proxy that the kubeconfig names; one of the environment is reqwest's to find.
    pub(super) proxy: Option<String>,
    /// Files whose content is in the configuration.
    pub(super) files: Vec<PathBuf>,
}

impl Source {
    /// `KUBECONFIG`, else `~/.kube/config`, else the service account of the pod.
    pub(super) fn infer(context: Option<String>) -> Result<Self, Error> {
        let named = std::env::var_os("KUBECONFIG").filter(|value| !value.is_empty());
        let paths: Vec<PathBuf> = match &named {
            Some(value) => std::env::split_paths(value).filter(|path| !path.as_os_str().is_empty()).collect(),
            None => std::env::home_dir().map(|home| home.join(".kube").join("config")).into_iter().collect(),
        };
        let existing: Vec<PathBuf> = paths.iter().filter(|path| path.exists()).cloned().collect();
        if !existing.is_empty() {
            return Ok(Source::Files { paths: existing, context });
        }
        if context.is_none() && std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
            return Ok(Source::InCluster);
        }
        let looked: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        let looked =
            if looked.is_empty() { "no home directory".to_owned() } else { format!("no {}", looked.join(", no ")) };
        Err(Error::config(match context {
            Some(context) => format!("there is {looked} for the context {context:?}"),
            None => format!("there is {looked}, and KUBERNETES_SERVICE_HOST is not set"),
        }))
    }

    pub(super) fn load(&self) -> Result<Loaded, Error> {
        match self {
            Source::Fixed(config) => Ok(Loaded { config: (**config).clone(), proxy: None, files: Vec::new() }),
            Source::InCluster => Config::incluster()
                .map(|config| Loaded { config, proxy: None, files: Vec::new() })
                .map_err(|error| Error::config(format!("in-cluster: {error}"))),
            Source::Files { paths, context } => load_files(paths, context.as_deref()),
        }
    }
}

fn load_files(paths: &[PathBuf], context: Option<&str>) -> Result<Loaded, Error> {
    let mut merged = Kubeconfig::default();
    for path in paths {
        let place = path.display();
        let file = Kubeconfig::read_from(path).map_err(|error| Error::config(format!("{place}: {}", said(&error))))?;
        merged = merged.merge(file).map_err(|error| Error::config(format!("{place}: {}", said(&error))))?;
    }
    if let Some(context) = context {
        merged.current_context = Some(context.to_owned());
    }
    let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    let place = names.join(", ");
    let Some(context) = merged.current_context.clone().filter(|name| !name.is_empty()) else {
        return Err(Error::config(format!("{place}: no current-context, and none was asked for")));
    };
    let found = merged.contexts.iter().find(|named| named.name == context).and_then(|named| named.context.as_ref());
    let Some(found) = found else {
        let known: Vec<_> = merged.contexts.iter().map(|named| &*named.name).collect();
        return Err(Error::config(format!("{place}: no context {context:?}; there are {known:?}")));
    };
    let cluster = merged.clusters.iter().find(|named| named.name == found.cluster).and_then(|n| n.cluster.clone());
    let user = merged.auth_infos.iter().find(|named| Some(&named.name) == found.user.as_ref());
    let mut files = Vec::new();
    files.extend(cluster.as_ref().and_then(|cluster| cluster.certificate_authority.clone()));
    if let Some(user) = user.and_then(|named| named.auth_info.as_ref()) {
        files.extend(user.client_certificate.iter().chain(&user.client_key).cloned());
    }
    let at = format!("{place}: context {context:?}");
    let proxy = cluster.and_then(|cluster| cluster.proxy_url).filter(|url| !url.is_empty());
    let config = Config::try_from(merged).map_err(|error| Error::config(format!("{at}: {}", said(&error))))?;
    Ok(Loaded { config, proxy, files: files.into_iter().map(PathBuf::from).collect() })
}

/// What is wrong, by field, in our words: the errors' own may quote the file.
pub(super) fn said(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(error, _) => format!("cannot be read: {error}"),
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => format!("is no kubeconfig: line {} column {}", at.line(), at.column()),
            None => "is no kubeconfig".to_owned(),
        },
        KubeconfigError::KindMismatch => "its kind differs from that of the files before it".to_owned(),
        KubeconfigError::ApiVersionMismatch => "its apiVersion differs from that of the files before it".to_owned(),
        KubeconfigError::LoadClusterOfContext(name) => format!("its cluster {name:?} is not there"),
        KubeconfigError::MissingClusterUrl => "its cluster has no server".to_owned(),
        KubeconfigError::ParseClusterUrl(_) => "the server of its cluster is no URL".to_owned(),
        KubeconfigError::ParseProxyUrl(_) => "the proxy-url of its cluster is no URL".to_owned(),
        KubeconfigError::LoadCertificateAuthority(error) => format!("certificate-authority: {}", said_of_data(error)),
        KubeconfigError::ParseCertificates(_) => "certificate-authority: no PEM".to_owned(),
        KubeconfigError::LoadClientCertificate(error) => format!("client-certificate: {}", said_of_data(error)),
        KubeconfigError::LoadClientKey(error) => format!("client-key: {}", said_of_data(error)),
        _ => "cannot be used".to_owned(),
    }
}

fn said_of_data(error: &LoadDataError) -> String {
    match error {
        LoadDataError::DecodeBase64(_) => "its data is no base64".to_owned(),
        LoadDataError::ReadFile(error, path) => format!("{}: {error}", Path::display(path)),
        LoadDataError::NoBase64DataOrFile => "neither data nor a file".to_owned(),
    }
}
