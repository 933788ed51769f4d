//! What tests of actions play on: a directory for the machine, loopback for the rest of the world.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bringup_facts::Facts;
use bringup_plan::Plan;

use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::metadata::Metadata;
use crate::network::Network;
use crate::server::{Asked, Authority, Proxy, Reply, Server};
use crate::web::{Trust, Web};

pub(crate) struct Stage {
    holder: tempfile::TempDir,
    pub(crate) machine: Machine,
    pub(crate) plan: Plan,
    pub(crate) facts: Facts,
    pub(crate) network: Network,
    pub(crate) services: Server,
    pub(crate) metadata: Server,
    _proxy: Proxy,
}

impl Stage {
    /// With these answers of the services of AWS, and these of the metadata service.
    pub(crate) fn new(
        services: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
        metadata: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let authority = Authority::new();
        let names = ["cloudformation", "autoscaling", "harbour.s3"]
            .map(|name| format!("{name}.eu-central-1.amazonaws.com"));
        let services = Server::https(&authority, &names.each_ref().map(String::as_str), services);
        let metadata = Server::http(metadata);
        let proxy = Proxy::to(services.address);
        let environment = BTreeMap::from([("https_proxy".to_owned(), format!("http://{}", proxy.address))]);
        let network = Network {
            web: Web::new(&environment, Trust::system_and(&[authority.pem])),
            metadata: Metadata::at(vec![metadata.url("")]),
        };
        let plan = r#"{"format":1,"cluster":"demo","group":"workers","flavour":"bringup","kubernetes":"1.33",
            "platform":"aws","os":"amazon-linux-2023","architecture":"x86_64","role":"worker",
            "nodeName":"private-dns","maxPods":{"fixed":110},"units":[],"steps":[]}"#;
        let facts = br#"{"region":"eu-central-1","instanceId":"i-0123456789abcdef0","hostname":"ip-10-0-1-2.ec2.internal"}"#;
        let holder = tempfile::tempdir().unwrap();
        Self {
            machine: Machine::open(holder.path()).unwrap(),
            holder,
            plan: serde_json::from_str(plan).unwrap(),
            facts: Facts::from_json(facts).unwrap(),
            network,
            services,
            metadata,
            _proxy: proxy,
        }
    }

    pub(crate) fn knowledge(&self) -> Knowledge<'_> {
        Knowledge::new(&self.machine, &self.plan, self.facts.clone())
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.holder.path().join(path.trim_start_matches('/'))
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

/// Soon: what is to fail fails quickly.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(2)
}

/// The metadata service as EC2 has it, with other values.
pub(crate) fn well(asked: &Asked) -> Reply {
    let body = match asked.path.trim_start_matches("/latest/") {
        "api/token" => "c2Vzc2lvbg==",
        "dynamic/instance-identity/document" => {
            r#"{"accountId":"123456789012","architecture":"x86_64","availabilityZone":"eu-central-1b",
                "instanceId":"i-0123456789abcdef0","instanceType":"m5.large","region":"eu-central-1"}"#
        }
        "dynamic/instance-identity/signature" => "c2lnbmF0dXJl\n",
        "meta-data/iam/security-credentials/" => "node",
        "meta-data/iam/security-credentials/node" => {
            r#"{"Code":"Success","AccessKeyId":"ASIAEXAMPLE","SecretAccessKey":"hiddenkey",
                "Token":"hiddentoken","Expiration":"2099-01-01T00:00:00Z"}"#
        }
        _ => return Reply::new(404, ""),
    };
    Reply::new(200, body)
}
