//! Calls of `bootstrap.sh` in user-data as Bringup documents.

mod support;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_ancestors::{Input, Read, joins_a_node, read};
use bringup_spec::{NodeGroup, OsFamily};

const CALL: &str = r#"#!/bin/bash -xe
exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1
yum install -y amazon-ssm-agent
CLUSTER=My_Cluster
/etc/eks/bootstrap.sh "$CLUSTER" --apiserver-endpoint 'https://ABCD.gr7.us-west-2.eks.amazonaws.com' --b64-cluster-ca 'CERTIFICATE' \
--dns-cluster-ip '10.100.0.10' \
--use-max-pods false \
--kubelet-extra-args '--node-labels=a=b,c=d --max-pods=40 --register-with-taints=k=v:NoSchedule --v=4'
/opt/aws/bin/cfn-signal --exit-code $? --stack nodes --resource NodeGroup --region us-west-2
touch /done
"#;

const ADDITIONS: &str =
    "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}}\n";

fn certificate() -> String {
    let example = include_str!("../../../examples/eks-flavour/cluster.yaml");
    let lines = example.lines().map(str::trim);
    let from = lines.skip_while(|line| !line.starts_with("-----BEGIN"));
    let body: Vec<&str> = from.take_while(|line| !line.starts_with("-----END")).collect();
    BASE64_STANDARD.encode(format!("{}\n-----END CERTIFICATE-----\n", body.join("\n")))
}

fn of(text: &str) -> Read {
    let text = text.replace("CERTIFICATE", &certificate());
    let additions = Input { name: "additions.yaml", text: ADDITIONS };
    read(&[Input { name: "user-data", text: &text }, additions])
}

fn group(read: &Read) -> &NodeGroup {
    assert!(!read.findings.has_errors(), "{:#?}", read.findings);
    &read.documents[0].cluster.spec.node_groups[0]
}

/// The script of EKS' images takes these flags to these ends; what stands around its call keeps its place.
#[test]
fn a_call_of_the_script_becomes_a_document() {
    let read = of(CALL);
    let group = group(&read);
    let spec = &read.documents[0].cluster.spec;
    assert_eq!(read.documents[0].cluster.metadata.name.as_str(), "my-cluster");
    let aws = spec.aws.as_ref().expect("aws");
    assert_eq!((aws.cluster_name.as_deref(), aws.region.as_str()), (Some("My_Cluster"), "us-west-2"));
    let api = spec.api.as_ref().expect("api");
    assert_eq!(api.endpoint, "https://ABCD.gr7.us-west-2.eks.amazonaws.com");
    assert_eq!(spec.network.dns[0].to_string(), "10.100.0.10");
    assert_eq!(group.os.family, OsFamily::AmazonLinux2);
    let labels: Vec<&str> = group.labels.keys().map(String::as_str).collect();
    assert_eq!(labels, ["a", "c"]);
    assert_eq!((group.taints[0].key.as_str(), group.taints[0].value.as_str()), ("k", "v"));
    assert_eq!(group.kubelet.config["maxPods"], 40);
    assert_eq!(group.in_place_of, Some(bringup_spec::ImageProgram::Bootstrap));
    assert_eq!(group.kubelet.flags["v"].to_string(), "4");
    let steps: Vec<(&str, String)> = group
        .steps
        .iter()
        .map(|step| {
            let script = step.script.as_ref().map(ToString::to_string).unwrap_or_default();
            (step.name.as_str(), script.lines().last().unwrap_or_default().to_owned())
        })
        .collect();
    assert_eq!(
        steps,
        [
            ("before-bootstrap", "CLUSTER=My_Cluster".to_owned()),
            ("after-bootstrap", "touch /done".to_owned())
        ]
    );
    assert_eq!(group.signals[0].stack.as_deref(), Some("nodes"));
    // The document that is written out is read to the same plan.
    let tree = bringup_yaml::to_yaml(&read.documents[0].tree().to_value());
    let again = bringup_spec::read("converted.yaml", &tree);
    let digest = |document: &bringup_spec::Document| {
        let compiled = bringup_plan::compile(document, 0, &bringup_plan::LocalFiles::default());
        compiled.plan.expect("a plan").to_json()
    };
    assert_eq!(digest(&again.documents[0]), digest(&read.documents[0]));
}

