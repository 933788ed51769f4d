//! Documents of tkestack: what becomes of them, by tkestack's own rules.

mod support;

use bringup_diag::Severity;
use bringup_plan::{Action, Content, Election};
use bringup_spec::{Fact, Phase};
use serde_json::{Value, json};

use support::{converts, good, local, plans, read, told, value};

/// The shape of the seed's second example, with the comments of its first.
const HOOKS: &str = r#"{
    "apiVersion": "platform.tkestack.io/v1",
    "kind": "Cluster",
    "metadata": {
       "name": "cls-shop",
       "labels": {"location": "xa"},
       "annotations": {"node.alpha.kubernetes.io/test": "hello world"}
    },
    "spec": {
        "clusterCIDR": "10.244.0.0/16",
        "tenantID": "default",
        "type": "Baremetal",
        "version": "1.20.15",
        "machines": [
            {
                "ip": "10.0.0.9",
                "port": 22, // the SSH server's
                "username": "root",
                "password": "bm90LWEtcGFzc3dvcmQ=" /* echo -n "…" | base64 */
            }
        ],
        "features": {
            "files": [
                {"src": "hooks/pre", "dst": "/opt/hooks/pre"}, // a directory
                {"src": "hooks/post", "dst": "/opt/hooks/post"}
            ],
            "hooks": {
                "PreInstall": "/opt/hooks/pre/a",
                "PostInstall": "/opt/hooks/post/a",
                "PreClusterInstall": "/opt/hooks/pre/b --verbose",
                "PostClusterInstall": "/opt/hooks/post/b"
            }
        }
    }
}
"#;

fn files() -> bringup_plan::LocalFiles {
    local(&["hooks/pre/", "hooks/post/"])
}

/// A cluster with these lines beneath `spec`, and these beneath `spec.features`.
fn cluster(spec: &str, features: &str) -> String {
    let indented = |text: &str, by: &str| -> String {
        text.lines().fold(String::new(), |all, line| all + by + line + "\n")
    };
    format!(
        "apiVersion: platform.tkestack.io/v1\nkind: Cluster\nmetadata:\n  name: cls-a\nspec:\n  type: Baremetal\n{}  features:\n    skipConditions: [EnsureGalaxy]\n{}",
        indented(spec, "  "),
        indented(features, "    ")
    )
}

const ONE: &str = "version: 1.20.15\nmachines:\n- {ip: 10.0.0.9, port: 22, username: root, password: eA==}";

#[test]
fn the_seeds_example_compiles_and_converts() {
    let read = read(&[("cluster.json", HOOKS)]);
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    converts(&read, &files());
}

/// The hooks that a plan runs by itself: the phase, whether the first master alone does it, and the command.
fn own_hooks(plan: &bringup_plan::Plan) -> Vec<(Phase, bool, Vec<String>)> {
    let hooks = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Run { command, hook: Some(_), .. } => {
            let words = command.iter().filter_map(|word| word.as_literal().map(str::to_owned));
            Some((step.phase, step.elected_only, words.collect()))
        }
        _ => None,
    });
    hooks.collect()
}

/// Rule: node scope runs on every node around its installation; cluster scope on the first master, with `key=value`
/// words. Rule: its handlers have the order `EnsureCopyFiles`, `EnsurePreClusterInstallHook`, `EnsurePreInstallHook` and
/// so on to `EnsurePostInstallHook`, `EnsurePostClusterInstallHook`.
#[test]
fn hooks_run_at_their_points_and_only_cluster_scope_has_parameters() {
    let read = read(&[("cluster.json", HOOKS)]);
    let plans = plans(&read, &files());
    let plan = plans.get("masters").expect("masters");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let parameters = ["location=xa", "node.alpha.kubernetes.io/test=hello world"];
    let before = [words(&["/opt/hooks/pre/b", "--verbose"]), words(&parameters)].concat();
    let behind = [words(&["/opt/hooks/post/b"]), words(&parameters)].concat();
    assert_eq!(
        own_hooks(plan),
        [
            (Phase::PreInstall, true, before),
            (Phase::PreInstall, false, words(&["/opt/hooks/pre/a"])),
            (Phase::PostInstall, false, words(&["/opt/hooks/post/a"])),
            (Phase::PostInstall, true, behind),
        ]
    );
    assert!(plan.hooks.is_empty(), "{:?}", plan.hooks);
    let at = |name: &str| plan.steps.iter().position(|step| step.name == name).expect("a step");
    let copied = plan.steps.iter().rposition(|step| step.name.starts_with("file:/opt/hooks"));
    assert!(copied.expect("files") < at("hook:pre-cluster-install"));
    assert!(at("registered") < at("hook:post-install"), "the control plane has answered");
    // Rule: a hook that fails is tried again, and nothing goes on meanwhile.
    assert_eq!(value(&read, "spec/hooks/0/onFailure"), json!("retry"));
    // Of one master there is nothing to tell.
    let told: Vec<String> =
        [Severity::Warning, Severity::Note].iter().flat_map(|one| told(&read, *one)).collect();
    assert!(!told.iter().any(|line| line.contains("ClusterInstall")), "{told:#?}");
}

