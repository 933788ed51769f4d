//! What a script of user-data means beyond its commands: how often it runs, how it says that it ended, and whom it asks for the way.

mod support;

use bringup_ancestors::{Input, Read, read};
use bringup_diag::Severity;
use bringup_spec::{NodeGroup, OnFailure};

fn with(text: &str, more: &str) -> Read {
    let additions = format!(
        "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {{kubernetes: {{version: '1.29'}}, aws: {{region: us-west-2}}{more}}}\n"
    );
    let additions = Input { name: "additions.yaml", text: &additions };
    read(&[Input { name: "user-data", text }, additions])
}

fn of(text: &str) -> Read {
    with(text, "")
}

fn group(read: &Read) -> &NodeGroup {
    assert!(!read.findings.has_errors(), "{:#?}", read.findings);
    &read.documents[0].cluster.spec.node_groups[0]
}

/// `LINE:COLUMN` of findings of a severity whose message has these words.
fn places(read: &Read, severity: Severity, words: &str) -> Vec<String> {
    let about = read.findings.iter().filter(|finding| finding.severity == severity);
    let places =
        about.filter(|finding| finding.message.contains(words)).filter_map(|finding| finding.place.as_ref());
    places.map(|place| format!("{}:{}", place.span.start.line, place.span.start.column)).collect()
}

fn warned(read: &Read, words: &str) -> Vec<String> {
    places(read, Severity::Warning, words)
}

fn hint(read: &Read, words: &str) -> String {
    let about = read.findings.iter().find(|finding| finding.message.contains(words));
    about.and_then(|finding| finding.hint.clone()).unwrap_or_default()
}

/// Each step by its name, its script and what becomes of the node where it fails.
fn steps(read: &Read) -> Vec<(String, String, OnFailure)> {
    let script =
        |step: &bringup_spec::Step| step.script.as_ref().map(ToString::to_string).unwrap_or_default();
    group(read).steps.iter().map(|step| (step.name.to_string(), script(step), step.on_failure)).collect()
}

const SIGNAL: &str = "--stack st --resource NodeGroup --region us-west-2";
const CONFIG: &str = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: demo\n    apiServerEndpoint: https://ABCD.gr7.us-west-2.eks.amazonaws.com\n    certificateAuthority: Y2EtYnVuZGxlCg==\n    cidr: 10.100.0.0/16\n";

/// A message of parts, each with its type.
fn message(parts: &[(&str, &str)]) -> String {
    let parts: Vec<String> =
        parts.iter().map(|(kind, body)| format!("--//\nContent-Type: {kind}\n\n{body}\n")).collect();
    format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n{}--//--\n", parts.concat())
}

/// cloud-init runs a script once, and the next one whatever became of it.
#[test]
fn scripts_are_run_once() {
    let strict =
        "#!/bin/bash\nset -e\nyum install -y foo\n/etc/eks/bootstrap.sh demo\nsystemctl restart foo\n";
    let init = format!(
        "#!/bin/bash\nset -e\nmkfs /dev/x\ncat > /tmp/n.yaml <<'EOF'\n{CONFIG}EOF\nnodeadm init -c file:///tmp/n.yaml\ntouch /x\n"
    );
    let beside =
        message(&[("text/x-shellscript", "#!/bin/bash\nmkfs /dev/x"), ("application/node.eks.aws", CONFIG)]);
    let around = message(&[
        ("text/x-shellscript", "#!/bin/bash\nmkfs /dev/x"),
        ("text/x-shellscript", strict),
        ("text/x-shellscript", "#!/bin/bash\ntouch /y"),
    ]);
    let commands = "#cloud-config\nruncmd:\n- mkfs /dev/x\n- /etc/eks/bootstrap.sh demo\n- touch /x\n";
    for text in [strict, &init, &beside, &around, commands] {
        let read = of(text);
        let steps = &group(&read).steps;
        assert!(!steps.is_empty(), "{text}");
        for step in steps {
            assert_eq!(step.attempts, 1, "{}", step.name);
            let waits = step.name.as_str().starts_with("before-") && text.contains("set -e");
            let then = if waits { OnFailure::Pause } else { OnFailure::Continue };
            assert_eq!(step.on_failure, then, "{}", step.name);
        }
        support::converts(&read, &bringup_plan::LocalFiles::default());
    }
}