/// Words that only a shell or a stack knows are named, with the line of the call.
#[test]
fn what_is_not_known_beforehand_is_told_with_its_line() {
    // What a document that is handed on says of the script is no call.
    let script = "#!/bin/bash\nset -e\ncat <<EOF\n/etc/eks/bootstrap.sh isn't here\nEOF\n/etc/eks/bootstrap.sh ${ClusterName} \\\n  $ARGUMENTS\n";
    let read = of(script);
    let refused = read.findings.iter().filter(|finding| finding.code.name == "ancestor/field-refused");
    let told: Vec<(Option<u32>, bool)> = refused
        .zip(["`${ClusterName}`", "`$ARGUMENTS`"])
        .map(|(finding, word)| {
            let line = finding.place.as_ref().map(|place| place.span.start.line);
            (line, finding.message.contains(word))
        })
        .collect();
    assert_eq!(told, [(Some(6), true), (Some(7), true)], "{:?}", read.findings);
    let read = of("#!/bin/bash\n/etc/eks/bootstrap.sh demo --no-such-flag x --ip-family ipv5\n");
    let told: Vec<&str> = read.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert!(told.iter().any(|message| message.contains("`--no-such-flag`")), "{told:?}");
    assert!(told.iter().any(|message| message.contains("`ipv5`")), "{told:?}");
    assert!(read.documents.is_empty());
}

/// cloud-init runs scripts before nodeadm starts kubelet.
#[test]
fn scripts_beside_a_node_config_or_a_call_are_steps_before_it() {
    let part = |kind: &str, body: &str| format!("--//\nContent-Type: {kind}\n\n{body}\n");
    let message = |parts: &[String]| {
        format!(
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n{}--//--\n",
            parts.concat()
        )
    };
    let script = part("text/x-shellscript; charset=\"us-ascii\"", "#!/bin/bash\necho Hello > /hello");
    let config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {name: demo, apiServerEndpoint: 'https://ABCD.gr7.us-west-2.eks.amazonaws.com', certificateAuthority: CERTIFICATE, cidr: 10.100.0.0/16}}";
    for joins in [part("application/node.eks.aws", config), part("text/x-shellscript", CALL)] {
        let text = message(&[script.clone(), joins]);
        assert!(joins_a_node(text.as_bytes()));
        let read = of(&text);
        let first = group(&read)
            .steps
            .iter()
            .find(|step| step.script.as_ref().is_some_and(|script| script.to_string().contains("/hello")));
        assert_eq!(first.map(|step| step.name.as_str()), Some("script-1"));
    }
    assert!(!joins_a_node(message(&[script]).as_bytes()));
    assert!(!joins_a_node(b"#!/bin/sh\necho /etc/eks\n"));
}

