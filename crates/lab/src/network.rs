//! A network of the container's own: loopback with the metadata service's address, and a way out that leads nowhere.

use std::fs::File;
use std::path::Path;

use rustix::fd::AsFd as _;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::LabFault;
use crate::fault::run;

/// The address of the metadata service.
pub(crate) const METADATA: &str = "169.254.169.254";
/// The machine's own address.
pub(crate) const ADDRESS: &str = "10.77.0.10";

/// A network namespace, gone with the value.
#[derive(Debug)]
pub(crate) struct Network {
    name: String,
}

impl Network {
    /// Makes it.
    pub(crate) fn make(name: &str) -> Result<Self, LabFault> {
        run("ip", &["netns", "add", name])?;
        let network = Self { name: name.to_owned() };
        let inside = |arguments: &[&str]| {
            let mut all = vec!["-n", name];
            all.extend(arguments);
            run("ip", &all)
        };
        inside(&["link", "set", "lo", "up"])?;
        inside(&["address", "add", &format!("{METADATA}/32"), "dev", "lo"])?;
        // Programs that look for a default route find one. Nothing is at its end.
        inside(&["link", "add", "lab0", "type", "veth", "peer", "name", "lab1"])?;
        inside(&["link", "set", "lab1", "up"])?;
        inside(&["address", "add", &format!("{ADDRESS}/24"), "dev", "lab0"])?;
        inside(&["link", "set", "lab0", "up"])?;
        inside(&["route", "add", "default", "via", "10.77.0.1"])?;
        Ok(network)
    }

    /// Gives the machine a further address, on loopback.
    pub(crate) fn add_address(&self, address: &str) -> Result<(), LabFault> {
        run("ip", &["-n", &self.name, "address", "add", address, "dev", "lo"]).map(drop)
    }

    /// Takes the calling thread into the network of this name, for good.
    pub(crate) fn enter_by_name(name: &str) -> Result<(), LabFault> {
        let path = Path::new("/run/netns").join(name);
        let file = File::open(&path).map_err(LabFault::file("open", &path))?;
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|errno| LabFault::system("enter the container's network")(errno.into()))
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = run("ip", &["netns", "delete", &self.name]);
    }
}
