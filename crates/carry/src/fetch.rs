//! The stub that fetches what user-data cannot hold: the agent, and a plan that is too large.
//!
//! It runs before the agent in the agent's own unit, not in the first stage: there a mirror that does not answer
//! would hold up the boot and with it the way in for whoever has to look. It retries in its own process, because a
//! unit that fails lets its successors go.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bringup_diag::{Finding, Findings, Severity};
use bringup_spec::{AgentSource, Flavour, Url};

use crate::codes;
use crate::load::Load;
use crate::placed::{AGENT_PATH, AGENT_UNIT, PLAN_PATH, PlacedFile, UNIT_DIRECTORY};
use crate::publish::{base_of_agent, plan_name};
use crate::shell::{delimiter, word};

/// Where the stub stands on the node.
const STUB_PATH: &str = "/opt/bringup/bin/bringup-fetch";

const DROP_IN: &str = "\
# What the agent needs is fetched before it starts.
[Unit]
Wants=network-online.target
After=network-online.target

[Service]
ExecStartPre=/bin/sh /opt/bringup/bin/bringup-fetch
TimeoutStartSec=0
";

const HEAD: &str = r"#!/bin/sh
# Fetches what the user-data has no room for. Mirrors are tried in turn, for ever; what has another digest is not used.
set -u
umask 077
";

const BODY: &str = r#"digest() { sha256sum <"$1" | cut -c 1-64; }
obtain() { # mode, path, digest, mirrors
    mode=$1 path=$2 sha256=$3
    shift 3
    if [ -f "$path" ] && [ "$(digest "$path")" = "$sha256" ]; then return; fi
    (umask 022 && mkdir -p "${path%/*}")
    while :; do
        for url; do
            if fetch "$url" "$path.new" && [ "$(digest "$path.new")" = "$sha256" ]; then
                chmod "$mode" "$path.new"
                mv -f "$path.new" "$path"
                return
            fi
            echo "bringup: $url did not give the file with digest $sha256" >&2
        done
        sleep 10
    done
}
"#;

/// Something to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) mode: u32,
    pub(crate) path: &'static str,
    pub(crate) sha256: String,
    pub(crate) urls: Vec<String>,
}

/// What the node has to fetch before the agent can start, with what is wrong about it.
pub(crate) fn wanted_agent(load: &Load<'_>, findings: &mut Findings) -> Option<Wanted> {
    if load.group.agent.from != AgentSource::Fetch {
        return None;
    }
    let architecture = load.group.architecture.word();
    let Some(download) = load.agent_download().filter(|download| !download.urls.is_empty()) else {
        findings.push(
            Finding::error(
                bringup_plan::codes::AGENT_DOWNLOAD,
                format!("the agent is to be fetched, but there is no download for {architecture}"),
            )
            .at(load.place("agent"))
            .hint(format!("write `downloads: {{{architecture}: {{urls: [...], sha256: ...}}}}` as `bringup publish` prints it")),
        );
        return None;
    };
    let reachable = |url: &str| Fetcher::Stub.reaches(url);
    let all = download.urls.iter().map(Url::as_str);
    let urls: Vec<String> = all.clone().filter(|url| reachable(url)).map(str::to_owned).collect();
    if let Some(first) = all.clone().find(|url| !reachable(url)) {
        let message =
            format!("`{first}` cannot be fetched before the agent is there: a machine has only curl or wget");
        let finding = if urls.is_empty() {
            Finding::error(codes::AGENT_SCHEME, message)
        } else {
            Finding::warning(codes::AGENT_SCHEME, message)
        };
        findings.push(
            finding.at(load.place("agent")).hint("write an address with https, such as a pre-signed one"),
        );
    }
    (!urls.is_empty()).then(|| Wanted {
        mode: 0o755,
        path: AGENT_PATH,
        sha256: download.sha256.as_str().to_owned(),
        urls,
    })
}

/// Who fetches the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fetcher {
    /// Our stub, which has only curl or wget.
    Stub,
    /// Ignition, which can sign calls to S3.
    Ignition,
}

impl Fetcher {
    fn reaches(self, address: &str) -> bool {
        self == Self::Ignition || !address.starts_with("s3://")
    }
}

