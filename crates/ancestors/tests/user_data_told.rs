//! What user-data says that a plan takes the place of, or does in another way: it is told, and nothing false is.

mod support;

use bringup_ancestors::{Input, Read, read};
use bringup_diag::Severity;
use bringup_spec::NodeGroup;

fn with(text: &str, version: &str) -> Read {
    let additions = format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {{kubernetes: {{version: '{version}'}}, aws: {{region: us-west-2}}}}\n"
    );
    let additions = Input { name: "additions.yaml", text: &additions };
    read(&[Input { name: "user-data", text }, additions])
}

fn of(text: &str) -> Read {
    with(text, "1.32")
}

fn group(read: &Read) -> &NodeGroup {
    assert!(!read.findings.has_errors(), "{:#?}", read.findings);
    &read.documents[0].cluster.spec.node_groups[0]
}

/// The lines of warnings whose message has these words.
fn warned(read: &Read, words: &str) -> Vec<u32> {
    let warnings = read.findings.iter().filter(|finding| finding.severity == Severity::Warning);
    let about = warnings.filter(|finding| finding.message.contains(words));
    about.filter_map(|finding| finding.place.as_ref()).map(|place| place.span.start.line).collect()
}

fn mentions(read: &Read, words: &str) -> bool {
    read.findings.iter().any(|finding| finding.message.contains(words))
}

/// The hints of findings whose message has these words.
fn hints(read: &Read, words: &str) -> Vec<String> {
    let about = read.findings.iter().filter(|finding| finding.message.contains(words));
    about.filter_map(|finding| finding.hint.clone()).collect()
}

const CONFIG: &str = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: demo\n    apiServerEndpoint: https://ABCD.gr7.us-west-2.eks.amazonaws.com\n    certificateAuthority: Y2EtYnVuZGxlCg==\n    cidr: 10.100.0.0/16\n";

/// A message of parts, each with its type.
fn message(parts: &[(&str, &str)]) -> String {
    let parts: Vec<String> =
        parts.iter().map(|(kind, body)| format!("--//\nContent-Type: {kind}\n\n{body}\n")).collect();
    let parts = parts.concat();
    format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n{parts}--//--\n")
}

fn beside_config(kind: &str, body: &str) -> Read {
    of(&message(&[(kind, body), ("application/node.eks.aws", CONFIG)]))
}

/// `bootstrap.sh` copies its own containerd configuration and looks pods up in its own table; the plan has its own of both. kubelet
/// is started by the plan's drop-in, before and behind the call.
#[test]
fn files_that_the_plan_does_not_read_are_told_with_their_lines() {
    let read = of(
        "#!/bin/bash\nsed -i s/a/b/ /etc/eks/containerd/containerd-config.toml\necho 'm5.large 10' >> /etc/eks/eni-max-pods.txt\nmkdir -p /etc/systemd/system/kubelet.service.d\ncat <<E > /etc/systemd/system/kubelet.service.d/20-proxy.conf\n[Service]\nEnvironmentFile=/etc/environment\nE\ncat <<E > /etc/systemd/system/kubelet.service.d/21-limits.conf\n[Service]\nLimitNOFILE=10\nE\n/etc/eks/bootstrap.sh demo\nsed -i s/2/4/ /etc/systemd/system/kubelet.service.d/10-kubelet-args.conf\n",
    );
    group(&read);
    assert_eq!(warned(&read, "/etc/eks/containerd/containerd-config.toml"), [2]);
    assert_eq!(warned(&read, "/etc/eks/eni-max-pods.txt"), [3]);
    assert_eq!(warned(&read, "/etc/systemd/system/kubelet.service.d/"), [5, 14]);
    let hints = hints(&read, "/etc/systemd/system/kubelet.service.d/");
    assert!(hints.iter().all(|hint| hint.contains("kubelet: {flags:")), "{hints:?}");
}

