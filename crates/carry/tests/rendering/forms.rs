//! Each form of carrier holds the plan.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_carry::{Form, base64_text, gzip, read_plan};
use bringup_plan::Action;
use bringup_spec::{Carrier, Phase};

use crate::{CONFIGS, PARTS, SIGNALS, lines, sample, text};

pub(crate) const CARRYING: [Carrier; 4] =
    [Carrier::CloudInit, Carrier::Multipart, Carrier::Ignition, Carrier::Bundle];

#[test]
fn a_plan_comes_back_out_of_every_carrier() {
    for extra in ["", PARTS, CONFIGS] {
        let document = sample::document("generic", "debian", extra);
        let plan = sample::plan(&document);
        let parts = sample::parts(&document);
        let load = sample::load(&document, &plan, &parts);
        for carrier in CARRYING {
            let rendered = load.render(carrier);
            assert_eq!(read_plan(&rendered.bytes).as_ref(), Some(&plan), "{carrier} {extra}");
            assert_eq!(read_plan(&gzip(&rendered.bytes)).as_ref(), Some(&plan), "{carrier} in gzip");
            let packed = base64_text(&gzip(&rendered.bytes));
            assert_eq!(read_plan(packed.as_bytes()).as_ref(), Some(&plan), "{carrier} in base64");
        }
    }
}

#[test]
fn user_data_is_in_base64_where_the_document_asks() {
    let document = sample::document("aws", "ubuntu", "      userDataEncoding: base64\n");
    let (plan, parts) = (sample::plan(&document), sample::parts(&document));
    let load = sample::load(&document, &plan, &parts);
    for (carrier, name) in [
        (Carrier::CloudInit, "cloud-config.yaml.b64"),
        (Carrier::Multipart, "user-data.mime.b64"),
        (Carrier::Ignition, "ignition.json.b64"),
    ] {
        let (rendered, plain) = (load.render(carrier), load.render_plain(carrier));
        assert_eq!(rendered.file_name, name);
        let encoded = text(&rendered.bytes);
        assert_eq!(BASE64_STANDARD.decode(encoded.trim_end()).unwrap(), plain.bytes);
        // EC2 counts raw bytes.
        assert_eq!(rendered.budget.unwrap().used, plain.bytes.len());
        assert_eq!(read_plan(&rendered.bytes).as_ref(), Some(&plan));
    }
    assert_eq!(load.render(Carrier::Bundle).file_name, "bundle.tar");
    // What does not fit is packed first.
    let mut large = plan.clone();
    large.steps.push(sample::file("/etc/lines", &lines(2000)));
    let load = sample::load(&document, &large, &parts);
    for (carrier, name) in
        [(Carrier::CloudInit, "cloud-config.yaml.gz.b64"), (Carrier::Multipart, "user-data.mime.gz.b64")]
    {
        let rendered = load.render(carrier);
        assert_eq!(rendered.file_name, name);
        let packed = BASE64_STANDARD.decode(text(&rendered.bytes).trim_end()).unwrap();
        assert_eq!(packed[..2], [0x1f, 0x8b]);
        assert_eq!(rendered.budget.unwrap().used, packed.len());
        assert_eq!(read_plan(&rendered.bytes).as_ref(), Some(&large));
    }
    let unused = |extra: &str| {
        let document = sample::document("aws", "ubuntu", extra);
        let (path, group) = document.groups().next().unwrap();
        bringup_carry::unused_encoding(&document, &path, group).map(|finding| finding.code.name)
    };
    assert_eq!(unused("      userDataEncoding: base64\n"), None);
    assert_eq!(unused("      carriers: [bundle]\n"), None);
    let both = "      carriers: [bundle]\n      userDataEncoding: base64\n";
    assert_eq!(unused(both), Some("carrier/encoding-unused"));
}

