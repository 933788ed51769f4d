//! Releases that kops fetches: where they are, and the digests that it expects.

/// Name, version, and the digests for the two processors.
static DATA: &str = include_str!("../../data/kops-releases.tsv");

/// A piece of software that kops fetches to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Kubelet,
    /// To machines with an API server only.
    Kubectl,
    Containerd,
    Runc,
    Cni,
}

impl Piece {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kubelet => "kubelet",
            Self::Kubectl => "kubectl",
            Self::Containerd => "containerd",
            Self::Runc => "runc",
            Self::Cni => "cni",
        }
    }

    /// The host that kops has it from, and the path of a version there.
    fn place(self, version: &str, processor: &str) -> (&'static str, String) {
        match self {
            Self::Kubelet | Self::Kubectl => {
                ("https://dl.k8s.io", format!("release/v{version}/bin/linux/{processor}/{}", self.name()))
            }
            Self::Containerd => (
                GITHUB,
                format!(
                    "containerd/containerd/releases/download/v{version}/containerd-{version}-linux-{processor}.tar.gz"
                ),
            ),
            Self::Runc => {
                (GITHUB, format!("opencontainers/runc/releases/download/v{version}/runc.{processor}"))
            }
            Self::Cni => (
                GITHUB,
                format!(
                    "containernetworking/plugins/releases/download/v{version}/cni-plugins-linux-{processor}-v{version}.tgz"
                ),
            ),
        }
    }
}

const GITHUB: &str = "https://github.com";

/// A release for one processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) url: String,
    /// None if nobody here knows it.
    pub(super) digest: Option<&'static str>,
}

/// A release of a piece, from its own host or from a mirror of all of them, which has the same paths.
pub(super) fn release(piece: Piece, version: &str, is_arm: bool, mirror: Option<&str>) -> Release {
    let (host, path) = piece.place(version, if is_arm { "arm64" } else { "amd64" });
    let base = mirror.map_or(host, |mirror| mirror.trim_end_matches('/'));
    let line = DATA.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let digest = line
        .filter(|words| words.first() == Some(&piece.name()) && words.get(1) == Some(&version))
        .find_map(|words| words.get(if is_arm { 3 } else { 2 }).copied());
    Release { url: format!("{base}/{path}"), digest }
}

#[cfg(test)]
mod tests {
    use super::{DATA, Piece, release};

    #[test]
    fn every_line_has_two_digests() {
        for line in DATA.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split('\t').collect();
            assert_eq!(words.len(), 4, "{line}");
            for digest in words.iter().skip(2) {
                assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
            }
        }
    }

    /// The assets of a node of kops' own test `minimal`, for Kubernetes 1.32.0.
    #[test]
    fn releases_are_those_that_kops_fetches() {
        for (piece, version, url, digest) in [
            (
                Piece::Kubelet,
                "1.32.0",
                "https://dl.k8s.io/release/v1.32.0/bin/linux/arm64/kubelet",
                "bda9b2324c96693b38c41ecea051bab4c7c434be5683050b5e19025b50dbc0bf",
            ),
            (
                Piece::Cni,
                "1.6.2",
                "https://github.com/containernetworking/plugins/releases/download/v1.6.2/cni-plugins-linux-arm64-v1.6.2.tgz",
                "01e0e22acc7f7004e4588c1fe1871cc86d7ab562cd858e1761c4641d89ebfaa4",
            ),
            (
                Piece::Containerd,
                "2.3.4",
                "https://github.com/containerd/containerd/releases/download/v2.3.4/containerd-2.3.4-linux-arm64.tar.gz",
                "a985fbb7e18fc0362d31a055338f5d7b0e087a3e27f14c70d1c5965399a29f95",
            ),
            (
                Piece::Runc,
                "1.4.3",
                "https://github.com/opencontainers/runc/releases/download/v1.4.3/runc.arm64",
                "633301e2e32f8a5ad54031aab4901eb00308bec677dd15faa2751e8f9dab5ca4",
            ),
        ] {
            let found = release(piece, version, true, None);
            assert_eq!((found.url.as_str(), found.digest), (url, Some(digest)));
        }
        let mirrored = release(Piece::Kubelet, "1.99.0", false, Some("https://mirror.example/kops/"));
        assert_eq!(mirrored.url, "https://mirror.example/kops/release/v1.99.0/bin/linux/amd64/kubelet");
        assert_eq!(mirrored.digest, None);
    }
}
