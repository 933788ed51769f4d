//! Machines, and how to log in to them. Secrets stay in the other document: ours refers to variables.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bringup_diag::Span;
use bringup_yaml::Node;

use super::{tables, types};
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;
use crate::tree::{Branch, text};

/// A machine that gets a plan.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    /// Its mapping in the other document.
    pub(super) span: Span,
    pub(super) address: Option<&'a Node>,
    pub(super) labels: Option<&'a Node>,
    pub(super) taints: &'a [Node],
    /// How it is reached; its group is added later.
    login: Branch,
}

/// A `Machine`, and the cluster that it joins.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    pub(super) cluster: Option<&'a str>,
    pub(super) cluster_span: Span,
    pub(super) machine: Machine<'a>,
}

impl<'a> Worker<'a> {
    pub(super) fn read(document: &'a Node, tell: &mut Teller<'_>) -> Option<Self> {
        let object = tell.record(document, "a machine of tkestack", tables::OBJECT);
        let name = object
            .get("metadata")
            .and_then(|metadata| {
                tell.record(metadata, "`metadata` of a machine", tables::MACHINE_METADATA).get("name")
            })
            .cloned();
        let Some(node) = object.get("spec") else {
            tell.error(codes::MISSING, document.span, "this machine has no `spec`", "add `spec:`");
            return None;
        };
        let spec = tell.record(node, "`spec` of a machine", tables::MACHINE);
        check_type(spec, node.span, tell);
        let cluster = spec.get("clusterName");
        let machine = Machine::read(node.span, spec, name, tell);
        Some(Self {
            cluster: cluster.and_then(Node::text),
            cluster_span: cluster.map_or(node.span, |cluster| cluster.span),
            machine,
        })
    }
}

fn check_type(spec: Record<'_>, span: Span, tell: &mut Teller<'_>) {
    let kind = spec.get("type");
    let hint = "write `type: Baremetal`";
    match kind.and_then(Node::text) {
        Some("Baremetal") => {}
        Some(other) => {
            let span = kind.map_or(span, |kind| kind.span);
            let message = format!("a machine of the type `{other}` is brought up like one of `Baremetal`");
            tell.warning(codes::FIELD_DIFFERS, span, message, hint);
        }
        None => tell.error(codes::MISSING, span, "nothing says of which `type` this machine is", hint),
    }
}

impl<'a> Machine<'a> {
    /// An item of the cluster's own list.
    pub(super) fn of_master(node: &'a Node, tell: &mut Teller<'_>) -> Self {
        let record = tell.record(node, "a machine of tkestack", tables::MASTER);
        Self::read(node.span, record, None, tell)
    }

    fn read(span: Span, record: Record<'a>, name: Option<Node>, tell: &mut Teller<'_>) -> Self {
        types::check(record, types::MACHINE, tell);
        let mut login = Branch::new(span);
        login.put_some("name", name);
        let address = record.get("ip");
        if let Some(address) = address {
            login.put("address", address.clone());
        } else {
            let hint = "add `ip:` with the address of its SSH server";
            tell.error(codes::MISSING, span, "this machine has no `ip`", hint);
        }
        for (theirs, ours) in [("port", "port"), ("username", "user")] {
            if let Some(entry) = record.entry(theirs) {
                login.put_field(ours, entry);
            }
        }
        let whose = address.and_then(Node::text).unwrap_or_default();
        credentials(record, span, whose, &mut login, tell);
        if let Some(proxy) = record.get("proxy") {
            put_proxy(proxy, whose, &mut login, tell);
        }
        let labels = record.get("labels");
        for taint in record.items("taints") {
            tell.record(taint, "a taint of tkestack", tables::TAINT);
        }
        Self { span, address, labels, taints: record.items("taints"), login }
    }

    /// The machine of a Bringup document.
    pub(super) fn tree(&self, group: &str) -> Node {
        let mut machine = self.login.clone();
        machine.put("nodeGroup", text(self.span, group));
        machine.into_node()
    }

    /// Its address.
    pub(super) fn ip(&self) -> &'a str {
        self.address.and_then(Node::text).unwrap_or_default()
    }
}

/// The variable that is to hold a secret of a machine.
fn variable(what: &str, whose: &str) -> String {
    let whose: String = whose
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' })
        .collect();
    format!("TKE_{what}_{whose}")
}

fn reference(span: Span, variable: &str) -> Node {
    let mut reference = Branch::new(span);
    reference.put("environment", text(span, variable));
    reference.into_node()
}

