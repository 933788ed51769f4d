use super::*;
use crate::actions::stage::{Stage, soon, well};
use crate::server::{Asked, Authority, Reply, Server};

const NAME: &str = "ip-10-0-1-2.ec2.internal";
const FILE: &str = "/var/lib/kubelet/kubeconfig";

fn kubeconfig(server: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: kubelet\nclusters:\n- name: kubernetes\n  cluster:\n    \
         server: {server}\n    certificate-authority: pki/ca.crt\ncontexts:\n- name: kubelet\n  context:\n    \
         cluster: kubernetes\n    user: kubelet\nusers:\n- name: kubelet\n  user:\n{user}"
    )
}

struct Cluster {
    stage: Stage,
    authority: Authority,
    api: Server,
}

impl Cluster {
    fn new(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let authority = Authority::new();
        let api = Server::https(&authority, &["127.0.0.1"], answer);
        let stage = Stage::new(|_| Reply::new(500, ""), well);
        stage.write("/var/lib/kubelet/pki/ca.crt", &authority.pem);
        Self { stage, authority, api }
    }

    fn with(self, user: &str) -> Self {
        let text = kubeconfig(&format!("https://{}", self.api.address), user);
        self.stage.write(FILE, text);
        self
    }

    fn wait(&self, time: Duration) -> Result<Seen, Failure> {
        self.watch(time, false)
    }

    fn watch(&self, time: Duration, check_skew: bool) -> Result<Seen, Failure> {
        let watch = Watch {
            machine: &self.stage.machine,
            network: &self.stage.network,
            kubeconfig: FILE,
            name: NAME,
            deadline: soon().min(Instant::now() + time),
            check_skew,
        };
        watch.wait(Duration::from_millis(5), Duration::from_millis(20))
    }
}

const BEARER: &str = "    token: hiddenword\n";
const LONG: Duration = Duration::from_secs(2);
const SHORT: Duration = Duration::from_millis(50);

#[test]
fn the_node_is_waited_for() {
    let count = std::sync::atomic::AtomicU32::new(0);
    let cluster = Cluster::new(move |asked| {
        assert_eq!(asked.header("authorization"), "Bearer hiddenword");
        let known = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) >= 2;
        if known { Reply::new(200, "{}") } else { Reply::new(404, "{}") }
    })
    .with(BEARER);
    assert_eq!(cluster.wait(LONG).unwrap(), Seen::Registered);
    let asked = cluster.api.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].path, format!("/api/v1/nodes/{NAME}"));
}

#[test]
fn kubelets_own_certificate_is_shown_through_its_link() {
    let cluster = Cluster::new(|asked| Reply::new(if asked.certified { 200 } else { 401 }, ""));
    let (certificate, key) = cluster.authority.issue(&["kubelet"]);
    let folder = "/var/lib/kubelet/pki";
    cluster.stage.write(&format!("{folder}/kubelet-client-2026.pem"), format!("{certificate}{key}"));
    let link = cluster.stage.path(&format!("{folder}/kubelet-client-current.pem"));
    std::os::unix::fs::symlink(format!("{folder}/kubelet-client-2026.pem"), link).unwrap();
    let user = format!(
        "    client-certificate: {folder}/kubelet-client-current.pem\n    client-key: {folder}/kubelet-client-current.pem\n"
    );
    assert_eq!(cluster.with(&user).wait(LONG).unwrap(), Seen::Registered);
}

#[test]
fn a_certificate_without_its_key_is_no_panic() {
    let cluster = Cluster::new(|_| Reply::new(200, ""));
    let (certificate, _) = cluster.authority.issue(&["kubelet"]);
    let (_, other) = cluster.authority.issue(&["another"]);
    for key in ["", other.as_str(), "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
        cluster.stage.write("/var/lib/kubelet/both.pem", format!("{certificate}{key}"));
        let text = kubeconfig("https://127.0.0.1:9", "    client-certificate: both.pem\n");
        cluster.stage.write(FILE, text);
        let failure = cluster.wait(SHORT).unwrap_err();
        assert!(failure.why.contains("no certificate with a key that fits"), "{}", failure.why);
    }
}

#[test]
fn the_agents_own_token_is_made_without_a_child() {
    let cluster = Cluster::new(|asked| {
        Reply::new(
            if asked.header("authorization").starts_with("Bearer k8s-aws-v1.") { 200 } else { 401 },
            "",
        )
    });
    let exec = "    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n      command: /opt/bringup/bin/bringup-node\n      \
                args: [token, --cluster, demo, --region, eu-central-1]\n";
    assert_eq!(cluster.with(exec).wait(LONG).unwrap(), Seen::Registered);
}

#[test]
fn credentials_of_another_program_leave_it_unchecked() {
    let cluster = Cluster::new(|_| Reply::new(200, ""))
        .with("    exec:\n      command: aws\n      args: [eks, get-token]\n");
    assert!(matches!(cluster.wait(LONG), Ok(Seen::Hidden(why)) if why.contains("`aws`")));
    assert!(cluster.api.asked().is_empty());
}