/// What a call hangs on is shown where it stands, and the hint is about the flag that it stands in.
#[test]
fn words_that_are_not_known_are_shown_where_they_stand() {
    let read = of(
        "#!/bin/bash\nP=$(x)\n/etc/eks/bootstrap.sh demo --b64-cluster-ca Y2E= --apiserver-endpoint https://a.example \\\n  --kubelet-extra-args \"--max-pods=${P} --node-labels=a=$(b)\"\n",
    );
    assert_eq!(places(&read, Severity::Error, "hangs on `${P}`"), ["4:36"]);
    assert_eq!(places(&read, Severity::Error, "hangs on `$(b)`"), ["4:57"]);
    assert!(hint(&read, "`${P}`").contains("`maxPods: {prefixDelegation: true}`"), "{:#?}", read.findings);
    assert!(hint(&read, "`$(b)`").contains("labels: {id: \"@{instanceId}\"}"), "{:#?}", read.findings);
    let read = of("#!/bin/bash\n/etc/eks/bootstrap.sh demo --b64-cluster-ca $CA --dns-cluster-ip \"$DNS\"\n");
    assert!(hint(&read, "`$CA`").contains("leave `--apiserver-endpoint`"), "{:#?}", read.findings);
    assert_eq!(hint(&read, "`$DNS`"), "write what it stands for");
    assert_eq!(places(&read, Severity::Error, "hangs on `$DNS`"), ["2:67"]);
}

/// What comes behind the call is come to only where that has succeeded: what answers its failure is as good as behind `||`.
#[test]
fn what_asks_how_the_call_ended_is_told() {
    let call = "#!/bin/bash\n/etc/eks/bootstrap.sh demo\n";
    for (rest, lines) in [
        ("if [ $? -ne 0 ]; then shutdown -h now; fi\n", &["3:1"] as &[&str]),
        ("RC=$?\necho $RC\nif [[ $RC != 0 ]]; then\n  poweroff\nfi\n", &["5:1"]),
        ("[ $? -eq 0 ] || poweroff\n", &["3:1"]),
        ("curl -d status=$? https://a.example\n", &["3:1"]),
        ("if [ $? -ne 0 ]; then cfn-signal -e 1 --stack a --resource b; fi\n", &["3:1"]),
        // These lose nothing.
        ("if [ $? -ne 0 ]; then echo failed; exit 1; fi\n", &[]),
        ("[ $? -eq 0 ] && touch /x\n", &[]),
        ("cfn-signal -e $? --stack a --resource b\n", &[]),
        (
            "if [ $? -eq 0 ]; then\n  cfn-signal -e 0 --stack a --resource b\nelse\n  cfn-signal -e 1 --stack a --resource b\nfi\n",
            &[],
        ),
        ("touch /x\nif [ $? -ne 0 ]; then poweroff; fi\n", &[]),
        ("RC=$?\nyum update || RC=1\nif [ $RC -ne 0 ]; then poweroff; fi\n", &[]),
    ] {
        let read = of(&format!("{call}{rest}"));
        group(&read);
        assert_eq!(warned(&read, "how the call ended"), lines, "{rest}: {:#?}", read.findings);
    }
    let answered =
        of("#!/bin/bash\n/etc/eks/bootstrap.sh demo || true\nif [ $? -ne 0 ]; then poweroff; fi\n");
    assert_eq!(warned(&answered, "how the call ended"), Vec::<String>::new());
    let strict = of("#!/bin/bash\nset -e\n/etc/eks/bootstrap.sh demo\nif [ $? -ne 0 ]; then poweroff; fi\n");
    assert_eq!(warned(&strict, "how the call ended"), Vec::<String>::new());
}

