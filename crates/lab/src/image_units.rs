//! Services that Flatcar's images have and Debian has not, where a plan enables them.

use bringup_plan::Unit;

use crate::LabFault;
use crate::Subject;
use crate::image::Layer;
use crate::stand_in::docker;

/// Those that configs of Container Linux and Flatcar enable. Any other that a plan counts on is missing here too.
const OF_IMAGES: [&str; 9] = [
    "coreos-metadata.service",
    "docker.service",
    "etcd-member.service",
    "flanneld.service",
    "iscsid.service",
    "locksmithd.service",
    "ntpd.service",
    "rpc-statd.service",
    "update-engine.service",
];
/// They do nothing but run.
const TEXT: &str = "[Service]\nExecStart=/usr/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n";

/// Those that stand in for the image's, by name.
pub(crate) fn of(subject: &Subject) -> Vec<&str> {
    let Some(plan) = subject.plan.as_ref().filter(|_| subject.stands_for.as_deref() == Some("flatcar"))
    else {
        return Vec::new();
    };
    let is_given = |name: &str| {
        let is_unit = |path: &str| path.ends_with(&format!("/systemd/system/{name}"));
        subject.files.iter().any(|(path, _)| is_unit(path))
    };
    let is_of_image = |unit: &&Unit| {
        OF_IMAGES.contains(&unit.name.as_str()) && unit.content.is_none() && unit.enabled == Some(true)
    };
    // One that the plan starts itself has a stand-in with a version.
    let has_other = |name: &str| name == "docker.service" && docker(plan).is_some();
    let names = plan.units.iter().filter(is_of_image).map(|unit| unit.name.as_str());
    names.filter(|name| !is_given(name) && !has_other(name)).collect()
}

/// Lays them.
pub(crate) fn lay(layer: &Layer, subject: &Subject) -> Result<(), LabFault> {
    for name in of(subject) {
        let text = format!("[Unit]\nDescription={name} (stand-in)\n\n{TEXT}");
        layer.write(&format!("/usr/lib/systemd/system/{name}"), text.as_bytes(), 0o644)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::{Given, Subject, Way};

    fn subject(os: &str, files: Vec<(String, Given)>) -> Subject {
        let text = r#"{"format":1,"cluster":"c","group":"g","flavour":"bringup","kubernetes":"1.33","platform":"generic",
            "os":"flatcar","architecture":"x86_64","role":"worker","nodeName":"hostname","maxPods":{"fixed":110},"steps":[],
            "units":[
            {"name":"docker.service","enabled":true,"placedBy":"agent"},
            {"name":"etcd-member.service","enabled":true,"placedBy":"agent","dropIns":{"a.conf":"[Service]\n"}},
            {"name":"iscsid.service","enabled":true,"placedBy":"agent","content":"[Service]\n"},
            {"name":"locksmithd.service","mask":true,"placedBy":"agent"},
            {"name":"dokcer.service","enabled":true,"placedBy":"agent"}]}"#;
        Subject {
            carrier: Vec::new(),
            way: Way::Ignition,
            stands_for: Some(os.to_owned()),
            plan: Some(serde_json::from_str(text).unwrap()),
            expects_kubelet: false,
            kubelet_snap: None,
            agent: None,
            served: Vec::new(),
            authority: None,
            files,
            stand_ins: Vec::new(),
        }
    }

    /// A name that no image has is as missing here as it is there.
    #[test]
    fn services_of_the_image_are_there_unless_somebody_brings_them() {
        assert_eq!(of(&subject("flatcar", Vec::new())), ["docker.service", "etcd-member.service"]);
        let given = vec![("/lib/systemd/system/docker.service".to_owned(), Given::Made(Vec::new()))];
        assert_eq!(of(&subject("flatcar", given)), ["etcd-member.service"]);
        assert!(of(&subject("ubuntu", Vec::new())).is_empty());
    }
}