/// What karpenter's own tests have: an authority that is none, and DNS outside of the range of services. The image's programs
/// take both as they are.
#[test]
fn what_the_images_programs_take_as_it_is_is_noted_and_built() {
    let call = "#!/bin/bash -xe\n/etc/eks/bootstrap.sh 'test-cluster' --apiserver-endpoint 'https://test-cluster' --b64-cluster-ca 'Y2EtYnVuZGxlCg==' \\\n--dns-cluster-ip '10.0.100.10' --service-ipv4-cidr 10.100.0.0/16 \\\n--use-max-pods false \\\n--kubelet-extra-args '--node-labels=\"a/b=on-demand\" --register-with-taints=\"c/d:NoExecute\" --max-pods=110'\n";
    let config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nmetadata: {}\nspec:\n  cluster:\n    apiServerEndpoint: https://test-cluster\n    certificateAuthority: Y2EtYnVuZGxlCg==\n    cidr: 10.100.0.0/16\n    name: test-cluster\n  containerd: {}\n  instance: {localStorage: {}}\n  kubelet:\n    config:\n      clusterDNS: [10.0.100.10]\n      maxPods: 110\n      registerWithTaints: [{effect: NoExecute, key: c/d}]\n    flags:\n    - --node-labels=\"a/b=on-demand\"\n";
    let additions = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}, aws: {region: us-west-2}}\n";
    for text in [call, config] {
        let read = support::read(&[("user-data", text), ("additions.yaml", additions)]);
        let document = read.documents.first().expect("a document");
        let local = bringup_plan::LocalFiles::default();
        let compiled = bringup_plan::compile(document, 0, &local);
        let found = read.findings.iter().chain(&compiled.findings);
        let checked = bringup_plan::check_document(document);
        let told: Vec<(&str, &str)> =
            found.chain(&checked).map(|finding| (finding.severity.word(), finding.code.name)).collect();
        for code in ["document/wrong-value", "network/dns-outside-range"] {
            assert!(told.contains(&("note", code)), "{code}: {told:?}");
        }
        assert!(!told.iter().any(|(severity, _)| *severity == "error"), "{told:?}");
        // Additions have said what the input does not.
        assert!(!told.iter().any(|(_, code)| *code == "ancestor/difference"), "{told:?}");
        support::converts(&read, &local);
        let plan = compiled.plan.expect("a plan").to_json();
        assert!(plan.contains("ca-bundle\\n"), "the authority is written as it is given");
        // Memory is kept for the pods of the instance type, not for those that kubelet is told.
        assert!(plan.contains(r#""fact":"reservedMemory""#), "{plan}");
        // A document of ours has to be right.
        let written = bringup_yaml::to_yaml(&document.tree().to_value());
        let ours: Vec<&str> = written.lines().filter(|line| !line.contains("inPlaceOf")).collect();
        let ours = ours.join("\n");
        assert!(bringup_spec::read("ours.yaml", &ours).findings.has_errors(), "{ours}");
    }
}

/// Whoever says how much memory is kept needs no advice on it.
#[test]
fn memory_that_is_said_is_not_advised_on() {
    let additions = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}, aws: {region: us-west-2}, nodeGroups: [{instanceTypes: [m5.large]}]}\n";
    let advised = |arguments: &str| {
        let script = format!(
            "#!/bin/bash\n/etc/eks/bootstrap.sh demo --use-max-pods false --kubelet-extra-args '{arguments}'\n"
        );
        let read = support::read(&[("user-data", &script), ("additions.yaml", additions)]);
        let local = bringup_plan::LocalFiles::default();
        let compiled = bringup_plan::compile(&read.documents[0], 0, &local);
        compiled.findings.iter().any(|finding| finding.message.contains("of memory are kept for"))
    };
    assert!(advised("--max-pods=20"));
    assert!(!advised("--max-pods=20 --kube-reserved=memory=300Mi"));
}

/// The image's script marks nodes with nothing, and knows no file of eksctl's.
#[test]
fn a_call_has_no_labels_and_files_of_eksctls() {
    let more = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}, aws: {region: us-west-2}}\n";
    let script = "#!/bin/bash\n/etc/eks/bootstrap.sh demo\n";
    let read = support::read(&[("user-data", script), ("more.yaml", more)]);
    let plan = support::plans(&read, &bringup_plan::LocalFiles::default())["nodes"].to_json();
    for word in ["eksctl", "node-lifecycle", "NODEADM_KUBELET_ARGS"] {
        assert!(!plan.contains(word), "{word}: {plan}");
    }
}

/// Resources of one template are groups of one cluster; what they say of the cluster has to agree.
#[test]
fn user_data_of_several_resources_is_one_cluster() {
    let call = |more: &str| {
        format!("#!/bin/bash\n/etc/eks/bootstrap.sh demo {more} --kubelet-extra-args --node-labels=a=b\n")
    };
    let more = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}, aws: {region: us-west-2}, nodeGroups: [{name: SpotNodes, labels: {spot: 'true'}}]}\n";
    let read = support::read(&[
        ("t.yaml#OnDemandNodes", &call("")),
        ("t.yaml#SpotNodes", &call("--use-max-pods false")),
        ("more.yaml", more),
    ]);
    let plans = support::plans(&read, &bringup_plan::LocalFiles::default());
    assert_eq!(plans.keys().collect::<Vec<_>>(), ["on-demand-nodes", "spot-nodes"]);
    assert_eq!(read.documents.len(), 1);
    support::converts(&read, &bringup_plan::LocalFiles::default());
    let apart = support::read(&[
        ("t.yaml#A", &call("--dns-cluster-ip 10.0.0.10 --service-ipv4-cidr 10.0.0.0/16")),
        ("t.yaml#B", &call("--dns-cluster-ip 10.1.0.10 --service-ipv4-cidr 10.1.0.0/16")),
        ("more.yaml", ADDITIONS),
    ]);
    let told = support::told(&apart, bringup_diag::Severity::Error);
    for field in ["network.dns", "network.serviceRanges"] {
        let wanted = format!("t.yaml#B:2:1 ancestor/difference the cluster `demo` has another `{field}");
        assert!(told.iter().any(|told| told.starts_with(&wanted)), "{wanted} {told:?}");
    }
}

