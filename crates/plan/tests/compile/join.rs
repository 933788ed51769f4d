//! Ways to join: which files, which secrets, which programs.

use bringup_plan::{Action, Content, Election};
use bringup_spec::{Fact, SecretSource, Text};

use crate::support::{
    AUTHORITY, arguments, cluster, codes, content, eks, eks_with, mode, names, plain, plan, step, text,
};

#[test]
fn a_token_of_eks_is_made_by_the_agent() {
    let plan = plan(&eks("1.33", ""));
    let kubeconfig = text(&plan, "/var/lib/kubelet/kubeconfig");
    assert_eq!(mode(&plan, "/var/lib/kubelet/kubeconfig"), "0600");
    assert_eq!(
        kubeconfig,
        "apiVersion: v1\nkind: Config\ncurrent-context: kubelet\nclusters:\n- name: kubernetes\n  cluster:\n    server: https://api.example.com\n    certificate-authority: /etc/kubernetes/pki/ca.crt\n\
         contexts:\n- name: kubelet\n  context:\n    cluster: kubernetes\n    user: kubelet\nusers:\n- name: kubelet\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n      command: /opt/bringup/bin/bringup-node\n      \
         args:\n      - token\n      - \"--cluster\"\n      - demo\n      - \"--region\"\n      - eu-central-1\n      interactiveMode: Never\n"
    );
    assert!(text(&plan, "/etc/kubernetes/pki/ca.crt").starts_with("-----BEGIN CERTIFICATE-----\n"));
}

#[test]
fn a_local_cluster_has_an_id_and_trades_its_credentials() {
    let spec = format!(
        "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://api.example.com, certificateAuthority: {AUTHORITY}, clusterId: abc}}\n\
         join: {{method: eks-token, roleArn: arn:aws:iam::111122223333:role/x}}\naws: {{region: eu-central-1, clusterName: other}}"
    );
    let plan = plan(&cluster(&spec, "platform: aws\nos: amazon-linux-2023"));
    let kubeconfig = text(&plan, "/etc/kubernetes/bootstrap-kubeconfig");
    assert!(kubeconfig.contains("- abc\n"), "{kubeconfig}");
    assert!(kubeconfig.contains("- \"--role\"\n      - arn:aws:iam::111122223333:role/x\n"), "{kubeconfig}");
    assert!(
        arguments(&plan).contains(&"--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubeconfig".to_owned())
    );
}

#[test]
fn a_bootstrap_token_stays_in_a_file_of_its_own() {
    let plan = plan(&plain("1.33", ""));
    let token = "/etc/bringup/secrets/bootstrap-token";
    assert_eq!(content(&plan, token), &Content::Secret(SecretSource::File("/etc/token".to_owned())));
    assert_eq!(mode(&plan, token), "0600");
    let kubeconfig = text(&plan, "/etc/kubernetes/bootstrap-kubeconfig");
    assert!(
        kubeconfig.ends_with("user:\n    tokenFile: /etc/bringup/secrets/bootstrap-token\n"),
        "{kubeconfig}"
    );
    let arguments = arguments(&plan);
    assert!(arguments.contains(&"--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubeconfig".to_owned()));
    assert!(arguments.contains(&"--kubeconfig=/var/lib/kubelet/kubeconfig".to_owned()));
}

#[test]
fn a_given_kubeconfig_is_a_secret() {
    let spec = format!(
        "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: kubeconfig, kubeconfig: {{ssmParameter: /k}}}}"
    );
    let plan = plan(&cluster(&spec, "os: debian"));
    let path = "/var/lib/kubelet/kubeconfig";
    assert_eq!(content(&plan, path), &Content::Secret(SecretSource::SsmParameter("/k".to_owned())));
    assert_eq!(mode(&plan, path), "0600");
}

