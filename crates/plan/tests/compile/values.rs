//! Values that are well formed and cannot work.

use bringup_diag::{Finding, Severity};
use bringup_spec::Document;

use crate::support::{AUTHORITY, cluster, codes, eks_with, findings, only, plain};

/// Severity, code and hint of the only finding that is no note.
fn told(document: &Document) -> (Severity, &'static str, String) {
    let all = findings(document);
    let [one] =
        all.iter().filter(|finding| finding.severity != Severity::Note).collect::<Vec<&Finding>>()[..]
    else {
        panic!("{all:#?}");
    };
    assert!(one.place.is_some(), "{one:?}");
    (one.severity, one.code.name, one.hint.clone().expect("a hint"))
}

/// Asserts that a group is told with this code as an error, and a hint that begins so.
fn refused(document: &Document, code: &str, hint: &str) {
    let (severity, found, said) = told(document);
    assert_eq!((severity, found), (Severity::Error, code), "{said}");
    assert!(said.starts_with(hint), "{said}");
}

/// A document outside AWS, with one group of Debian and these lines of its `spec`.
fn outside(spec: &str) -> Document {
    let given = |key: &str| spec.lines().any(|line| line.starts_with(key));
    let mut text = String::from("kubernetes: {version: \"1.33\"}\n");
    for (key, line) in [
        (
            "api:",
            format!("api: {{endpoint: https://api.example.com:6443, certificateAuthority: {AUTHORITY}}}\n"),
        ),
        ("join:", "join: {method: bootstrap-token, token: {file: /etc/token}}\n".to_owned()),
        ("network:", "network: {serviceRanges: [10.96.0.0/16]}\n".to_owned()),
    ] {
        if !given(key) {
            text.push_str(&line);
        }
    }
    cluster(&format!("{text}{spec}"), "os: debian")
}

#[test]
fn machines_are_reached_at_addresses() {
    let machine = |rest: &str| outside(&format!("machines: [{{nodeGroup: workers, agent: true, {rest}}}]\n"));
    for right in
        ["address: 10.0.0.1", "address: node.example.com", "address: fd00::1, user: core, port: 2222"]
    {
        assert_eq!(codes(&machine(right)), ["machine/over-ssh"], "{right}");
    }
    let own = "; the user and the port have fields of their own";
    for (wrong, code, hint) in [
        (
            "address: 10.0.0.999",
            "machine/address",
            format!("write four numbers from 0 to 255, or a name{own}"),
        ),
        ("address: \"10.0.0.1:22\"", "machine/address", "write a name of letters".to_owned()),
        ("address: 10.0.0.1, port: 0", "machine/address", "write the port of the SSH server".to_owned()),
        ("address: 10.0.0.1, user: a b", "machine/user", "write its name alone".to_owned()),
        ("address: 10.0.0.1, jumpHost: {address: 1.2.3}", "machine/address", "write four numbers".to_owned()),
        (
            "address: 10.0.0.1, jumpHost: {address: 10.0.0.1}",
            "machine/address",
            "remove `jumpHost`".to_owned(),
        ),
    ] {
        refused(&machine(wrong), code, &hint);
    }
}

#[test]
fn endpoints_and_proxies_have_hosts_and_ports() {
    let api = |endpoint: &str| {
        outside(&format!("api: {{endpoint: \"{endpoint}\", certificateAuthority: {AUTHORITY}}}\n"))
    };
    for right in
        ["https://[fd00::1]:6443", "https://10.0.0.1", "https://rancher.example.com/k8s/clusters/c-1"]
    {
        assert_eq!(codes(&api(right)), Vec::<&str>::new(), "{right}");
    }
    for (wrong, hint) in [
        ("https://api.example.com:99999", "write a number from 1 to 65535"),
        ("https://api.example.com:0", "write a number from 1 to 65535"),
        ("https://10.0.0.999", "write four numbers from 0 to 255"),
        ("https://api..com", "write a name of letters"),
        ("https://api?x", "write `https://HOST`"),
    ] {
        refused(&api(wrong), "api/endpoint", hint);
    }
    for (proxy, hint) in [
        ("http: \"http://\"", "write one such as"),
        ("http: http://proxy:99999", "write one such as"),
        ("http: http://proxy:3128, noProxy: [\"a, b\"]", "write each as an item"),
    ] {
        refused(&outside(&format!("proxy: {{{proxy}}}\n")), "proxy/address", hint);
    }
    let secret = outside("proxy: {http: \"http://u:word@10.0.0.999:1\"}\n");
    assert!(findings(&secret).iter().all(|finding| !finding.message.contains("word@")));
}