/// Python's reader of messages, which cloud-init uses, takes the parts of one that is cut off; Go's refuses it.
#[test]
fn a_message_without_an_end_is_read_and_told() {
    let text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript\n\n#!/bin/bash\n/etc/eks/bootstrap.sh demo\n--//\nContent-Type: text/x-shellscript\n\n#!/bin/bash\ntouch /last\n";
    assert!(joins_a_node(text.as_bytes()));
    let read = of(text);
    let told = support::told(&read, bringup_diag::Severity::Warning);
    assert!(
        told.iter().any(|told| told.starts_with("user-data:13:1 ancestor/difference the boundary")),
        "{told:?}"
    );
    let more = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}, aws: {region: us-west-2}}\n";
    let read = support::read(&[("user-data", text), ("more.yaml", more)]);
    let steps: Vec<&str> = group(&read).steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["script-1"]);
}

/// EKS itself writes scripts right behind the headers of their part; Python's reader of messages takes the first line that is no
/// header for the body. What is cloud-init's alone stays a part.
#[test]
fn messages_as_eks_writes_them_are_read_with_all_their_parts() {
    let text = "Content-Type: multipart/mixed; boundary=\"//\"\nMIME-Version: 1.0\n\n--//\nContent-Type: text/cloud-config; charset=\"us-ascii\"\nContent-Disposition: attachment; filename=\"cloud config.txt\"\n\n#cloud-config\npackages: [jq]\n\n--//\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\n#!/bin/bash\nset -ex\nB64_CLUSTER_CA=CERTIFICATE\nID=$(curl -s http://169.254.169.254/latest/meta-data/instance-id)\n/etc/eks/bootstrap.sh demo --kubelet-extra-args \"--node-labels=id=$ID\" --b64-cluster-ca $B64_CLUSTER_CA --apiserver-endpoint https://ABCD.gr7.us-west-2.eks.amazonaws.com --local-disks raid0\n\n--//\nContent-Type: application/x-other\n\nnothing\n--//--\n";
    let read = of(text);
    let group = group(&read);
    assert_eq!(group.labels["id"].to_string(), "@{instanceId}");
    let [meeting, part] = group.parts.as_slice() else { panic!("{:?}", group.parts) };
    assert_eq!(meeting.name, "meet-the-agent.sh");
    assert_eq!((part.name.as_str(), part.kind.word()), ("cloud-config.txt", "text/cloud-config"));
    assert_eq!(part.content.as_deref().map(str::trim), Some("#cloud-config\npackages: [jq]"));
    let disks: Vec<String> = group.steps[1].run.iter().map(ToString::to_string).collect();
    assert_eq!(disks, ["/usr/bin/setup-local-disks", "raid0"]);
    let told = support::told(&read, bringup_diag::Severity::Note);
    assert!(told.iter().any(|told| told.contains("`application/x-other`")), "{told:?}");
    // A word that could be base64 of some bytes is a word.
    let word = of(&text.replace("application/x-other\n\nnothing", "text/strange\n\nwhat"));
    let told = support::told(&word, bringup_diag::Severity::Note);
    assert!(told.iter().any(|told| told.contains("`text/strange`")), "{told:?}");
    support::converts(&read, &bringup_plan::LocalFiles::default());
}