/// Puts a reference in the place of each secret. A key goes before a password, as in tkestack's own client.
fn credentials(record: Record<'_>, span: Span, whose: &str, login: &mut Branch, tell: &mut Teller<'_>) {
    let present = |name: &str| record.entry(name).filter(|entry| entry.value.text() != Some(""));
    let (key, password) = (present("privateKey"), present("password"));
    for entry in [key, password].into_iter().flatten() {
        check_base64(&entry.key, &entry.value, entry.key_span, tell);
    }
    let (entry, what, ours) = match (key, password) {
        (Some(key), _) => (key, "PRIVATE_KEY", "key"),
        (None, Some(password)) => (password, "PASSWORD", "password"),
        (None, None) => {
            if let Some(phrase) = present("passPhrase") {
                let message = format!("there is no key of `{whose}` that this pass phrase is for");
                let hint = "add `privateKey`, or remove it";
                tell.warning(codes::FIELD_DIFFERS, phrase.key_span, message, hint);
            }
            return;
        }
    };
    let name = variable(what, whose);
    let message = format!("`{}` of `{whose}` stays in this file: no secret is taken over", entry.key);
    let hint = format!(
        "put it, decoded, into the environment variable `{name}` of the program that connects, and out of this file"
    );
    tell.warning(codes::INLINE_SECRET, entry.key_span, message, hint);
    login.put(ours, reference(entry.value.span, &name));
    if let (Some(_), Some(password)) = (key, password) {
        let message = "this machine has a key and a password: only the key is used".to_owned();
        tell.note(codes::DIFFERENCE, password.key_span, message, "remove `password`");
    }
    if let Some(phrase) = present("passPhrase") {
        let message = format!("the key of `{whose}` is taken without a pass phrase");
        let hint = format!("put the decrypted key into `{name}`, or load it into your SSH agent");
        let at = if phrase.key_span == Span::default() { span } else { phrase.key_span };
        tell.warning(codes::FIELD_DIFFERS, at, message, hint);
    }
}

/// tkestack's API takes these fields in base64 only. Whatever is there is not shown.
fn check_base64(name: &str, value: &Node, span: Span, tell: &mut Teller<'_>) {
    let packed: String = value.text().unwrap_or_default().split_whitespace().collect();
    if BASE64_STANDARD.decode(packed).is_err() {
        let message = format!("`{name}` is no base64, and tkestack would refuse it");
        tell.warning(codes::WRONG_TYPE, span, message, "write what `base64` prints for it");
    }
}

fn put_proxy(node: &Node, whose: &str, login: &mut Branch, tell: &mut Teller<'_>) {
    let proxy = tell.record(node, "a proxy of tkestack", tables::PROXY);
    let Some(kind) = proxy.get("type").filter(|kind| kind.text() != Some("")) else {
        if let Some(address) = proxy.entry("ip") {
            let message = "a proxy without a `type` is not used, with tkestack as here";
            let hint = "add `type: SSHJumpServer`, or remove the proxy";
            tell.warning(codes::FIELD_DIFFERS, address.key_span, message, hint);
        }
        return;
    };
    match kind.text() {
        Some("SSHJumpServer") => {}
        Some("SOCKS5") => {
            let message = format!("`{whose}` is reached through a SOCKS5 proxy, which is not supported");
            let hint = "use a `SSHJumpServer`, or carry the bundle to the machine yourself";
            tell.warning(codes::FIELD_DIFFERS, kind.span, message, hint);
            return;
        }
        _ => {
            let message = "this is no type of proxy".to_owned();
            tell.error(codes::WRONG_TYPE, kind.span, message, "write `SSHJumpServer` or `SOCKS5`");
            return;
        }
    }
    let mut host = Branch::new(node.span);
    for (theirs, ours) in [("ip", "address"), ("port", "port"), ("username", "user")] {
        if let Some(entry) = proxy.entry(theirs) {
            host.put_field(ours, entry);
        }
    }
    let through = proxy.text("ip").unwrap_or_default();
    let mut credentials_of_host = Branch::new(node.span);
    credentials(proxy, node.span, through, &mut credentials_of_host, tell);
    for entry in credentials_of_host.into_node().entries().unwrap_or_default() {
        if entry.key == "key" {
            host.put_field("key", entry);
        } else {
            let message = format!("the jump host `{through}` is entered with a key, not with a password");
            let hint = "give the proxy a `privateKey`, or let it accept the machine's own key";
            tell.warning(codes::FIELD_DIFFERS, entry.value.span, message, hint);
        }
    }
    login.put("jumpHost", host.into_node());
}