#[test]
fn the_order_of_keys_in_the_document_does_not_matter() {
    let digest = "a5".repeat(32);
    let one = format!(
        "      agent:\n        from: fetch\n        downloads:\n          x86_64: {{urls: [https://a.example/x, https://b.example/x], sha256: {digest}}}\n          aarch64: {{urls: [https://a.example/y], sha256: {digest}}}\n      instanceTypes: [m5.large]\n      labels: {{a: b, c: d}}\n"
    );
    let other = format!(
        "      labels: {{c: d, a: b}}\n      instanceTypes: [m5.large]\n      agent:\n        downloads:\n          aarch64: {{sha256: {digest}, urls: [https://a.example/y]}}\n          x86_64: {{sha256: {digest}, urls: [https://a.example/x, https://b.example/x]}}\n        from: fetch\n"
    );
    let rendered = |extra: &str| -> Vec<Vec<u8>> {
        let document = sample::document("aws", "ubuntu", extra);
        let (plan, parts) = (sample::plan(&document), sample::parts(&document));
        let load = sample::load(&document, &plan, &parts);
        Carrier::ALL.iter().map(|carrier| load.render(*carrier).bytes).collect()
    };
    let first = rendered(&one);
    assert_eq!(first, rendered(&other));
    // The order of mirrors does: they are tried in turn.
    assert_ne!(
        first,
        rendered(&one.replace("a.example/x, https://b.example/x", "b.example/x, https://a.example/x"))
    );
}

#[test]
fn templates_hold_the_plan_whatever_form_the_user_data_must_have() {
    for (extra, count) in [("", 0), ("", 2000), (SIGNALS, 0), (SIGNALS, 2000)] {
        let document = sample::document("aws", "ubuntu", extra);
        let parts = sample::parts(&document);
        let mut plan = sample::plan(&document);
        plan.steps.push(sample::file("/etc/lines", &lines(count)));
        if !extra.is_empty() {
            let signal = Action::Signal {
                kind: bringup_spec::SignalKind::CloudFormation,
                target: std::collections::BTreeMap::new(),
                token: None,
            };
            plan.steps.push(sample::step("signal", Phase::Report, signal));
        }
        let load = sample::load(&document, &plan, &parts);
        for carrier in [Carrier::CloudFormation, Carrier::CloudFormationJson] {
            let rendered = load.render(carrier);
            assert!(rendered.budget.as_ref().unwrap().fits(), "{carrier}: {:?}", rendered.budget);
            let unknown = rendered.findings.iter().any(|finding| finding.code.name == "launch/stack-unknown");
            assert!(!unknown, "{:?}", rendered.findings);
            assert_eq!(rendered.form, if count == 0 { Form::Plain } else { Form::Gzip });
            assert_eq!(
                read_plan(&rendered.bytes).as_ref(),
                Some(&plan),
                "{carrier} with {count} lines, {extra}"
            );
            assert_eq!(text(&rendered.bytes).contains("${AWS::StackName}"), !extra.is_empty());
        }
    }
}

