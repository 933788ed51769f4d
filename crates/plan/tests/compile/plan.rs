//! The plan as a whole: files, software, facts, provenance, bytes.

use bringup_plan::{
    Action, Content, InstallSource, LocalEntry, LocalFile, LocalFiles, Origin, PlacedBy, Plan, PodLimit,
    compile, local_sources, sysctls_file,
};
use bringup_spec::{Document, Fact, Text};

use crate::support::{
    AUTHORITY, cluster, codes, compiled, content, eks, eks_with, mode, plain, plan, step, text, unit,
};

#[test]
fn a_plan_reads_back_as_it_was_written() {
    let group = "files: [{path: /etc/a, content: \"@{zone}\"}]\nswap: keep\nsteps: [{name: a, run: [x], environment: {A: \"@{address}\"}}]\nhooks: [{name: h, on: pre-delete, run: [y]}]";
    let plan = plan(&eks("1.33", group));
    let bytes = plan.to_json();
    assert_eq!(Plan::from_json(bytes.as_bytes()), Ok(plan.clone()));
    assert_eq!(plan.digest().len(), 64);
    let newer = bytes.replace("\"format\":1", "\"format\":99");
    let fault = Plan::from_json(newer.as_bytes()).unwrap_err().to_string();
    assert!(fault.contains("99") && fault.contains('1'), "{fault}");
}

#[test]
fn the_order_of_maps_in_the_document_does_not_matter() {
    let one = eks(
        "1.33",
        "labels: {a: \"1\", b: \"2\"}\nsysctls: {x.y: 1, a.b: 2}\nkubelet: {config: {maxPods: 5, evictionHard: {memory.available: \"1\", nodefs.available: \"2\"}}}",
    );
    let other = eks(
        "1.33",
        "sysctls: {a.b: 2, x.y: 1}\nkubelet: {config: {evictionHard: {nodefs.available: \"2\", memory.available: \"1\"}, maxPods: 5}}\nlabels: {b: \"2\", a: \"1\"}",
    );
    assert_eq!(plan(&one).to_json(), plan(&other).to_json());
}

#[test]
fn the_plan_names_the_facts_that_it_needs() {
    let facts = |group: &str| plan(&eks("1.33", group)).facts;
    let base = facts("maxPods: 10");
    assert_eq!(
        base.into_iter().collect::<Vec<_>>(),
        [
            Fact::InstanceId,
            Fact::Zone,
            Fact::Address,
            Fact::Hostname,
            Fact::Cores,
            Fact::NodeName,
            Fact::ReservedCpu
        ]
    );
    assert!(facts("").contains(&Fact::InstanceType));
    assert!(facts("labels: {a: \"@{tags.team}\"}").contains(&Fact::Tag("team".to_owned())));
    assert!(facts("hooks: [{name: h, on: pre-delete, run: [\"@{region}\"]}]").contains(&Fact::Region));
    assert!(!facts("nodeName: instance-id").contains(&Fact::Hostname));
    // Before 1.26 kubelet asks the cloud for its name; whoever waits for the node has to know it all the same.
    let older = plan(&eks("1.25", "maxPods: 10")).facts;
    assert!(older.contains(&Fact::NodeName) && older.contains(&Fact::Hostname), "{older:?}");
}

#[test]
fn facts_of_ec2_need_a_file_elsewhere() {
    assert_eq!(codes(&plain("1.33", "labels: {a: \"@{zone}\"}")), ["fact/platform"]);
    assert_eq!(codes(&plain("1.33", "labels: {a: \"@{hostname}\"}")), Vec::<&str>::new());
}

