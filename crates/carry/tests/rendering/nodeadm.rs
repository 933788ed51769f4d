//! On EKS' images of Amazon Linux 2023 the image's own agent joins: what the operator wants before kubelet is in parts that
//! cloud-init has ended with when `nodeadm-run.service`, which is after `cloud-final.service`, starts it.
#![expect(clippy::panic, clippy::unwrap_used, reason = "what cannot be rendered or read back must fail")]

use bringup_carry::{Rendered, carriers_of, inspect, lost_guarantees, without_agent};
use bringup_plan::LocalFiles;
use bringup_spec::{Carrier, Document};

use crate::{sample, text};

/// Rendered from what the compiler makes of the document.
fn rendered(document: &Document, carrier: Carrier) -> Rendered {
    let compiled = bringup_plan::compile(document, 0, &LocalFiles::default());
    let plan = compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.findings));
    let parts = sample::parts(document);
    sample::load(document, &plan, &parts).render(carrier)
}

/// Name, type and text of each part.
fn parts_of(rendered: &Rendered) -> Vec<(String, String, String)> {
    let message = bringup_cloudinit::mime::read(&text(&rendered.bytes)).unwrap();
    let part = |part: &bringup_cloudinit::mime::Entity| {
        let kind = part.headers.get("Content-Type").unwrap_or_default().to_owned();
        let name = part.headers.filename().unwrap_or_default();
        (name, kind, text(&part.payload().unwrap().bytes))
    };
    message.walk().into_iter().skip(1).map(part).collect()
}

fn told(rendered: &Rendered, code: &str) -> Vec<String> {
    let of_code = rendered.findings.iter().filter(|finding| finding.code.name == code);
    of_code.map(|finding| finding.message.clone()).collect()
}