/// Rule: cluster scope is for `machines[:1]` alone, node scope for all masters and for each `Machine`.
#[test]
fn of_several_masters_and_workers_the_first_runs_the_clusters_hooks() {
    let spec = "version: \"1.33.2\"\nmachines:\n- {ip: 10.0.0.1, password: eA==}\n- {ip: 10.0.0.2, password: eA==}\n- {ip: 10.0.0.3, password: eA==, labels: {disk: ssd}}";
    let features = "ha: {thirdParty: {vip: 10.0.0.100, vport: 8443}}\nfiles:\n- {src: x, dst: /opt/x}\nhooks: {PreInstall: /opt/x a, PostInstall: /opt/x b, PreClusterInstall: /opt/x c, PostClusterInstall: /opt/x d}";
    let worker = "---\napiVersion: platform.tkestack.io/v1\nkind: Machine\nspec: {clusterName: cls-a, type: Baremetal, ip: 10.0.0.10, port: 22, username: root, password: eA==}\n";
    let additions = "---\napiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {join: {token: {file: /t}, kubeadm: {caCertHashes: [\"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"], certificateKey: {file: /c}}}}\n";
    let text = format!("{}{worker}{additions}", cluster(spec, features));
    let read = good(&text);
    let plans = plans(&read, &local(&["x"]));
    let hooks = |group: &str| {
        let own = own_hooks(plans.get(group).expect(group));
        own.into_iter().map(|(_, first, words)| (first, words.join(" "))).collect::<Vec<_>>()
    };
    let own = |first: bool, command: &str| (first, command.to_owned());
    let of_each = [own(false, "/opt/x a"), own(false, "/opt/x b")];
    let [before, behind] = of_each.clone();
    assert_eq!(hooks("masters"), [own(true, "/opt/x c"), before, behind, own(true, "/opt/x d")]);
    let first = Some(Election::When { fact: Fact::Address, equals: "10.0.0.1".to_owned() });
    assert_eq!(plans.get("masters").expect("masters").bootstrap, first);
    for group in ["masters-2", "workers"] {
        assert_eq!(hooks(group), of_each, "{group}");
        assert!(plans.get(group).expect(group).hooks.is_empty(), "{group}");
    }
    // The others do not wait for it, and it does not wait for them: that is told.
    let notes = told(&read, Severity::Note);
    for name in ["PreClusterInstall", "PostClusterInstall"] {
        let about = |line: &&String| line.contains(&format!("tkestack runs the hook `{name}`"));
        assert_eq!(notes.iter().filter(about).count(), 1, "{notes:#?}");
    }
}

