//! What kops fetches to a node, and where it has it from. The digests are those of kops' own tests.

use bringup_ancestors::{Input, read};
use bringup_diag::Severity;
use serde_json::{Value, json};

use crate::{cluster, first_group, group, named_group, told, translated, warnings};

fn of(version: &str, spec: &str, machine: &str) -> Value {
    let text = format!("{}{}", cluster(spec), group(""));
    first_group(&text.replace("v1.33.4", version).replace("m5.large", machine))
}

/// `pkg/nodemodel/fileassets.go`: kubelet of the cluster's version, containerd 2.3.4 with runc 1.4.3, and the plugins of CNI
/// that go with the minor.
#[test]
fn software_is_fetched_as_kops_fetches_it() {
    let group = of("v1.32.0", "networking: {kindnet: {}}", "m5.large");
    let fetched = |url: &str, sha256: &str| json!({"x86_64": {"urls": [url], "sha256": sha256}});
    assert_eq!(
        group["software"],
        json!({
            "kubelet": {
                "from": "url",
                "downloads": fetched(
                    "https://dl.k8s.io/release/v1.32.0/bin/linux/amd64/kubelet",
                    "5ad4965598773d56a37a8e8429c3dc3d86b4c5c26d8417ab333ae345c053dae2",
                ),
            },
            "runtime": {
                "from": "url",
                "downloads": fetched(
                    "https://github.com/containerd/containerd/releases/download/v2.3.4/containerd-2.3.4-linux-amd64.tar.gz",
                    "9d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168",
                ),
                "path": "/usr",
                "version": "2.3.4",
            },
            "cni": {
                "from": "url",
                "downloads": fetched(
                    "https://github.com/containernetworking/plugins/releases/download/v1.6.2/cni-plugins-linux-amd64-v1.6.2.tgz",
                    "b8e811578fb66023f90d2e238d80cec3bdfca4b44049af74c374d4fae0f9c090",
                ),
            },
        })
    );
    assert_eq!(
        group["assets"][1],
        json!({
            "name": "runc",
            "urls": ["https://github.com/opencontainers/runc/releases/download/v1.4.3/runc.amd64"],
            "sha256": "f6ae8efc0fa40079e1475e97cbe9d1bd3f106a28d6af78a11d9f1bd565515e60",
            "path": "/usr/sbin/runc",
            "mode": "0755",
        })
    );
    let arm = of("v1.32.0", "", "m6g.large");
    assert_eq!(
        arm["software"]["kubelet"]["downloads"]["aarch64"]["sha256"],
        "bda9b2324c96693b38c41ecea051bab4c7c434be5683050b5e19025b50dbc0bf"
    );
}

/// `nodeup/pkg/model/kubectl.go`: machines with an API server have kubectl of the cluster's version at `/usr/local/bin`, or at
/// `/opt/kops/bin` on Flatcar; others have none.
#[test]
fn kubectl_is_fetched_where_an_api_server_runs() {
    let kubectl = |role: &str, image: &str| {
        let text = format!("{}{}", cluster(""), named_group("some", role, ""));
        let text =
            text.replace("v1.33.4", "v1.32.0").replace("ubuntu/images/ubuntu-noble-24.04-amd64", image);
        let group = first_group(&text);
        group["assets"].as_array().unwrap().iter().find(|asset| asset["name"] == "kubectl").cloned()
    };
    let at = |path: &str| {
        Some(json!({
            "name": "kubectl",
            "urls": ["https://dl.k8s.io/release/v1.32.0/bin/linux/amd64/kubectl"],
            "sha256": "646d58f6d98ee670a71d9cdffbf6625aeea2849d567f214bc43a35f8ccb7bf70",
            "path": path,
            "mode": "0755",
        }))
    };
    assert_eq!(kubectl("Master", "ubuntu-noble-24.04-amd64"), at("/usr/local/bin/kubectl"));
    assert_eq!(kubectl("APIServer", "ubuntu-noble-24.04-amd64"), at("/usr/local/bin/kubectl"));
    assert_eq!(kubectl("ControlPlane", "flatcar"), at("/opt/kops/bin/kubectl"));
    assert_eq!(kubectl("Node", "ubuntu-noble-24.04-amd64"), None);
}

