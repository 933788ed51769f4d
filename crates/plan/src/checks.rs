//! Findings about the document as a whole.

use bringup_diag::{Code, Finding, Findings};
use bringup_kubelet::{Minor, OLDEST, newest};
use bringup_spec::{AgentSource, Bootstrap, Document, JoinMethod, NodeGroup, Platform};
use bringup_yaml::Path;

use crate::context::Context;
use crate::{Election, aws, codes, endpoints, hooks, machines, network};

/// Findings about the document as a whole, which no group's compilation repeats.
pub fn check_document(document: &Document) -> Findings {
    let mut checker = Checker { document, findings: Findings::new() };
    checker.version();
    checker.cluster_id();
    endpoints::api(document, &mut checker.findings);
    machines::check(document, &mut checker.findings);
    checker.join();
    checker.aws();
    checker.groups();
    hooks::check(document, &mut checker.findings);
    checker.metadata();
    checker.dns();
    endpoints::proxy(document, &mut checker.findings);
    network::check(document, &mut checker.findings);
    machines::tell(document, &mut checker.findings);
    machines::tell_upgrade(document, &mut checker.findings);
    checker.findings.retain(|finding| !document.is_follow_up(finding));
    checker.findings
}

struct Checker<'a> {
    document: &'a Document,
    findings: Findings,
}