/// cloud-init makes a script of `runcmd`, and runs it when the packages and files of the same document are there.
#[test]
fn commands_of_a_cloud_config_that_call_the_script_are_read() {
    let text = "#cloud-config\npackages: [jq]\nruncmd:\n- echo one >/first\n- [/etc/eks/bootstrap.sh, demo, --kubelet-extra-args, \"--node-labels=a=b --register-with-taints=c=d:NoSchedule\"]\n- |\n  touch /second\n  touch /last\n";
    assert!(joins_a_node(text.as_bytes()));
    let more = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}, aws: {region: us-west-2}}\n";
    let read = support::read(&[("user-data", text), ("more.yaml", more)]);
    let found = group(&read);
    assert_eq!(found.labels["a"].to_string(), "b");
    assert_eq!(found.taints[0].key, "c");
    let steps: Vec<&str> = found.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["await-cloud-init", "before-bootstrap", "after-bootstrap"]);
    let scripts: Vec<String> =
        found.steps.iter().filter_map(|step| step.script.as_ref()).map(ToString::to_string).collect();
    assert!(scripts[1].contains("echo one >/first\n") && !scripts[1].contains("bootstrap.sh"), "{scripts:?}");
    assert!(scripts[2].contains("touch /second\ntouch /last\n"), "{scripts:?}");
    // A shell without `errexit` goes on to the call; steps run in this order.
    let policy =
        |name: &str| found.steps.iter().find(|step| step.name.as_str() == name).map(|step| step.on_failure);
    assert_eq!(policy("before-bootstrap"), Some(bringup_spec::OnFailure::Continue));
    let plan = &support::plans(&read, &bringup_plan::LocalFiles::default())["nodes"];
    let order: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    let at = |name: &str| order.iter().position(|step| *step == name).expect("a step");
    assert!(at("await-cloud-init") < at("before-bootstrap"), "{order:?}");
    assert!(
        at("before-bootstrap") < at("start-runtime") && at("kubelet") < at("after-bootstrap"),
        "{order:?}"
    );
    let [meeting, config] = found.parts.as_slice() else { panic!("{:?}", found.parts) };
    assert_eq!(meeting.name, "meet-the-agent.sh");
    let content = config.content.as_deref().unwrap_or_default();
    assert!(content.starts_with("#cloud-config\npackages:") && !content.contains("runcmd"), "{content}");
    support::converts(&read, &bringup_plan::LocalFiles::default());
    // What cannot be known is told where it stands.
    let unknown = "#cloud-config\nruncmd:\n- touch /first\n\n- /etc/eks/bootstrap.sh $CLUSTER\n";
    let told = support::told(&of(unknown), bringup_diag::Severity::Error);
    assert!(told.iter().any(|told| told.starts_with("user-data:5:") && told.contains("CLUSTER")), "{told:?}");
    // A cloud-config that joins nothing is a carrier.
    assert!(!joins_a_node(text.replace("bootstrap.sh", "other.sh").as_bytes()));
}

/// Terraform's modules call the script with endpoint and authority alone; it guesses the address of DNS then.
#[test]
fn a_call_that_does_not_say_where_dns_is_has_it_guessed_on_the_node() {
    let call = |more: &str| {
        format!(
            "#!/bin/bash\n/etc/eks/bootstrap.sh --apiserver-endpoint https://ABCD.gr7.us-west-2.eks.amazonaws.com --b64-cluster-ca CERTIFICATE demo {more}\n"
        )
    };
    let guessed = |text: &str| {
        let read = of(text);
        let plans = support::plans(&read, &bringup_plan::LocalFiles::default());
        support::converts(&read, &bringup_plan::LocalFiles::default());
        plans.values().next().expect("a plan").facts.contains(&bringup_spec::Fact::GuessedDns)
    };
    assert!(guessed(&call("")));
    assert!(!guessed(&call("--dns-cluster-ip 172.20.0.10")));
    assert!(!guessed(&call("--service-ipv4-cidr 172.20.0.0/16")));
}

fn message(parts: &[(&str, &str)]) -> String {
    let parts: Vec<String> =
        parts.iter().map(|(kind, body)| format!("--//\nContent-Type: {kind}\n\n{body}\n")).collect();
    format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n{}--//--\n", parts.concat())
}

const SHELL: &str = "text/x-shellscript";
const CONFIG: &str = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {name: demo, apiServerEndpoint: 'https://ABCD.gr7.us-west-2.eks.amazonaws.com', certificateAuthority: CERTIFICATE, cidr: 10.100.0.0/16}}";

