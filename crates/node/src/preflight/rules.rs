//! What each check finds.

use bringup_plan::{Action, Content, InstallSource, Plan};
use bringup_spec::{OsFamily, Phase, Role, Segment, SwapPolicy};

use super::range::contains;
use super::{Found, Seen};

/// Older ones lack what the units rely on.
const OLDEST_SYSTEMD: u32 = 219;
/// Controllers that kubelet does not start without.
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "pids"];
/// 2024-01-01: a clock that stands before it was never set.
const EARLIEST_MS: u64 = 1_704_067_200_000;
/// What one or two images and the logs of a first hour take.
const LEAST_ROOM_MIB: u64 = 1024;
/// What kubeadm asks of a node that runs the control plane.
const LEAST_MEMORY_CONTROL_PLANE_MIB: u64 = 1700;
/// Below this the system and kubelet alone run out of it.
const LEAST_MEMORY_MIB: u64 = 512;
const KUBELET_PORT: u16 = 10250;

pub(super) fn root(seen: &Seen, _: &Plan) -> Found {
    (seen.root == Some(false)).then(|| ("the agent is not root".to_owned(), "run it as root".to_owned()))
}

pub(super) fn systemd(seen: &Seen, _: &Plan) -> Found {
    let version = seen.systemd.filter(|version| *version < OLDEST_SYSTEMD)?;
    Some((
        format!("systemd {version} is older than {OLDEST_SYSTEMD}"),
        "use a newer operating system".to_owned(),
    ))
}

pub(super) fn cgroups(seen: &Seen, _: &Plan) -> Found {
    let there = seen.controllers.as_ref()?;
    let missing: Vec<&str> = CONTROLLERS.into_iter().filter(|name| !there.contains(*name)).collect();
    (!missing.is_empty()).then(|| {
        (
            format!("control groups lack `{}`", missing.join("`, `")),
            "mount them, and see that the kernel's arguments do not switch them off".to_owned(),
        )
    })
}

pub(super) fn architecture(seen: &Seen, plan: &Plan) -> Found {
    let is = seen.architecture.as_deref().filter(|is| *is != plan.architecture.word())?;
    Some((
        format!("the plan is for {}, and this machine is {is}", plan.architecture),
        "launch another type of machine, or set the group's `architecture`".to_owned(),
    ))
}

pub(super) fn system(seen: &Seen, plan: &Plan) -> Found {
    let names = seen.system.as_ref().filter(|names| !names.is_empty())?;
    let wanted = match plan.os {
        OsFamily::AmazonLinux2 | OsFamily::AmazonLinux2023 => "amzn",
        OsFamily::Ubuntu => "ubuntu",
        OsFamily::Debian => "debian",
        OsFamily::Flatcar => "flatcar",
        OsFamily::Generic => return None,
    };
    (!names.iter().any(|name| name == wanted)).then(|| {
        (
            format!("the plan is for {}, and this system is `{}`", plan.os, names.join(" ")),
            "use the image that the document names, or set its `os`".to_owned(),
        )
    })
}

pub(super) fn clock(seen: &Seen, _: &Plan) -> Found {
    let seconds = seen.clock_ms.filter(|clock| *clock < EARLIEST_MS)? / 1000;
    Some((
        format!("the clock stands at {seconds} s after 1970, where no certificate is valid"),
        "set the clock, or start its synchronisation".to_owned(),
    ))
}

pub(super) fn memory(seen: &Seen, plan: &Plan) -> Found {
    let least = match plan.role {
        Role::ControlPlane => LEAST_MEMORY_CONTROL_PLANE_MIB,
        Role::Worker => LEAST_MEMORY_MIB,
    };
    let is = seen.memory_mib.filter(|is| *is < least)?;
    Some((format!("{is} MiB of memory are less than {least}"), "use a larger machine".to_owned()))
}

pub(super) fn room(seen: &Seen, _: &Plan) -> Found {
    let is = seen.room_mib.filter(|is| *is < LEAST_ROOM_MIB)?;
    Some((
        format!("there is room for {is} MiB beneath `/var`, less than {LEAST_ROOM_MIB}"),
        "make room there, or use a larger disk".to_owned(),
    ))
}