#[test]
fn rights_that_are_missing_leave_it_unchecked_after_a_while() {
    let cluster = Cluster::new(|_| Reply::new(403, "")).with(BEARER);
    assert!(matches!(cluster.wait(LONG), Ok(Seen::Hidden(why)) if why.contains("403")));
    assert!(cluster.api.asked().len() > 1);
}

#[test]
fn why_it_is_not_there_is_told() {
    let unknown = Cluster::new(|_| Reply::new(401, "")).with(BEARER);
    let failure = unknown.wait(SHORT).unwrap_err();
    assert!(failure.why.contains("does not accept this machine's credentials"), "{}", failure.why);
    assert!(!failure.why.contains("hidden"));

    let none = Cluster::new(|_| Reply::new(200, ""));
    let failure = none.wait(SHORT).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Transient);
    assert!(failure.why.contains(&format!("`{FILE}` is not there yet")), "{}", failure.why);

    let garbage = Cluster::new(|_| Reply::new(200, ""));
    garbage.stage.write(FILE, "users: {token: hidden");
    let failure = garbage.wait(SHORT).unwrap_err();
    assert!(failure.why.ends_with("is no kubeconfig"), "{}", failure.why);

    // Another authority than the kubeconfig's is not trusted, whatever the system trusts.
    let astray = Cluster::new(|_| Reply::new(200, "")).with(BEARER);
    astray.stage.write("/var/lib/kubelet/pki/ca.crt", Authority::new().pem);
    let failure = astray.wait(SHORT).unwrap_err();
    assert!(failure.why.contains("not trusted"), "{}", failure.why);
}

/// A cluster of this version, with a node that says this of its kubelet.
fn versions(kubelet: &'static str, server: (u16, &'static str)) -> Cluster {
    Cluster::new(move |asked| {
        assert_eq!(asked.header("authorization"), "Bearer hiddenword");
        if asked.path == "/version" {
            return Reply::new(server.0, server.1);
        }
        Reply::new(200, format!(r#"{{"kind":"Node","status":{{"nodeInfo":{{{kubelet}}}}}}}"#))
    })
    .with(BEARER)
}

#[test]
fn the_api_servers_version_is_asked_for_only_where_it_is_to_be() {
    let cluster = versions(r#""kubeletVersion":"v1.33.4""#, (200, r#"{"gitVersion":"v1.20.0"}"#));
    assert_eq!(cluster.watch(LONG, false).unwrap(), Seen::Registered);
    assert!(cluster.api.asked().iter().all(|asked| asked.path != "/version"));
}

#[test]
fn versions_that_may_work_together_are_let_through() {
    let eks = r#"{"major":"1","minor":"33+","gitVersion":"v1.33.2-eks-931bdca","platform":"linux/amd64"}"#;
    for kubelet in [r#""kubeletVersion":"v1.33.4""#, r#""kubeletVersion":"v1.30.9-eks-1de2ab1""#] {
        assert_eq!(versions(kubelet, (200, eks)).watch(LONG, true).unwrap(), Seen::Registered, "{kubelet}");
    }
}

#[test]
fn versions_that_may_not_work_together_need_the_operator() {
    let server = (200, r#"{"gitVersion":"v1.33.2"}"#);
    for (kubelet, why) in [
        (r#""kubeletVersion":"v1.34.0""#, "kubelet v1.34.0 is newer than the API server, which is v1.33.2"),
        (
            r#""kubeletVersion":"v1.29.9""#,
            "kubelet v1.29.9 is too old for the API server, which is v1.33.2: at most 3 minors may lie between",
        ),
    ] {
        let failure = versions(kubelet, server).watch(LONG, true).unwrap_err();
        assert_eq!((failure.kind, failure.why.as_str()), (FailureKind::Operator, why));
    }
}

#[test]
fn versions_that_cannot_be_had_are_waited_for_or_told() {
    let kubelet = r#""kubeletVersion":"v1.33.4""#;
    let said = |kubelet, server| versions(kubelet, server).watch(SHORT, true);
    let untold = said("", (200, r#"{"gitVersion":"v1.33.2"}"#)).unwrap_err();
    assert!(untold.why.ends_with("kubelet has not told its version yet"), "{}", untold.why);
    let ill = said(kubelet, (503, "")).unwrap_err();
    assert!(ill.why.ends_with("answers with 503 when it is asked for its version"), "{}", ill.why);
    assert_eq!(ill.kind, FailureKind::Transient);
    let garbage = said(kubelet, (200, "<html>")).unwrap_err();
    assert!(garbage.why.ends_with("cannot be compared"), "{}", garbage.why);
    let hidden = versions(kubelet, (403, "")).watch(LONG, true);
    assert!(matches!(hidden, Ok(Seen::Hidden(why)) if why.contains("its version (403)")));
}