/// cloud-init runs the scripts of a message in its order: what is behind the call finds kubelet running.
#[test]
fn scripts_keep_their_side_of_the_call() {
    let call = "#!/bin/bash\ntouch /two\n/etc/eks/bootstrap.sh demo --apiserver-endpoint https://ABCD.gr7.us-west-2.eks.amazonaws.com --b64-cluster-ca CERTIFICATE\ntouch /behind";
    let one = "#!/bin/bash\ntouch /one";
    let three = "#!/bin/bash\nkubectl get node > /three";
    let order = |joins: (&str, &str)| {
        let read = of(&message(&[(SHELL, one), joins, (SHELL, three)]));
        let steps = group(&read).steps.iter().map(|step| step.name.to_string()).collect::<Vec<_>>();
        let plans = support::plans(&read, &bringup_plan::LocalFiles::default());
        support::converts(&read, &bringup_plan::LocalFiles::default());
        let plan = plans.values().next().expect("a plan");
        let starts =
            |step: &bringup_plan::Step| step.phase.word() == "kubelet" && !steps.contains(&step.name);
        let kubelet = plan.steps.iter().rposition(starts).expect("kubelet");
        let place = |name: &str| plan.steps.iter().position(|step| step.name == name).expect("a step");
        let mut placed: Vec<(usize, &String)> = steps.iter().map(|name| (place(name), name)).collect();
        placed.sort();
        placed.into_iter().map(|(place, name)| format!("{name} {}", place > kubelet)).collect::<Vec<_>>()
    };
    assert_eq!(
        order((SHELL, call)),
        ["script-1 false", "before-bootstrap false", "after-bootstrap true", "script-2 true"]
    );
    // nodeadm starts kubelet when all scripts have ended.
    assert_eq!(order(("application/node.eks.aws", CONFIG)), ["script-1 false", "script-2 false"]);
}

/// EKS' template for Amazon Linux 2023 has its signal in a script beside the NodeConfig.
#[test]
fn a_signal_beside_a_node_config_is_the_groups() {
    let signal = "#!/bin/bash\n/opt/aws/bin/cfn-signal --exit-code $? --stack ${AWS::StackName} --resource NodeGroup --region ${AWS::Region}";
    let text = |script: &str| message(&[("application/node.eks.aws", CONFIG), (SHELL, script)]);
    let read = of(&text(signal));
    let found = group(&read);
    assert_eq!(found.steps.len(), 0, "{:?}", found.steps);
    let [told] = found.signals.as_slice() else { panic!("{:?}", found.signals) };
    assert_eq!(told.stack, None);
    assert_eq!(support::value(&read, "spec/nodeGroups/0/carriers"), serde_json::json!(["cloudformation"]));
    assert_eq!(support::told(&read, bringup_diag::Severity::Warning), Vec::<String>::new());
    // The rest of the script is a step that ends as the signal says, and a stack that is named needs no template.
    let more = signal.replace("bash\n", "bash\ntouch /first\n").replace("${AWS::StackName}", "nodes");
    let read = of(&text(&more));
    let found = group(&read);
    assert_eq!(found.signals[0].stack.as_deref(), Some("nodes"));
    let ends = "#!/bin/bash\ntouch /first\ntrap \"exit \"$? EXIT";
    assert_eq!(support::value(&read, "spec/nodeGroups/0/steps/0/script"), ends);
}

/// bash takes `${AWS::Region}` for a piece of the variable `AWS`, and puts nothing in its place.
#[test]
fn names_that_only_the_stack_knows_are_told_with_their_lines() {
    let call = "#!/bin/bash\n# ${AWS::Region}\necho ${AWS::Region} ${HOME} > /region\n/etc/eks/bootstrap.sh demo\naws s3 cp s3://b-${AWS::AccountId}/x /x \\\n  --region ${AWS::Region}\n/opt/aws/bin/cfn-signal --exit-code $? --stack ${AWS::StackName} --resource NG --region eu-west-1\n";
    let told = |text: &str| support::told(&of(text), bringup_diag::Severity::Warning);
    let warning = |line: u32, name: &str| {
        format!(
            "{line}:1 ancestor/field-differs `AWS::{name}` is known only to the stack: this step runs with nothing in its place"
        )
    };
    let wanted: Vec<String> = [(3, "Region"), (5, "AccountId"), (6, "Region")]
        .map(|(line, name)| format!("user-data:{}", warning(line, name)))
        .to_vec();
    assert_eq!(told(call), wanted);
    let beside =
        message(&[("application/node.eks.aws", CONFIG), (SHELL, "#!/bin/sh\n\necho ${AWS::Partition}")]);
    assert_eq!(told(&beside), [format!("user-data#part-002:{}", warning(3, "Partition"))]);
}

/// A part without a name gets one here that cloud-init would not give; half of what a cluster is known by counts for nothing.
#[test]
fn nameless_parts_and_half_a_cluster_are_taken_as_they_would_be() {
    let call = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --apiserver-endpoint https://ABCD.gr7.us-west-2.eks.amazonaws.com\n";
    let text = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/cloud-config\n\n#cloud-config\npackages: [jq]\n--//\nContent-Type: text/x-shellscript\n\n{call}--//--\n"
    );
    let read = of(&text);
    let names: Vec<&str> = group(&read).parts.iter().map(|part| part.name.as_str()).collect();
    assert!(names.iter().all(|name| !name.starts_with("part-")), "{names:?}");
    let told = support::told(&read, bringup_diag::Severity::Note);
    assert!(
        told.iter().any(|told| told.contains("counts for nothing without `--b64-cluster-ca`")),
        "{told:?}"
    );
}