fn kubeadm(version: &str, join: &str, group: &str) -> bringup_spec::Document {
    let spec = format!(
        "kubernetes: {{version: \"{version}\"}}\napi: {{endpoint: https://api.example.com:6443}}\nnetwork: {{serviceRanges: [10.96.0.0/16], podRanges: [10.244.0.0/16]}}\n\
         join:\n  method: kubeadm\n  token: {{file: /etc/token}}\n  kubeadm:\n    caCertHashes: [\"sha256:{}\"]\n{join}",
        "ab12".repeat(16)
    );
    cluster(&spec, &format!("os: debian\n{group}"))
}

/// The documents of kubeadm's file, secrets in angle brackets.
fn documents(plan: &bringup_plan::Plan, path: &str) -> Vec<serde_json::Value> {
    let written = match content(plan, path) {
        Content::Text(text) => text.to_string(),
        Content::Pieces(pieces) => pieces
            .iter()
            .map(|piece| match piece {
                Content::Text(text) => text.to_string(),
                Content::Secret(SecretSource::File(path)) => format!("<{path}>"),
                other => panic!("{other:?}"),
            })
            .collect(),
        other => panic!("{other:?}"),
    };
    written.split("---\n").map(|document| serde_json::from_str(document).unwrap()).collect()
}

#[test]
fn kube_proxy_and_the_nodes_name_are_what_the_document_says() {
    let group = "role: control-plane\nbootstrap: true\nnodeName: address";
    let plan =
        plan(&kubeadm("1.20", "    kubeProxyConfiguration: {mode: ipvs, ipvs: {strictARP: true}}", group));
    let documents = documents(&plan, "/etc/kubernetes/kubeadm-init.yaml");
    let proxy = documents.iter().find(|document| document["kind"] == "KubeProxyConfiguration").unwrap();
    assert_eq!(
        *proxy,
        serde_json::json!({
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "ipvs",
            "ipvs": {"strictARP": true},
        })
    );
    let init = documents.iter().find(|document| document["kind"] == "InitConfiguration").unwrap();
    assert_eq!(init["nodeRegistration"]["name"], "@{nodeName}");
    assert!(
        plan.facts.contains(&bringup_spec::Fact::Address)
            && !plan.facts.contains(&bringup_spec::Fact::Hostname)
    );
}

#[test]
fn kubeadm_joins_workers() {
    let group = "labels: {a: \"@{hostname}\"}\ntaints: [{key: k, effect: NoSchedule}]\nkubelet: {config: {maxPods: 50}, flags: {v: \"3\"}}";
    let plan = plan(&kubeadm(
        "1.33",
        "    skipPhases: [preflight]\n    ignorePreflightErrors: [Swap]\n    joinConfiguration: {timeouts: {discovery: 9m0s}}",
        group,
    ));
    let [join] = documents(&plan, "/etc/kubernetes/kubeadm-join.yaml").try_into().unwrap();
    assert_eq!(
        join,
        serde_json::json!({
            "apiVersion": "kubeadm.k8s.io/v1beta4",
            "kind": "JoinConfiguration",
            "discovery": {"bootstrapToken": {
                "apiServerEndpoint": "api.example.com:6443",
                "token": "</etc/token>",
                "caCertHashes": [format!("sha256:{}", "ab12".repeat(16))],
            }},
            "nodeRegistration": {
                "criSocket": "unix:///run/containerd/containerd.sock",
                "ignorePreflightErrors": ["Swap"],
                "kubeletExtraArgs": [{"name": "node-labels", "value": "a=@{hostname}"}, {"name": "v", "value": "3"}],
                "taints": [{"key": "k", "value": "", "effect": "NoSchedule"}],
            },
            "patches": {"directory": "/etc/kubernetes/patches"},
            "skipPhases": ["preflight"],
            "timeouts": {"discovery": "9m0s"},
        })
    );
    assert_eq!(
        text(&plan, "/etc/kubernetes/patches/kubeletconfiguration+merge.json"),
        "{\n  \"maxPods\": 50\n}\n"
    );
    let Action::Run { command, .. } = &step(&plan, "kubeadm-join").action else { panic!("no run") };
    let command: Vec<String> = command.iter().map(Text::to_string).collect();
    assert_eq!(command, ["/usr/bin/kubeadm", "join", "--config", "/etc/kubernetes/kubeadm-join.yaml"]);
    assert!(!names(&plan).contains(&"kubeadm-init"));
    let Action::OpenGate { queue_kubelet, environment } = &step(&plan, "gate").action else {
        panic!("no gate")
    };
    assert!(!queue_kubelet && environment.is_empty());
    assert_eq!(mode(&plan, "/etc/kubernetes/kubeadm-join.yaml"), "0600");
}