impl Checker<'_> {
    fn error(&mut self, code: Code, path: &Path, message: impl Into<String>, hint: impl Into<String>) {
        self.findings.push(Finding::error(code, message).at(self.document.place(path)).hint(hint));
    }

    fn warning(&mut self, code: Code, path: &Path, message: impl Into<String>, hint: impl Into<String>) {
        self.findings.push(Finding::warning(code, message).at(self.document.place(path)).hint(hint));
    }

    fn note(&mut self, code: Code, path: &Path, message: impl Into<String>, hint: impl Into<String>) {
        self.findings.push(Finding::note(code, message).at(self.document.place(path)).hint(hint));
    }

    fn version(&mut self) {
        let minor = Minor(self.document.cluster.spec.kubernetes.version.minor);
        let path = Context::spec_path(["kubernetes", "version"]);
        if minor < OLDEST {
            self.warning(
                codes::OLD_VERSION,
                &path,
                format!(
                    "Kubernetes {minor} is older than {OLDEST}, the first whose fields and flags are known"
                ),
                format!("fields and flags are checked as for {OLDEST}; use a newer version if you can"),
            );
        }
        if minor > newest() {
            let newest = newest();
            self.warning(
                codes::NEW_VERSION,
                &path,
                format!(
                    "Kubernetes {minor} is newer than {newest}, the last whose fields and flags are known"
                ),
                format!(
                    "fields and flags are checked as for {newest}; look for a newer release of this program"
                ),
            );
        }
    }

    fn cluster_id(&mut self) {
        let spec = &self.document.cluster.spec;
        if spec.api.as_ref().is_some_and(|api| api.cluster_id.is_some())
            && spec.join.method != JoinMethod::EksToken
        {
            self.unused(&["api", "clusterId"], "only EKS local clusters have an id of their own");
        }
    }

    fn unused(&mut self, keys: &[&str], why: &str) {
        let path = Context::spec_path(keys.iter().copied());
        let name = keys.last().copied().unwrap_or_default();
        let place = self.document.key_place(&path);
        self.findings.push(
            Finding::warning(codes::WITHOUT_EFFECT, format!("`{name}` has no effect: {why}"))
                .at(place)
                .hint("remove it"),
        );
    }

    fn join(&mut self) {
        let spec = &self.document.cluster.spec;
        let join = &spec.join;
        let method = join.method;
        let path = Context::spec_path(["join"]);
        let only_starts = method == JoinMethod::Kubeadm
            && spec.node_groups.iter().all(|group| {
                group.bootstrap == Some(Bootstrap::Always(true))
                    || machines::election(spec, group) == Some(Election::Always)
            });
        let without_agent = |group: &NodeGroup| group.agent.from == AgentSource::None;
        let learned = method == JoinMethod::EksToken
            && spec.node_groups.iter().all(|group| group.platform == Platform::Aws);
        if spec.api.is_none() && learned {
            // The agent asks EKS; without one nobody does.
            for (index, _) in spec.node_groups.iter().enumerate().filter(|(_, group)| without_agent(group)) {
                let path = self.document.group_path(index).key("agent");
                self.error(
                    codes::ENDPOINT_MISSING,
                    &path,
                    "without an agent nobody on the node asks EKS where the API server is",
                    "add `api: {endpoint: https://HOST, certificateAuthority: ...}` and `network.serviceRanges`; `aws eks describe-cluster` prints them",
                );
            }
        } else if spec.api.is_none() && method != JoinMethod::Kubeconfig && !only_starts {
            self.error(
                codes::ENDPOINT_MISSING,
                &path,
                format!("nodes that join with `{method}` must know the API server"),
                "add `api: {endpoint: https://HOST, certificateAuthority: ...}`",
            );
        }
        let lacks_authority = spec.api.as_ref().is_some_and(|api| api.certificate_authority.is_none());
        if lacks_authority && matches!(method, JoinMethod::EksToken | JoinMethod::BootstrapToken) {
            self.error(
                codes::JOIN_TRUST,
                &Context::spec_path(["api"]),
                "nodes cannot tell the API server from an impostor",
                "add `certificateAuthority` with the cluster's CA; `aws eks describe-cluster` prints EKS'",
            );
        }
        let has_authority = spec.api.as_ref().is_some_and(|api| api.certificate_authority.is_some());
        if method == JoinMethod::Kubeconfig && !has_authority {
            self.warning(
                codes::CLIENT_AUTHORITY,
                &path,
                "kubelet cannot tell the API server when it calls: `kubectl logs` and `exec` would be refused",
                "add `api.certificateAuthority` with the cluster's CA",
            );
        }
        let needs_token =
            method == JoinMethod::BootstrapToken || (method == JoinMethod::Kubeadm && !only_starts);
        // kubeadm takes a kubeconfig in the place of one.
        let has_other = method == JoinMethod::Kubeadm && join.kubeconfig.is_some();
        if needs_token && join.token.is_none() && !has_other {
            self.error(
                codes::JOIN_SECRET,
                &path,
                format!("nodes that join with `{method}` need a bootstrap token"),
                "add `token:` with a reference to it, such as `{ssmParameter: /cluster/token}`",
            );
        }
        if method == JoinMethod::Kubeconfig && join.kubeconfig.is_none() {
            self.error(
                codes::JOIN_SECRET,
                &path,
                "there is no kubeconfig to join with",
                "add `kubeconfig:` with a reference to it, such as `{file: /etc/kubernetes/kubeconfig}`",
            );
        }
        let tokens = matches!(method, JoinMethod::BootstrapToken | JoinMethod::Kubeadm);
        for (key, unused) in [
            ("token", join.token.is_some() && !tokens),
            (
                "kubeconfig",
                join.kubeconfig.is_some() && !matches!(method, JoinMethod::Kubeconfig | JoinMethod::Kubeadm),
            ),
            ("roleArn", join.role_arn.is_some() && method != JoinMethod::EksToken),
            ("kubeadm", join.kubeadm.is_some() && method != JoinMethod::Kubeadm),
        ] {
            if unused {
                self.unused(&["join", key], &format!("the way to join is `{method}`"));
            }
        }
        if let Some(kubeadm) = &join.kubeadm {
            for (index, hash) in kubeadm.ca_cert_hashes.iter().enumerate() {
                let hex = hash.strip_prefix("sha256:").unwrap_or_default();
                if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    self.error(
                        codes::JOIN_TRUST,
                        &Context::spec_path(["join", "kubeadm", "caCertHashes"]).index(index),
                        "this is no digest of a CA key",
                        "write `sha256:` and 64 hexadecimal digits, as `kubeadm token create --print-join-command` prints it",
                    );
                }
            }
        }
    }

    fn aws(&mut self) {
        let spec = &self.document.cluster.spec;
        let groups_on_aws = spec.node_groups.iter().any(|group| group.platform == Platform::Aws);
        let Some(aws) = &spec.aws else {
            if groups_on_aws {
                self.error(
                    codes::AWS_MISSING,
                    &Context::spec_path([]),
                    "there are groups on AWS, and nothing says in which region",
                    "add `aws: {region: eu-central-1}`",
                );
            } else if spec.join.method == JoinMethod::EksToken {
                self.error(
                    codes::AWS_MISSING,
                    &Context::spec_path(["join"]),
                    "a token of EKS is made for a region",
                    "add `aws: {region: eu-central-1}`",
                );
            }
            return;
        };
        if !groups_on_aws && spec.join.method != JoinMethod::EksToken && !spec.node_groups.is_empty() {
            self.unused(&["aws"], "no group is on AWS");
        }
        let path = Context::spec_path(["aws"]);
        if !aws::looks_like_region(&aws.region) {
            let zone = aws.region.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
            let hint = if aws::looks_like_region(zone) {
                format!("that is a zone; write `{zone}`")
            } else {
                "write one such as `eu-central-1`".to_owned()
            };
            self.error(
                codes::REGION,
                &path.key("region"),
                format!("`{}` is no region of AWS", aws.region),
                hint,
            );
        } else if !aws::regions().any(|known| known == aws.region) {
            let near = bringup_diag::closest(&aws.region, aws::regions());
            let hint = near.map_or_else(
                || "look it up in the list of AWS' regions; a new one is fine".to_owned(),
                |near| format!("did you mean `{near}`? A new region is fine"),
            );
            self.warning(
                codes::REGION,
                &path.key("region"),
                format!("`{}` is no region of AWS that is known; it is taken for a new one", aws.region),
                hint,
            );
        } else if let Some(given) = &aws.partition {
            let own = aws::partition_of(&aws.region);
            if aws::partition_named(given).is_none() {
                let near = bringup_diag::closest(given, aws::partition_names()).unwrap_or(own.name);
                self.error(
                    codes::REGION,
                    &path.key("partition"),
                    format!("`{given}` is no partition of AWS"),
                    format!("did you mean `{near}`?"),
                );
            } else if given != own.name {
                self.error(
                    codes::REGION,
                    &path.key("partition"),
                    format!(
                        "the region `{}` is in the partition `{}`, not in `{given}`",
                        aws.region, own.name
                    ),
                    format!("write `{}`, or leave it out", own.name),
                );
            }
        }
        self.aws_names(aws);
        if let Some(account) = &aws.registry_account
            && (account.len() != 12 || !account.bytes().all(|byte| byte.is_ascii_digit()))
        {
            self.error(
                codes::REGISTRY_ACCOUNT,
                &path.key("registryAccount"),
                format!("`{account}` is no AWS account"),
                "write its 12 digits, in quotes",
            );
        }
    }

    /// EKS tells nobody its range of services, and kubelet without an address of DNS gives pods the node's own.
    fn dns(&mut self) {
        let spec = &self.document.cluster.spec;
        let by_itself = |group: &bringup_spec::NodeGroup| {
            group.kubelet.config.contains_key("clusterDNS") || group.kubelet.flags.contains_key("cluster-dns")
        };
        // Where the document does not say where the API server is, the agent asks EKS for the range, too.
        let unknown = network::dns_addresses(&spec.network).is_empty() && spec.api.is_some();
        if spec.join.method != JoinMethod::EksToken || !unknown {
            return;
        }
        let open: Vec<_> = spec.node_groups.iter().filter(|group| !by_itself(group)).collect();
        let hint = "add `network: {serviceRanges: [...]}`; `aws eks describe-cluster` prints EKS' under `kubernetesNetworkConfig`";
        let path = Context::spec_path(["join"]);
        if open.iter().any(|group| !spec.guesses_dns(group)) {
            let message = "nothing says where the cluster's DNS is: pods would find no service by its name";
            self.warning(codes::DNS_MISSING, &path, message, hint);
        } else if !open.is_empty() {
            let message = "nothing says where the cluster's DNS is: as `bootstrap.sh`, the node takes it to be at \
                           `172.20.0.10` in a network that begins with `10.`, and at `10.100.0.10` in others";
            self.note(codes::DNS_MISSING, &path, message, hint);
        }
    }

    fn aws_names(&mut self, given: &bringup_spec::Aws) {
        let path = Context::spec_path(["aws"]);
        let single = [
            ("vpc", "vpc-", given.vpc.as_ref()),
            ("controlPlaneSecurityGroup", "sg-", given.control_plane_security_group.as_ref()),
        ];
        let mut ids: Vec<(Path, &str, &String)> =
            single.into_iter().filter_map(|(key, prefix, id)| Some((path.key(key), prefix, id?))).collect();
        let subnets = path.key("subnets");
        ids.extend(given.subnets.iter().enumerate().map(|(index, id)| (subnets.index(index), "subnet-", id)));
        for (path, prefix, id) in ids {
            if !aws::is_id(id, prefix) {
                let hint = format!("write one such as `{prefix}0123456789abcdef0`");
                self.error(
                    codes::AWS_NAME,
                    &path,
                    format!("`{id}` is no id that begins with `{prefix}`"),
                    hint,
                );
            }
        }
        for (index, id) in given.subnets.iter().enumerate() {
            if given.subnets.iter().take(index).any(|earlier| earlier == id) {
                let message = format!("the subnet `{id}` is there twice");
                self.error(codes::AWS_NAME, &subnets.index(index), message, "keep one of them");
            }
        }
        let is_name = |name: &str| {
            name.len() <= 100
                && name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        if let Some(name) = given.cluster_name.as_ref().filter(|name| !is_name(name)) {
            let message = format!("`{name}` is no name of an EKS cluster");
            let hint = "write letters, digits, `-` and `_`, at most 100";
            self.error(codes::AWS_NAME, &path.key("clusterName"), message, hint);
        }
        if let Some(role) = &self.document.cluster.spec.join.role_arn
            && !aws::is_role(role)
        {
            let message = format!("`{role}` is no ARN of a role");
            let hint = "write one such as `arn:aws:iam::111122223333:role/nodes`";
            self.error(codes::AWS_NAME, &Context::spec_path(["join", "roleArn"]), message, hint);
        }
    }

    fn groups(&mut self) {
        let spec = &self.document.cluster.spec;
        let mut elected: Option<usize> = None;
        for (index, group) in spec.node_groups.iter().enumerate() {
            let path = self.document.group_path(index);
            if group.bootstrap == Some(Bootstrap::Always(true)) {
                if let Some(first) = elected {
                    let other =
                        spec.node_groups.get(first).map(|group| group.name.as_str()).unwrap_or_default();
                    self.error(
                        codes::BOOTSTRAP_SEVERAL,
                        &path.key("bootstrap"),
                        format!("the nodes of `{other}` start the cluster already"),
                        "keep `bootstrap: true` on one group",
                    );
                }
                elected = elected.or(Some(index));
            }
        }
    }

    fn metadata(&mut self) {
        let cluster = &self.document.cluster;
        let all =
            cluster.spec.hooks.iter().chain(cluster.spec.node_groups.iter().flat_map(|group| &group.hooks));
        let clustered = all.into_iter().any(|hook| hooks::is_cluster_scoped(hook.on));
        for (key, map) in
            [("labels", &cluster.metadata.labels), ("annotations", &cluster.metadata.annotations)]
        {
            if !map.is_empty() && !clustered {
                let place = self.document.key_place(&Path::root().keys(["metadata", key]));
                self.findings.push(
                    Finding::note(
                        codes::METADATA_UNUSED,
                        format!(
                            "the cluster's {key} are parameters of hooks of cluster scope, and there are none"
                        ),
                    )
                    .at(place)
                    .hint("labels of nodes stand in their group's `labels`"),
                );
            }
        }
    }
}