pub(super) fn node_name(seen: &Seen, _: &Plan) -> Found {
    let why = match seen.node_name.as_ref()? {
        Err(why) => why.clone(),
        Ok(name) if matches!(name.as_str(), "localhost" | "localhost.localdomain") => {
            format!("`{name}` is every machine's name, and no node's")
        }
        Ok(_) => return None,
    };
    Some((why, "give the machine a name of its own".to_owned()))
}

pub(super) fn address(seen: &Seen, plan: &Plan) -> Found {
    let address = seen.address.as_deref()?;
    let range = plan.cluster_ranges.iter().find(|range| contains(range, address))?;
    Some((
        format!("the machine's address {address} lies in {range}, a range of the cluster"),
        "put the machine in another network, or give the cluster other ranges".to_owned(),
    ))
}

pub(super) fn kubelet_port(seen: &Seen, _: &Plan) -> Found {
    taken(seen, KUBELET_PORT)
}

pub(super) fn health_port(seen: &Seen, plan: &Plan) -> Found {
    taken(seen, port_of_health(plan)?)
}

/// The ports that kubelet will listen on.
pub(super) fn ports(plan: &Plan) -> impl Iterator<Item = u16> {
    [KUBELET_PORT].into_iter().chain(port_of_health(plan))
}

fn port_of_health(plan: &Plan) -> Option<u16> {
    let health = plan.steps.iter().find_map(|step| match &step.action {
        Action::StartKubelet { health, .. } => Some(health),
        _ => None,
    })?;
    let host = health.strip_prefix("http://")?.split('/').next()?;
    host.rsplit_once(':')?.1.parse().ok()
}

fn taken(seen: &Seen, port: u16) -> Found {
    (!seen.kubelet_runs && seen.listening.contains(&port)).then(|| {
        (
            format!("something listens on port {port} already, which kubelet needs"),
            format!("see `ss -ltnp sport = :{port}` and stop it"),
        )
    })
}

pub(super) fn swap(seen: &Seen, plan: &Plan) -> Found {
    let seen_to = plan.steps.iter().any(|step| match &step.action {
        Action::SetSwap { policy, .. } => *policy == SwapPolicy::Off,
        Action::WriteFile { content: Content::Text(text), .. } => {
            let bears = |text: &str| {
                let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
                text.contains("failSwapOn\":false") || text.contains("failSwapOn:false")
            };
            text.segments().iter().any(|segment| match segment {
                Segment::Literal(text) => bears(text),
                Segment::Fact { .. } => false,
            })
        }
        _ => false,
    });
    (!seen_to && !seen.swaps.is_empty()).then(|| {
        (
            format!("swap is on (`{}`), and kubelet does not start with it", seen.swaps.join("`, `")),
            "write `swap: {policy: off}`, or let kubelet bear it with `failSwapOn: false`".to_owned(),
        )
    })
}

pub(super) fn kubelet(seen: &Seen, plan: &Plan) -> Found {
    let programs = seen.programs.as_ref()?;
    let from_image = plan.steps.iter().any(|step| match &step.action {
        Action::Install { software, source, .. } => software == "kubelet" && *source == InstallSource::Image,
        _ => false,
    });
    (from_image && !programs.contains("kubelet") && !operator_may_bring_software(plan)).then(|| {
        (
            "the image has no kubelet".to_owned(),
            "use an image that has it, or say in `software.kubelet` where it comes from".to_owned(),
        )
    })
}

pub(super) fn runtime_unit(seen: &Seen, plan: &Plan) -> Found {
    let units = seen.units.as_ref()?;
    let installs = plan.steps.iter().any(|step| match &step.action {
        Action::Install { source, .. } => step.phase == Phase::Runtime && *source != InstallSource::Image,
        _ => false,
    });
    if installs || operator_may_bring_software(plan) {
        return None;
    }
    let missing = plan.steps.iter().find_map(|step| match &step.action {
        Action::StartUnit { unit, .. } if step.phase == Phase::Runtime && !units.contains(unit) => Some(unit),
        _ => None,
    })?;
    Some((
        format!("the image has no `{missing}`"),
        "use an image that has it, or say in `software.runtime` where it comes from".to_owned(),
    ))
}

/// Whether steps of the operator may bring what is not there yet.
fn operator_may_bring_software(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| {
        step.phase <= Phase::Runtime && matches!(step.action, Action::Run { .. } | Action::Fetch { .. })
    })
}