/// nodeadm writes these before scripts run, and reads its own directory behind them; the plan writes after them, and reads nothing.
#[test]
fn scripts_and_files_beside_a_node_config_are_told_where_the_plan_writes() {
    for (body, path, line) in [
        ("#!/bin/bash\nsed -i s/a/b/ /etc/containerd/config.toml", "/etc/containerd/config.toml", 2),
        ("#!/bin/bash\nset -e\nC=/etc/kubernetes/kubelet/config.json", "/etc/kubernetes/kubelet/", 3),
        ("#!/bin/bash\ncat > /etc/eks/nodeadm.d/x.yaml <<E\n$A\nE", "/etc/eks/nodeadm.d/", 2),
    ] {
        let read = beside_config("text/x-shellscript", body);
        group(&read);
        assert_eq!(warned(&read, path), [line], "{body}: {:#?}", read.findings);
    }
    let read = beside_config(
        "text/cloud-config",
        "#cloud-config\nwrite_files:\n- path: /etc/containerd/config.toml\n  content: a\n",
    );
    group(&read);
    assert_eq!(warned(&read, "/etc/containerd/config.toml"), [3], "{:#?}", read.findings);
}

/// What nodeadm finds in its directory when all scripts have ended is laid over the user-data, by the names of the files.
#[test]
fn node_configs_that_will_lie_in_nodeadms_directory_are_laid_over_the_others() {
    let pods = |pods: u32| {
        format!(
            "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPods: {pods}\n"
        )
    };
    let (ten, twenty) = (pods(10), pods(20));
    let script = format!(
        "#!/bin/bash\nmkdir -p /etc/eks/nodeadm.d\ncat <<'E' >/etc/eks/nodeadm.d/20.yaml\n{twenty}E\ncat <<E >/etc/eks/nodeadm.d/10.yaml\n{ten}E\n"
    );
    let max_pods = |read: &Read| group(read).kubelet.config.get("maxPods").map(ToString::to_string);
    let config = CONFIG.replace("spec:\n", "spec:\n  kubelet: {config: {maxPods: 30}}\n");
    let beside =
        |kind: &str, body: &str| of(&message(&[(kind, body), ("application/node.eks.aws", &config)]));
    let read = beside("text/x-shellscript", &script);
    assert_eq!(max_pods(&read).as_deref(), Some("20"), "{:#?}", read.findings);
    assert_eq!(warned(&read, ""), Vec::<u32>::new(), "{:#?}", read.findings);
    assert!(mentions(&read, "`/etc/eks/nodeadm.d/20.yaml` is laid over"));
    let files = format!(
        "#cloud-config\nwrite_files:\n- path: /etc/eks/nodeadm.d/10.yaml\n  content: |\n    {}\n",
        ten.trim_end().replace('\n', "\n    ")
    );
    let read = beside("text/cloud-config", &files);
    assert_eq!(max_pods(&read).as_deref(), Some("10"), "{:#?}", read.findings);
    assert_eq!(warned(&read, ""), Vec::<u32>::new(), "{:#?}", read.findings);
    // What may be there or not is told, and not taken.
    let read = beside("text/x-shellscript", &script.replace("cat <<E", "[ -e /x ] && cat <<E"));
    assert_eq!(max_pods(&read).as_deref(), Some("30"));
    assert_eq!(warned(&read, "/etc/eks/nodeadm.d/").len(), 2, "{:#?}", read.findings);
    // Findings about it are told where it was written.
    let read =
        beside("text/x-shellscript", &script.replace("      maxPods: 20", "      maxPods: 20\n  unheard: 1"));
    let place = read.findings.iter().find(|finding| finding.message.contains("unheard"));
    assert_eq!(place.and_then(|finding| finding.place.as_ref()).map(|place| place.span.start.line), Some(10));
}

/// The plan lays its own fields over both files, as the script does: the others stay as they are.
#[test]
fn what_stays_as_it_is_is_not_called_lost() {
    let read = of(
        "#!/bin/bash\nsed -i s/a/b/ /etc/docker/daemon.json\nsed -i s/a/b/ /etc/kubernetes/kubelet/kubelet-config.json\n/etc/eks/bootstrap.sh demo --mount-bpf-fs false\n",
    );
    group(&read);
    assert_eq!(warned(&read, ""), Vec::<u32>::new(), "{:#?}", read.findings);
}

/// Before 1.24 the script takes docker where nothing is said.
#[test]
fn an_old_cluster_has_docker_where_nothing_is_said() {
    let name = |read: &Read| {
        let tree = read.documents[0].tree();
        let groups = tree.get("spec").and_then(|spec| spec.get("nodeGroups")?.items());
        let runtime = groups.and_then(|groups| groups.first()?.get("runtime"));
        runtime.and_then(|runtime| runtime.get("name")?.text().map(str::to_owned))
    };
    let call = "#!/bin/bash\n/etc/eks/bootstrap.sh demo";
    assert_eq!(name(&with(call, "1.23")).as_deref(), Some("docker"));
    assert_eq!(
        name(&with(&format!("{call} --container-runtime containerd"), "1.23")).as_deref(),
        Some("containerd")
    );
    assert_eq!(name(&with(call, "1.24")), None);
}