/// cloud-init runs `runcmd` behind all scripts of a message: behind the call, and before nodeadm.
#[test]
fn what_cloud_init_does_last_keeps_its_side_of_the_join() {
    let message = |join: &str| {
        format!(
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/cloud-config\n\n#cloud-config\nruncmd: [[kubectl, get, nodes]]\n--//\n{join}\n--//--\n"
        )
    };
    let order = |text: &str| {
        let read = of(text);
        let parts: Vec<String> =
            group(&read).parts.iter().filter_map(|part| part.content.clone()).collect::<Vec<_>>();
        let plan = &support::plans(&read, &bringup_plan::LocalFiles::default())["nodes"];
        support::converts(&read, &bringup_plan::LocalFiles::default());
        let names = ["await-cloud-init", "kubelet", "after-bootstrap", "release-cloud-init"];
        let found: Vec<String> = plan.steps.iter().map(|step| step.name.clone()).collect();
        (found.into_iter().filter(|name| names.contains(&name.as_str())).collect::<Vec<_>>(), parts)
    };
    let call = "Content-Type: text/x-shellscript\n\n#!/bin/bash\n/etc/eks/bootstrap.sh demo --apiserver-endpoint https://ABCD.gr7.us-west-2.eks.amazonaws.com --b64-cluster-ca CERTIFICATE --service-ipv4-cidr 10.100.0.0/16\ntouch /b";
    let (steps, parts) = order(&message(call));
    assert_eq!(steps, ["await-cloud-init", "kubelet", "after-bootstrap", "release-cloud-init"]);
    assert!(parts[0].contains("until [ -e /run/bringup-scripts/have-run ]"), "{parts:?}");
    let config = "Content-Type: application/node.eks.aws\n\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {name: demo, apiServerEndpoint: https://ABCD.gr7.us-west-2.eks.amazonaws.com, certificateAuthority: CERTIFICATE, cidr: 10.100.0.0/16}";
    let (steps, parts) = order(&message(config));
    assert_eq!(steps, ["await-cloud-init", "kubelet"]);
    assert_eq!(parts.len(), 1, "nobody says before the end that it may begin: {parts:?}");
}

/// What reboots the machine by itself would do so at each boot: the step that it cuts off is never known to be done.
#[test]
fn reboots_of_a_script_wait_until_its_step_is_done() {
    let script = CALL.replace("yum install", "[ -e /x ] || sudo reboot\nyum install")
        + "(sleep 9; reboot) &\nif [ -e /y ]; then\n  /sbin/shutdown -r now\nfi\n";
    let read = of(&script);
    let scripts: Vec<String> = group(&read)
        .steps
        .iter()
        .filter_map(|step| step.script.clone())
        .map(|text| text.to_string())
        .collect();
    let asks = "{ : >\"$BRINGUP_REBOOT\"; exit 0; }";
    assert!(scripts[0].contains(&format!("[ -e /x ] || {asks}\nyum install")), "{}", scripts[0]);
    assert!(
        scripts[1].ends_with(&format!("(sleep 9; reboot) &\nif [ -e /y ]; then\n  {asks}\nfi\n")),
        "{}",
        scripts[1]
    );
    let line = |wanted: &str| script.lines().position(|line| line.contains(wanted)).map(|line| line + 1);
    for (code, told, place) in [
        ("ancestor/difference", "the script ends at `reboot`", "sudo reboot"),
        ("ancestor/field-differs", "`reboot` reboots the machine", "sleep 9"),
        ("ancestor/difference", "the script ends at `/sbin/shutdown -r now`", "shutdown"),
    ] {
        let found: Vec<_> = read.findings.iter().filter(|finding| finding.message.contains(told)).collect();
        let [finding] = found.as_slice() else { panic!("{told}: {found:#?}") };
        let at = finding.place.as_ref().map(|place| place.span.start.line as usize);
        assert_eq!((finding.code.name, at), (code, line(place)), "{told}");
    }
}
