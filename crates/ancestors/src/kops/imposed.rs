//! What kops sets for all kubelets of a cluster, whatever its `Cluster` says. A group's own settings come behind it, and count.
//!
//! The rules are those of `pkg/model/components/kubelet.go`; what a node has without being told is not said again.

use bringup_diag::Span;
use bringup_yaml::Entry;

use super::circumstances::entries;
use super::kubelet::{MANIFESTS, Settings, laid_over, value};
use crate::codes;
use crate::shapes::truth;
use crate::tell::Teller;

/// What the settings of a cluster's kubelets hang on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Imposed<'a> {
    pub(super) minor: Option<u16>,
    pub(super) cloud: &'a str,
    /// See `Circumstances`.
    pub(super) pods_leave_slowly: bool,
    /// Whether these kubelets are of a control plane that is kept from the network of pods.
    pub(super) is_isolated: bool,
}

impl Imposed<'_> {
    /// The settings of a cluster with kops' own over them; told is what counts for nothing.
    pub(super) fn over(self, written: Settings, what: &str, span: Span, tell: &mut Teller<'_>) -> Settings {
        let imposed = self.settings(&written);
        let mut kept = Settings::new();
        for entry in written {
            match imposed.iter().find(|(key, _)| *key == entry.key) {
                Some((_, theirs)) if !is_same(&entry, theirs) => {
                    let message = format!(
                        "`{}` of {what} counts for nothing: kops sets `{theirs}`, and so it is here",
                        entry.key
                    );
                    let hint = "remove it, or write it in `kubelet` of a group, where it counts";
                    tell.warning(codes::DIFFERENCE, entry.key_span, message, hint);
                }
                Some(_) => {}
                None => kept.push(entry),
            }
        }
        let said: Vec<(&str, &str)> = imposed
            .into_iter()
            .filter(|setting| setting.0 == "hairpinMode" || *setting == ("enableDebuggingHandlers", "false"))
            .collect();
        laid_over(&kept, &entries(&said, span))
    }

    fn settings(self, written: &[Entry]) -> Vec<(&'static str, &'static str)> {
        let mut imposed = vec![
            ("cgroupDriver", "systemd"),
            ("cgroupRoot", "/"),
            ("enableDebuggingHandlers", if self.is_isolated { "false" } else { "true" }),
            ("logLevel", "2"),
            ("podManifestPath", MANIFESTS),
        ];
        if self.pods_leave_slowly {
            imposed.extend([("shutdownGracePeriod", "0s"), ("shutdownGracePeriodCriticalPods", "0s")]);
        } else if value(written, "shutdownGracePeriod").is_none() {
            // One is not taken without the other.
            imposed.push(("shutdownGracePeriodCriticalPods", "10s"));
        }
        if self.minor.is_some_and(|minor| minor < 34) {
            imposed.push(("registerSchedulable", "true"));
        }
        if self.is_isolated {
            imposed.push(("hairpinMode", "none"));
        } else if self.cloud == "gce" {
            imposed.push(("hairpinMode", "promiscuous-bridge"));
        }
        imposed
    }
}

/// Whether what is written says what kops sets.
fn is_same(entry: &Entry, theirs: &str) -> bool {
    let written = entry.value.text().unwrap_or_default();
    written == theirs
        || (theirs == "0s" && written == "0")
        || truth(&entry.value).is_some_and(|truth| truth.to_string() == theirs)
}