/// The agent signals where the cluster is.
#[test]
fn a_signal_to_another_region_is_told() {
    let script = "#!/bin/bash\n/etc/eks/bootstrap.sh demo\n/opt/aws/bin/cfn-signal --stack s --resource r --region eu-west-1\n";
    let read = of(script);
    group(&read);
    assert_eq!(warned(&read, "`eu-west-1`").len(), 1, "{:#?}", read.findings);
    let alone = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}}\n";
    let read = bringup_ancestors::read(&[
        Input { name: "user-data", text: script },
        Input { name: "additions.yaml", text: alone },
    ]);
    group(&read);
    let region = read.documents[0].cluster.spec.aws.as_ref().map(|aws| aws.region.clone());
    assert_eq!(region.as_deref(), Some("eu-west-1"));
    assert!(!mentions(&read, "`eu-west-1`"), "{:#?}", read.findings);
}

/// `a && b || c`: where `a` fails, `c` is done.
#[test]
fn what_answers_a_failure_behind_a_success_is_told() {
    let read = of("#!/bin/bash\n/etc/eks/bootstrap.sh demo && systemctl enable foo || shutdown -h now\n");
    group(&read);
    assert_eq!(warned(&read, "`shutdown -h now`"), [2]);
    let read = of("#!/bin/bash\n/etc/eks/bootstrap.sh demo && a || exit 1; b || c\n");
    assert_eq!(warned(&read, "is done only where the call fails"), Vec::<u32>::new());
}

/// What a shell of its own reads in is its own.
#[test]
fn a_file_read_in_by_another_shell_sets_nothing_anew() {
    let script = |line: &str| format!("#!/bin/bash\nNAME=demo\n{line}\n/etc/eks/bootstrap.sh $NAME\n");
    assert!(!mentions(&of(&script("D=$(. /etc/os-release; echo $ID)")), "may set anew"));
    assert!(!mentions(&of(&script("D=\"$(. /etc/os-release; echo $ID)\"")), "may set anew"));
    assert!(mentions(&of(&script(". /etc/os-release")), "may set anew"));
}

/// Where the file itself is no document, additions to it are no second mistake.
#[test]
fn additions_to_what_is_refused_are_not_told_of() {
    let read = of("#!/bin/bash\necho hello\n");
    assert_eq!(read.findings.iter().filter(|finding| finding.severity == Severity::Error).count(), 1);
    assert!(!mentions(&read, "to add to"), "{:#?}", read.findings);
}

/// The agent asks EKS itself where the call has the cluster's name alone.
#[test]
fn what_a_call_asks_eks_for_is_asked_by_the_agent() {
    let ask = |name: &str, what: &str| {
        format!(
            "$(aws eks describe-cluster --name {name} --region $REGION --query \"cluster.{what}\" --output text)"
        )
    };
    let (authority, endpoint) = (ask("$NAME", "certificateAuthority.data"), ask("demo", "endpoint"));
    let direct = format!(
        "#!/bin/bash\nNAME=demo\n/etc/eks/bootstrap.sh $NAME \\\n  --b64-cluster-ca {authority} \\\n  --apiserver-endpoint \"{endpoint}\" --dns-cluster-ip 10.100.0.10\n"
    );
    let stored = format!(
        "#!/bin/bash\nNAME=demo\nexport CA={authority}\nEND=`aws eks describe-cluster --name=$NAME | jq -r .cluster.endpoint`\n/etc/eks/bootstrap.sh \"$NAME\" --b64-cluster-ca $CA --apiserver-endpoint=${{END}} --dns-cluster-ip 10.100.0.10\n"
    );
    for script in [direct, stored] {
        let read = of(&script);
        group(&read);
        let spec = &read.documents[0].cluster.spec;
        assert!(spec.api.is_none(), "{script}");
        assert_eq!(spec.network.dns[0].to_string(), "10.100.0.10");
        assert!(mentions(&read, "the agent asks EKS"), "{:#?}", read.findings);
    }
    let other = of(&format!(
        "#!/bin/bash\n/etc/eks/bootstrap.sh demo --b64-cluster-ca {} --apiserver-endpoint https://a.b\n",
        ask("other", "certificateAuthority.data")
    ));
    assert!(other.findings.has_errors());
    let hints = hints(&other, "hangs on");
    assert!(
        hints.iter().all(|hint| hint.contains("leave `--apiserver-endpoint` and `--b64-cluster-ca` out")),
        "{hints:?}"
    );
}

