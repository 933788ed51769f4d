//! What a document asks for, and a program of the image that takes our agent's place does not do.

use bringup_diag::{Code, Finding, Findings};
use bringup_spec::{RebootPolicy, SoftwareItem, SoftwareSource};
use bringup_yaml::Path;

use crate::load::Load;

/// Who does it in place of our agent, and how what is lost is told.
pub(crate) struct Lost {
    /// Its name.
    pub(crate) who: &'static str,
    /// Fields that are seen to beside it, by cloud-init: what is lost of them is told there.
    pub(crate) carried: &'static [&'static str],
    /// The code of what is told.
    pub(crate) code: Code,
    /// What to do about it.
    pub(crate) hint: &'static str,
}

impl Lost {
    /// Tells of everything that is asked for and lost; `own` are fields that others would not lose, each with whether it is
    /// asked for and why it is lost.
    pub(crate) fn tell<const MANY: usize>(
        &self,
        load: &Load<'_>,
        own: [(&str, bool, &str); MANY],
        findings: &mut Findings,
    ) {
        let group = load.group;
        let software = &group.software;
        let foreign = |item: &SoftwareItem| item.from != SoftwareSource::Image;
        let asked: [(&str, bool, &str); 18] = [
            ("files", !group.files.is_empty(), "it writes no files of others"),
            ("directories", !group.directories.is_empty(), "it makes no directories of others"),
            ("links", !group.links.is_empty(), "it makes no links"),
            (
                "steps",
                !group.steps.is_empty(),
                "it runs no commands in order; a shell part of `parts` runs before it",
            ),
            ("hooks", !group.hooks.is_empty(), "it runs no hooks"),
            ("units", !group.units.is_empty(), "it places no units of others"),
            ("assets", !group.assets.is_empty(), "it downloads nothing"),
            ("kernelModules", !group.kernel_modules.is_empty(), "it loads no modules"),
            ("sysctls", !group.sysctls.is_empty(), "it sets no sysctls of others"),
            ("kernelArguments", !group.kernel_arguments.is_empty(), "it sets no kernel arguments"),
            ("swap", group.swap.is_some(), "it does not touch swap"),
            (
                "update",
                group.update.as_ref().is_some_and(|update| update.enabled),
                "it does not update the system",
            ),
            ("reboot", group.reboot.policy == RebootPolicy::Always, "it does not reboot"),
            ("controlPlane", group.control_plane.is_some(), "it makes no control plane"),
            ("platformStage", group.platform_stage.is_some(), "it installs nothing on top"),
            ("order", !group.order.is_empty(), "it keeps its own order"),
            (
                "imageCredentialProvider",
                group.image_credential_provider.is_some(),
                "it configures the provider of the image",
            ),
            (
                "software",
                [&software.kubelet, &software.kubeadm, &software.runtime, &software.cni]
                    .into_iter()
                    .any(foreign),
                "it uses what is in the image",
            ),
        ];
        let asked = asked.into_iter().filter(|(key, ..)| !self.carried.contains(key));
        for (key, _, why) in asked.chain(own).filter(|(_, asked, _)| *asked) {
            self.one(load, key, why, findings);
        }
        let spec = &load.document.cluster.spec;
        let of_cluster: [(&str, bool, &str); 4] = [
            (
                "certificateAuthorities",
                !spec.certificate_authorities.is_empty(),
                "it trusts the image's authorities only",
            ),
            ("files", !spec.files.is_empty(), "it writes no files of others"),
            ("assets", !spec.assets.is_empty(), "it downloads nothing"),
            ("hooks", !spec.hooks.is_empty(), "it runs no hooks"),
        ];
        let of_cluster = of_cluster.into_iter().filter(|(key, ..)| !self.carried.contains(key));
        for (key, _, why) in of_cluster.filter(|(_, asked, _)| *asked) {
            let place = load.document.key_place(&Path::root().keys(["spec", key]));
            findings.push(self.finding(&format!("`{key}`"), why).at(place));
        }
    }

    /// Tells of one field of the group.
    pub(crate) fn one(&self, load: &Load<'_>, key: &str, why: &str, findings: &mut Findings) {
        findings.push(self.finding(&format!("`{key}`"), why).at(load.place(key)));
    }

    /// The finding for something that is left out.
    pub(crate) fn finding(&self, what: &str, why: &str) -> Finding {
        Finding::warning(self.code, format!("{} cannot carry {what}: {why}", self.who)).hint(self.hint)
    }
}