/// A stack hears of the failure that a script tells it of, be it not that of the call.
#[test]
fn a_signal_with_the_status_of_another_command_keeps_it() {
    let call = "#!/bin/bash\n/etc/eks/bootstrap.sh demo\n";
    for (rest, becomes) in [
        (
            format!("yum install -y x\ncfn-signal --exit-code $? {SIGNAL}\ntouch /x\n"),
            "trap \"exit \"$? EXIT\ntouch /x\n",
        ),
        (
            format!("RC=$?\nyum install -y x || RC=1\ncfn-signal -e \"$RC\" {SIGNAL}\n"),
            "trap \"exit \"\"$RC\" EXIT",
        ),
        (format!("if x; then\n  cfn-signal -e 1 {SIGNAL}\nfi\n"), "trap \"exit \"1 EXIT"),
        (format!("if x; then\n  cfn-signal --success false {SIGNAL}\nfi\n"), "trap \"exit \"1 EXIT"),
        (format!("yum -y x; cfn-signal -e $? {SIGNAL}\n"), "yum -y x; trap \"exit \"$? EXIT"),
        (
            format!("if x; then\n  cfn-signal -e 1 {SIGNAL}\nfi\ny\ncfn-signal -e 0 {SIGNAL}\nz\n"),
            "y\ntrap \"exit \"0 EXIT\nz\n",
        ),
    ] {
        let read = of(&format!("{call}{rest}"));
        let steps = steps(&read);
        let [(_, script, then)] = steps.as_slice() else { panic!("{steps:#?}") };
        assert!(script.contains(becomes), "{rest}: {script}");
        assert_eq!(*then, OnFailure::GiveUp, "{rest}");
        assert_eq!(group(&read).signals.len(), 1);
        assert_eq!(places(&read, Severity::Note, "gives up").len(), 1, "{rest}: {:#?}", read.findings);
        support::converts(&read, &bringup_plan::LocalFiles::default());
    }
    // How the call ended, or nothing but success, is what the plan tells by itself.
    for rest in [
        format!("cfn-signal --exit-code $? {SIGNAL}\ntouch /x\n"),
        format!("# so\n\nRC=$?\ntouch /x\ncfn-signal -e $RC {SIGNAL}\n"),
        format!("touch /x\ncfn-signal -e 0 {SIGNAL}\n"),
        format!("touch /x\nA=1\ncfn-signal -e $? {SIGNAL}\n"),
        format!("touch /x\ncfn-signal {SIGNAL}\n"),
    ] {
        let read = of(&format!("{call}{rest}"));
        let steps = steps(&read);
        let [(_, script, OnFailure::Continue)] = steps.as_slice() else { panic!("{rest}: {steps:#?}") };
        assert!(!script.contains("trap"), "{rest}: {script}");
    }
    // Of two traps only one would hold.
    let own = of(&format!("{call}trap 'rm /x' EXIT\nyum install -y x\ncfn-signal -e $? {SIGNAL}\n"));
    assert_eq!(warned(&own, "the plan's signal does not hang on `$?`"), ["5:1"], "{:#?}", own.findings);
    let beside = of(&message(&[
        ("text/x-shellscript", &format!("#!/bin/bash\ncfn-init -v\ncfn-signal -e $? {SIGNAL}\n")),
        ("application/node.eks.aws", CONFIG),
    ]));
    assert_eq!(steps(&beside)[0].2, OnFailure::GiveUp);
}

/// The plan signals at the end, and a reboot comes before that.
#[test]
fn a_signal_before_a_reboot_is_told_to_come_behind_it() {
    let read = of(&format!(
        "#!/bin/bash\n/etc/eks/bootstrap.sh demo\ncfn-signal -e $? {SIGNAL}\nyum update\nreboot\n"
    ));
    assert_eq!(places(&read, Severity::Note, "behind the reboot"), ["3:1"], "{:#?}", read.findings);
    let read =
        of(&format!("#!/bin/bash\n/etc/eks/bootstrap.sh demo\ncfn-signal -e $? {SIGNAL}\nyum update\n"));
    assert_eq!(places(&read, Severity::Note, "behind the reboot"), Vec::<String>::new());
}

