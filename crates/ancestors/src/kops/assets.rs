//! What decides where a node's software and images come from: `assets`, the network of pods, the version.

use bringup_yaml::Node;

use super::cluster::Cluster;
use crate::codes;
use crate::tell::Teller;

/// The sandbox image that kops takes, at its registry.
const SANDBOX: (&str, &str) = ("registry.k8s.io", "pause:3.10.1");

impl Cluster<'_> {
    /// The version of Kubernetes; none where nobody says it, or where it is a build at an address of its own.
    pub(super) fn whole_version(&self) -> Option<String> {
        if self.is_own_build() {
            return None;
        }
        self.version.as_ref().and_then(Node::text).map(ToOwned::to_owned)
    }

    /// Whether Kubernetes is a build at an address of its own.
    pub(super) fn is_own_build(&self) -> bool {
        self.spec.text("kubernetesVersion").is_some_and(|version| version.contains("://"))
    }

    /// Whether kops fetches the plugins of CNI: some networks bring their own.
    pub(super) fn fetches_cni(&self) -> bool {
        let of = |name: &str| self.networking.get(name);
        if let Some(cilium) = of("cilium") {
            return cilium.get("chainingMode").and_then(Node::text) == Some("portmap");
        }
        ["amazonvpc", "amazonVPC", "calico"].iter().all(|name| of(name).is_none())
    }

    /// Whether the cluster has addresses of IPv6 alone.
    pub(super) fn is_ipv6(&self) -> bool {
        let range = self.address_field("nonMasqueradeCIDR").and_then(|entry| entry.value.text());
        range.is_some_and(|range| range.contains(':'))
    }

    fn asset_field(&self, name: &str) -> Option<&Node> {
        self.spec.get("assets")?.get(name).filter(|node| node.text().is_some_and(|text| !text.is_empty()))
    }

    /// The address of the mirror of all that kops fetches, if nodes can fetch from there.
    pub(super) fn mirror(&self) -> Option<&str> {
        let address = self.asset_field("fileRepository")?.text()?;
        is_address(address).then_some(address)
    }

    /// Tells of a mirror that nodes cannot fetch from.
    pub(super) fn tell_mirror(&self, tell: &mut Teller<'_>) {
        if let Some(node) = self.asset_field("fileRepository").filter(|_| self.mirror().is_none()) {
            let message =
                "nodes fetch from `https://` only: what this mirrors is fetched from where it is made";
            let hint = "write the mirror's address as `https://...`";
            tell.warning(codes::FIELD_DIFFERS, node.span, message, hint);
        }
    }

    /// The sandbox image, by way of the registry or the proxy that all images of kops come from.
    pub(super) fn sandbox_image(&self) -> String {
        let (registry, image) = SANDBOX;
        let given =
            |name: &str| self.asset_field(name).and_then(Node::text).map(|text| text.trim_end_matches('/'));
        // A registry has all images side by side: with a proxy before it, the proxy's name becomes part of theirs.
        match (given("containerProxy"), given("containerRegistry")) {
            (None, None) => format!("{registry}/{image}"),
            (Some(proxy), None) => format!("{proxy}/{image}"),
            (None, Some(own)) => format!("{own}/{image}"),
            (Some(proxy), Some(own)) => format!("{own}/{}-{image}", proxy.replace('/', "-")),
        }
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}
