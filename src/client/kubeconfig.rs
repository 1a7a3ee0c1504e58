//! Configuration as kubectl finds it. kube-client parses it; what it says of a broken one is said here, with file,
//! context and field, and without quoting anything, since what is quoted may be a secret.

use super::proxy::of_environment;
use crate::Error;
use kube_client::{
    Config,
    config::{InClusterError, Kubeconfig, KubeconfigError, LoadDataError},
};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

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
    /// File and context, for errors; `""` where it is of neither.
    pub(super) place: String,
}

impl Loaded {
    fn of(config: Config) -> Self {
        Loaded {
            proxy: config.proxy_url.as_ref().map(ToString::to_string),
            files: config.root_cert_file.clone().into_iter().collect(),
            config,
            place: String::new(),
        }
    }

    /// An error about this configuration, which says what is wrong in our words.
    pub(super) fn error(&self, what: &str) -> Error {
        Error::config(if self.place.is_empty() { what.to_owned() } else { format!("{}: {what}", self.place) })
    }
}

impl Source {
    /// `KUBECONFIG`, else `~/.kube/config`, else the service account of the pod.
    pub(super) fn infer(context: Option<String>) -> Result<Self, Error> {
        let in_cluster = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
        Self::find(std::env::var_os("KUBECONFIG"), std::env::home_dir(), in_cluster, context)
    }

    fn find(
        named: Option<OsString>,
        home: Option<PathBuf>,
        in_cluster: bool,
        context: Option<String>,
    ) -> Result<Self, Error> {
        let paths: Vec<PathBuf> = match named.filter(|value| !value.is_empty()) {
            Some(value) => std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect(),
            None => home.map(|home| home.join(".kube").join("config")).into_iter().collect(),
        };
        let existing: Vec<PathBuf> = paths.iter().filter(|path| path.exists()).cloned().collect();
        if !existing.is_empty() {
            return Ok(Source::Files { paths: existing, context });
        }
        if in_cluster && context.is_none() {
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
            Source::Fixed(config) => Ok(Loaded::of((**config).clone())),
            Source::InCluster => Config::incluster()
                .map(Loaded::of)
                .map_err(|error| Error::config(format!("in-cluster: {}", told(&error)))),
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
    let config = Config::try_from(merged).map_err(|error| match (&error, of_environment("https")) {
        // kube-client looks at the environment too.
        (KubeconfigError::ParseProxyUrl(_), Some((name, _))) if proxy.is_none() => {
            Error::config(format!("{at}: {name} of the environment is no URL"))
        }
        _ => Error::config(format!("{at}: {}", said(&error))),
    })?;
    if config.root_cert.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::config(format!("{at}: certificate-authority: no certificate in it")));
    }
    Ok(Loaded { config, proxy, files: files.into_iter().map(PathBuf::from).collect(), place: at })
}

/// What a pod lacks, with the file or the variable that says it.
fn told(error: &InClusterError) -> String {
    const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
    match error {
        InClusterError::ReadDefaultNamespace(error) => format!("{FOLDER}/namespace: {error}"),
        InClusterError::ReadCertificateBundle(error) => format!("{FOLDER}/ca.crt: {error}"),
        InClusterError::ParseCertificates(_) => format!("{FOLDER}/ca.crt: no PEM"),
        InClusterError::ReadEnvironmentVariable(_) => {
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set".to_owned()
        }
        InClusterError::ParseClusterPort(_) => "KUBERNETES_SERVICE_PORT is no port".to_owned(),
        InClusterError::ParseClusterUrl(_) => "KUBERNETES_SERVICE_HOST is no host".to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("listwatch-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join(".kube")).expect("a folder");
        path
    }

    #[test]
    fn files_that_do_not_exist_are_skipped() {
        let home = folder("infer");
        let (first, second) = (home.join("a"), home.join(".kube").join("config"));
        let named = std::env::join_paths([&first, &home.join("b")]).ok();
        let found =
            |named: &Option<OsString>, in_cluster| Source::find(named.clone(), Some(home.clone()), in_cluster, None);
        let error = found(&named, false).unwrap_err().to_string();
        assert!(error.contains(&first.display().to_string()) && error.contains("KUBERNETES_SERVICE_HOST"), "{error}");
        assert!(matches!(found(&named, true), Ok(Source::InCluster)));
        std::fs::write(&second, "").expect("written");
        assert!(matches!(found(&named, true), Ok(Source::InCluster)), "KUBECONFIG stands instead of the default");
        assert!(matches!(found(&Some("".into()), true), Ok(Source::Files { paths, .. }) if paths == [second]));
        std::fs::write(&first, "").expect("written");
        assert!(matches!(found(&named, true), Ok(Source::Files { paths, .. }) if paths == [first]));
        let error = Source::find(None, None, true, Some("x".into())).unwrap_err().to_string();
        assert!(error.contains(r#"context "x""#), "a context is of a file: {error}");
        assert!(Source::find(None, None, false, None).is_err());
        std::fs::remove_dir_all(home).expect("removed");
    }

    #[test]
    fn the_first_file_to_name_something_wins_and_paths_are_relative_to_their_file() {
        let home = folder("merge");
        let (first, second) = (home.join("a"), home.join(".kube").join("b"));
        std::fs::write(&first, "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n")
            .expect("a");
        let rest = "current-context: y\nclusters: [{name: c, cluster: {server: 'https://c.example'}}]\n\
                    users: [{name: u, user: {tokenFile: stage/token}}]\n";
        std::fs::write(&second, rest).expect("b");
        let loaded = Source::Files { paths: vec![first, second], context: None }.load().expect("a configuration");
        assert_eq!(loaded.config.cluster_url.host(), Some("c.example"));
        let token = home.join(".kube").join("stage/token").display().to_string();
        assert_eq!(loaded.config.auth_info.token_file, Some(token));
        assert!(loaded.place.contains(r#"context "x""#), "{}", loaded.place);
        std::fs::remove_dir_all(home).expect("removed");
    }
}