/// `bootstrap.sh` asks EKS, and `cfn-signal` tells the stack, through the proxy that a script exports.
#[test]
fn a_proxy_that_the_call_gets_is_told() {
    let words = "asks EKS";
    for (script, line) in [
        (
            "#!/bin/bash\nexport HTTPS_PROXY=http://p:3128 NO_PROXY=169.254.169.254,.internal\n/etc/eks/bootstrap.sh demo\n",
            "2:1",
        ),
        ("#!/bin/bash\nset -a\nhttps_proxy=http://p:3128\n/etc/eks/bootstrap.sh demo\n", "3:1"),
        ("#!/bin/bash\nexport https_proxy=$(cat /p)\n/etc/eks/bootstrap.sh demo\n", "2:1"),
        ("#!/bin/bash\nHTTPS_PROXY=http://p:3128 /etc/eks/bootstrap.sh demo\n", "2:1"),
        (
            "#!/bin/bash\ncat <<E >> /etc/environment\nHTTPS_PROXY=http://p:3128\nE\nset -a\nsource /etc/environment\n/etc/eks/bootstrap.sh demo\n",
            "6:1",
        ),
        (
            "#!/bin/bash\necho 'export https_proxy=http://p' > /etc/profile.d/p.sh\n. /etc/profile.d/p.sh\n/etc/eks/bootstrap.sh demo\n",
            "3:1",
        ),
    ] {
        let read = of(script);
        group(&read);
        assert_eq!(warned(&read, words), [line], "{script}: {:#?}", read.findings);
        let said = with(script, ", proxy: {https: 'http://p:3128', noProxy: [.eks.amazonaws.com]}");
        assert_eq!(warned(&said, words), Vec::<String>::new(), "{script}");
    }
    let known = of(
        "#!/bin/bash\nexport HTTPS_PROXY=http://p:3128 NO_PROXY=10.0.0.0/8,.internal\n/etc/eks/bootstrap.sh demo\n",
    );
    let wanted = "spec: {proxy: {https: \"http://p:3128\", noProxy: [\"10.0.0.0/8\", \".internal\", \".eks.amazonaws.com\"]}}";
    assert!(hint(&known, words).contains(wanted), "{}", hint(&known, words));
    let secret = of("#!/bin/bash\nexport HTTPS_PROXY=http://me:secret@p:3128\n/etc/eks/bootstrap.sh demo\n");
    assert!(!format!("{:?}", secret.findings).contains("secret"), "{:#?}", secret.findings);
    // Nobody is asked through it here, nor there.
    let api =
        "--apiserver-endpoint https://ABCD.gr7.us-west-2.eks.amazonaws.com --b64-cluster-ca Y2EtYnVuZGxlCg==";
    for script in [
        format!("#!/bin/bash\nexport HTTPS_PROXY=http://p:3128\n/etc/eks/bootstrap.sh demo {api}\n"),
        "#!/bin/bash\nexport HTTPS_PROXY=http://p:3128\nunset HTTPS_PROXY\n/etc/eks/bootstrap.sh demo\n"
            .to_owned(),
        "#!/bin/bash\nHTTPS_PROXY=http://p:3128\n/etc/eks/bootstrap.sh demo\n".to_owned(),
        "#!/bin/bash\nexport HTTPS_PROXY=http://p:3128\nsudo /etc/eks/bootstrap.sh demo\n".to_owned(),
        "#!/bin/bash\nexport HTTPS_PROXY=\n/etc/eks/bootstrap.sh demo\n".to_owned(),
        "#!/bin/bash\nsource /etc/os-release\n/etc/eks/bootstrap.sh demo\n".to_owned(),
    ] {
        assert_eq!(warned(&of(&script), words), Vec::<String>::new(), "{script}");
    }
    for (variable, words) in
        [("AWS_CA_BUNDLE=/x", "with those authorities"), ("AWS_PROFILE=x", "`AWS_PROFILE`")]
    {
        let read = of(&format!("#!/bin/bash\nexport {variable}\n/etc/eks/bootstrap.sh demo\n"));
        assert_eq!(warned(&read, words), ["2:1"], "{:#?}", read.findings);
        let read = of(&format!("#!/bin/bash\nexport {variable}\n/etc/eks/bootstrap.sh demo {api}\n"));
        assert_eq!(warned(&read, words), Vec::<String>::new(), "{:#?}", read.findings);
    }
    // The stack is told by the agent, too.
    let signals = of(&format!(
        "#!/bin/bash\nexport HTTPS_PROXY=http://p:3128\n/etc/eks/bootstrap.sh demo {api}\ncfn-signal -e $? {SIGNAL}\n"
    ));
    assert_eq!(warned(&signals, words), ["2:1"], "{:#?}", signals.findings);
    let flag = of(&format!(
        "#!/bin/bash\n/etc/eks/bootstrap.sh demo {api}\ncfn-signal -e $? --https-proxy http://p:3128 {SIGNAL}\n"
    ));
    assert_eq!(warned(&flag, "`--https-proxy` of `cfn-signal`"), ["3:1"], "{:#?}", flag.findings);
}

