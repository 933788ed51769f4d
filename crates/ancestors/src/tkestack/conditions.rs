//! `features.skipConditions`: steps of tkestack, by the names of their conditions, that are to be left out.

use bringup_diag::closest;
use bringup_yaml::Node;

use super::hooks::POINTS;
use crate::codes;
use crate::fields::Record;
use crate::tell::Teller;

/// Conditions that shape what is done here, beside those of hooks.
const HEEDED: [&str; 4] = ["EnsureCopyFiles", "EnsureKernelModule", "EnsureSysctl", "EnsureDisableSwap"];

/// Conditions that are phases of kubeadm, and their names there.
const PHASES: [(&str, &str); 14] = [
    ("EnsureKubeadmInitPhaseKubeletStart", "kubelet-start"),
    ("EnsureKubeadmInitPhaseCerts", "certs"),
    ("EnsureKubeadmInitPhaseKubeConfig", "kubeconfig"),
    ("EnsureKubeadmInitPhaseControlPlane", "control-plane"),
    ("EnsureKubeadmInitPhaseETCD", "etcd"),
    ("EnsureKubeadmInitPhaseWaitControlPlane", "wait-control-plane"),
    ("EnsureKubeadmInitPhaseUploadConfig", "upload-config"),
    ("EnsureKubeadmInitPhaseUploadCerts", "upload-certs"),
    ("EnsureKubeadmInitPhaseBootstrapToken", "bootstrap-token"),
    ("EnsureKubeadmInitPhaseAddon", "addon"),
    ("EnsureMarkControlPlane", "mark-control-plane"),
    ("EnsurePreflight", "preflight"),
    ("EnsureJoinPhasePreflight", "preflight"),
    ("EnsureJoinPhaseControlPlanePrepare", "control-plane-prepare"),
];

/// Conditions of steps that are not done here in any case: add-ons, tkestack's own records, software that machines have.
const ABSENT: [&str; 42] = [
    "EnsureAPIServerCert",
    "EnsureAnywhereAddons",
    "EnsureAnywhereEdtion",
    "EnsureAuditConfig",
    "EnsureAuthzWebhook",
    "EnsureCNIPlugins",
    "EnsureCSIOperator",
    "EnsureCheckAnywhereSubscription",
    "EnsureCilium",
    "EnsureClean",
    "EnsureCleanClusterMark",
    "EnsureCleanup",
    "EnsureClusterAddressReal",
    "EnsureClusternetRegistration",
    "EnsureConntrackTools",
    "EnsureContainerRuntime",
    "EnsureCreateClusterMark",
    "EnsureGPUManager",
    "EnsureGalaxy",
    "EnsureInitAPIServerHost",
    "EnsureKeepalivedInit",
    "EnsureKeepalivedWithLBOption",
    "EnsureKubeadm",
    "EnsureKubelet",
    "EnsureKubernetesImages",
    "EnsureManifestDir",
    "EnsureMetricsServer",
    "EnsureModifyAPIServerHost",
    "EnsureModifyClusterCredential",
    "EnsureNvidiaContainerRuntime",
    "EnsureNvidiaDevicePlugin",
    "EnsureNvidiaDriver",
    "EnsurePatchAnnotation",
    "EnsurePrepareForControlplane",
    "EnsureRegisterGlobalCluster",
    "EnsureRegistryHosts",
    "EnsureRenewCerts",
    "EnsureStoreCredential",
    "EnsureThirdPartyHA",
    "EnsureThirdPartyHAInit",
    "EnsureUpgradeCoreDNS",
    "EnsureKubeAPIServerRestart",
];

/// Conditions of steps that are always done here: a node is none without them.
const ALWAYS: [&str; 15] = [
    "EnsureClusterComplete",
    "EnsureContainerd",
    "EnsureDocker",
    "EnsureJoinPhaseControlPlaneJoinETCD",
    "EnsureJoinPhaseControlPlaneJoinUpdateStatus",
    "EnsureJoinPhaseKubeletStart",
    "EnsureKubeconfig",
    "EnsureMarkNode",
    "EnsureNodeReady",
    "EnsureRemoveETCDMember",
    "EnsureRemoveMachine",
    "EnsureRemoveNode",
    "EnsureUpgrade",
    "EnsureUpgradeControlPlaneNode",
    "EnsureJoinNode",
];

/// The condition of a hook at a point.
pub(super) fn of_hook(point: &str) -> String {
    format!("Ensure{point}Hook")
}

/// The point whose hook a condition is of.
fn point_of(condition: &str) -> Option<&'static str> {
    POINTS.iter().map(|(point, _)| *point).find(|point| of_hook(point) == condition)
}

/// The steps that are left out.
#[derive(Debug)]
pub(super) struct Skipped<'a> {
    conditions: Vec<&'a Node>,
}

impl<'a> Skipped<'a> {
    pub(super) fn read(features: Record<'a>, tell: &mut Teller<'_>) -> Self {
        let conditions: Vec<&Node> = features.items("skipConditions").iter().collect();
        for condition in &conditions {
            let name = condition.text().unwrap_or_default();
            let phase = PHASES.iter().any(|(known, _)| *known == name);
            if ABSENT.contains(&name) {
                let message =
                    format!("the step `{name}` is done by nobody here: there is nothing to leave out");
                tell.note(
                    codes::FIELD_ASIDE,
                    condition.span,
                    message,
                    "the node comes up the same without it",
                );
                continue;
            }
            let point = point_of(name);
            if point.is_some_and(|point| features.get("hooks").and_then(|hooks| hooks.get(point)).is_none()) {
                let message = format!("there is no hook that `{name}` could leave out");
                tell.note(codes::FIELD_ASIDE, condition.span, message, "remove it from `skipConditions`");
                continue;
            }
            if phase || point.is_some() || HEEDED.contains(&name) {
                continue;
            }
            if ALWAYS.contains(&name) {
                let message = format!("the step `{name}` is not left out: the node will differ");
                let hint = "remove it from `skipConditions`; no node comes up without that step";
                tell.warning(codes::FIELD_DIFFERS, condition.span, message, hint);
                continue;
            }
            let of_hooks: Vec<String> = POINTS.iter().map(|(point, _)| of_hook(point)).collect();
            let known = PHASES.iter().map(|(known, _)| *known).chain(HEEDED).chain(ABSENT).chain(ALWAYS);
            let hint = match closest(name, known.chain(of_hooks.iter().map(String::as_str))) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "tkestack's conditions have names such as `EnsureDisableSwap`".to_owned(),
            };
            let message = format!("tkestack has no condition `{name}`: nothing is left out for it");
            tell.warning(codes::UNKNOWN_FIELD, condition.span, message, hint);
        }
        Self { conditions }
    }

    /// Whether a step is left out.
    pub(super) fn has(&self, condition: &str) -> bool {
        self.conditions.iter().any(|node| node.text() == Some(condition))
    }

    /// The phases of kubeadm that are left out.
    pub(super) fn phases(&self) -> Vec<Node> {
        let mut phases: Vec<Node> = Vec::new();
        for node in &self.conditions {
            let phase = PHASES.iter().find(|(name, _)| node.text() == Some(name)).map(|(_, phase)| *phase);
            if let Some(phase) = phase
                && !phases.iter().any(|known| known.text() == Some(phase))
            {
                phases.push(crate::tree::text(node.span, phase));
            }
        }
        phases
    }
}