/// Rule: files go to every node, and the program of a hook is made executable.
#[test]
fn files_reach_every_node_and_hooks_are_executable() {
    let machine = "---\napiVersion: platform.tkestack.io/v1\nkind: Machine\nspec: {clusterName: cls-shop, type: Baremetal, ip: 10.0.0.10, port: 22, username: root, password: eA==}\n";
    let additions = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  join:\n    token: {file: /etc/token}\n    kubeadm: {caCertHashes: [\"sha256:645a806ad6534bf58ad35cc4355e7cd637fb1a7d29796b0b1eb9da7cc898667a\"]}\n";
    let read = read(&[("cluster.json", HOOKS), ("machine.yaml", machine), ("more.yaml", additions)]);
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    let plans = plans(&read, &files());
    assert_eq!(plans.keys().collect::<Vec<_>>(), ["masters", "workers"]);
    for (group, plan) in &plans {
        for path in ["/opt/hooks/pre/a", "/opt/hooks/pre/b", "/opt/hooks/post/a", "/opt/hooks/post/b"] {
            let mode = plan.steps.iter().find_map(|step| match &step.action {
                Action::WriteFile { path: found, mode, .. } if found == path => Some(mode.as_str()),
                _ => None,
            });
            assert_eq!(mode, Some("0755"), "{group}: {path}");
        }
    }
    let worker = plans.get("workers").expect("workers");
    let hooks =
        worker.steps.iter().filter(|step| matches!(step.action, Action::Run { hook: Some(_), .. })).count();
    assert_eq!((hooks, worker.hooks.len()), (2, 0), "node scope runs on workers too, cluster scope does not");
}

#[test]
fn no_secret_reaches_findings_plans_or_converted_documents() {
    let key = "---\napiVersion: platform.tkestack.io/v1\nkind: Cluster\nmetadata: {name: cls-key}\nspec:\n  type: Baremetal\n  version: 1.20.15\n  machines:\n  - {ip: 10.0.1.9, port: 22, username: root, privateKey: c2VjcmV0LWtleQ==, passPhrase: cGhyYXNl}\n";
    let read = read(&[("cluster.json", HOOKS), ("key.yaml", key)]);
    let mut all = format!("{:?}", read.findings);
    for document in &read.documents {
        all.push_str(&bringup_yaml::to_yaml(&document.tree().to_value()));
        let groups = document.cluster.spec.node_groups.len();
        for group in 0..groups {
            let compiled = bringup_plan::compile(document, group, &files());
            all.push_str(&compiled.plan.expect("a plan").to_json());
            all.extend([format!("{:?}", compiled.findings)]);
        }
    }
    for secret in ["bm90LWEtcGFzc3dvcmQ", "not-a-password", "c2VjcmV0LWtleQ", "secret-key", "cGhyYXNl"] {
        assert!(!all.contains(secret), "{secret}");
    }
    assert!(all.contains("TKE_PASSWORD_10_0_0_9"), "the variable to set is named");
    assert_eq!(value(&read, "spec/machines/0/password"), json!({"environment": "TKE_PASSWORD_10_0_0_9"}));
    let warned: Vec<String> = told(&read, Severity::Warning)
        .into_iter()
        .filter(|line| line.contains("ancestor/inline-secret"))
        .collect();
    assert_eq!(
        warned,
        [
            "cluster.json:19:17 ancestor/inline-secret `password` of `10.0.0.9` stays in this file: no secret is taken over",
            "key.yaml:9:46 ancestor/inline-secret `privateKey` of `10.0.1.9` stays in this file: no secret is taken over",
        ]
    );
}

/// Rule: the ranges of services are the last part of the cluster's, as large as the most services; DNS is its tenth.
#[test]
fn ranges_follow_tkestacks_rule() {
    let text = cluster(
        &format!(
            "{ONE}\nclusterCIDR: 172.16.0.0/16\nproperties: {{maxClusterServiceNum: 512, maxNodePodNum: 64}}"
        ),
        "",
    );
    let read = good(&text);
    // 512 services are 9 bits: a /23 at the end. 64 pods are 6 bits: a /26 for each node.
    assert_eq!(value(&read, "spec/network"), json!({"serviceRanges": ["172.16.254.0/23"]}));
    let manager = value(&read, "spec/join/kubeadm/clusterConfiguration/controllerManager/extraArgs");
    assert_eq!(
        manager,
        json!({
            "allocate-node-cidrs": "true", "bind-address": "0.0.0.0", "cluster-cidr": "172.16.0.0/16",
            "node-cidr-mask-size": "26", "service-cluster-ip-range": "172.16.254.0/23",
        })
    );
    assert_eq!(value(&read, "spec/nodeGroups/0/maxPods"), json!(64));
    converts(&read, &local(&[]));
}

#[test]
fn separate_and_double_ranges_are_taken_as_they_are() {
    let text = cluster(&format!("{ONE}\nclusterCIDR: 10.0.0.0/16\nserviceCIDR: 10.1.0.0/16"), "");
    assert_eq!(
        value(&good(&text), "spec/network"),
        json!({"serviceRanges": ["10.1.0.0/16"], "podRanges": ["10.0.0.0/16"]})
    );
    let both =
        "clusterCIDR: \"200.200.0.0/16,fd00:10:16::/64\"\nserviceCIDR: \"10.200.0.0/16,fd00:10:96::/112\"";
    let text = cluster(&format!("{ONE}\n{both}"), "ipv6DualStack: true");
    let read = good(&text);
    assert_eq!(value(&read, "spec/network/podRanges"), json!(["200.200.0.0/16", "fd00:10:16::/64"]));
    let configuration = value(&read, "spec/join/kubeadm/clusterConfiguration");
    assert_eq!(configuration["featureGates"], json!({"IPv6DualStack": true}));
    assert_eq!(configuration["controllerManager"]["extraArgs"]["node-cidr-mask-size-ipv6"], json!("80"));
    converts(&read, &local(&[]));
}

/// Rule: the first master starts the cluster; its address is the API server's where nothing is shared.
#[test]
fn the_first_of_several_masters_is_elected_by_its_address() {
    let spec = "version: \"1.33.2\"\nmachines:\n- {ip: 10.0.0.1, password: eA==}\n- {ip: 10.0.0.2, password: eA==}\n- {ip: 10.0.0.3, password: eA==, labels: {disk: ssd}}";
    let read = good(&cluster(spec, "ha: {thirdParty: {vip: 10.0.0.100, vport: 8443}}"));
    let groups = value(&read, "spec/nodeGroups");
    let names: Vec<&Value> = groups.as_array().expect("groups").iter().map(|group| &group["name"]).collect();
    assert_eq!(names, ["masters", "masters-2"]);
    assert_eq!(groups[0]["bootstrap"], json!({"fact": "address", "equals": "10.0.0.1"}));
    assert_eq!(groups[1]["bootstrap"], Value::Null);
    assert_eq!(groups[1]["labels"]["disk"], json!("ssd"));
    assert_eq!(value(&read, "spec/api/endpoint"), json!("https://10.0.0.100:8443"));
    let names = value(&read, "spec/join/kubeadm/clusterConfiguration/apiServer/certSANs");
    for name in
        ["127.0.0.1", "localhost", "::1", "api.tke.com", "10.0.0.100", "10.0.0.1", "10.0.0.2", "10.0.0.3"]
    {
        assert!(names.as_array().expect("names").contains(&json!(name)), "{name}");
    }
    let single = good(&cluster(ONE, ""));
    assert_eq!(value(&single, "spec/nodeGroups/0/bootstrap"), json!(true));
    assert_eq!(value(&single, "spec/api/endpoint"), json!("https://10.0.0.9:6443"));
}

/// tkestack makes up what machines join with, and its format has no field for it: they look for it on the machine, but for
/// the one that starts the cluster.
#[test]
fn machines_that_join_look_for_what_they_join_with() {
    let spec =
        "version: \"1.33.2\"\nmachines:\n- {ip: 10.0.0.1, password: eA==}\n- {ip: 10.0.0.2, password: eA==}";
    let text = cluster(spec, "ha: {thirdParty: {vip: 10.0.0.100}}");
    let found = good(&text);
    converts(&found, &local(&[]));
    assert!(told(&found, Severity::Warning).iter().any(|line| line.contains("`/etc/kubernetes/join.conf`")));
    let plans = plans(&found, &local(&[]));
    let steps = &plans.get("masters").expect("masters").steps;
    let file = steps.iter().find(|step| step.name == "discovery").expect("what they join with");
    assert!(
        file.others_only && matches!(&file.action, Action::WriteFile { content: Content::Secret(_), .. })
    );
    assert!(steps.iter().any(|step| step.name == "kubeadm-init" && step.elected_only));
    // What additions say takes its place.
    let hash = "0".repeat(64);
    let additions = format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec:\n  join:\n    token: {{file: /run/token}}\n    kubeadm: {{caCertHashes: [\"sha256:{hash}\"]}}\n"
    );
    let found = read(&[("theirs.yaml", &text), ("additions.yaml", &additions)]);
    let plans = support::plans(&found, &local(&[]));
    assert!(plans.get("masters").expect("masters").steps.iter().all(|step| step.name != "discovery"));
    assert_eq!(value(&good(&cluster(ONE, "")), "spec/join/kubeconfig"), Value::Null);
}

/// Rule: nodes are called by their addresses, unless `hostnameAsNodename` says otherwise.
#[test]
fn nodes_are_called_by_their_addresses() {
    let read = good(&cluster(ONE, ""));
    assert_eq!(value(&read, "spec/nodeGroups/0/nodeName"), json!("address"));
    let plans = plans(&read, &local(&[]));
    let text = plans.get("masters").expect("masters").to_json();
    assert!(text.contains(r#""nodeName":"address""#), "{text}");
    let read = good(&cluster(&format!("{ONE}\nhostnameAsNodename: true"), ""));
    assert_eq!(value(&read, "spec/nodeGroups/0/nodeName"), json!("hostname"));
}

#[test]
fn arguments_of_programs_are_kept() {
    let spec = format!(
        "{ONE}\nkubeletExtraArgs: {{root-dir: /data/kubelet}}\napiServerExtraArgs: {{audit-log-path: /a}}\nschedulerExtraArgs: {{v: \"4\"}}\ndockerExtraArgs: {{data-root: /data, debug: \"true\", registry-mirror: \"https://m.example\"}}"
    );
    let read = good(&cluster(&spec, "ipvs: true\ncontainerRuntime: docker"));
    assert_eq!(value(&read, "spec/nodeGroups/0/kubelet/flags"), json!({"root-dir": "/data/kubelet"}));
    let daemon = value(&read, "spec/nodeGroups/0/runtime/dockerConfig");
    assert_eq!(
        [&daemon["data-root"], &daemon["debug"], &daemon["registry-mirrors"], &daemon["live-restore"]],
        [&json!("/data"), &json!(true), &json!(["https://m.example"]), &json!(true)]
    );
    let configuration = value(&read, "spec/join/kubeadm/clusterConfiguration");
    assert_eq!(configuration["apiServer"]["extraArgs"], json!({"audit-log-path": "/a"}));
    assert_eq!(configuration["scheduler"]["extraArgs"], json!({"bind-address": "0.0.0.0", "v": "4"}));
    let proxy = value(&read, "spec/join/kubeadm/kubeProxyConfiguration");
    assert_eq!(proxy, json!({"mode": "ipvs", "clusterCIDR": "10.244.0.0/16"}));
    let plans = plans(&read, &local(&[]));
    let plan = plans.get("masters").expect("masters");
    let configuration = plan.steps.iter().find_map(|step| match &step.action {
        Action::WriteFile { path, content: Content::Text(text), .. }
            if path.ends_with("kubeadm-init.yaml") =>
        {
            text.filled(|fact| Some(format!("<{fact}>"))).ok()
        }
        _ => None,
    });
    let configuration = configuration.expect("kubeadm's configuration");
    assert!(configuration.contains("\"kind\": \"KubeProxyConfiguration\""), "{configuration}");
    assert!(configuration.contains("\"mode\": \"ipvs\""), "{configuration}");
    // From 1.31 on, kubeadm takes a list.
    let read = good(&cluster(&spec.replace("1.20.15", "\"1.33.1\""), ""));
    assert_eq!(
        value(&read, "spec/join/kubeadm/clusterConfiguration/apiServer/extraArgs"),
        json!([{"name": "audit-log-path", "value": "/a"}])
    );
}

/// Rule: a step in `skipConditions` is not done; a name that tkestack does not have skips nothing.
#[test]
fn conditions_are_skipped_by_name() {
    let text = cluster(ONE, "").replace(
        "[EnsureGalaxy]",
        "[EnsureSysctl, EnsureKernelModule, EnsureDisableSwap, EnsureKubeadmInitPhaseAddon, EnsurePreInstallHook, EnsureDisableSwop, EnsureNodeReady]",
    ) + "    hooks: {PreInstall: /usr/bin/true}\n";
    let read = good(&text);
    let group = value(&read, "spec/nodeGroups/0");
    assert_eq!([&group["sysctls"], &group["kernelModules"]], [&Value::Null, &Value::Null]);
    assert_eq!(group["swap"], json!("keep"));
    assert_eq!(group["kernelDefaults"], json!({"modules": false, "sysctls": false}));
    assert_eq!(value(&read, "spec/join/kubeadm/skipPhases"), json!(["addon"]));
    let plans = plans(&read, &local(&[]));
    let steps = &plans.get("masters").expect("masters").steps;
    let touches_kernel =
        |action: &Action| matches!(action, Action::LoadModules { .. } | Action::SetSysctls { .. });
    assert!(!steps.iter().any(|step| touches_kernel(&step.action)), "neither is done");
    converts(&read, &local(&[]));
    assert_eq!(value(&read, "spec/hooks"), Value::Null);
    let warned = told(&read, Severity::Warning);
    assert!(
        warned.iter().any(|line| line.contains("tkestack has no condition `EnsureDisableSwop`")),
        "{warned:?}"
    );
    assert!(warned.iter().any(|line| line.contains("`EnsureNodeReady` is not left out")), "{warned:?}");
}

/// Every hook can be left out by the condition of its name, also those at whose points tkestack runs nothing.
#[test]
fn whatever_hook_is_skipped_is_neither_there_nor_unknown() {
    let points = [
        "PreInstall",
        "PostUpgrade",
        "PreClusterUpgrade",
        "PreClusterDelete",
        "PostClusterDelete",
        "PreDelete",
        "PostDelete",
    ];
    for point in points {
        let text = cluster(ONE, "").replace("[EnsureGalaxy]", &format!("[Ensure{point}Hook]"))
            + &format!("    hooks: {{{point}: /usr/bin/true, PostInstall: /usr/bin/true}}\n");
        let read = good(&text);
        let names: Vec<Value> =
            value(&read, "spec/hooks").as_array().unwrap().iter().map(|hook| hook["name"].clone()).collect();
        assert_eq!(names, ["post-install"], "{point}");
        assert!(!told(&read, Severity::Warning).iter().any(|line| line.contains("no condition")), "{point}");
        let idle = cluster(ONE, "").replace("[EnsureGalaxy]", &format!("[Ensure{point}Hook]"));
        let notes = told(&good(&idle), Severity::Note);
        assert!(notes.iter().any(|line| line.contains("there is no hook that")), "{point}: {notes:#?}");
    }
}

/// A slip in `type` does not hide what else is wrong with the cluster.
#[test]
fn a_type_that_is_none_hides_no_other_error() {
    let wrong = cluster(ONE, "").replace("version: ", "version: x");
    let errors = |text: &str| told(&read(&[("theirs.yaml", text)]), Severity::Error);
    let others = errors(&wrong);
    assert!(!others.is_empty());
    let both = errors(&wrong.replace("type: Baremetal", "type: Baremtal"));
    let (of_type, rest): (Vec<String>, Vec<String>) =
        both.into_iter().partition(|line| line.contains("`Baremtal`"));
    assert_eq!(of_type.len(), 1);
    assert_eq!(rest, others);
    // What is up already has no machines to look at.
    let up = errors(&wrong.replace("type: Baremetal", "type: Imported"));
    assert!(up.len() == 1 && up[0].contains("is up already"), "{up:#?}");
}

/// Conditions of steps that nobody does here are named too: whoever skips them learns that there was nothing to skip.
#[test]
fn conditions_that_change_nothing_are_named() {
    let text = cluster(ONE, "")
        .replace("[EnsureGalaxy]", "[EnsureGalaxy, EnsureNvidiaDriver, EnsurePreUpgradeHook]");
    let notes = told(&good(&text), Severity::Note);
    for wanted in [
        "ancestor/field-aside the step `EnsureGalaxy` is done by nobody here: there is nothing to leave out",
        "ancestor/field-aside the step `EnsureNvidiaDriver` is done by nobody here: there is nothing to leave out",
        "ancestor/field-aside there is no hook that `EnsurePreUpgradeHook` could leave out",
    ] {
        assert!(notes.iter().any(|line| line.ends_with(wanted)), "{wanted}: {notes:#?}");
    }
}

/// How nodes follow one another in an upgrade shapes no node. It stays in the document, for whoever drives the upgrade.
#[test]
fn the_strategy_of_upgrades_is_kept() {
    let read = good(&cluster(
        ONE,
        "upgrade:\n  mode: Auto\n  strategy: {maxUnready: 20%, drainNodeBeforeUpgrade: true}",
    ));
    assert_eq!(value(&read, "spec/upgrade"), json!({"mode": "auto", "maxUnready": "20%", "drain": true}));
    converts(&read, &local(&[]));
    let document = read.documents.first().expect("a document");
    let checked = bringup_plan::check_document(document);
    let kept: Vec<String> = checked
        .iter()
        .filter(|finding| finding.code.name == "upgrade/by-driver")
        .map(|finding| finding.message.clone())
        .collect();
    assert_eq!(
        kept,
        [
            "nodes are upgraded one behind the other without being asked for, each drained first, as long as at most 20% of the pods are not ready: whoever drives the upgrade takes this from the document, and no plan holds it"
        ]
    );
    // tkestack's own defaults: by hand, undrained, with nobody counting.
    let read = good(&cluster(ONE, "upgrade: {mode: Manual, strategy: {maxUnready: 3}}"));
    assert_eq!(value(&read, "spec/upgrade"), json!({"mode": "manual", "maxUnready": 3}));
    let read = good(&cluster(ONE, "upgrade: {mode: \"\"}"));
    assert_eq!(value(&read, "spec/upgrade"), json!({}));
    converts(&read, &local(&[]));
}

/// Rule: masters keep pods away unless `enableMasterSchedule` is set.
#[test]
fn masters_take_pods_only_where_asked() {
    let tainted = ONE.replace("password", "taints: [{key: a, effect: NoExecute}], password");
    let read = good(&cluster(&tainted, ""));
    assert_eq!(
        value(&read, "spec/nodeGroups/0/taints"),
        json!([{"key": "a", "effect": "NoExecute"}, {"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}])
    );
    let read = good(&cluster(ONE, "enableMasterSchedule: true"));
    assert_eq!(value(&read, "spec/join/kubeadm/initConfiguration/nodeRegistration"), json!({"taints": []}));
    converts(&read, &local(&[]));
}

#[test]
fn machines_find_their_cluster_in_any_file() {
    let nameless = cluster(ONE, "").replace("  name: cls-a\n", "  generateName: cls-\n");
    let machine = "apiVersion: platform.tkestack.io/v1\nkind: Machine\nmetadata: {name: mc-1}\nspec: {clusterName: cls-7q46, type: Baremetal, ip: 10.0.0.20, port: 2222, username: ops, password: eA==, labels: {a: b}}\n";
    let read = support::read(&[("machine.yaml", machine), ("cluster.yaml", &nameless)]);
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    assert_eq!(
        value(&read, "metadata/name"),
        json!("cls-7q46"),
        "the only nameless cluster is the one that is meant"
    );
    assert_eq!(
        value(&read, "spec/machines/1"),
        json!({
            "name": "mc-1", "address": "10.0.0.20", "port": 2222, "user": "ops",
            "password": {"environment": "TKE_PASSWORD_10_0_0_20"}, "nodeGroup": "workers",
        })
    );
    let alone = support::read(&[("machine.yaml", machine)]);
    assert_eq!(
        told(&alone, Severity::Error),
        ["machine.yaml:4:21 ancestor/missing there is no cluster `cls-7q46` that this machine could join"]
    );
}

#[test]
fn what_cannot_be_brought_up_is_refused() {
    let imported = cluster(ONE, "").replace("Baremetal", "Imported");
    let read = read(&[("a.yaml", &imported)]);
    assert!(read.documents.is_empty());
    assert_eq!(
        told(&read, Severity::Error),
        ["a.yaml:6:9 ancestor/field-refused this cluster is up already: there is nothing to bring up"]
    );
}

#[test]
fn unknown_fields_and_hooks_are_named_with_their_places() {
    let text = cluster(&format!("{ONE}\nclusterCIDRs: 10.0.0.0/8\nflux: 1"), "hooks: {PreInstal: /a}");
    let read = read(&[("a.yaml", &text)]);
    let errors = told(&read, Severity::Error);
    assert_eq!(
        errors,
        [
            "a.yaml:10:3 ancestor/unknown-field unknown field `clusterCIDRs` in `spec` of a cluster",
            "a.yaml:14:13 ancestor/unknown-field unknown field `PreInstal` in `hooks` of tkestack",
        ]
    );
    let warned = told(&read, Severity::Warning);
    assert!(
        warned.contains(
            &"a.yaml:11:3 ancestor/unknown-field unknown field `flux` in `spec` of a cluster".to_owned()
        ),
        "{warned:?}"
    );
}

/// Rule: of tkestack's ten hooks three never run there. Here four are steps of nodes; the others, and two of a node's
/// end, are kept in the plan for whoever drives the cluster, and each is told of.
#[test]
fn all_points_have_hooks() {
    let names = [
        "PreInstall",
        "PostInstall",
        "PreUpgrade",
        "PostUpgrade",
        "PreClusterInstall",
        "PostClusterInstall",
        "PreClusterUpgrade",
        "PostClusterUpgrade",
        "PreClusterDelete",
        "PostClusterDelete",
        "PreDelete",
        "PostDelete",
    ];
    let lines: Vec<String> = names.iter().map(|name| format!("  {name}: /opt/x")).collect();
    let read =
        good(&cluster(ONE, &format!("files:\n- {{src: x, dst: /opt/x}}\nhooks:\n{}", lines.join("\n"))));
    assert_eq!(value(&read, "spec/hooks").as_array().expect("hooks").len(), 12);
    let plans = plans(&read, &local(&["x"]));
    assert_eq!(
        plans.get("masters").expect("masters").hooks.len(),
        8,
        "four more are steps of the installation"
    );
    let notes = told(&read, Severity::Note);
    assert_eq!(notes.iter().filter(|line| line.contains("tkestack never runs a hook")).count(), 5);
    let told_of = |severity: Severity, name: &str| {
        let lines = told(&read, severity);
        lines.iter().any(|line| {
            line.contains(&format!("hook `{name}`")) && line.contains("kept in the plan for whoever drives")
        })
    };
    let later = names.iter().filter(|name| name.ends_with("Upgrade") || name.ends_with("Delete"));
    for name in later {
        assert!(told_of(Severity::Note, name), "{name}");
    }
    for name in names.iter().filter(|name| name.ends_with("Install")) {
        assert!(!told_of(Severity::Note, name) && !told_of(Severity::Warning, name), "{name}");
    }
    assert!(!notes.iter().any(|line| line.contains("here it runs")), "{notes:#?}");
}

/// Rule: a shell reads the command of a hook.
#[test]
fn commands_that_need_a_shell_have_one() {
    let read = good(&cluster(
        ONE,
        "files:\n- {src: x, dst: /opt/x}\nhooks:\n  PostClusterInstall: /opt/x > /var/log/x",
    ));
    assert_eq!(
        value(&read, "spec/hooks/0/run"),
        json!(["/bin/sh", "-c", "/opt/x > /var/log/x \"$@\"", "sh"])
    );
}

#[test]
fn jump_hosts_are_kept_and_other_proxies_told() {
    let spec = "version: 1.20.15\nmachines:\n- ip: 10.0.0.9\n  username: root\n  password: eA==\n  proxy: {type: SSHJumpServer, ip: 192.0.2.1, port: 2222, username: jump, privateKey: eA==}";
    let read = good(&cluster(spec, ""));
    assert_eq!(
        value(&read, "spec/machines/0/jumpHost"),
        json!({
            "address": "192.0.2.1", "port": 2222, "user": "jump", "key": {"environment": "TKE_PRIVATE_KEY_192_0_2_1"},
        })
    );
    converts(&read, &local(&[]));
    let read = good(&cluster(&spec.replace("SSHJumpServer", "SOCKS5"), ""));
    assert!(told(&read, Severity::Warning).iter().any(|line| line.contains("SOCKS5")));
}

#[test]
fn lists_are_taken_apart() {
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {}",
        cluster(ONE, "").replace('\n', "\n  ").trim_end()
    );
    let read = good(&list);
    assert_eq!(value(&read, "metadata/name"), json!("cls-a"));
    let own = list
        .replace("apiVersion: v1", "apiVersion: platform.tkestack.io/v1")
        .replace("kind: List", "kind: ClusterList");
    assert_eq!(value(&good(&own), "metadata/name"), json!("cls-a"));
}

/// kubelet's flags stand above the number that kubeadm configures from the range of pods.
#[test]
fn a_number_of_pods_among_kubelets_arguments_counts() {
    let text = cluster(&format!("{ONE}\nkubeletExtraArgs: {{max-pods: \"110\"}}"), "");
    let read = read(&[("cluster.yaml", &text)]);
    assert_eq!(told(&read, Severity::Error), Vec::<String>::new());
    let plans = plans(&read, &files());
    assert_eq!(plans["masters"].max_pods, bringup_plan::PodLimit::Fixed(110));
    converts(&read, &files());
}

/// What is wrong with one machine is told once, and is wrong with the document.
#[test]
fn what_is_wrong_with_a_machine_is_wrong_with_the_document() {
    let machine = |ip: &str, more: &str| {
        format!(
            "---\napiVersion: platform.tkestack.io/v1\nkind: Machine\nmetadata: {{name: m-{}}}\nspec:\n  clusterName: cls-a\n  type: Baremetal\n  ip: {ip}\n  username: root\n  password: eA==\n{more}",
            ip.replace('.', "-")
        )
    };
    let good = format!("{}{}", cluster(ONE, ""), machine("10.0.0.10", ""));
    for bad in ["  prot: 22\n", "  port: ssh\n", "  taints: [{key: a, effect: Never}]\n"] {
        let text = format!("{good}{}", machine("10.0.0.12", &format!("  labels: {{kind: b}}\n{bad}")));
        let found = read(&[("all.yaml", &text)]);
        let errors = told(&found, Severity::Error);
        assert!(errors.len() == 1 && found.refused.is_empty(), "{bad}: {errors:#?}");
    }
}

#[test]
fn another_version_is_told() {
    let text = cluster(ONE, "").replace("tkestack.io/v1\n", "tkestack.io/v2\n");
    let errors = told(&read(&[("cluster.yaml", &text)]), Severity::Error);
    let wanted = "cluster.yaml:1:13 ancestor/field-refused version `platform.tkestack.io/v2` of tkestack's documents is not understood";
    assert_eq!(errors, [wanted]);
}

/// Values that tkestack's API refuses, and fields that shape nothing beside others.
#[test]
fn fields_without_effect_and_of_other_types_are_named() {
    let messages = |spec: &str, features: &str, severity: Severity| -> Vec<String> {
        let text = cluster(spec, features);
        let read = read(&[("theirs.yaml", &text)]);
        told(&read, severity).into_iter().filter(|line| !line.contains("stays in this file")).collect()
    };
    let etcd = format!("{ONE}\netcd: {{external: {{endpoints: one, caFile: [a]}}}}");
    assert_eq!(messages(&etcd, "", Severity::Error).len(), 2);
    let both = format!(
        "{ONE}\netcd:\n  local: {{dataDir: /a}}\n  external: {{endpoints: [\"https://a:2379\"], caFile: /a, certFile: /b, keyFile: /c}}"
    );
    assert_eq!(
        messages(&both, "", Severity::Warning),
        ["theirs.yaml:11:5 ancestor/field-differs beside `external`, `local` has no effect: no etcd is made"]
    );
    let proxy = |fields: &str| {
        format!("version: 1.20.15\nmachines:\n- {{ip: 10.0.0.9, password: eA==, proxy: {{{fields}}}}}")
    };
    assert_eq!(
        messages(&proxy("ip: 1.2.3.4, port: 22"), "", Severity::Warning),
        [
            "theirs.yaml:9:44 ancestor/field-differs a proxy without a `type` is not used, with tkestack as here"
        ]
    );
    assert_eq!(
        messages(&proxy("type: SSHJumpServer, ip: 1.2.3.4, passPhrase: eA=="), "", Severity::Warning),
        ["theirs.yaml:9:78 ancestor/field-differs there is no key of `1.2.3.4` that this pass phrase is for"]
    );
    let single = format!("{ONE}\nclusterCIDR: 10.244.0.0/16").replace("1.20.15", "1.22.4");
    let told = messages(&single, "ipv6DualStack: true", Severity::Warning);
    assert!(
        told.iter().any(|line| line.contains("`ipv6DualStack` needs a range of pods of each family")),
        "{told:#?}"
    );
}