#[test]
fn ranges_and_servers_are_of_use() {
    let network = |text: &str| outside(&format!("network: {{{text}}}\n"));
    for (wrong, code) in [
        ("serviceRanges: [127.0.0.0/16]", "network/range"),
        ("serviceRanges: [10.96.0.0/16], podRanges: [169.254.0.0/16]", "network/range"),
        ("serviceRanges: [10.96.0.0/16], dns: [10.96.0.1]", "network/dns-taken"),
        ("serviceRanges: [10.96.0.0/16], dns: [10.96.0.0]", "network/dns-taken"),
        ("serviceRanges: [10.96.0.0/16], dns: [10.96.0.9, 10.96.0.9]", "network/dns-taken"),
        ("serviceRanges: [10.96.0.0/16], domain: -a.b", "network/domain"),
    ] {
        assert_eq!(codes(&network(wrong)), [code], "{wrong}");
    }
    let wide = told(&network("serviceRanges: [10.0.0.0/8]"));
    assert_eq!(wide, (Severity::Warning, "network/range", "write a prefix of 12 or more".to_owned()));
    assert_eq!(codes(&network("serviceRanges: [10.0.0.0/12]")), Vec::<&str>::new());
    let many = told(&network("serviceRanges: [10.0.0.0/16], dns: [10.0.0.2, 10.0.0.3, 10.0.0.4, 10.0.0.5]"));
    assert_eq!((many.0, many.1), (Severity::Warning, "network/dns-taken"));
}

#[test]
fn a_node_takes_no_more_pods_than_it_can() {
    for (group, column) in [("maxPods: 100000", 16), ("kubelet: {config: {maxPods: 100000}}", 35)] {
        let finding = only(&plain("1.33", group), "group/max-pods-many");
        assert_eq!(finding.severity, Severity::Warning, "{group}");
        // 11 MiB for each pod and 255 MiB.
        assert!(finding.message.contains("1074 GiB"), "{}", finding.message);
        assert_eq!(finding.place.unwrap().span.start.column, column, "{group}");
    }
    assert_eq!(only(&plain("1.33", "maxPods: 3000000000"), "group/max-pods-many").severity, Severity::Error);
    assert_eq!(codes(&plain("1.33", "maxPods: 737")), Vec::<&str>::new());
    let none = only(&plain("1.33", "kubelet: {config: {maxPods: 0}}"), "group/max-pods-zero");
    assert_eq!(none.place.unwrap().span.start.column, 35);
}

#[test]
fn names_at_aws_have_their_forms() {
    let aws = |rest: &str| {
        let spec = format!(
            "kubernetes: {{version: \"1.33\"}}\napi: {{endpoint: https://api.example.com, certificateAuthority: {AUTHORITY}}}\nnetwork: {{serviceRanges: [10.100.0.0/16]}}\n{rest}\n"
        );
        cluster(&spec, "platform: aws\nos: amazon-linux-2023")
    };
    let join = "join: {method: eks-token}";
    for (text, hint) in [
        (format!("{join}\naws: {{region: eu-central-1, vpc: main}}"), "write one such as `vpc-0123"),
        (
            format!("{join}\naws: {{region: eu-central-1, subnets: [sg-0123456789abcdef0]}}"),
            "write one such as `subnet-0",
        ),
        (
            format!("{join}\naws: {{region: eu-central-1, subnets: [subnet_0]}}"),
            "write one such as `subnet-0",
        ),
        (
            format!("{join}\naws: {{region: eu-central-1, subnets: [subnet-01234567, subnet-01234567]}}"),
            "keep one",
        ),
        (
            format!("{join}\naws: {{region: eu-central-1, controlPlaneSecurityGroup: nodes}}"),
            "write one such as `sg-0",
        ),
        (format!("{join}\naws: {{region: eu-central-1, clusterName: a b}}"), "write letters, digits"),
        (
            "join: {method: eks-token, roleArn: nodes}\naws: {region: eu-central-1}".to_owned(),
            "write one such as `arn:",
        ),
    ] {
        refused(&aws(&text), "aws/name", hint);
    }
    let right = "join: {method: eks-token, roleArn: \"arn:aws:iam::111122223333:role/path/nodes\"}\naws: {region: eu-central-1, vpc: vpc-01234567, clusterName: Shop_1}";
    assert_eq!(codes(&aws(right)), Vec::<&str>::new());
}