/// The template that EKS publishes: its parameters, its call, and cfn-signal behind it.
#[test]
fn a_template_may_call_the_images_script_with_arguments_and_a_signal() {
    let extra = "
      agent: none
      launch: {userData: bootstrap}
      signals: [{kind: cloudformation}]
      labels: {tier: web, zone: \"@{zone}\"}
      taints: [{key: gpu, value: \"yes\", effect: NoSchedule}]
      maxPods: 58
      sysctls: {vm.swappiness: \"1\"}
      kubelet:
        flags: {v: \"4\"}
      carriers: [cloudformation]";
    let document = sample::document("aws", "amazon-linux-2", extra);
    let plan = sample::plan(&document);
    let rendered = sample::load(&document, &plan, &[]).render(Carrier::CloudFormation);
    let template = text(&rendered.bytes);
    let reading = bringup_cloudformation::read("template.yaml", &template).unwrap();
    let call = "/etc/eks/bootstrap.sh demo --ip-family ipv4 --service-ipv4-cidr 10.100.0.0/16 --use-max-pods false --kubelet-extra-args '--node-labels=tier=web --register-with-taints=gpu=yes:NoSchedule --max-pods=58 --v=4'\n";
    let script = text(&reading.parts.first().unwrap().bytes);
    assert!(
        script.starts_with(&format!("#!/bin/bash\nset -o xtrace\n{call}/opt/aws/bin/cfn-signal ")),
        "{script}"
    );
    assert!(template.contains("/etc/eks/bootstrap.sh ${ClusterName} ${BootstrapArguments}\n"), "{template}");
    assert!(template.contains("--stack ${AWS::StackName} \\\n"), "{template}");
    let told: Vec<&str> = rendered
        .findings
        .iter()
        .filter(|finding| finding.code.name == "carrier/bootstrap-lost")
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "`bootstrap.sh` cannot carry `labels`: the value of label `zone` is known only on the node",
            "`bootstrap.sh` cannot carry `sysctls`: it sets no sysctls of others",
        ]
    );
    // Ours tells the stack by itself, on any system; without it, only some images have the script.
    let ours = extra.replace("agent: none", "agent: image");
    let document = sample::document("aws", "amazon-linux-2023", &ours);
    let rendered = sample::load(&document, &plan, &[]).render(Carrier::CloudFormation);
    assert!(text(&rendered.bytes).contains("/opt/bringup/bin/bringup-node signal --exit-code $? \\\n"));
    let document = sample::document("aws", "amazon-linux-2023", extra);
    let rendered = sample::load(&document, &plan, &[]).render(Carrier::CloudFormation);
    assert!(rendered.findings.iter().any(|finding| finding.code.name == "carrier/bootstrap-script"));
}

/// The flavour's own labels and files are no arguments of a call: whoever relies on them is told.
#[test]
fn a_call_tells_that_it_leaves_out_what_the_flavour_adds() {
    let extra = "\n      launch: {userData: bootstrap}\n      carriers: [cloudformation]";
    for (more, count) in [("", 1), ("\n      inPlaceOf: bootstrap", 0)] {
        let mut document = sample::document("aws", "amazon-linux-2", &format!("{extra}{more}"));
        document.cluster.spec.flavour = bringup_spec::Flavour::Eks;
        let plan = sample::plan(&document);
        let rendered = sample::load(&document, &plan, &[]).render(Carrier::CloudFormation);
        let told = rendered.findings.iter().filter(|finding| finding.message.contains("node-lifecycle"));
        assert_eq!(told.count(), count, "{:?}", rendered.findings);
    }
}

#[test]
fn a_node_config_says_what_nodeadm_reads_and_what_it_cannot_do_is_told() {
    let extra = "
      nodeName: instance-id
      labels: {tier: web, zone: \"@{zone}\"}
      taints: [{key: gpu, value: \"yes\", effect: NoSchedule}]
      maxPods: 58
      kubelet:
        config: {imageGCHighThresholdPercent: 70}
        flags: {v: \"4\"}
      runtime: {config: \"version = 3\"}
      sysctls: {vm.swappiness: 0}
      parts:
        - {name: before.sh, type: text/x-shellscript, content: \"#!/bin/sh\"}
";
    let document = sample::document("aws", "amazon-linux-2023", extra);
    let parts = sample::parts(&document);
    let mut plan = sample::plan(&document);
    plan.node_name = bringup_spec::NodeNamePolicy::InstanceId;
    plan.environment.insert("https_proxy".to_owned(), "http://proxy:3128".to_owned());
    let rendered = sample::load(&document, &plan, &parts).render(Carrier::NodeConfig);
    assert_eq!(rendered.file_name, "nodeconfig.mime");
    let message = bringup_cloudinit::mime::read(&text(&rendered.bytes)).unwrap();
    let parts: Vec<_> = message.walk().into_iter().skip(1).collect();
    let names: Vec<_> = parts.iter().filter_map(|part| part.headers.filename()).collect();
    assert_eq!(names, ["000-bringup-boothook", "010-before.sh", "020-nodeconfig.yaml"]);
    assert_eq!(parts[2].headers.get("Content-Type"), Some("application/node.eks.aws"));
    // The shape is that of node.eks.aws/v1alpha1.
    let expected = "\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
    apiServerEndpoint: https://api.example:6443
    cidr: 10.100.0.0/16
  kubelet:
    config:
      maxPods: 58
      registerWithTaints:
      - key: gpu
        value: \"yes\"
        effect: NoSchedule
      imageGCHighThresholdPercent: 70
    flags:
    - \"--node-labels=tier=web\"
    - \"--v=4\"
  containerd:
    config: version = 3
  instance:
    environment:
      default:
        https_proxy: http://proxy:3128
  featureGates:
    InstanceIdNodeName: true
";
    assert_eq!(text(&parts[2].payload().unwrap().bytes), expected);
    let told: Vec<(&str, &str)> =
        rendered.findings.iter().map(|finding| (finding.code.name, finding.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (
                "nodeconfig/missing",
                "a NodeConfig needs `certificateAuthority`, and the document does not say it"
            ),
            (
                "nodeconfig/not-carried",
                "nodeadm cannot carry `labels`: the value of label `zone` is known only on the node"
            ),
        ]
    );
}

#[test]
fn what_is_published_is_named_by_its_content() {
    let document = sample::document("aws", "ubuntu", "");
    let plan = sample::plan(&document);
    let agents = std::collections::BTreeMap::from([(bringup_spec::Architecture::X86_64, b"agent".to_vec())]);
    let published = bringup_carry::publish_layout([&plan, &plan], &agents, Some("https://m.example/b/"));
    let listed: Vec<(&str, Option<&str>)> =
        published.iter().map(|file| (file.path.as_str(), file.url.as_deref())).collect();
    // `printf agent | sha256sum`
    let agent = "agent/d4f0bc5a29de06b510f9aa428f1eedba926012b591fef7a518e776a7c9bd1824/bringup-node-x86_64";
    let plan_path = format!("plan/{}.json", plan.digest());
    let urls = [format!("https://m.example/b/{agent}"), format!("https://m.example/b/{plan_path}")];
    assert_eq!(listed, [(agent, Some(urls[0].as_str())), (plan_path.as_str(), Some(urls[1].as_str()))]);
    assert_eq!(published[1].bytes, plan.to_json().into_bytes());
    assert_eq!(published[1].about, "plan demo/workers");
}

/// cloud-init hands on a part that it has unpacked as if it had come in plain ASCII: other letters make it lose the part,
/// or change them. So they must not be in one.
#[test]
fn letters_beyond_ascii_arrive_in_every_form_of_every_carrier() {
    let parts_with_letters = format!(
        "{SIGNALS}      parts:
        - name: greeting.yaml
          type: text/cloud-config
          content: |
            #cloud-config
            timezone: Etc/UTC # Zürich
            write_files:
              - path: /etc/grüße
                content: Grüße
        - name: greet.sh
          type: text/x-shellscript
          content: |
            #!/bin/sh
            # {}
            echo Grüße aus Zürich >/etc/greeting
",
        "a long remark that compresses well; ".repeat(40)
    );
    for (agent, count) in [("image", 0), ("image", 2000), ("none", 0), ("none", 2000)] {
        let extra = format!("{parts_with_letters}      agent: {agent}\n");
        let document = sample::document("aws", "ubuntu", &extra);
        let parts = sample::parts(&document);
        let mut plan = sample::plan(&document);
        plan.steps.push(sample::file("/etc/naïve/motd", "Grüße, 雪, 🚀\n"));
        plan.steps.push(sample::file("/etc/lines", &lines(count)));
        let load = sample::load(&document, &plan, &parts);
        for carrier in [Carrier::CloudInit, Carrier::Multipart, Carrier::CloudFormation] {
            let rendered = load.render(carrier);
            let inspection = bringup_carry::inspect("user-data", &rendered.bytes);
            let lost: Vec<_> = inspection
                .all_findings()
                .iter()
                .filter(|finding| finding.code.name == "part/not-ascii")
                .map(|finding| finding.message.clone())
                .collect();
            assert_eq!(lost, [""; 0], "{carrier}, agent {agent}, {count} lines");
            let content = |path: &str| {
                let file = inspection.files.iter().find(|file| file.path == path);
                file.and_then(|file| file.content.clone()).map(|content| text(&content))
            };
            assert_eq!(content("/etc/grüße").as_deref(), Some("Grüße"), "{carrier}");
            if agent == "image" {
                assert_eq!(inspection.plan.as_ref(), Some(&plan), "{carrier}");
                assert!(load.plan_json().is_ascii());
            } else {
                assert_eq!(content("/etc/naïve/motd").as_deref(), Some("Grüße, 雪, 🚀\n"), "{carrier}");
            }
            let script = inspection.steps.iter().find(|step| step.run.ends_with("greet.sh"));
            let script = script.and_then(|step| step.script.as_deref()).unwrap_or_default();
            assert!(script.contains("echo Grüße aus Zürich"), "{carrier}: {script}");
        }
    }
}

/// nodeadm sees to the instance's disks itself, behind all scripts and on every boot: the step is its own setting there,
/// unless another step of the operator's comes behind it.
#[test]
fn disks_are_left_to_nodeadm_in_its_own_words() {
    let disks = "
      steps:
        - {name: first, run: [/bin/first], before: [disks]}
        - {name: disks, run: [/usr/bin/setup-local-disks, raid0, --dir, /mnt/fast, --no-bind-soci], before: [runtime], everyBoot: true}";
    let behind =
        format!("{disks}\n        - {{name: last, run: [/bin/last], after: [disks], before: [runtime]}}");
    for (extra, passed) in [(disks, true), (behind.as_str(), false)] {
        let document = sample::document("aws", "amazon-linux-2023", &format!("{extra}\n      agent: none\n"));
        let compiled = bringup_plan::compile(&document, 0, &bringup_plan::LocalFiles::default());
        let plan = compiled.plan.unwrap();
        let rendered = sample::load(&document, &plan, &[]).render(Carrier::NodeConfig);
        let message = bringup_cloudinit::mime::read(&text(&rendered.bytes)).unwrap();
        let parts = message.walk();
        let payloads = parts.iter().skip(1).map(|part| text(&part.payload().unwrap().bytes));
        let text: String = payloads.collect();
        let own = "    localStorage:\n      strategy: RAID0\n      mountPath: /mnt/fast\n      disabledMounts:\n      - SOCI\n";
        assert_eq!((text.contains(own), text.contains("setup-local-disks")), (passed, !passed), "{text}");
        assert!(text.contains("/bin/first"));
    }
}

/// So it is with name servers and with what containers start from; a drop-in that says more stays a file.
#[test]
fn name_servers_and_base_specs_are_left_to_nodeadm() {
    let files = |more: &str| {
        format!(
            "
      steps:
        - {{name: names, run: [/usr/bin/systemctl, restart, systemd-resolved.service], before: [runtime]}}
      files:
        - {{path: /etc/containerd/base-runtime-spec.json, content: \"{{\\\"ociVersion\\\": \\\"1.1.0\\\"}}\"}}
        - {{path: /etc/systemd/resolved.conf.d/40-eks.conf, content: \"[Resolve]\\nDNS=10.1.1.1 10.1.1.2\\nDomains=lab.example\\n{more}\"}}
      agent: none
"
        )
    };
    for (more, passed) in [("", true), ("LLMNR=no\\n", false)] {
        let document = sample::document("aws", "amazon-linux-2023", &files(more));
        let compiled = bringup_plan::compile(&document, 0, &bringup_plan::LocalFiles::default());
        let plan = compiled.plan.unwrap();
        let rendered = sample::load(&document, &plan, &[]).render(Carrier::NodeConfig);
        let message = bringup_cloudinit::mime::read(&text(&rendered.bytes)).unwrap();
        let parts = message.walk();
        let payloads = parts.iter().skip(1).map(|part| text(&part.payload().unwrap().bytes));
        let text: String = payloads.collect();
        assert!(text.contains("    baseRuntimeSpec:\n      ociVersion: 1.1.0\n"), "{text}");
        assert!(!text.contains("/etc/containerd/base-runtime-spec.json"), "{text}");
        let own = "    network:\n      nameservers:\n      - 10.1.1.1\n      - 10.1.1.2\n      domains:\n      - lab.example\n";
        assert_eq!((text.contains(own), text.contains("systemd-resolved")), (passed, !passed), "{text}");
    }
}