#[test]
fn kubeadm_speaks_the_api_of_its_version() {
    for (version, api, list) in [
        ("1.21", "kubeadm.k8s.io/v1beta2", false),
        ("1.22", "kubeadm.k8s.io/v1beta3", false),
        ("1.30", "kubeadm.k8s.io/v1beta3", false),
        ("1.31", "kubeadm.k8s.io/v1beta4", true),
    ] {
        let plan = plan(&kubeadm(version, "    skipPhases: [preflight]", "labels: {a: b}"));
        let join = documents(&plan, "/etc/kubernetes/kubeadm-join.yaml").remove(0);
        assert_eq!(join["apiVersion"], api, "{version}");
        assert_eq!(join["nodeRegistration"]["kubeletExtraArgs"].is_array(), list, "{version}");
        // v1beta2 has no such field, only the flag.
        assert_eq!(join.get("skipPhases").is_some(), version != "1.21", "{version}");
    }
}

#[test]
fn the_elected_node_starts_and_the_others_join() {
    let group = "role: control-plane\nbootstrap: {fact: zone, equals: a}";
    let document = kubeadm(
        "1.33.4",
        "    certificateKey: {file: /etc/key}\n    clusterConfiguration: {imageRepository: r}",
        group,
    );
    let plan = plan(&document);
    assert_eq!(plan.bootstrap, Some(Election::When { fact: Fact::Zone, equals: "a".to_owned() }));
    let (init, join) = (step(&plan, "kubeadm-init"), step(&plan, "kubeadm-join"));
    assert_eq!((init.elected_only, init.others_only), (true, false));
    assert_eq!((join.elected_only, join.others_only), (false, true));
    let [configuration, start] = documents(&plan, "/etc/kubernetes/kubeadm-init.yaml").try_into().unwrap();
    assert_eq!(
        configuration["networking"],
        serde_json::json!({"dnsDomain": "cluster.local", "serviceSubnet": "10.96.0.0/16", "podSubnet": "10.244.0.0/16"})
    );
    assert_eq!(configuration["controlPlaneEndpoint"], "api.example.com:6443");
    assert_eq!(configuration["kubernetesVersion"], "v1.33.4");
    assert_eq!(configuration["imageRepository"], "r");
    assert_eq!(start["certificateKey"], "</etc/key>");
    assert_eq!(start["bootstrapTokens"][0]["token"], "</etc/token>");
    let joined = documents(&plan, "/etc/kubernetes/kubeadm-join.yaml").remove(0);
    assert_eq!(joined["controlPlane"]["certificateKey"], "</etc/key>");
    assert_eq!(joined["discovery"]["bootstrapToken"]["token"], "</etc/token>");
}

#[test]
fn with_the_authority_at_hand_kubeadms_token_stays_in_its_file() {
    let spec = format!(
        "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://api.example.com, certificateAuthority: {AUTHORITY}}}\njoin: {{method: kubeadm, token: {{file: /etc/token}}}}"
    );
    let plan = plan(&cluster(&spec, "os: debian"));
    let join = documents(&plan, "/etc/kubernetes/kubeadm-join.yaml").remove(0);
    assert_eq!(
        join["discovery"],
        serde_json::json!({"file": {"kubeConfigPath": "/etc/kubernetes/discovery.conf"}})
    );
    assert!(
        text(&plan, "/etc/kubernetes/discovery.conf")
            .contains("tokenFile: /etc/bringup/secrets/bootstrap-token")
    );
}