/// Only a template has parameters.
#[test]
fn parameters_are_hinted_at_for_templates_alone() {
    let read = of("#!/bin/bash\n/etc/eks/bootstrap.sh ${ClusterName}\n");
    assert!(hints(&read, "hangs on").iter().all(|hint| !hint.contains("--parameter")));
}

/// A list of a shell and a text is run by that shell.
#[test]
fn commands_for_a_shell_of_their_own_are_taken() {
    for command in
        ["[sh, -c, \"/etc/eks/bootstrap.sh demo\"]", "[/bin/bash, -xc, '/etc/eks/bootstrap.sh demo']"]
    {
        let read = of(&format!("#cloud-config\nruncmd:\n- [touch, /a]\n- {command}\n- touch /b\n"));
        let steps: Vec<&str> = group(&read).steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(steps, ["before-bootstrap", "after-bootstrap"], "{command}");
    }
}

/// nodeadm reads what the script has written; what stands behind its call finds kubelet running.
#[test]
fn a_node_config_that_a_script_writes_for_nodeadm_is_taken() {
    let script = |write: &str, call: &str, config: &str| {
        format!(
            "#!/bin/bash\nset -e\ndnf install -y htop\nNAME=demo\n{write}\n{config}EOF\necho \"Running nodeadm init...\"\n{call}\ntouch /done\n"
        )
    };
    for (write, call) in [
        ("cat > /tmp/n.yaml <<EOF", "/usr/bin/nodeadm init --config-source file:///tmp/n.yaml"),
        ("tee /etc/n.yaml > /dev/null <<EOF", "nodeadm init -c file:/etc/n.yaml"),
        ("cat <<'EOF' >/etc/eks/nodeadm.d/n.yaml", "sudo nodeadm init -c=file:///etc/eks/nodeadm.d/"),
    ] {
        let read = of(&script(write, call, CONFIG));
        let group = group(&read);
        assert_eq!(group.in_place_of, Some(bringup_spec::ImageProgram::Nodeadm));
        let steps: Vec<(&str, String)> = group
            .steps
            .iter()
            .map(|step| {
                (step.name.as_str(), step.script.as_ref().map(ToString::to_string).unwrap_or_default())
            })
            .collect();
        assert!(
            matches!(steps.as_slice(), [("before-nodeadm", before), ("after-nodeadm", after)]
            if before.contains("dnf install") && after.contains("touch /done") && !after.contains("nodeadm init -")),
            "{steps:#?}"
        );
        assert_eq!(warned(&read, ""), Vec::<u32>::new(), "{:#?}", read.findings);
    }
    let filled = CONFIG.replace("name: demo", "name: $NAME");
    let read = of(&script("cat > /tmp/n.yaml <<EOF", "nodeadm init -c file:///tmp/n.yaml", &filled));
    group(&read);
    assert_eq!(read.documents[0].cluster.metadata.name.as_str(), "demo");
    // Quoted, it is what it says.
    let read = of(&script("cat > /tmp/n.yaml <<'EOF'", "nodeadm init -c file:///tmp/n.yaml", &filled));
    assert!(!read.documents.iter().any(|document| document.cluster.metadata.name.as_str() == "demo"));
    let unknown = CONFIG.replace("name: demo", "name: $OTHER");
    let read = of(&script("cat > /tmp/n.yaml <<EOF", "nodeadm init -c file:///tmp/n.yaml", &unknown));
    let place = read
        .findings
        .iter()
        .find(|finding| finding.message.contains("`$OTHER`"))
        .and_then(|finding| finding.place.clone());
    assert_eq!(place.map(|place| place.span.start.line), Some(10), "{:#?}", read.findings);
}