/// Without a known digest it is told, with what to write; additions that have it end that.
#[test]
fn a_kubectl_of_unknown_digest_is_told_for_the_control_plane() {
    let unknown = |text: &str| {
        let told = warnings(&text.replace("v1.33.4", "v1.33.99"));
        told.into_iter().filter(|message| message.starts_with("kops fetches kubectl 1.33.99,")).count()
    };
    assert_eq!(unknown(&format!("{}{}", cluster(""), group(""))), 0);
    let text = format!("{}{}{}", cluster(""), group(""), named_group("masters", "Master", ""));
    assert_eq!(unknown(&text), 1);
    let more = "---\napiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  nodeGroups:\n  - name: masters\n    assets: [{name: kubectl, urls: [https://own.example/kubectl], sha256: 646d58f6d98ee670a71d9cdffbf6625aeea2849d567f214bc43a35f8ccb7bf70, path: /usr/local/bin/kubectl}]\n";
    assert_eq!(unknown(&format!("{text}{more}")), 0);
}

/// containerd's archive has no unit: the plan brings one, at the path that kops unpacks it to.
#[test]
fn a_fetched_containerd_has_a_unit() {
    let plans = crate::plans(&translated(&format!("{}{}", cluster(""), group(""))));
    let unit = plans[0].units.iter().find(|unit| unit.name == "containerd.service").unwrap();
    let content = unit.content.as_deref().unwrap();
    assert!(
        content.contains("ExecStart=/usr/bin/containerd --config /etc/containerd/config.toml\n"),
        "{content}"
    );
}

/// Networks that bring their own plugins have kops fetch none: AWS', Calico and Cilium, unless it chains to `portmap`.
#[test]
fn plugins_are_fetched_for_networks_that_bring_none() {
    let cni = |networking: &str| {
        of("v1.35.1", &format!("networking: {networking}"), "m5.large")["software"]["cni"]["downloads"]["x86_64"]
            ["urls"][0]
            .clone()
    };
    for own in ["{amazonvpc: {}}", "{calico: {}}", "{cilium: {}}"] {
        assert_eq!(cni(own), Value::Null, "{own}");
    }
    for none in ["{cilium: {chainingMode: portmap}}", "{flannel: {}}", "{cni: {}}"] {
        assert!(cni(none).as_str().unwrap().contains("/v1.8.0/"), "{none}");
    }
}

/// A version whose digest is not known is not fetched: it is told with what to write, the digest left open.
#[test]
fn what_has_no_known_digest_is_told_with_what_to_write() {
    let text = format!("{}{}", cluster("networking: {calico: {}}"), group("")).replace("v1.33.4", "v1.33.99");
    let read = read(&[Input { name: "kops.yaml", text: &text }]);
    let hint = read.findings.iter().find(|finding| {
        finding.severity == Severity::Warning && finding.message.starts_with("kops fetches kubelet 1.33.99,")
    });
    assert_eq!(
        hint.unwrap().hint.as_deref(),
        Some(
            "write `software: {kubelet: {from: url, downloads: {x86_64: {urls: [https://dl.k8s.io/release/v1.33.99/bin/linux/amd64/kubelet], sha256: ...}}}}` for the groups in additions, with the digest from `https://dl.k8s.io/release/v1.33.99/bin/linux/amd64/kubelet.sha256`"
        )
    );
    assert_eq!(first_group(&text)["software"]["kubelet"], json!({"from": "package"}));
    // containerd of a version that is known all the same.
    assert_eq!(first_group(&text)["software"]["runtime"]["version"], "2.3.4");
    // The kops of today brings no such Kubernetes up, and nobody says which containerd went with it.
    let old = text.replace("v1.33.99", "v1.21.14");
    assert_eq!(first_group(&old)["software"]["runtime"], json!({"from": "package"}));
}