#[test]
fn each_command_of_kubeadm_skips_only_its_own_phases() {
    let skip = "    skipPhases: [addon/kube-proxy, preflight, control-plane-join]";
    let plan = plan(&kubeadm("1.33", skip, "role: control-plane\nbootstrap: {fact: zone, equals: a}"));
    let init = documents(&plan, "/etc/kubernetes/kubeadm-init.yaml").remove(1);
    assert_eq!(init["skipPhases"], serde_json::json!(["addon/kube-proxy", "preflight"]));
    let join = documents(&plan, "/etc/kubernetes/kubeadm-join.yaml").remove(0);
    assert_eq!(join["skipPhases"], serde_json::json!(["preflight", "control-plane-join"]));
    assert_eq!(codes(&kubeadm("1.33", "    skipPhases: [preflights]", "")), ["kubeadm/phase-unknown"]);
}

#[test]
fn kubeadm_before_1_25_cannot_patch_a_node() {
    let document = kubeadm("1.24", "", "kubelet: {config: {maxPods: 50}}");
    assert_eq!(codes(&document), ["kubelet/config-not-per-node"]);
    // What the plan itself adds is the cluster's, too.
    assert_eq!(codes(&kubeadm("1.21", "", "")), Vec::<&str>::new());
}

#[test]
fn what_the_way_to_join_lacks_is_told() {
    let found = |spec: &str, group: &str| {
        let network = "network: {serviceRanges: [10.96.0.0/16]}";
        codes(&cluster(&format!("kubernetes: {{version: \"1.33\"}}\n{network}\n{spec}"), group))
    };
    let api = format!("api: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}");
    assert_eq!(found("join: {method: bootstrap-token, token: {file: /t}}", "os: debian"), ["api/missing"]);
    assert_eq!(
        found("join: {method: bootstrap-token, token: {file: /t}}\napi: {endpoint: https://x}", "os: debian"),
        ["join/no-trust"]
    );
    assert_eq!(found(&format!("join: {{method: bootstrap-token}}\n{api}"), "os: debian"), ["join/no-secret"]);
    assert_eq!(found(&format!("join: {{method: kubeconfig}}\n{api}"), "os: debian"), ["join/no-secret"]);
    assert_eq!(
        found("join: {method: kubeconfig, kubeconfig: {file: /k}}", "os: debian"),
        ["join/no-client-authority"]
    );
    assert_eq!(
        found("join: {method: kubeadm, token: {file: /t}}\napi: {endpoint: https://x}", "os: debian"),
        ["join/no-trust"]
    );
    assert_eq!(
        found(&format!("join: {{method: eks-token}}\naws: {{region: eu-west-1}}\n{api}"), "os: debian"),
        ["join/platform"]
    );
    assert_eq!(
        found(
            &format!("join: {{method: eks-token, token: {{file: /t}}}}\naws: {{region: eu-west-1}}\n{api}"),
            "platform: aws\nos: debian"
        ),
        ["group/field-without-effect"]
    );
    assert_eq!(
        found(
            &format!("join: {{method: bootstrap-token, token: {{environment: TOKEN}}}}\n{api}"),
            "os: debian"
        ),
        ["secret/not-on-the-node"]
    );
    assert_eq!(
        found(
            &format!("join: {{method: bootstrap-token, token: {{environment: TOKEN}}}}\n{api}"),
            "os: debian\ncarriers: [bundle]"
        ),
        Vec::<&str>::new()
    );
    assert_eq!(codes(&eks_with("1.33", "", "os: amazon-linux-2023\nrole: control-plane")), ["join/platform"]);
    assert_eq!(codes(&eks("1.33", "agent: none\ncarriers: [bundle]")), ["join/needs-agent"]);
}

/// What eksctl's documents usually lack: the API server and the range of services.
fn eks_by_name(spec: &str, group: &str) -> bringup_spec::Document {
    let spec = format!(
        "kubernetes: {{version: \"1.33\"}}\njoin: {{method: eks-token}}\naws: {{region: eu-central-1, clusterName: prod}}\n{spec}"
    );
    cluster(&spec, &format!("platform: aws\nos: amazon-linux-2023\n{group}"))
}

