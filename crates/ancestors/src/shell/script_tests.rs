use super::*;
use crate::shell::halves;

fn of(script: &str) -> Script {
    Script::of(script, &BTreeMap::from([("CLUSTER_NAME", "demo".to_owned())]))
}

fn call(script: &str) -> Call {
    match of(script) {
        Script::Calls(call) => call,
        other => panic!("{script}: {other:?}"),
    }
}

fn why(script: &str) -> (u32, Why) {
    match of(script) {
        Script::Opaque(Opaque { number, why }) => (number, why),
        other => panic!("{script}: {other:?}"),
    }
}

#[test]
fn a_script_is_taken_apart_around_its_call() {
    let script = "#!/bin/bash\nset -ex\nsource /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\nPODS=40\ntouch /a\n/etc/eks/bootstrap.sh ${CLUSTER_NAME} \\\n  --kubelet-extra-args \"--max-pods=$PODS\"\ntouch /b\n";
    let Call { number, words, before, after, strict, dropped, .. } = call(script);
    assert_eq!(number, 6);
    assert_eq!(words, ["demo", "--kubelet-extra-args", "--max-pods=40"]);
    let head = format!("#!/bin/bash\nset -ex\n{STRICT}\nPODS=40\n");
    assert_eq!(before, Some(format!("{head}touch /a\n")));
    assert_eq!(after, Some(format!("{head}touch /b\n")));
    assert!(strict && dropped.is_empty());
}

/// All of these call the image's script with one word.
#[test]
fn calls_are_known_in_many_forms() {
    for line in [
        "/etc/eks/bootstrap.sh demo || exit 1",
        "/etc/eks/bootstrap.sh demo || true",
        "/etc/eks/bootstrap.sh demo || { echo failed >&2; exit 1; }",
        "/etc/eks/bootstrap.sh demo > /var/log/x 2>&1",
        "/etc/eks/bootstrap.sh demo 2>&1 | tee -a /var/log/x || exit 1",
        "bash -xe /etc/eks/bootstrap.sh demo",
        "sudo -E /etc/eks/bootstrap.sh demo",
        "sudo -u root bash -o pipefail \"/etc/eks/bootstrap.sh\" demo",
        "exec /etc/eks/bootstrap.sh demo",
        "CLUSTER=demo; /etc/eks/bootstrap.sh $CLUSTER",
        "export CLUSTER=\"demo\" OTHER=x && /etc/eks/bootstrap.sh \"${CLUSTER}\"",
        "/etc/eks/bootstrap.sh \\\n  demo # it is",
        "echo calling /etc/eks/bootstrap.sh\n/etc/eks/bootstrap.sh demo;",
        "cat <<EOF\n/etc/eks/bootstrap.sh other isn't called\nEOF\n/etc/eks/bootstrap.sh demo",
    ] {
        let call = call(&format!("#!/bin/bash\nset -ex\n{line}\n"));
        assert_eq!(call.words, ["demo"], "{line}");
        let is_log = |(_, _, when): &(u32, String, Dropped)| *when == Dropped::Output;
        assert!(call.dropped.iter().all(is_log), "{line}");
    }
}

#[test]
fn what_stands_on_the_line_of_the_call_keeps_its_side() {
    let call = call("cd /tmp && touch a && /etc/eks/bootstrap.sh demo && touch /b; touch /c\n");
    assert_eq!(call.before.as_deref().unwrap().lines().nth(1), Some("cd /tmp || exit 1"));
    assert_eq!(call.before.as_deref().unwrap().lines().nth(2), Some("touch a || exit 1"));
    assert_eq!(call.after.as_deref().unwrap().lines().last(), Some("touch /b; touch /c"));
}

#[test]
fn what_nobody_does_any_more_is_named() {
    let dropped = |script: &str| call(script).dropped;
    assert_eq!(
        dropped("true\n/etc/eks/bootstrap.sh demo || shutdown -h now"),
        [(2, "shutdown -h now".to_owned(), Dropped::OnFailure)]
    );
    assert_eq!(dropped("/etc/eks/bootstrap.sh demo | grep x"), [(1, "grep x".to_owned(), Dropped::Reader)]);
    let script = "exec /etc/eks/bootstrap.sh demo\n# the end\ntouch /b\n";
    assert_eq!(dropped(script), [(3, "touch /b".to_owned(), Dropped::Never)]);
    assert_eq!(call(script).after, None);
    // What the call writes, that nobody waits for it, and what is set for its failure.
    let script = "trap 'echo err' ERR\n/etc/eks/bootstrap.sh demo > /var/log/boot.log 2>&1 &\nwait\n";
    let expected = [
        (1, "trap 'echo err' ERR", Dropped::Trap),
        (2, "> /var/log/boot.log 2>&1", Dropped::Output),
        (2, "&", Dropped::Beside),
    ];
    assert_eq!(dropped(script), expected.map(|(line, what, when)| (line, what.to_owned(), when)));
    assert_eq!(call(script).words, ["demo"]);
    assert_eq!(dropped("/etc/eks/bootstrap.sh demo\ntrap 'echo err' ERR\n"), []);
    let beside = call("sleep 9 & /etc/eks/bootstrap.sh demo\n");
    assert_eq!(beside.before.as_deref().unwrap().lines().nth(1), Some("sleep 9 &"));
}

