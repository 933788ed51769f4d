//! Looks at the machine.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::Path;

use bringup_facts::Known;
use bringup_plan::{Action, Plan};
use bringup_spec::Fact;
use bringup_systemd::{Activity, Systemd};

use super::{Seen, rules, tables};
use crate::machine::Machine;
use crate::software::software;

const UNITS: [&str; 4] =
    ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];

/// What can be seen without changing anything. Of a directory that stands for a machine, only what its facts say.
pub(crate) fn look(machine: &Machine, plan: &Plan, known: Known<'_>) -> Seen {
    let mut seen = Seen { address: known.value(&Fact::Address).ok(), ..Seen::default() };
    if plan.facts.contains(&Fact::NodeName) || plan.facts.contains(&Fact::Hostname) {
        seen.node_name = Some(known.node_name().map_err(|fault| fault.to_string()));
    }
    if !machine.is_itself() {
        return seen;
    }
    let files = machine.files();
    let there = |path: &Path| matches!(files.disk().look(path), Ok(Some(_)));
    let text = |path: &str| std::fs::read_to_string(path).ok();
    if seen.address.is_none() {
        seen.address = crate::address::primary(plan.ipv6);
    }
    seen.root = Some(rustix::process::geteuid().is_root());
    if let Ok(mut systemd) = Systemd::connect() {
        seen.systemd = systemd.version().ok().flatten();
        let kubelet = systemd.state(&plan.kubelet_unit()).ok().flatten();
        seen.kubelet_runs = kubelet.is_some_and(|state| state.activity != Activity::Inactive);
    }
    // Where both versions are mounted, the second may be there without any controller.
    seen.controllers = text("/sys/fs/cgroup/cgroup.controllers")
        .map(|text| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>())
        .filter(|controllers| !controllers.is_empty())
        .or_else(|| text("/proc/cgroups").map(|text| tables::old_controllers(&text)));
    seen.listening = rules::ports(plan).filter(|port| is_taken(*port)).collect();
    let (mut programs, mut units) = (BTreeSet::new(), BTreeSet::new());
    for step in &plan.steps {
        match &step.action {
            Action::Install { software: name, .. } => {
                let places = software(name).map(|software| software.programs).unwrap_or_default();
                if places.iter().any(|path| there(Path::new(path))) {
                    programs.insert(name.clone());
                }
            }
            Action::StartUnit { unit, .. } => {
                let own = plan.units.iter().any(|own| own.name == *unit && own.content.is_some());
                if own || UNITS.iter().any(|folder| there(&Path::new(folder).join(unit))) {
                    units.insert(unit.clone());
                }
            }
            _ => {}
        }
    }
    (seen.programs, seen.units) = (Some(programs), Some(units));
    let var = rustix::fs::statvfs("/var").ok();
    seen.room_mib = var.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) / (1024 * 1024));
    seen.memory_mib = crate::actions::identify::memory_mib();
    seen.clock_ms = Some(Machine::now_ms());
    seen.swaps = tables::swaps(&text("/proc/swaps").unwrap_or_default());
    seen.architecture = Some(rustix::system::uname().machine().to_string_lossy().into_owned());
    let release = text("/etc/os-release").or_else(|| text("/usr/lib/os-release"));
    seen.system = release.map(|text| tables::system(&text));
    seen
}

/// Whether somebody listens on a port. The kernel's table of sockets would tell, but making it takes milliseconds.
fn is_taken(port: u16) -> bool {
    let everywhere = [IpAddr::from(Ipv6Addr::UNSPECIFIED), IpAddr::from(Ipv4Addr::UNSPECIFIED)];
    everywhere.into_iter().any(|address| {
        TcpListener::bind((address, port)).is_err_and(|fault| fault.kind() == ErrorKind::AddrInUse)
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::is_taken;

    #[test]
    fn a_port_is_taken_while_somebody_listens_on_it() {
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let port = listener.local_addr().unwrap().port();
            assert!(is_taken(port), "{address}");
            drop(listener);
            assert!(!is_taken(port), "{address}");
        }
    }
}