#[test]
fn steps_have_a_program_and_time() {
    for (group, code, hint) in [
        ("steps: [{name: a, run: [\"\"]}]", "step/command", "write `run:"),
        ("steps: [{name: a, run: [/bin/x, \"a\\0b\"]}]", "step/command", "remove it"),
        ("steps: [{name: a, run: [/bin/x], timeout: 0s}]", "step/time", "write a time"),
        ("steps: [{name: a, run: [/bin/x], environment: {A B: x}}]", "step/environment-name", "use letters"),
        ("hooks: [{name: a, on: pre-install, run: [/bin/x], timeout: 0s}]", "step/time", "write a time"),
        ("update: {timeout: 0s}", "step/time", "write a time"),
        ("update: {hold: [a b]}", "software/package", "write each package"),
        ("reboot: {timeout: 0s}", "step/time", "write a time"),
        (
            "role: control-plane\nbootstrap: true\ncontrolPlane: {run: [/bin/x], timeout: 0s}",
            "step/time",
            "write a time",
        ),
        (
            "role: control-plane\nbootstrap: true\ncontrolPlane: {run: [/bin/x], attempts: 0}",
            "step/attempts",
            "write 1",
        ),
        (
            "role: control-plane\nbootstrap: true\nplatformStage: {run: [/bin/x y]}",
            "step/no-shell",
            "write each word",
        ),
        ("kubelet: {environment: {A: \"x\\ny\"}}", "kubelet/environment-value", "write it on one line"),
    ] {
        refused(&plain("1.33", group), code, hint);
    }
    for group in
        ["steps: [{name: a, run: [/bin/x], timeout: 25h}]", "steps: [{name: a, run: [/bin/x], backoff: 25h}]"]
    {
        let (severity, code, _) = told(&plain("1.33", group));
        assert_eq!((severity, code), (Severity::Warning, "step/time"), "{group}");
    }
}

#[test]
fn packages_and_downloads_have_names_that_exist() {
    refused(
        &plain("1.33", "software: {kubelet: {from: package, package: a b}}"),
        "software/package",
        "write one name",
    );
    let sha256 = "ab".repeat(32);
    let agent = format!(
        "agent: {{from: fetch, downloads: {{x86_64: &d {{urls: [https://x/y], sha256: {sha256}}}, amd64: *d}}}}"
    );
    refused(&plain("1.33", &agent), "agent/download", "did you mean `x86_64`?");
}

#[test]
fn systems_have_versions_in_numbers() {
    let of = |os: &str| eks_with("1.33", "", &format!("os: {os}"));
    refused(&of("{family: debian, version: bookworm}"), "group/os-version", "write a number such as \"12\"");
    refused(&of("{family: ubuntu, version: noble}"), "group/os-version", "write a number such as \"24.04\"");
    refused(&of("{family: ubuntu, version: \"22\"}"), "group/os-version", "write a number such as \"22.04\"");
    for right in [
        "{family: debian, version: \"12\"}",
        "{family: debian, version: \"12.5\"}",
        "{family: ubuntu, version: 24.04.1}",
        "{family: flatcar, version: stable}",
    ] {
        assert_eq!(codes(&of(right)), Vec::<&str>::new(), "{right}");
    }
}

#[test]
fn files_links_and_settings_do_not_defeat_themselves() {
    for (group, code, hint) in [
        ("links: [{path: /etc/a, target: a}]", "link/target", "write another target"),
        ("sysctls: {vm/swappiness: 1, vm.swappiness: 2}", "sysctl/name", "keep one"),
        ("kernelArguments: [quiet, quiet]", "kernel/argument", "keep one"),
        (
            "files: [{path: /etc/a, secret: {file: token}}]",
            "secret/relative-path",
            "write a path on the node",
        ),
        ("runtime: {sandboxImage: a b}", "runtime/image", "write one such as"),
        ("runtime: {sandboxImage: registry.k8s.io/Pause}", "runtime/image", "write one such as"),
        ("signals: [{kind: http, url: ready}]", "signal/target", "write one such as"),
        ("signals: [{kind: http, url: \"s3://bucket/key\"}]", "signal/target", "write one such as"),
    ] {
        refused(&plain("1.33", group), code, hint);
    }
    let mode = told(&plain("1.33", "directories: [{path: /opt/d, mode: \"0644\"}]"));
    assert_eq!(mode, (Severity::Warning, "file/mode", "write \"0755\"".to_owned()));
    let volatile = told(&plain(
        "1.33",
        &format!("assets: [{{name: a, urls: [https://x/y], sha256: {}, path: /run/a}}]", "ab".repeat(32)),
    ));
    assert_eq!((volatile.0, volatile.1), (Severity::Warning, "file/volatile-path"));
    let twice =
        told(&plain("1.33", "signals: [{kind: file, path: /run/ready}, {kind: file, path: /run/ready}]"));
    assert_eq!((twice.0, twice.1), (Severity::Warning, "signal/target"));
    for image in [
        "registry.k8s.io/pause:3.10",
        "pause",
        "localhost:5000/a/b@sha256:abcdef",
        "602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:3.5",
    ] {
        assert_eq!(
            codes(&plain("1.33", &format!("runtime: {{sandboxImage: \"{image}\"}}"))),
            Vec::<&str>::new(),
            "{image}"
        );
    }
}