#[test]
fn files_come_from_everywhere() {
    let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let group = format!(
        "files:\n  - {{path: /etc/a, content: \"zone @{{zone}}\\n\"}}\n  - {{path: /etc/b, content: aGVsbG8, encoding: base64, sha256: {digest}}}\n  - {{path: /etc/c, content: /w==, encoding: base64, mode: \"0755\", owner: a:b}}\n  \
         - {{path: /etc/d, src: one}}\n  - {{path: /etc/e, src: many}}\n  - {{path: /etc/f, urls: [https://x/y, s3://b/k], sha256: {digest}}}\n  - {{path: /etc/g, secret: {{s3: s3://b/k}}}}"
    );
    let document = eks("1.33", &group);
    assert_eq!(local_sources(&document.cluster).into_iter().collect::<Vec<_>>(), ["many", "one"]);
    let file = |text: &str, executable| LocalFile { bytes: text.as_bytes().to_vec(), executable };
    let mut local = LocalFiles::default();
    local.entries.insert("one".to_owned(), LocalEntry::File(file("literal @{zone}", true)));
    let many = [("x".to_owned(), file("x", false)), ("sub/y".to_owned(), file("y", true))];
    local.entries.insert("many".to_owned(), LocalEntry::Directory(many.into()));
    let compiled = compile(&document, 0, &local);
    let plan = compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.findings));
    assert_eq!(text(&plan, "/etc/a"), "zone @{zone}\n");
    assert_eq!(mode(&plan, "/etc/a"), "0644");
    assert_eq!(content(&plan, "/etc/b"), &Content::Text(Text::literal("hello")));
    assert_eq!(content(&plan, "/etc/c"), &Content::Base64("/w==".to_owned()));
    assert_eq!(mode(&plan, "/etc/c"), "0755");
    // What lies beside the document is taken byte for byte.
    assert_eq!(content(&plan, "/etc/d"), &Content::Text(Text::literal("literal @{zone}")));
    assert_eq!(mode(&plan, "/etc/d"), "0755");
    assert_eq!((mode(&plan, "/etc/e/x"), mode(&plan, "/etc/e/sub/y")), ("0644", "0755"));
    let Action::Fetch { urls, sha256, mode: fetched, .. } = &step(&plan, "file:/etc/f").action else {
        panic!("no fetch")
    };
    assert_eq!((urls.len(), sha256.as_str(), fetched.as_str()), (2, digest, "0644"));
    assert_eq!(mode(&plan, "/etc/g"), "0600");
}

#[test]
fn files_that_cannot_be_are_told() {
    let found = |files: &str| codes(&eks("1.33", &format!("files: [{files}]")));
    assert_eq!(found("{path: /etc/a}"), ["file/source"]);
    assert_eq!(found("{path: /etc/a, content: a, src: b}"), ["file/source"]);
    assert_eq!(found("{path: /etc/a, src: nowhere}"), ["file/src"]);
    assert_eq!(found("{path: /etc/a, urls: [https://x]}"), ["file/digest"]);
    assert_eq!(
        found(
            "{path: /etc/a, content: a, sha256: ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12}"
        ),
        ["file/digest"]
    );
    assert_eq!(found("{path: /etc/a, content: \"%\", encoding: base64}"), ["file/base64"]);
    assert_eq!(found("{path: /etc/a, content: a}, {path: /etc/a, content: b}"), ["file/duplicate-path"]);
    assert_eq!(found("{path: /etc/containerd/config.toml, content: a}"), ["file/generated-path"]);
    assert_eq!(found("{path: /etc/a, content: a}, {path: /etc/a/b, content: b}"), ["file/beneath-link"]);
    assert_eq!(found("{path: /run/a, content: a}"), ["file/volatile-path"]);
    assert_eq!(found("{path: /runner/a, content: a}"), Vec::<&str>::new());
    assert_eq!(found("{path: /etc/a, secret: {file: /x}, mode: \"0644\"}"), ["secret/mode"]);
    let link = "links: [{path: /etc/l, target: /opt/l}]\nfiles: [{path: /etc/l/a, content: a}]";
    assert_eq!(codes(&eks("1.33", link)), ["file/beneath-link"]);
    assert_eq!(codes(&eks("1.33", "links: [{path: /etc/l, target: /etc/l}]")), ["link/target"]);
}