const OPERATORS: &str = "
      agent: none
      nodeName: instance-id
      files:
        - {path: /etc/drivers.conf, content: \"gpu=yes\\n\", mode: \"0640\"}
        - {path: /etc/where, content: \"@{zone}\\n\"}
        - {path: /etc/secret, secret: {ssmParameter: /a/b}}
      directories: [{path: /srv/models, mode: \"0700\"}]
      units:
        - {name: drivers.service, content: \"[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target\\n\", enabled: true}
      sysctls: {vm.swappiness: 0}
      parts:
        - {name: own.sh, type: text/x-shellscript, content: \"#!/bin/sh\"}
      steps:
        - {name: second, run: [/opt/load, \"it's\", \"@{zone}\"], environment: {LEVEL: \"2\"}, directory: /srv, after: [first], before: [gate]}
        - {name: first, script: \"#!/bin/bash\\nexport A=1\\n\", before: [gate]}
        - {name: last, run: [/bin/true], after: [registered]}
        - {name: each, run: [/bin/each], after: [second], before: [gate], everyBoot: true}
      hooks:
        - {name: early, on: pre-install, run: [/bin/early]}
        - {name: late, on: post-install, run: [/bin/late]}
";

#[test]
fn steps_before_kubelet_are_parts_in_their_order_and_files_come_before_them() {
    let document = sample::document("aws", "amazon-linux-2023", OPERATORS);
    let rendered = rendered(&document, Carrier::NodeConfig);
    let parts = parts_of(&rendered);
    let order: Vec<(&str, &str)> =
        parts.iter().map(|(name, kind, _)| (name.as_str(), kind.as_str())).collect();
    assert_eq!(
        order,
        [
            ("000-bringup-boothook", "text/cloud-boothook"),
            ("010-own.sh", "text/x-shellscript"),
            ("020-hook-early", "text/x-shellscript"),
            ("030-first", "text/x-shellscript"),
            ("040-second", "text/x-shellscript"),
            ("050-each", "text/x-shellscript"),
            ("060-nodeconfig.yaml", "application/node.eks.aws"),
        ]
    );
    // eksctl gives each command of `preBootstrapCommands` as a script of its own, as it is written.
    assert_eq!(parts[3].2, "#!/bin/bash\nexport A=1\n");
    let second = &parts[4].2;
    assert!(second.starts_with("#!/bin/sh\nset -eu\n"), "{second}");
    assert!(second.ends_with("export LEVEL=2\ncd /srv\nexec /opt/load 'it'\\''s' \"${zone}\"\n"), "{second}");
    assert!(second.contains("zone=$(ask placement/availability-zone)"), "{second}");

    let inspection = inspect("nodeconfig.mime", &rendered.bytes);
    let file = |path: &str| inspection.files.iter().find(|file| file.path == path);
    assert_eq!(file("/etc/drivers.conf").unwrap().content.as_deref(), Some(b"gpu=yes\n".as_slice()));
    assert_eq!(file("/etc/drivers.conf").unwrap().mode, "0640");
    assert!(file("/etc/where").is_some_and(|file| file.content.is_none()));
    assert!(file("/etc/sysctl.d/90-bringup.conf").is_some());
    assert!(file("/etc/systemd/system/drivers.service").is_some());
    assert!(file("/etc/secret").is_none());
    // Nothing of the gate, and no plan.
    assert!(
        !inspection.files.iter().any(|file| file.path.contains("bringup/") || file.path.contains("kubelet"))
    );
    let runs: Vec<&str> =
        inspection.steps.iter().map(|step| step.run.rsplit('/').next().unwrap_or_default()).collect();
    assert_eq!(
        runs,
        ["000-bringup-boothook", "010-own.sh", "020-hook-early", "030-first", "040-second", "050-each"]
    );

    assert_eq!(
        told(&rendered, "nodeconfig/not-carried"),
        [
            "nodeadm cannot carry file `/etc/secret`: it holds a secret",
            "nodeadm cannot carry step `last`: nothing of the image waits for kubelet to run before it runs something else",
            "nodeadm cannot carry hook `late`: nothing of the image waits for kubelet to run before it runs something else",
        ]
    );
    assert_eq!(
        told(&rendered, "nodeconfig/order"),
        ["step `each` is carried, but to stay behind `hook:early` it runs on the first boot only"]
    );
}

#[test]
fn steps_of_every_boot_run_on_every_boot_where_none_is_before_them() {
    let steps = "
      agent: none
      steps:
        - {name: one, run: [/bin/one], before: [gate], everyBoot: true}
        - {name: two, run: [/bin/two], before: [gate], after: [one]}
        - {name: three, run: [/bin/three], before: [gate], after: [configure]}
";
    let document = sample::document("aws", "amazon-linux-2023", steps);
    let rendered = rendered(&document, Carrier::NodeConfig);
    let kinds: Vec<(String, String)> =
        parts_of(&rendered).into_iter().map(|(name, kind, _)| (name, kind)).take(3).collect();
    let own = |name: &str, kind: &str| (name.to_owned(), kind.to_owned());
    assert_eq!(
        kinds,
        [
            own("000-one", "text/x-shellscript-per-boot"),
            own("010-two", "text/x-shellscript"),
            own("020-three", "text/x-shellscript"),
        ]
    );
    assert_eq!(
        told(&rendered, "nodeconfig/order"),
        [
            "step `three` is carried, but it runs with the image's files in place, but nodeadm starts containerd only after it"
        ]
    );
}

#[test]
fn without_an_agent_an_image_with_nodeadm_gets_a_node_config() {
    let nodeadm =
        |extra: &str| sample::document("aws", "amazon-linux-2023", &format!("      agent: none\n{extra}"));
    let carriers = |document: &Document| carriers_of(document, document.groups().next().unwrap().1);
    assert_eq!(carriers(&nodeadm("")), [Carrier::NodeConfig]);
    assert_eq!(
        carriers(&nodeadm("      carriers: [multipart, cloudformation]\n")),
        [Carrier::NodeConfig, Carrier::CloudFormation]
    );
    for other in ["amazon-linux-2", "ubuntu"] {
        let document = sample::document("aws", other, "      agent: none\n");
        assert_eq!(carriers(&document), [Carrier::CloudInit], "{other}");
    }
    // The template launches the same user-data.
    let document = nodeadm(
        "      instanceTypes: [m5.large]\n      scaling: {max: 3}\n      steps: [{name: one, run: [/bin/one]}]\n",
    );
    let template = rendered(&document, Carrier::CloudFormation);
    let inspection = inspect("template.yaml", &template.bytes);
    let names: Vec<String> = inspection
        .parts
        .iter()
        .flat_map(|part| &part.pieces)
        .chain(&inspection.pieces)
        .map(|piece| piece.name.clone())
        .collect();
    assert!(names.iter().any(|name| name.ends_with("-one")), "{names:?}");
    let ours = told(&rendered(&document, Carrier::Multipart), "agent/needed");
    assert!(
        ours.contains(&"`multipart` has nobody on the node who makes a token of EKS".to_owned()),
        "{ours:?}"
    );
    // Nor has a bundle, or what is made for a system whose image might have nodeadm.
    let generic = sample::document("aws", "generic", "      agent: none\n      carriers: [nodeconfig]\n");
    for (document, carrier) in [(&document, Carrier::Bundle), (&generic, Carrier::CloudInit)] {
        let message = format!("`{carrier}` has nobody on the node who makes a token of EKS");
        let told = told(&rendered(document, carrier), "agent/needed");
        assert!(told.contains(&message), "{told:?}");
    }
}

#[test]
fn what_is_lost_without_our_agent_is_told_for_each_way() {
    let lost = |os: &str, extra: &str| {
        let document = sample::document("aws", os, extra);
        let (path, group) = document.groups().next().unwrap();
        let findings = without_agent(&document, &path, group);
        findings.iter().map(|finding| (finding.message.clone(), finding.hint.clone())).collect::<Vec<_>>()
    };
    assert_eq!(lost("amazon-linux-2", ""), []);
    let script = lost("amazon-linux-2", "      agent: none\n");
    assert_eq!(script.len(), 1);
    for phrase in
        ["nothing is tried again", "no gate", "no journal", "status or signal", "facts come from a shell"]
    {
        assert!(script[0].0.contains(phrase), "{phrase}: {}", script[0].0);
    }
    // These images have no nodeadm.
    assert!(!script[0].1.as_deref().unwrap_or_default().contains("nodeconfig"), "{:?}", script[0].1);
    let nodeadm =
        lost("amazon-linux-2023", "      agent: none\n      steps: [{name: one, run: [/bin/one]}]\n");
    assert_eq!(nodeadm.len(), 1);
    for phrase in [
        "once for each instance",
        "not tried again",
        "kubelet starts even where a step has failed",
        "the next boot runs neither it nor those behind it",
    ] {
        assert!(nodeadm[0].0.contains(phrase), "{phrase}: {}", nodeadm[0].0);
    }
    // Also where there is an agent, but not in this carrier.
    let document = sample::document("aws", "amazon-linux-2023", "      carriers: [nodeconfig, multipart]\n");
    let group = document.groups().next().unwrap().1;
    assert!(!lost_guarantees(&document, group, Carrier::NodeConfig).is_empty());
    assert!(lost_guarantees(&document, group, Carrier::Multipart).is_empty());
}

/// What `bringup convert` makes of a NodeConfig with nodeadm's gate; one more setting of containerd is the operator's own.
const PARALLEL: &str = r#"
      agent: none
      nodeName: instance-id
      kubelet:
        config:
          imageServiceEndpoint: unix:///run/soci-snapshotter-grpc/soci-snapshotter-grpc.sock
          serializeImagePulls: false
      runtime:
        config: |
          version = 2
          OWN

          [plugins."io.containerd.grpc.v1.cri".containerd]
          disable_snapshot_annotations = false
          snapshotter = "soci"

          [proxy_plugins.soci]
          address = "/run/soci-snapshotter-grpc/soci-snapshotter-grpc.sock"
          type = "snapshot"

          [proxy_plugins.soci.exports]
          root = "/var/lib/soci-snapshotter-grpc"
      files:
        - path: /etc/soci-snapshotter-grpc/config.toml
          content: |
            debug = false

            [content_store]
            type = "containerd"

            [cri_keychain]
            enable_keychain = true
            image_service_path = "/run/containerd/containerd.sock"

            [pull_modes.parallel_pull_unpack]
            concurrent_download_chunk_size = "CHUNK"
            discard_unpacked_layers = true
            enable = true
            max_concurrent_downloads = -1
            max_concurrent_downloads_per_image = 20
            max_concurrent_unpacks = -1
            max_concurrent_unpacks_per_image = 12

            [pull_modes.parallel_pull_unpack.decompress_streams.gzip]
            args = ["-d", "-c"]
            path = "/usr/bin/unpigz"
      steps:
        - name: local-disks
          run: [/usr/bin/setup-local-disks, raid0]
          before: [runtime]
          everyBoot: true
        - name: import-pause-image
          run:
            - /bin/sh
            - -c
            - '[ ! -e /etc/eks/pause.tar ] || exec /usr/bin/ctr --namespace k8s.io images import --snapshotter soci --discard-unpacked-layers=false --local /etc/eks/pause.tar'
          after: [runtime]
          before: [gate]
          everyBoot: true
      units:
        - name: containerd.service
          dropIns:
            - name: 10-soci-snapshotter.conf
              content: |
                [Unit]
                Requires=soci-snapshotter.service
                After=soci-snapshotter.service
"#;

/// nodeadm decides by the machine's size: a small one has images pulled as ever, which files would not let it.
#[test]
fn pulls_in_parallel_are_a_gate_of_the_node_config() {
    let carried = |own: &str, chunk: &str| {
        let extra = PARALLEL.replace("OWN", own).replace("CHUNK", chunk);
        parts_of(&rendered(&sample::document("aws", "amazon-linux-2023", &extra), Carrier::NodeConfig))
    };
    let whole = carried("", "16mb");
    let [(_, _, config)] = whole.as_slice() else { panic!("{whole:#?}") };
    assert!(
        config.contains("  featureGates:\n    InstanceIdNodeName: true\n    FastImagePull: true\n"),
        "{config}"
    );
    assert!(config.contains("serializeImagePulls: false"), "{config}");
    assert!(config.contains("strategy: RAID0"), "{config}");
    assert!(!config.contains("soci") && !config.contains("containerd:"), "{config}");

    // What is the operator's own stays.
    let more = carried("oom_score = -999", "16mb");
    let config = &more.last().unwrap().2;
    assert!(config.contains("FastImagePull: true") && config.contains("oom_score = -999"), "{config}");
    assert!(!config.contains("soci"), "{config}");

    // The gate knows no other size of chunks.
    let other = carried("", "8mb");
    let config = &other.last().unwrap().2;
    assert!(!config.contains("FastImagePull") && config.contains("soci"), "{config}");
    // Then the files, and the step that is nodeadm's with the gate, are carried as they are.
    assert_eq!(other.len(), 3, "{other:#?}");
}

/// nodeadm has its own specification of what containers start from: only another one is worth saying.
#[test]
fn nodeadms_own_base_spec_is_not_said_to_it() {
    let mut document = sample::document(
        "aws",
        "amazon-linux-2023",
        "      agent: none\n      inPlaceOf: nodeadm\n      instanceTypes: [g5.xlarge]\n",
    );
    document.cluster.spec.flavour = bringup_spec::Flavour::Eks;
    let parts = parts_of(&rendered(&document, Carrier::NodeConfig));
    let [(_, _, config)] = parts.as_slice() else { panic!("{parts:#?}") };
    assert!(!config.contains("baseRuntimeSpec") && !config.contains("nvidia"), "{config}");
}

#[test]
fn a_carrier_that_nodeadm_does_not_read_is_said_to_be_written_otherwise() {
    let told = |carriers: &str, agent: &str| {
        let extra = format!("      agent: {agent}\n      carriers: {carriers}\n");
        let document = sample::document("aws", "amazon-linux-2023", &extra);
        let (path, group) = document.groups().next().unwrap();
        let findings = without_agent(&document, &path, group);
        let own = findings.into_iter().filter(|finding| finding.message.contains("in place of"));
        own.map(|finding| (finding.message, finding.hint.unwrap_or_default(), finding.place))
            .collect::<Vec<_>>()
    };
    let findings = told("[bundle, multipart]", "none");
    let [(message, hint, place)] = findings.as_slice() else { panic!("{findings:?}") };
    assert!(message.starts_with("`nodeconfig` is written in place of `multipart`: "), "{message}");
    assert_eq!(hint, "write `nodeconfig` here, or `agent: image` or `agent: fetch` to have `multipart`");
    assert!(format!("{place:?}").contains("cluster.yaml"), "{place:?}");
    assert!(told("[nodeconfig]", "none").is_empty() && told("[multipart]", "image").is_empty());
}