#[test]
fn credential_providers_can_be_run_and_are_asked() {
    let of = |rest: &str| plain("1.33", &format!("imageCredentialProvider: {{binDir: /opt/bin, {rest}}}"));
    for (rest, hint) in [
        ("name: /opt/bin/helper, matchImages: [a.example]", "write its name alone"),
        ("name: helper", "add `matchImages"),
        ("name: helper, matchImages: [\"https://a.example\"]", "write a registry"),
        ("name: helper, matchImages: [a.example], environment: {A B: x}", "use letters"),
    ] {
        refused(&of(rest), "kubelet/credential-provider", hint);
    }
    assert_eq!(codes(&of("name: helper, matchImages: [\"*.example.com\"]")), Vec::<&str>::new());
}

#[test]
fn kubelet_refuses_numbers_and_words_beyond_its_own() {
    for (config, hint) in [
        ("port: 70000", "write a number from 0 to 65535"),
        ("readOnlyPort: -1", "write a number from 0 to 65535"),
        ("oomScoreAdj: 5000", "write a number from -1000 to 1000"),
        ("registryBurst: -1", "write 0 or more"),
        ("containerLogMaxFiles: 1", "write 2 or more"),
        ("maxParallelImagePulls: 0", "write 1 or more"),
        ("containerLogMaxSize: x", "write a quantity such as `10Mi`"),
        ("enforceNodeAllocatable: [pod]", "did you mean `pods`?"),
        ("imageMinimumGCAge: -1s", "write a time"),
        ("address: everywhere", "write one such as `0.0.0.0`"),
        (
            "{evictionSoft: {memory.available: 1Gi}, evictionSoftGracePeriod: {memory.available: x}}",
            "write a duration",
        ),
        ("authorization: {mode: Never}", "write one of `AlwaysAllow`, `Webhook`"),
        ("nodeStatusUpdateFrequency: x", "write a duration such as `1m30s`"),
    ] {
        let config = if config.starts_with('{') { config.to_owned() } else { format!("{{{config}}}") };
        refused(&plain("1.33", &format!("kubelet: {{config: {config}}}")), "kubelet/field-value", hint);
    }
    for right in [
        "port: 0",
        "containerLogMaxFiles: 2",
        "evictionSoft: {memory.available: 1Gi}, evictionSoftGracePeriod: {memory.available: 1m}",
    ] {
        assert_eq!(
            codes(&plain("1.33", &format!("kubelet: {{config: {{{right}}}}}"))),
            Vec::<&str>::new(),
            "{right}"
        );
    }
}

#[test]
fn unit_files_are_ones_that_systemd_reads() {
    let unit = |name: &str, content: &str| {
        plain("1.33", &format!("units: [{{name: {name}, content: \"{content}\"}}]"))
    };
    for (name, content, hint) in [
        ("a.service", "", "write the unit file, or `mask: true`"),
        ("a.service", "ExecStart=/bin/true", "begin with a section"),
        ("a.service", "[Unit]\\nDescription=x", "add `[Service]`"),
        ("a.service", "[Service]\\nType=oneshot", "add `ExecStart="),
        ("a.timer", "[Unit]\\nDescription=x", "add `[Timer]`"),
        ("data.mount", "[Mount]\\nWhat=/dev/sdb\\nWhere=/mnt/data", "write `mnt-data.mount`"),
    ] {
        refused(&unit(name, content), "unit/content", hint);
    }
    let misspelt = only(
        &unit("a.service", "[Unit]\\nAfter=b.service\\n[Instal]\\n[Service]\\nExecStart=/bin/x"),
        "unit/content",
    );
    assert_eq!(
        (misspelt.severity, misspelt.hint.as_deref()),
        (Severity::Warning, Some("did you mean `[Install]`?"))
    );
    for (name, content) in [
        ("a.service", "# of ours\\n[Service]\\nExecStart=/bin/true\\n[X-Bringup]\\nReads=/etc/a"),
        ("mnt-data.mount", "[Mount]\\nWhat=/dev/sdb\\nWhere=/mnt/data"),
        ("a.target", "[Unit]\\nDescription=x"),
    ] {
        assert_eq!(codes(&unit(name, content)), Vec::<&str>::new(), "{name}");
    }
    let drop_in =
        plain("1.33", "units: [{name: a.service, dropIns: [{name: 10-a.conf, content: \"Nice=1\"}]}]");
    refused(&drop_in, "unit/content", "begin with a section");
}
