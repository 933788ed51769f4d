//! Credentials files for the API server, as far as a node has them.

use std::path::{Path, PathBuf};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_disk::{Files, Kind};
use serde::Deserialize;

use crate::eks::Subject;
use crate::web::{Credential, Trust};

/// As many links as kubelet puts before its certificate, and then some.
const LINKS: u32 = 8;

/// Where the API server is, whom to trust there, and who asks.
pub(crate) struct Kubeconfig {
    pub(crate) server: String,
    /// The authority that has signed the server's certificate; the system's own, where none is given.
    pub(crate) trust: Option<Trust>,
    pub(crate) user: User,
}

/// Who asks.
pub(crate) enum User {
    Bearer(String),
    Certificate(Credential),
    /// A token that this program makes itself.
    Eks(Subject),
    /// It is shown by a program that is not ours to run.
    Program(String),
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct File {
    current_context: String,
    clusters: Vec<Named<ClusterPart>>,
    contexts: Vec<Named<ContextPart>>,
    users: Vec<Named<UserPart>>,
}

#[derive(Deserialize)]
struct Named<T> {
    name: String,
    #[serde(alias = "cluster", alias = "context", alias = "user")]
    value: T,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct ClusterPart {
    server: String,
    certificate_authority: Option<PathBuf>,
    certificate_authority_data: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContextPart {
    cluster: String,
    user: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct UserPart {
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<PathBuf>,
    client_certificate: Option<PathBuf>,
    client_certificate_data: Option<String>,
    client_key: Option<PathBuf>,
    client_key_data: Option<String>,
    exec: Option<Exec>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Exec {
    command: String,
    args: Vec<String>,
}

impl Kubeconfig {
    /// Reads one, or says what it lacks. Nothing of what it holds is in that.
    pub(crate) fn read(files: Files<'_>, path: &Path) -> Result<Self, String> {
        let bytes = content(files, path)?;
        let unreadable = || format!("`{}` is no kubeconfig", path.display());
        let text = std::str::from_utf8(&bytes).map_err(|_| unreadable())?;
        let node =
            bringup_yaml::parse_one(text, bringup_yaml::Limits::default()).map_err(|_| unreadable())?;
        let value = node.ok_or_else(unreadable)?.to_value().to_json();
        let file: File = serde_json::from_value(value).map_err(|_| unreadable())?;
        let lacks = |what: &str| format!("`{}` has no {what}", path.display());
        let context = named(file.contexts, &file.current_context).ok_or_else(|| lacks("current context"))?;
        let cluster = named(file.clusters, &context.cluster).ok_or_else(|| lacks("cluster"))?;
        let user = named(file.users, &context.user).ok_or_else(|| lacks("user"))?;
        // Paths in it are meant beside it.
        let folder = path.parent().unwrap_or(path);
        let source = |data: Option<&String>, file: Option<&PathBuf>| -> Result<Option<Vec<u8>>, String> {
            match (data, file) {
                (Some(data), _) => BASE64_STANDARD.decode(data).map(Some).map_err(|_| unreadable()),
                (None, Some(file)) => content(files, &folder.join(file)).map(Some),
                (None, None) => Ok(None),
            }
        };
        let authority =
            source(cluster.certificate_authority_data.as_ref(), cluster.certificate_authority.as_ref())?;
        let trust = authority.map(|bytes| Trust::only(String::from_utf8_lossy(&bytes).into_owned()));
        let user = if let Some(token) = user.token {
            User::Bearer(token)
        } else if let Some(bytes) = source(None, user.token_file.as_ref())? {
            User::Bearer(String::from_utf8_lossy(&bytes).trim().to_owned())
        } else if let Some(exec) = user.exec {
            of_program(exec)
        } else {
            let certificate =
                source(user.client_certificate_data.as_ref(), user.client_certificate.as_ref())?
                    .ok_or_else(|| lacks("credentials"))?;
            let key = source(user.client_key_data.as_ref(), user.client_key.as_ref())?;
            let key = key.as_deref().unwrap_or(&certificate);
            let credential = Credential::from_pem(&certificate, key);
            User::Certificate(credential.ok_or_else(|| lacks("certificate with a key that fits"))?)
        };
        Ok(Self { server: cluster.server.trim_end_matches('/').to_owned(), trust, user })
    }
}

/// A program of another kind is not run: the agent has no children.
fn of_program(exec: Exec) -> User {
    let subject = match Path::new(&exec.command).file_name().and_then(|name| name.to_str()) {
        Some("bringup-node") => Subject::from_arguments(&exec.args),
        // What it would print can be made here.
        Some("aws") => Subject::from_aws_arguments(&exec.args),
        _ => None,
    };
    match subject {
        Some(subject) => User::Eks(subject),
        None => User::Program(exec.command),
    }
}

fn named<T>(list: Vec<Named<T>>, name: &str) -> Option<T> {
    list.into_iter().find(|entry| entry.name == name).map(|entry| entry.value)
}

/// A file's content; kubelet's own certificate is a link to the newest one.
fn content(files: Files<'_>, path: &Path) -> Result<Vec<u8>, String> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let is_link = matches!(files.disk().look(&path), Ok(Some(entry)) if entry.kind == Kind::Link);
        if !is_link {
            let read = files.read(&path).map_err(|fault| fault.to_string())?;
            return read.ok_or_else(|| format!("`{}` is not there yet", path.display()));
        }
        let target = files.disk().read_link(&path);
        let target = target.map_err(|_| format!("`{}` cannot be read", path.display()))?;
        path = path.parent().unwrap_or(&path).join(target);
    }
    Err(format!("`{}` is a link in circles", path.display()))
}
