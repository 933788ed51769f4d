//! A network of the container's own: loopback with the metadata service's address, and a way out that leads nowhere.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bringup_spec::Cidr;
use rustix::fd::AsFd as _;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::LabFault;
use crate::fault::run;

/// The address of the metadata service.
pub(crate) const METADATA: &str = "169.254.169.254";
/// Networks that the machine may be in, each of 256 addresses; the first that the cluster has no other use for is taken.
const NETWORKS: [[u8; 3]; 5] = [[10, 77, 0], [172, 28, 77], [192, 168, 77], [100, 64, 77], [198, 18, 77]];

/// The machine's own address, outside the ranges of the cluster's pods and services.
pub(crate) fn address(ranges: &[String]) -> Ipv4Addr {
    let ranges: Vec<Cidr> = ranges.iter().filter_map(|range| Cidr::parse(range).ok()).collect();
    let of = |network: [u8; 3], host: u8| Ipv4Addr::new(network[0], network[1], network[2], host);
    let is_free = |network: &[u8; 3]| {
        let inside = |range: &Cidr| (0..=255).any(|host| range.contains(of(*network, host).into()));
        !ranges.iter().any(inside)
    };
    // Where every one is taken, the agent itself will say what is wrong.
    let found = NETWORKS.into_iter().find(is_free).unwrap_or(NETWORKS[0]);
    of(found, HOST)
}

/// The machine, and the way out, in their network.
const HOST: u8 = 10;
const GATEWAY: u8 = 1;

/// Programs that look for a default route find one, and nothing at its end. The process that holds the namespace reads
/// until nobody can write to it any more: the namespace is gone with us, however we end.
const HOLD: &str = r#"set -eu
ip link set lo up
ip address add "$1/32" dev lo
ip link add lab0 type veth peer name lab1
ip link set lab1 up
ip address add "$2/24" dev lab0
ip link set lab0 up
ip route add default via "$3"
echo ready
read -r _ || :
"#;

/// A network namespace, gone with the value.
#[derive(Debug)]
pub(crate) struct Network {
    holder: Child,
    address: Ipv4Addr,
}

impl Network {
    /// Makes it; this is the machine's own address.
    pub(crate) fn make(address: Ipv4Addr) -> Result<Self, LabFault> {
        let [a, b, c, _] = address.octets();
        let gateway = Ipv4Addr::new(a, b, c, GATEWAY).to_string();
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", HOLD, "sh", METADATA, &address.to_string(), &gateway])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(LabFault::system("make a network for the container"))?;
        let mut line = String::new();
        if let Some(said) = holder.stdout.take() {
            let _ = BufReader::new(said).read_line(&mut line);
        }
        let mut network = Self { holder, address };
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

    /// The machine's own address.
    pub(crate) fn address(&self) -> Ipv4Addr {
        self.address
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(ranges: &[&str]) -> String {
        address(&ranges.iter().map(|range| (*range).to_owned()).collect::<Vec<_>>()).to_string()
    }

    #[test]
    fn the_machines_address_lies_outside_what_the_cluster_uses() {
        assert_eq!(chosen(&[]), "10.77.0.10");
        assert_eq!(chosen(&["10.100.0.0/16", "fd00::/108"]), "10.77.0.10");
        assert_eq!(chosen(&["10.32.0.0/16", "10.64.0.0/12"]), "172.28.77.10");
        assert_eq!(chosen(&["10.0.0.0/8", "172.16.0.0/12"]), "192.168.77.10");
        assert_eq!(chosen(&["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]), "100.64.77.10");
    }

    #[test]
    fn no_part_of_the_machines_network_is_the_clusters() {
        assert_eq!(chosen(&["10.77.0.128/25"]), "172.28.77.10");
        assert_eq!(chosen(&["0.0.0.0/0"]), "10.77.0.10", "there is none to take");
    }
}
