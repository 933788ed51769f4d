//! `updatePolicy`, by `nodeup/pkg/model/update_service.go` of kops.

use serde_json::json;

use crate::{cluster, errors, first_group, group, warnings, written};

const PERIODIC: &str = "/etc/apt/apt.conf.d/20auto-upgrades";

/// Rule: with `external`, apt's own updates are switched off on Debian and Ubuntu. The group's word goes before the cluster's.
#[test]
fn with_an_external_policy_apt_updates_nothing_by_itself() {
    let file = |spec: &str, own: &str| written(&format!("{}{}", cluster(spec), group(own)), PERIODIC);
    let off = Some("APT::Periodic::Enable \"0\";\n".to_owned());
    assert_eq!(file("updatePolicy: external", ""), off);
    assert_eq!(file("", "updatePolicy: external"), off);
    assert_eq!(file("updatePolicy: external", "updatePolicy: automatic"), None);
    assert_eq!(file("", ""), None);
    let own =
        format!("updatePolicy: external\nfileAssets:\n- {{name: own, path: {PERIODIC}, content: mine}}");
    assert_eq!(file(&own, "").as_deref(), Some("mine"));
    assert_eq!(
        errors(&format!("{}{}", cluster("updatePolicy: never"), group(""))),
        ["`never` is no policy for updates"]
    );
}

/// Rule: on Flatcar, locksmithd is masked whatever the policy, unless a hook is called as kops' own unit is.
#[test]
fn no_machine_of_flatcar_restarts_by_itself() {
    let units = |own: &str| {
        let text = format!("{}{}", cluster(""), group(own));
        let text = text.replace(
            "ubuntu/images/ubuntu-noble-24.04-amd64-server-20250610",
            "075585003325/Flatcar-stable-4230.2.1-hvm",
        );
        first_group(&text)["units"].clone()
    };
    assert_eq!(units(""), json!([{"name": "locksmithd.service", "mask": true}]));
    let own = units("hooks:\n- {name: update-service, manifest: \"Type=oneshot\\nExecStart=/bin/true\\n\"}");
    assert!(!own.to_string().contains("locksmithd"), "{own}");
}

/// kube-proxy is a static pod of kops' nodes; nothing here runs it, and what it does is told as a whole.
#[test]
fn nodes_without_kube_proxy_are_told_of() {
    let about = |spec: &str| -> Vec<String> {
        let told = warnings(&format!("{}{}", cluster(spec), group("")));
        told.into_iter().filter(|message| message.contains("kube-proxy")).collect()
    };
    assert_eq!(about("").len(), 1);
    assert_eq!(about("kubeProxy: {proxyMode: ipvs}").len(), 1);
    assert_eq!(about("kubeProxy: {enabled: false}"), Vec::<String>::new());
    assert_eq!(
        errors(&format!("{}{}", cluster("kubeProxy: {enabeld: false}"), group(""))),
        ["unknown field `enabeld` in `kubeProxy` of kops"]
    );
}
