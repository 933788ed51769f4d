//! What a script exports before its call that decides by which way `bootstrap.sh` asks EKS, a proxy above all: here the agent asks.

use bringup_diag::Span;
use bringup_yaml::Node;

use super::prefix::Prefix;
use super::reading::Reading;
use super::{Line, lines, words};
use crate::codes;
use crate::tell::{Says, Teller};

/// How programs spell a proxy, and what is reached without it.
const PROXIES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
const DIRECT: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Where the API servers of EKS are, which kubelet reaches without a proxy.
const API_SERVERS: &str = ".eks.amazonaws.com";

/// What else `aws` heeds.
const OTHERS: [(&str, Kind); 6] = [
    ("AWS_CA_BUNDLE", Kind::Authorities),
    ("REQUESTS_CA_BUNDLE", Kind::Authorities),
    ("AWS_PROFILE", Kind::Caller),
    ("AWS_ACCESS_KEY_ID", Kind::Caller),
    ("AWS_ENDPOINT_URL", Kind::Caller),
    ("AWS_ENDPOINT_URL_EKS", Kind::Caller),
];

/// What a variable decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Through whom somebody is asked.
    Proxy,
    /// Whom to trust.
    Authorities,
    /// Who asks, or is asked.
    Caller,
}

/// A variable by which a call asks EKS.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The line that says it.
    line: u32,
    /// The variable.
    name: &'static str,
    kind: Kind,
    /// Where a proxy is, if that is known.
    address: Option<String>,
    /// What is reached without it, as far as that is known.
    direct: Vec<String>,
}

/// What a variable is to a call that gets it.
enum Value {
    Known(String),
    Unknown,
}

impl Value {
    fn known(self) -> Option<String> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown => None,
        }
    }
}

impl Reading {
    /// The way of the call on this line.
    pub(super) fn ways(&self, number: u32, prefix: &Prefix, script: &str) -> Vec<Way> {
        let mut above = lines(script);
        above.retain(|line| line.number <= number);
        let line_of = |name: &str| {
            let line = above.iter().rev().find(|line| line.text.contains(name));
            line.map_or(number, |line| line.number)
        };
        let others = OTHERS.into_iter().filter_map(|(name, kind)| {
            let value = self.given(name, prefix)?.known();
            let way = Way { line: line_of(name), name, kind, address: None, direct: Vec::new() };
            (value.as_deref() != Some("")).then_some(way)
        });
        let said = PROXIES.into_iter().find_map(|name| {
            let address = self.given(name, prefix)?.known();
            (address.as_deref() != Some("")).then(|| (name, line_of(name), address))
        });
        let read_in = || self.reads_in(&above).filter(|_| prefix.hands_on);
        let proxy = said.or_else(|| Some((PROXIES[0], read_in()?, None)));
        let direct = DIRECT.into_iter().find_map(|name| self.given(name, prefix)?.known());
        let direct = direct.unwrap_or_default();
        let hosts = direct.split(',').map(str::trim).filter(|host| !host.is_empty());
        let direct: Vec<String> = hosts.map(str::to_owned).collect();
        let proxy = proxy.map(|(name, line, address)| Way { line, name, kind: Kind::Proxy, address, direct });
        proxy.into_iter().chain(others).collect()
    }

    /// What a variable is to the call, if it gets it.
    fn given(&self, name: &str, prefix: &Prefix) -> Option<Value> {
        let own = prefix.assigned.iter().filter_map(|word| super::assignment(word));
        if let Some((_, value)) = own.into_iter().find(|(own, _)| *own == name) {
            return Some(words::value(value, &self.values).map_or(Value::Unknown, Value::Known));
        }
        let gets = prefix.hands_on && self.exported.contains(name) && !self.values.is_unset(name);
        let known = self.values.get(name).filter(|_| self.values.doubted(name).is_none());
        gets.then(|| known.cloned().map_or(Value::Unknown, Value::Known))
    }

    /// The line that reads in a file with a proxy, if that was written above and reaches programs.
    fn reads_in(&self, above: &[Line]) -> Option<u32> {
        let has = |words: &str| above.iter().any(|line| line.text.to_ascii_lowercase().contains(words));
        let exports = self.shell.exports_all || has("export https_proxy");
        let reads = |line: &&Line| {
            let text = line.text.trim();
            let sources = text.starts_with("source ") || text.starts_with(". ");
            !line.handed_on && (sources && exports || text.starts_with("export $("))
        };
        above.iter().rev().find(reads).map(|line| line.number).filter(|_| has("https_proxy="))
    }
}

/// Tells of ways by which nobody asks here; `at` has the place of a line.
pub(crate) fn tell_of_ways(ways: &[Way], at: &dyn Fn(u32) -> Span, tell: &mut Teller<'_>) {
    for way in ways {
        let Way { line, name, .. } = way;
        let (how, heeds): (&str, Says) = match way.kind {
            Kind::Proxy => ("through that proxy", |document| has_proxy(document) || asks_nobody(document)),
            Kind::Authorities => ("with those authorities", |document| {
                has(document, "certificateAuthorities") || asks_nobody(document)
            }),
            Kind::Caller => ("by that", asks_nobody),
        };
        let message = format!(
            "`{name}` reaches the call, which asks EKS {how}; here the agent asks EKS, and signals to a stack, without it"
        );
        tell.warning_unless(heeds, (codes::FIELD_DIFFERS, at(*line)), message, way.hint());
    }
}

impl Way {
    fn hint(&self) -> String {
        match self.kind {
            Kind::Proxy => {
                // A password in it is nobody's business.
                let address = self.address.as_deref().filter(|address| !address.contains('@'));
                let direct = self.direct.iter().map(String::as_str).chain([API_SERVERS]);
                let direct: Vec<String> = direct.map(|host| format!("\"{host}\"")).collect();
                format!(
                    "write `spec: {{proxy: {{https: \"{}\", noProxy: [{}]}}}}` with `--with additions.yaml`, which containerd and kubelet get, too",
                    address.unwrap_or("http://HOST:PORT"),
                    direct.join(", ")
                )
            }
            Kind::Authorities => {
                "write them as `spec: {certificateAuthorities: [{name: ..., certificate: ...}]}` with `--with additions.yaml`".to_owned()
            }
            Kind::Caller => {
                "nothing has to be done where the machine's own role may ask EKS; else give `--apiserver-endpoint` and `--b64-cluster-ca`".to_owned()
            }
        }
    }
}

/// Whether a document says which proxy there is.
pub(crate) fn has_proxy(document: &Node) -> bool {
    document.get("spec").and_then(|spec| spec.get("proxy")?.get("https")).is_some()
}

fn has(document: &Node, key: &str) -> bool {
    document.get("spec").is_some_and(|spec| spec.get(key).is_some())
}

/// Whether an agent neither asks EKS where the API server is nor signals.
fn asks_nobody(document: &Node) -> bool {
    let groups = document.get("spec").and_then(|spec| spec.get("nodeGroups")?.items()).unwrap_or_default();
    has(document, "api") && !groups.iter().any(|group| group.get("signals").is_some())
}