/// systemd reads drop-ins by their names: those behind the plan's own add to it, or take its place.
#[test]
fn drop_ins_behind_the_plans_own_count() {
    let told = |name: &str, content: &str| {
        let read = of(&format!(
            "#!/bin/bash\ncat <<E > /etc/systemd/system/kubelet.service.d/{name}\n[Service]\n{content}\nE\n/etc/eks/bootstrap.sh demo\n"
        ));
        group(&read);
        let about = read.findings.iter().filter(|finding| finding.message.contains("kubelet.service.d"));
        about.map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(told("proxy.conf", "EnvironmentFile=/etc/environment"), Vec::<String>::new());
    assert!(told("20-proxy.conf", "EnvironmentFile=/etc/environment")[0].contains("count for nothing"));
    assert!(told("99-start.conf", "ExecStart=\nExecStart=/usr/bin/kubelet")[0].contains("takes the place"));
    assert!(told("99-x.conf", "Environment=KUBELET_EXTRA_ARGS=--v=4")[0].contains("count for nothing"));
    assert_eq!(told("99-x.conf", "LimitNOFILE=5"), Vec::<String>::new());
}

/// A path in a variable is told of where the file is changed, and not where the variable is set.
#[test]
fn files_in_variables_are_told_where_they_are_changed() {
    let read = of(
        "#!/bin/bash\nC=/etc/kubernetes/kubelet/kubelet-config.json\nT=/etc/containerd/config.toml\nsed -i s/a/b/ \"${T}\"\n/etc/eks/bootstrap.sh demo\njq .a $C > /x && mv /x $C\n",
    );
    assert_eq!(warned(&read, "/etc/containerd/config.toml"), ["4:1"], "{:#?}", read.findings);
    assert_eq!(places(&read, Severity::Note, "kubelet-config.json"), Vec::<String>::new());
    let early = of(
        "#!/bin/bash\nC=/etc/kubernetes/kubelet/kubelet-config.json\nsed -i s/a/b/ $C\n/etc/eks/bootstrap.sh demo\n",
    );
    assert_eq!(places(&early, Severity::Note, "kubelet-config.json"), ["3:1"], "{:#?}", early.findings);
}

/// What a NodeConfig hangs on is shown where it stands, too.
#[test]
fn what_a_written_node_config_hangs_on_is_shown_where_it_stands() {
    let config = CONFIG.replace("name: demo", "name: $NAME");
    let read =
        of(&format!("#!/bin/bash\ncat > /n.yaml <<EOF\n{config}EOF\nnodeadm init -c file:///n.yaml\n"));
    assert_eq!(places(&read, Severity::Error, "`$NAME`"), ["7:11"], "{:#?}", read.findings);
}