/// The script takes its flags from variables, too, where they reach it.
#[test]
fn variables_that_reach_the_call_are_flags() {
    let words =
        call("export USE_MAX_PODS=false\nCLUSTER_ID=x\nIP_FAMILY=ipv4 /etc/eks/bootstrap.sh demo").words;
    assert_eq!(words, ["--ip-family", "ipv4", "--use-max-pods", "false", "demo"]);
}

#[test]
fn values_are_split_and_added_to_as_bash_does() {
    let script =
        "ARGS='--a b'\nARGS+=\" --c\"\n/etc/eks/bootstrap.sh demo $ARGS --kubelet-extra-args \"$ARGS\"";
    assert_eq!(call(script).words, ["demo", "--a", "b", "--c", "--kubelet-extra-args", "--a b --c"]);
}

#[test]
fn what_only_a_shell_can_follow_is_told_with_its_line() {
    let unknown = |word: &str, line: u32| Why::Unknown(vec![(word.to_owned(), line)]);
    for (script, expected) in [
        ("/etc/eks/bootstrap.sh $(hostname)", (1, unknown("$(hostname)", 1))),
        ("/etc/eks/bootstrap.sh demo \\\n --cluster-id $ID", (1, unknown("$ID", 2))),
        ("if true; then\n/etc/eks/bootstrap.sh demo\nfi", (2, Why::Within(Block::Condition))),
        (
            "if true; then\n  a \\\n    b\n  /etc/eks/bootstrap.sh demo\nfi",
            (4, Why::Within(Block::Condition)),
        ),
        ("if [ -e /a ]; then /etc/eks/bootstrap.sh demo; fi", (1, Why::Within(Block::Condition))),
        ("[ -e /a ] || /etc/eks/bootstrap.sh demo", (1, Why::Condition)),
        (
            "sed -i s/a/b/ /etc/eks/bootstrap.sh\n/etc/eks/bootstrap.sh demo",
            (1, Why::Touched("sed -i s/a/b/ /etc/eks/bootstrap.sh".to_owned())),
        ),
        ("for a in 1 2; do\n  /etc/eks/bootstrap.sh demo && break\ndone", (2, Why::Within(Block::Loop))),
        ("join() {\n  /etc/eks/bootstrap.sh demo\n}\njoin", (2, Why::Within(Block::Function))),
        ("exit 0\n/etc/eks/bootstrap.sh demo", (1, Why::Ended("exit 0".to_owned()))),
        ("/etc/eks/bootstrap.sh a\n/etc/eks/bootstrap.sh b", (2, Why::Twice(1))),
        ("A=1\nif true; then\n  A=2\nfi\n/etc/eks/bootstrap.sh demo --cluster-id $A", (5, unknown("$A", 5))),
        ("A=1\nA=$(hostname)\n/etc/eks/bootstrap.sh demo --cluster-id $A", (3, unknown("$A", 3))),
    ] {
        assert_eq!(why(script), expected, "{script}");
    }
    assert_eq!(of("#!/bin/sh\n/opt/mine"), Script::CallsNothing);
    assert_eq!(of("#!/bin/sh\ncat <<X > /y\n/etc/eks/bootstrap.sh demo\nX\n"), Script::CallsNothing);
}