/// What cannot be read is told with what to do.
#[test]
fn a_call_of_nodeadm_that_cannot_be_read_is_told_as_one() {
    for script in [
        "#!/bin/bash\naws s3 cp s3://b/n.yaml /n.yaml\nnodeadm init -c file:///n.yaml\n",
        "#!/bin/bash\nfor i in 1 2; do\n  nodeadm init -c file:///n.yaml\ndone\n",
        "#!/bin/bash\nnodeadm init\n",
    ] {
        let read = of(script);
        let hints = hints(&read, "nodeadm init");
        assert!(read.findings.has_errors());
        assert!(
            hints.iter().any(|hint| hint.contains("`application/node.eks.aws`")),
            "{script}: {:#?}",
            read.findings
        );
        assert!(!mentions(&read, "joins no cluster"), "{script}");
    }
}

/// Such a script does nothing on an image that has nodeadm.
#[test]
fn a_guarded_call_beside_a_node_config_is_left_to_its_guard() {
    let guarded = "#!/bin/bash\nif command -v nodeadm >/dev/null 2>&1; then\n  exit 0\nfi\n/etc/eks/bootstrap.sh demo\n";
    let read = beside_config("text/x-shellscript", guarded);
    assert_eq!(group(&read).in_place_of, Some(bringup_spec::ImageProgram::Nodeadm));
    assert_eq!(group(&read).steps.len(), 1);
    let read = beside_config("text/x-shellscript", "#!/bin/bash\n/etc/eks/bootstrap.sh demo\n");
    let errors: Vec<_> = read.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(
        matches!(errors.as_slice(), [error] if error.message.contains("a NodeConfig and a call")),
        "{errors:#?}"
    );
}

/// cloud-init fills a template in on the machine.
#[test]
fn a_template_of_jinja_is_called_one() {
    for text in [
        "## template: jinja\n#cloud-config\nruncmd:\n- [a, {{ v1.region }}]\n- [/etc/eks/bootstrap.sh, demo]\n",
        "## template: jinja\n#!/bin/bash\n/etc/eks/bootstrap.sh demo\n",
    ] {
        let read = of(text);
        let errors: Vec<_> =
            read.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
        assert!(matches!(errors.as_slice(), [error] if error.message.contains("jinja")), "{errors:#?}");
    }
}

/// The kernel does not run it, before as here.
#[test]
fn a_part_without_an_interpreter_is_told_and_left_out() {
    for script in ["touch /never", "# for us\ntouch /never"] {
        let text = message(&[
            ("text/x-shellscript", script),
            ("text/x-shellscript", "#!/bin/bash\n/etc/eks/bootstrap.sh demo"),
        ]);
        let read = of(&text);
        assert!(group(&read).steps.is_empty(), "{script}");
        assert_eq!(warned(&read, "without `#!`"), [1], "{:#?}", read.findings);
    }
}

/// Python's reader takes the first line that is no header for the beginning of the parts; Go's refuses all of it.
#[test]
fn a_message_whose_header_has_no_end_is_taken_and_told() {
    let text = message(&[("text/x-shellscript", "#!/bin/bash\n/etc/eks/bootstrap.sh demo")])
        .replacen("\n\n--//", "\n--//", 1);
    let read = of(&text);
    assert_eq!(read.documents.len(), 1, "{:#?}", read.findings);
    group(&read);
    assert_eq!(warned(&read, "empty line"), [1], "{:#?}", read.findings);
}

/// What eksctl made of a node group says how to go on from there.
#[test]
fn a_cloud_config_that_joins_nothing_says_what_it_is() {
    let read = of("#cloud-config\nruncmd:\n- [touch, /a]\n");
    assert!(
        hints(&read, "cloud-config that joins no cluster").iter().any(|hint| hint.contains("bootstrap.sh")),
        "{:#?}",
        read.findings
    );
    let read = of(
        "#cloud-config\nwrite_files:\n- path: /etc/eksctl/kubelet-extra.json\n  content: '{}'\nruncmd:\n- [/var/lib/cloud/scripts/eksctl/bootstrap.al2.sh]\n",
    );
    assert!(
        hints(&read, "eksctl")
            .iter()
            .any(|hint| hint.contains("ClusterConfig") && hint.contains("kubelet: {config:")),
        "{:#?}",
        read.findings
    );
    // Also where a person's own call is beside eksctl's scripts, whose files it reads in.
    let helper = "/var/lib/cloud/scripts/eksctl/bootstrap.helper.sh";
    let read = of(&format!(
        "#cloud-config\nruncmd:\n- [/bin/bash, -c, \"source {helper}\\n/etc/eks/bootstrap.sh demo\"]\nwrite_files:\n- content: ''\n  path: {helper}\n"
    ));
    assert!(
        hints(&read, "eksctl makes").iter().any(|hint| hint.contains("ClusterConfig")),
        "{:#?}",
        read.findings
    );
}