#[test]
fn a_cluster_that_is_only_named_is_learned_on_the_node() {
    let document = eks_by_name("", "");
    assert!(codes(&document).is_empty(), "{:?}", codes(&document));
    let plan = plan(&document);
    let eks = plan.eks.as_ref().unwrap();
    assert_eq!((eks.name.as_str(), eks.region.as_str()), ("prod", "eu-central-1"));
    for fact in [Fact::ClusterEndpoint, Fact::ClusterAuthority, Fact::ClusterDns] {
        assert!(plan.facts.contains(&fact), "{fact}");
    }
    let kubeconfig = text(&plan, "/var/lib/kubelet/kubeconfig");
    assert!(
        kubeconfig.contains(
            "    server: \"@{clusterEndpoint}\"\n    certificate-authority: /etc/kubernetes/pki/ca.crt\n"
        ),
        "{kubeconfig}"
    );
    assert_eq!(text(&plan, "/etc/kubernetes/pki/ca.crt"), "@{clusterAuthority}");
    let config = crate::support::kubelet_config(&plan);
    assert_eq!(config["clusterDNS"], serde_json::json!(["@{clusterDns}"]));
    assert_eq!(config["authentication"]["x509"]["clientCAFile"], "/etc/kubernetes/pki/ca.crt");
}

#[test]
fn what_the_document_says_is_not_asked_for() {
    let with = plan(&eks_by_name("network: {serviceRanges: [10.200.0.0/16]}\n", ""));
    assert!(!with.facts.contains(&Fact::ClusterDns));
    assert_eq!(crate::support::kubelet_config(&with)["clusterDNS"], serde_json::json!(["10.200.0.10"]));
    assert_eq!(plan(&eks("1.33", "")).eks, None);
}

#[test]
fn without_an_agent_nobody_asks_for_the_cluster() {
    let finding = crate::support::only(&eks_by_name("", "agent: none\n"), "api/missing");
    assert!(
        finding.message.starts_with("without an agent nobody on the node asks EKS"),
        "{}",
        finding.message
    );
}

#[test]
fn a_proxy_must_leave_out_an_endpoint_that_nobody_knows_yet() {
    let proxy =
        |direct: &str| eks_by_name(&format!("proxy: {{https: http://p:1, noProxy: [{direct}]}}\n"), "");
    assert_eq!(codes(&proxy("")), ["proxy/address"]);
    assert!(codes(&proxy(".eks.amazonaws.com")).is_empty());
}

/// Where neither the authority nor a digest of it is given, kubeadm's discovery is a kubeconfig that is given; digests come
/// before it.
#[test]
fn kubeadm_takes_a_kubeconfig_in_the_place_of_an_authority() {
    let group = "role: control-plane\nbootstrap: {fact: zone, equals: a}";
    let with = |more: &str| {
        let text = format!(
            "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: a}}\nspec:\n  kubernetes: {{version: \"1.33.4\"}}\n  api: {{endpoint: \"https://10.0.0.1:6443\"}}\n  join:\n    method: kubeadm\n    kubeconfig: {{file: /etc/kubernetes/join.conf}}\n{more}  nodeGroups:\n  - name: g\n    os: ubuntu\n    platform: aws\n    {}\n  aws: {{region: eu-west-1}}\n",
            group.replace('\n', "\n    ")
        );
        bringup_spec::read("a.yaml", &text).documents.remove(0)
    };
    let alone = plan(&with(""));
    let file = step(&alone, "discovery");
    assert!(
        file.others_only && matches!(&file.action, Action::WriteFile { content: Content::Secret(_), .. })
    );
    let join = documents(&alone, "/etc/kubernetes/kubeadm-join.yaml").remove(0);
    assert_eq!(
        join["discovery"],
        serde_json::json!({"file": {"kubeConfigPath": "/etc/kubernetes/discovery.conf"}})
    );
    let hashed = plan(&with(&format!(
        "    token: {{file: /run/token}}\n    kubeadm: {{caCertHashes: [\"sha256:{}\"]}}\n",
        "0".repeat(64)
    )));
    assert!(!names(&hashed).contains(&"discovery"));
}