/// Archives that the document names, mirrors, and containerd that is there already.
#[test]
fn the_document_says_where_software_comes_from() {
    let given = of(
        "v1.33.4",
        "containerd:\n  version: 2.1.4\n  packages: {urlAmd64: https://own.example/containerd.tar.gz, hashAmd64: \"00000000000000000000000000000000000000000000000000000000000000aa\"}\n  runc:\n    version: 1.3.0\n    packages: {urlAmd64: https://own.example/runc, hashAmd64: \"00000000000000000000000000000000000000000000000000000000000000bb\"}\n",
        "m5.large",
    );
    assert_eq!(
        given["software"]["runtime"]["downloads"]["x86_64"]["urls"],
        json!(["https://own.example/containerd.tar.gz"])
    );
    assert_eq!(given["assets"][1]["urls"], json!(["https://own.example/runc"]));
    let mirrored = of(
        "v1.33.4",
        "assets: {fileRepository: https://mirror.example/kops, containerRegistry: registry.example}",
        "m5.large",
    );
    assert_eq!(
        mirrored["software"]["kubelet"]["downloads"]["x86_64"]["urls"],
        json!(["https://mirror.example/kops/release/v1.33.4/bin/linux/amd64/kubelet"])
    );
    assert_eq!(mirrored["runtime"]["sandboxImage"], "registry.example/pause:3.10.1");
    let text = format!("{}{}", cluster("assets: {fileRepository: gs://bucket}"), group(""));
    let told = warnings(&text);
    assert!(told.iter().any(|message| message.starts_with("nodes fetch from `https://` only")), "{told:?}");
    let there = of("v1.33.4", "containerd: {skipInstall: true}", "m5.large");
    assert_eq!(there["software"]["runtime"], json!({"from": "image"}));
    assert_eq!(there["assets"].as_array().unwrap().len(), 1);
}

/// `pkg/model/components/containerd.go`, by way of the proxy or the registry that all images come from.
#[test]
fn the_sandbox_image_is_that_of_kops() {
    let image = |spec: &str| of("v1.33.4", spec, "m5.large")["runtime"]["sandboxImage"].clone();
    assert_eq!(image(""), "registry.k8s.io/pause:3.10.1");
    assert_eq!(image("assets: {containerProxy: proxy.example/}"), "proxy.example/pause:3.10.1");
    assert_eq!(image("containerd: {sandboxImage: own.example/pause:1}"), "own.example/pause:1");
    assert_eq!(image("kubelet: {podInfraContainerImage: own.example/pause:2}"), "own.example/pause:2");
}

/// Additions that name another source of software take the place of what kops would fetch, version and all.
#[test]
fn additions_name_another_source() {
    let text = format!("{}{}", cluster(""), group(""));
    let more = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  join: {kubeconfig: {file: /etc/kubeconfig}}\n  nodeGroups:\n  - software: {kubelet: {from: image}, runtime: {from: image}}\n";
    let read = read(&[Input { name: "kops.yaml", text: &text }, Input { name: "more.yaml", text: more }]);
    assert_eq!(told(read.findings.clone(), Severity::Error), Vec::<String>::new());
    let tree = crate::as_json(read.documents.first().unwrap().tree());
    let software = &tree["spec"]["nodeGroups"][0]["software"];
    assert_eq!(
        (&software["kubelet"], &software["runtime"]),
        (&json!({"from": "image"}), &json!({"from": "image"}))
    );
}

/// `nodeup/pkg/model/containerd.go` leaves out the runtime where the group says `skipInstall`; `pkg/nodemodel/fileassets.go`
/// takes archives from the cluster's settings alone, and an own one only with its digest.
#[test]
fn a_group_may_have_its_runtime_in_the_image_but_names_no_archives() {
    let from = |spec: &str, own: &str| {
        first_group(&format!("{}{}", cluster(spec), group(own)))["software"]["runtime"].clone()
    };
    assert_eq!(from("", "containerd: {skipInstall: true}"), json!({"from": "image"}));
    assert_eq!(from("", "containerd: {skipInstall: false}")["from"], json!("url"));
    let about = |spec: &str, own: &str| -> Vec<String> {
        let told = warnings(&format!("{}{}", cluster(spec), group(own)));
        told.into_iter().filter(|message| message.contains("no effect")).collect()
    };
    assert_eq!(
        about("", "containerd: {runc: {version: 1.1.12}}"),
        ["`runc` of a group has no effect, with kops as here: nodes fetch what the Cluster names"]
    );
    assert_eq!(
        about("", "containerd: {version: 1.7.28}"),
        ["`version` of a group has no effect, with kops as here: nodes fetch what the Cluster names"]
    );
    assert_eq!(
        from("", "containerd: {version: 1.7.28}")["version"],
        json!("2.3.4"),
        "`pkg/nodemodel/fileassets.go` asks the cluster alone"
    );
    assert_eq!(
        about("containerd: {packages: {urlAmd64: \"https://example.com/c.tgz\"}}", ""),
        ["this has no effect without `hashAmd64`, with kops as here: what kops has itself is fetched"]
    );
    assert_eq!(
        about(
            "containerd: {packages: {urlAmd64: \"https://example.com/c.tgz\", hashAmd64: 9d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168}}",
            ""
        ),
        Vec::<String>::new()
    );
}