/// The scripts of a group's steps, with their names.
fn scripts(read: &Read) -> Vec<(&str, String)> {
    let steps = group(read).steps.iter();
    steps
        .map(|step| (step.name.as_str(), step.script.as_ref().map(ToString::to_string).unwrap_or_default()))
        .collect()
}

/// A script that reboots is cut off before its step is known to be done, and would do so at each boot.
#[test]
fn a_script_around_nodeadm_asks_for_its_reboot_and_leaves_its_signal_to_the_plan() {
    let script = |before: &str, after: &str| {
        format!(
            "#!/bin/bash\n{before}\ncat > /tmp/n.yaml <<'EOF'\n{CONFIG}EOF\nnodeadm init -c file:///tmp/n.yaml\n{after}\n"
        )
    };
    let signal = "/opt/aws/bin/cfn-signal --exit-code $? --stack s --resource r --region us-west-2";
    let read = of(&script("echo ${AWS::AccountId} > /a", &format!("{signal}\ntouch /done\nreboot")));
    let found = scripts(&read);
    let [(_, _), ("after-nodeadm", after)] = found.as_slice() else { panic!("{found:#?}") };
    assert!(after.contains("touch /done\n{ : >\"$BRINGUP_REBOOT\"; exit 0; }"), "{after}");
    assert!(!after.contains("cfn-signal"), "{after}");
    assert_eq!(group(&read).signals[0].stack.as_deref(), Some("s"));
    let line = u32::try_from(5 + CONFIG.lines().count() + 3).unwrap();
    let note = read.findings.iter().find(|finding| finding.message.contains("ends at `reboot`"));
    let place = note.and_then(|note| note.place.as_ref()).map(|place| place.span.start.line);
    assert_eq!(place, Some(line), "{:#?}", read.findings);
    assert_eq!(warned(&read, "`AWS::AccountId`"), [2]);
    let read = of(&script("sleep 9 && reboot &", "true"));
    assert_eq!(warned(&read, "`reboot` reboots the machine"), [2], "{:#?}", read.findings);
}

/// Each stack that a script tells is told, and what stands behind a call on its line is done.
#[test]
fn all_signals_of_a_script_are_the_plans_and_the_rest_of_their_lines_stays() {
    let call = "#!/bin/bash\nSTACK=nodes\n/etc/eks/bootstrap.sh demo\n";
    let stacks = |read: &Read| -> Vec<Option<String>> {
        group(read).signals.iter().map(|signal| signal.stack.clone()).collect()
    };
    let read = of(&format!(
        "{call}cfn-signal --stack $STACK --resource A && touch /x\ncfn-signal --stack \"b\" --resource B || true\n"
    ));
    assert_eq!(stacks(&read), [Some("nodes".to_owned()), Some("b".to_owned())]);
    let found = scripts(&read);
    assert!(found.iter().any(|(_, script)| script.ends_with("\n: && touch /x\n")), "{found:#?}");
    assert_eq!(warned(&read, ""), Vec::<u32>::new(), "{:#?}", read.findings);
    // A stack that only the machine can name is told by the script itself.
    let read = of(&format!("{call}\ncfn-signal -e $? --stack $(cat /stack) --resource A\n"));
    assert_eq!(stacks(&read), Vec::<Option<String>>::new());
    assert_eq!(warned(&read, "`--stack` hangs on `$(cat /stack)`"), [5]);
    assert!(scripts(&read).iter().any(|(_, script)| script.contains("--stack $(cat /stack)")));
    let read = of(&format!("{call}cfn-signal -e 0 'https://handle.example/?x=y'\n"));
    assert_eq!(warned(&read, "it has no `--stack`"), [4]);
    assert!(scripts(&read).iter().any(|(_, script)| script.contains("handle.example")));
}

/// nodeadm writes the address into a kubeconfig, where a line break behind it is nothing.
#[test]
fn an_address_may_be_a_block_of_text() {
    let config = CONFIG.replace("apiServerEndpoint: ", "apiServerEndpoint: |\n      ");
    let read = of(&config);
    group(&read);
    let api = read.documents[0].cluster.spec.api.as_ref().expect("api");
    assert_eq!(api.endpoint, "https://ABCD.gr7.us-west-2.eks.amazonaws.com");
}