/// The addresses beneath which published plans are: the one that was given, or where the agent was published.
fn plan_bases<'load>(load: &'load Load<'_>, fetcher: Fetcher) -> Vec<&'load str> {
    match load.published_at {
        Some(base) if !fetcher.reaches(base) => Vec::new(),
        Some(base) => vec![base.trim_end_matches('/')],
        None => load
            .agent_download()
            .into_iter()
            .flat_map(|download| &download.urls)
            .filter_map(|url| base_of_agent(url.as_str()))
            .filter(|base| Fetcher::Stub.reaches(base))
            .collect(),
    }
}

/// Whether the node could fetch its plan.
pub(crate) fn is_fetchable(load: &Load<'_>, fetcher: Fetcher) -> bool {
    load.has_agent() && !plan_bases(load, fetcher).is_empty()
}

/// Whether the plan is fetched though it may fit. User-data of kops is tiny: it has the digest of the configuration and
/// where to get it, so that it changes whenever the configuration does, and holds none of it.
pub(crate) fn is_fetch_preferred(load: &Load<'_>, fetcher: Fetcher) -> bool {
    load.document.cluster.spec.flavour == Flavour::Kops
        && load.group.agent.from == AgentSource::Fetch
        && load.published_at.is_some()
        && is_fetchable(load, fetcher)
}

/// What there is to tell where the plan would have to be fetched, and was published where the stub cannot get it.
pub(crate) fn out_of_reach(load: &Load<'_>, severity: Severity) -> Option<Finding> {
    let base = load.published_at.filter(|base| load.has_agent() && !Fetcher::Stub.reaches(base))?;
    let message = format!(
        "the plan cannot be fetched from `{base}` before the agent is there: a machine has only curl or wget"
    );
    let finding = Finding::new(severity, codes::AGENT_SCHEME, message).at(load.place("agent"));
    Some(finding.hint("give `--base-url` an address with https"))
}

/// The plan, for the node to fetch, if it can.
pub(crate) fn wanted_plan(load: &Load<'_>, fetcher: Fetcher) -> Option<Wanted> {
    let bases = plan_bases(load, fetcher);
    if bases.is_empty() {
        return None;
    }
    let sha256 = load.plan_sha256().to_owned();
    let name = plan_name(&sha256);
    let urls = bases.iter().map(|base| format!("{base}/{name}")).collect();
    Some(Wanted { mode: 0o600, path: PLAN_PATH, sha256, urls })
}

/// The stub and the drop-in that runs it; nothing, if there is nothing to fetch.
pub(crate) fn stub_files(load: &Load<'_>, wanted: &[Wanted]) -> Vec<PlacedFile> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let script = script(&load.plan.environment, &load.plan.certificate_authorities, wanted);
    vec![
        PlacedFile::new(STUB_PATH, 0o755, script),
        PlacedFile::new(format!("{UNIT_DIRECTORY}/{AGENT_UNIT}.d/10-fetch.conf"), 0o644, DROP_IN),
    ]
}

fn script(environment: &BTreeMap<String, String>, authorities: &[String], wanted: &[Wanted]) -> String {
    let mut script = HEAD.to_owned();
    for (name, value) in environment {
        let _ = writeln!(script, "export {name}={}", word(value));
    }
    let (curl, wget) = if authorities.is_empty() {
        ("", "")
    } else {
        let pem: String = authorities.iter().map(|pem| crate::placed::whole_lines(pem)).collect();
        let end = delimiter(&[pem.as_str()]);
        let _ = write!(
            script,
            "authorities=/run/bringup-authorities.pem\n{{\n    cat /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt 2>/dev/null\n    cat <<'{end}'\n{pem}{end}\n}} >\"$authorities\"\n"
        );
        (" --cacert \"$authorities\"", " --ca-certificate=\"$authorities\"")
    };
    // One try of wget's, then the next mirror. The wget of Debian 12's busybox dies of a timeout that it is given.
    let _ = write!(
        script,
        "fetch() {{ # address, file\n    if command -v curl >/dev/null 2>&1; then\n        curl -fsSL --connect-timeout 20 --speed-limit 1 --speed-time 60{curl} -o \"$2\" \"$1\"\n    else\n        wget -q -t 1 -T 60{wget} -O \"$2\" \"$1\" ||\n            {{ [ $? -gt 128 ] && wget -q -t 1{wget} -O \"$2\" \"$1\"; }}\n    fi\n}}\n{BODY}"
    );
    for item in wanted {
        let _ = write!(script, "obtain {:04o} {} {}", item.mode, item.path, item.sha256);
        for url in &item.urls {
            let _ = write!(script, " {}", word(url));
        }
        script.push('\n');
    }
    script
}
