//! A network of the container's own: loopback with the metadata service's address, and a way out that leads nowhere.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fd::AsFd as _;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::LabFault;
use crate::fault::run;

/// The address of the metadata service.
pub(crate) const METADATA: &str = "169.254.169.254";
/// The machine's own address.
pub(crate) const ADDRESS: &str = "10.77.0.10";

/// Programs that look for a default route find one, and nothing at its end. The process that holds the namespace reads
/// until nobody can write to it any more: the namespace is gone with us, however we end.
const HOLD: &str = r#"set -eu
ip link set lo up
ip address add "$1/32" dev lo
ip link add lab0 type veth peer name lab1
ip link set lab1 up
ip address add "$2/24" dev lab0
ip link set lab0 up
ip route add default via 10.77.0.1
echo ready
read -r _ || :
"#;

/// A network namespace, gone with the value.
#[derive(Debug)]
pub(crate) struct Network {
    holder: Child,
}

impl Network {
    /// Makes it.
    pub(crate) fn make() -> Result<Self, LabFault> {
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", HOLD, "sh", METADATA, ADDRESS])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(LabFault::system("make a network for the container"))?;
        let mut line = String::new();
        if let Some(said) = holder.stdout.take() {
            let _ = BufReader::new(said).read_line(&mut line);
        }
        let mut network = Self { holder };
        if line.trim() == "ready" {
            return Ok(network);
        }
        let mut said = String::new();
        if let Some(mut complaint) = network.holder.stderr.take() {
            let _ = complaint.read_to_string(&mut said);
        }
        Err(LabFault::Program {
            command: "unshare --net".to_owned(),
            status: "a failure".to_owned(),
            output: said.trim().replace('\n', "; "),
        })
    }

    /// Gives the machine a further address, on loopback.
    pub(crate) fn add_address(&self, address: &str) -> Result<(), LabFault> {
        let inside = format!("--net={}", self.file().display());
        run("nsenter", &[&inside, "ip", "address", "add", address, "dev", "lo"]).map(drop)
    }

    /// The file that stands for it.
    pub(crate) fn file(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/ns/net", self.holder.id()))
    }

    /// Takes the calling thread into the network of this file, for good.
    pub(crate) fn enter(file: &Path) -> Result<(), LabFault> {
        let open = File::open(file).map_err(LabFault::file("open", file))?;
        move_into_link_name_space(open.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|errno| LabFault::system("enter the container's network")(errno.into()))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