#[test]
fn software_comes_from_its_source() {
    let zeros = "ab12".repeat(16);
    let download = format!("{{x86_64: {{urls: [https://x/y], sha256: {zeros}}}}}");
    let group = format!(
        "software:\n  kubelet: {{from: package}}\n  runtime: {{from: url, version: 1.7.28, downloads: {download}}}\n  cni: {{from: extension, downloads: {download}}}"
    );
    let plan = plan(&plain("1.33.4", &group));
    let source = |name: &str| match &step(&plan, name).action {
        Action::Install { version, source, .. } => (version.clone(), source.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        source("install-kubelet"),
        (Some("1.33.4".to_owned()), InstallSource::Package { package: "kubelet".to_owned() })
    );
    let (version, runtime) = source("install-containerd");
    assert_eq!(version.as_deref(), Some("1.7.28"));
    assert!(matches!(runtime, InstallSource::Url { path, .. } if path == "/usr/local"));
    assert!(
        matches!(source("install-cni").1, InstallSource::Extension { path, .. } if path == "/etc/extensions/cni.raw")
    );
    let found = |group: &str| codes(&plain("1.33", group));
    assert_eq!(found("software: {kubelet: {from: url}}"), ["software/download"]);
    assert_eq!(
        found(&format!(
            "software: {{kubelet: {{from: url, downloads: {{amd64: {{urls: [https://x], sha256: {zeros}}}}}}}}}"
        )),
        ["software/download", "software/download"]
    );
    assert_eq!(found("software: {kubelet: {package: x}}"), ["group/field-without-effect"]);
    assert_eq!(found("software: {kubeadm: {from: package}}"), ["group/field-without-effect"]);
    let flatcar = format!(
        "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://x, certificateAuthority: {AUTHORITY}}}\njoin: {{method: bootstrap-token, token: {{file: /t}}}}"
    );
    assert_eq!(
        codes(&cluster(&flatcar, "os: flatcar\nsoftware: {kubelet: {from: package}}")),
        ["software/source"]
    );
}

/// sysctl.d(5): if the first separator is a slash, all stay as they are; if it is a dot, dots and slashes change places.
#[test]
fn the_name_of_a_setting_means_what_sysctl_takes_it_for() {
    for (written, name) in [
        ("net.ipv4.conf.eth0/1.rp_filter", "net.ipv4.conf.eth0/1.rp_filter"),
        ("net/ipv4/conf/eth0.1/rp_filter", "net.ipv4.conf.eth0/1.rp_filter"),
        ("net/ipv4/conf/all/rp_filter", "net.ipv4.conf.all.rp_filter"),
    ] {
        let plan = plan(&plain("1.33", &format!("sysctls: {{{written}: 1}}")));
        let Action::SetSysctls { settings, .. } = &step(&plan, "sysctls").action else {
            panic!("no sysctls")
        };
        assert_eq!(settings.get(name).map(String::as_str), Some("1"), "{written}: {settings:?}");
    }
    for wrong in ["net/ipv4/../x", "net.ipv4.//.x", "vm..x", "/vm/x", "vm.x.", "net/./x"] {
        assert_eq!(codes(&plain("1.33", &format!("sysctls: {{{wrong}: 1}}"))), ["sysctl/name"], "{wrong}");
    }
    for twice in [
        "sysctls: {net.ipv4.conf.eth0/1.rp_filter: 1, net/ipv4/conf/eth0.1/rp_filter: 1}",
        "sysctls: {vm.swappiness: 1, -vm.swappiness: 1}",
    ] {
        assert_eq!(codes(&plain("1.33", twice)), ["sysctl/name"], "{twice}");
    }
}

/// sysctl.d(5): a dash before the name lets it fail, and globs stand for what there is.
#[test]
fn a_setting_may_be_optional_or_a_glob() {
    let written = "sysctls: {-net/netfilter/nf_conntrack_max: 1, 'net.ipv4.conf.et?[!0-3]*.rp_filter': 0}";
    let plan = plan(&plain("1.33", written));
    let Action::SetSysctls { settings, optional } = &step(&plan, "sysctls").action else {
        panic!("no sysctls")
    };
    assert!(optional.iter().eq(["net.netfilter.nf_conntrack_max"]), "{optional:?}");
    let file = sysctls_file(settings, optional);
    for line in ["-net.netfilter.nf_conntrack_max = 1\n", "\nnet.ipv4.conf.et?[!0-3]*.rp_filter = 0\n"] {
        assert!(file.contains(line), "{file}");
    }
}

#[test]
fn what_the_kernel_gets_by_itself_can_be_left_out() {
    let none =
        "kernelDefaults: {modules: false, sysctls: false}\nkubelet: {config: {protectKernelDefaults: false}}";
    let without = plan(&plain("1.33", none));
    assert!(!without.steps.iter().any(|step| ["kernel-modules", "sysctls"].contains(&step.name.as_str())));
    let own = format!("{none}\nkernelModules: [nvidia]\nsysctls: {{vm.max_map_count: 262144}}");
    let own = plan(&plain("1.33", &own));
    let Action::LoadModules { modules } = &step(&own, "kernel-modules").action else { panic!("no modules") };
    assert_eq!(modules, &["nvidia"]);
    let Action::SetSysctls { settings, .. } = &step(&own, "sysctls").action else { panic!("no sysctls") };
    assert_eq!(settings.keys().collect::<Vec<_>>(), ["vm.max_map_count"]);
    // kubelet looks whether somebody else has set what it needs.
    assert_eq!(codes(&plain("1.33", "kernelDefaults: {sysctls: false}")), ["sysctl/needed"]);
}

#[test]
fn the_kernel_gets_what_kubernetes_needs() {
    let plan = plan(&plain(
        "1.33",
        "kernelModules: [nvidia, overlay]\nsysctls: {vm/max_map_count: 262144}\nkernelArguments: [hugepages=64]",
    ));
    let Action::LoadModules { modules } = &step(&plan, "kernel-modules").action else { panic!("no modules") };
    assert_eq!(modules, &["br_netfilter", "nvidia", "overlay"]);
    let Action::SetSysctls { settings, .. } = &step(&plan, "sysctls").action else { panic!("no sysctls") };
    assert_eq!(settings["net.ipv4.ip_forward"], "1");
    assert_eq!(settings["vm.overcommit_memory"], "1");
    assert_eq!(settings["vm.max_map_count"], "262144");
    assert!(matches!(step(&plan, "reboot").action, Action::Reboot { always: false }));
    let found = |group: &str| codes(&plain("1.33", group));
    assert_eq!(found("sysctls: {vm.panic_on_oom: 1}"), ["sysctl/needed"]);
    assert_eq!(found("sysctls: {swappiness: 1}"), ["sysctl/name"]);
    assert_eq!(found("kernelArguments: [a b]"), ["kernel/argument"]);
    assert_eq!(found("kernelArguments: [a]\nreboot: {policy: never}"), ["reboot/needed"]);
    assert_eq!(found("update: {}\nreboot: {policy: never}"), ["reboot/needed"]);
}

#[test]
fn proxies_reach_everything_that_fetches() {
    let document = eks_with(
        "1.33",
        "proxy: {http: \"http://p:1\", https: \"http://p:2\", noProxy: [.corp]}",
        "os: amazon-linux-2023",
    );
    let plan = plan(&document);
    let direct =
        ".cluster.local,.corp,.svc,10.100.0.0/16,127.0.0.1,169.254.169.254,::1,api.example.com,localhost";
    assert_eq!(plan.environment["NO_PROXY"], direct);
    assert_eq!(plan.environment["https_proxy"], "http://p:2");
    for name in ["kubelet.service", "containerd.service"] {
        assert!(
            unit(&plan, name).drop_ins["10-proxy.conf"]
                .contains(&format!("Environment=\"no_proxy={direct}\"\n"))
        );
    }
}

#[test]
fn authorities_are_trusted_where_the_system_looks() {
    let spec = format!("certificateAuthorities: [{{name: office, certificate: {AUTHORITY}}}]");
    let plan = plan(&eks_with("1.33", &spec, "os: amazon-linux-2023"));
    assert_eq!(plan.certificate_authorities.len(), 1);
    text(&plan, "/etc/pki/ca-trust/source/anchors/office.pem");
    assert!(
        matches!(&step(&plan, "trust").action, Action::TrustAuthorities { bundle } if bundle == "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem")
    );
}

#[test]
fn everything_decided_has_an_origin() {
    let compiled =
        compiled(&eks("1.33", "instanceTypes: [m5.large]\nkubelet: {config: {podPidsLimit: 100}}"));
    let origin = |subject: &str| {
        compiled
            .provenance
            .iter()
            .find(|entry| entry.subject == subject)
            .unwrap_or_else(|| panic!("{subject}"))
    };
    assert!(matches!(origin("max pods").origin, Origin::Derived(..)));
    assert!(matches!(origin("kubelet config podPidsLimit").origin, Origin::Document(_)));
    assert!(matches!(origin("node name").origin, Origin::Default(_)));
    assert!(matches!(origin("kubelet config providerID").origin, Origin::Node(_)));
    assert_eq!(origin("kubelet config clusterDNS").value, "10.100.0.10");
}

#[test]
fn a_group_that_is_not_there_is_no_panic() {
    let document = eks("1.33", "");
    let compiled = compile(&document, 7, &LocalFiles::default());
    assert!(compiled.plan.is_none() && compiled.findings.has_errors());
}

#[test]
fn both_families_of_addresses_are_known() {
    let document = eks_with("1.33", "network: {serviceRanges: [fd00::/108]}", "os: amazon-linux-2023");
    let plan = plan(&document);
    assert!(plan.ipv6);
    assert_eq!(plan.cluster_ranges, ["fd00::/108"]);
    let Action::SetSysctls { settings, .. } = &step(&plan, "sysctls").action else { panic!("no sysctls") };
    assert_eq!(settings["net.ipv6.conf.all.forwarding"], "1");
    assert_eq!(
        plan.max_pods,
        PodLimit::Interfaces { prefix_delegation: false, custom_networking: false, cap: None }
    );
}

#[test]
fn every_field_of_kubelets_configuration_has_an_origin() {
    let document = eks(
        "1.33",
        "labels: {a: b}\ntaints: [{key: k, effect: NoSchedule}]\nkubelet: {config: {maxPods: 20}}",
    );
    let compiled = compile(&document, 0, &LocalFiles::default());
    let subjects: Vec<&str> = compiled.provenance.iter().map(|known| known.subject.as_str()).collect();
    for subject in [
        "label a",
        "taints",
        "kubelet config maxPods",
        "kubelet config evictionHard",
        "kubelet config authentication",
    ] {
        assert_eq!(subjects.iter().filter(|known| **known == subject).count(), 1, "{subject}: {subjects:?}");
    }
}

/// Its units, by facts of EKS' images of Amazon Linux 2023, would configure and start kubelet after the user's scripts.
#[test]
fn the_images_own_agent_is_held_back() {
    let plan = self::plan(&eks("1.33", ""));
    for name in ["nodeadm-config.service", "nodeadm-run.service"] {
        let rival = unit(&plan, name);
        let text = rival.drop_ins.get("90-bringup.conf").map(String::as_str);
        assert_eq!(text, Some("[Unit]\nConditionPathExists=!/\n"), "{name}");
        // A mask would take the place of the image's own file.
        assert!(!rival.mask && rival.content.is_none() && rival.placed_by == PlacedBy::Carrier, "{name}");
    }
    for group in ["os: ubuntu", "os: amazon-linux-2"] {
        let other = self::plan(&eks_with("1.30", "", group));
        assert!(other.units.iter().all(|unit| !unit.name.starts_with("nodeadm")), "{group}");
    }
}

#[test]
fn versions_are_held_against_each_other_where_the_document_asks() {
    let check = |document: &Document| match &step(&plan(document), "registered").action {
        Action::AwaitRegistration { check_skew, .. } => *check_skew,
        other => panic!("{other:?}"),
    };
    assert!(!check(&eks("1.33", "")));
    let asked = format!(
        "kubernetes: {{version: \"1.33\", checkSkew: true}}\napi: {{endpoint: https://api.example.com, certificateAuthority: {AUTHORITY}}}\n\
         join: {{method: bootstrap-token, token: {{file: /etc/token}}}}\nnetwork: {{serviceRanges: [10.96.0.0/16]}}\n"
    );
    assert!(check(&cluster(&asked, "os: debian")));
}