/// The token of the metadata service is only known to the shell that asked for it: what it was used for is handed over.
#[test]
fn what_was_asked_with_a_token_is_handed_over() {
    let script = "#!/bin/bash\nset -u\nTOKEN=$(curl -s -X PUT http://169.254.169.254/latest/api/token -H 'X-aws-ec2-metadata-token-ttl-seconds: 60')\nIID=$(curl -s -H \"X-aws-ec2-metadata-token: $TOKEN\" http://169.254.169.254/latest/meta-data/instance-id)\n/etc/eks/bootstrap.sh demo --kubelet-extra-args \"--node-labels=id=$IID\"\naws ec2 describe --instance-id $IID\n";
    let Call { words, before, after, dropped, .. } = call(script);
    assert_eq!(words.last().map(String::as_str), Some("--node-labels=id=@{instanceId}"));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    assert!(before.contains("IID=$(curl") && before.contains(&halves::writing().join("\n")), "{before}");
    assert!(!after.contains("curl") && after.contains("before-bootstrap.state"), "{after}");
    assert_eq!(dropped, []);
    // What needs nothing of the shell is asked for again.
    let plain = script.replace("$TOKEN", "none").replace("TOKEN=", "OTHER=");
    let after = call(&plain).after.unwrap_or_default();
    assert!(after.contains("IID=$(curl"), "{after}");
}

/// A function may be called behind the call, and uses what was set before it.
#[test]
fn what_functions_use_is_handed_over_with_them() {
    let script = "#!/bin/bash\nTOKEN=$(fetch token)\nmeta() { fetch -t $TOKEN $1; }\n/etc/eks/bootstrap.sh demo\ntouch /$(meta id)\n";
    let before = call(script).before.unwrap_or_default();
    assert!(before.contains(&halves::writing().join("\n")), "{before}");
    // Another shell cannot: that is told, with the line.
    let told = call(&script.replace("bash", "sh")).dropped;
    let lines: Vec<u32> = told.iter().filter(|told| told.2 == Dropped::Lost).map(|told| told.0).collect();
    assert_eq!(lines, [3]);
}

/// Lines for people stay where the rest of their part is; a log that the first part wrote is not begun anew.
#[test]
fn what_is_said_stays_and_logs_are_added_to() {
    let script = "#!/bin/bash\nexec > >(tee /var/log/x.log) 2>&1\nA=$(date)\ntouch /a\n/etc/eks/bootstrap.sh demo\necho it was $A\ntouch /b\n";
    let Call { before, after, .. } = call(script);
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    assert!(
        before.contains("tee /var/log/x.log") && before.contains(&halves::writing().join("\n")),
        "{before}"
    );
    assert!(after.contains("tee -a /var/log/x.log") && after.contains("echo it was $A\n"), "{after}");
    assert_eq!(call("#!/bin/bash\necho begins\n/etc/eks/bootstrap.sh demo\n").before, None);
}

/// A file that is read in may set any variable, also one that the script only gives a default for.
#[test]
fn what_a_file_may_have_set_is_doubtful_however_it_reaches_the_call() {
    let doubted = |lines: &str| {
        let dropped = call(&format!("NAME=demo\nsource /etc/x\n{lines}\n")).dropped;
        dropped.into_iter().filter(|(.., what)| *what == Dropped::Doubtful).collect::<Vec<_>>()
    };
    let told = [(2, "source /etc/x".to_owned(), Dropped::Doubtful)];
    for lines in [
        "/etc/eks/bootstrap.sh $NAME",
        "OTHER=$NAME\n/etc/eks/bootstrap.sh $OTHER",
        "OTHER=($NAME)\n/etc/eks/bootstrap.sh ${OTHER[@]}",
        "NAME+=x\n/etc/eks/bootstrap.sh $NAME",
        "/etc/eks/bootstrap.sh ${CLUSTER:-demo}",
        "OTHER=${CLUSTER:-demo}\n/etc/eks/bootstrap.sh $OTHER",
    ] {
        assert_eq!(doubted(lines), told, "{lines}");
    }
    for lines in ["NAME=other\n/etc/eks/bootstrap.sh $NAME", "/etc/eks/bootstrap.sh demo"] {
        assert_eq!(doubted(lines), [], "{lines}");
    }
}

/// The agent asks as the node, and AWS itself: what was asked in another way is not known.
#[test]
fn what_eks_is_asked_for_is_left_to_the_agent_where_it_asks_the_same() {
    let script = |flags: &str| {
        format!(
            "/etc/eks/bootstrap.sh demo --apiserver-endpoint $(aws eks describe-cluster --name demo {flags} --query cluster.endpoint)"
        )
    };
    let Call { words, dropped, .. } = call(&script("--region eu-west-1"));
    assert_eq!(
        (words, dropped),
        (vec!["demo".to_owned()], vec![(1, "--apiserver-endpoint".to_owned(), Dropped::Asked)])
    );
    for flags in ["--profile ops", "--profile=ops", "--endpoint-url http://x"] {
        assert!(matches!(why(&script(flags)), (1, Why::Unknown(_))), "{flags}");
    }
}
