//! Our own units, in the shape that holds on real systemd, and the operator's.
//!
//! `bringup.service` does not remain after exit and is not ordered by defaults: it retries inside its own process, runs up
//! to the gate, publishes the gate file, queues kubelet without waiting and exits. `bringup-gate.target` follows it
//! and requires that file, kubelet requires and follows the target. What comes after the gate is `bringup-after.service`, on which
//! nothing depends, so that a slow or failing last step never takes kubelet down.

use std::collections::{BTreeMap, BTreeSet};

use bringup_spec::{AgentSource, Os, OsFamily, Unit as OperatorUnit};
use bringup_yaml::Path;

use crate::context::Context;
use crate::decisions::Decisions;
use crate::flavour::{AGENT, GATE_FILE, OUR_UNITS};
use crate::kubelet::unit::runtime_unit;
use crate::{PlacedBy, Unit, codes, unit_text};

/// Suffixes of units that may be placed.
const SUFFIXES: [&str; 9] =
    ["service", "target", "socket", "timer", "path", "mount", "automount", "slice", "swap"];

/// Units of EKS' images of Amazon Linux 2023 that configure the node by the image's own agent and start kubelet: by
/// `nodeadm-run.service` after the user's scripts, whether the gate is open or not.
const NODEADM: [&str; 2] = ["nodeadm-config.service", "nodeadm-run.service"];

/// How an agent ends that is not to be started again before the next boot, or before somebody starts it: it has given up,
/// or its plan is none that it can follow. Another plan comes with a start of its own.
pub(crate) const FOR_GOOD: &str = "RestartPreventExitStatus=1 2\n";

/// What the systemd of an operating system lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Systemd {
    /// `Restart=` on a oneshot, which came with 244.
    pub(crate) lacks_oneshot_restart: bool,
    /// `StartLimitIntervalSec=` among a unit's own settings and `infinity` for a timeout, which came with 230 and 229.
    pub(crate) lacks_unit_limits: bool,
}

impl Systemd {
    /// By family and version; a version that is not given is taken for a current one.
    pub(crate) fn of(os: &Os) -> Self {
        let below = |first: u32| os.major().is_some_and(|major| major < first);
        let lacks_oneshot_restart = match os.family {
            OsFamily::AmazonLinux2 => true,
            OsFamily::Ubuntu => below(20),
            OsFamily::Debian => below(11),
            OsFamily::AmazonLinux2023 | OsFamily::Flatcar | OsFamily::Generic => false,
        };
        let lacks_unit_limits = match os.family {
            OsFamily::AmazonLinux2 => true,
            OsFamily::Ubuntu => below(18),
            OsFamily::Debian => below(9),
            OsFamily::AmazonLinux2023 | OsFamily::Flatcar | OsFamily::Generic => false,
        };
        Self { lacks_oneshot_restart, lacks_unit_limits }
    }

    /// No limit of starts, and none of time; a oneshot has none of time to begin with.
    fn limits(self) -> (&'static str, &'static str) {
        match (self.lacks_unit_limits, self.lacks_oneshot_restart) {
            (true, _) => ("", "StartLimitInterval=0\nTimeoutStartSec=0\n"),
            (false, true) => ("StartLimitIntervalSec=0\n", "TimeoutStartSec=infinity\n"),
            (false, false) => ("StartLimitIntervalSec=0\n", ""),
        }
    }
}

/// The agent's units; none without an agent.
pub(crate) fn agent_units(context: &Context<'_>, decisions: &Decisions) -> Vec<Unit> {
    if decisions.agent == AgentSource::None {
        return Vec::new();
    }
    let systemd = Systemd::of(&context.group.os);
    let aliases: Vec<String> = decisions.layout.aliases.iter().map(|alias| (*alias).to_owned()).collect();
    let mut service = unit("bringup.service", service(systemd, &aliases));
    service.aliases = aliases;
    service.enabled = Some(true);
    let mut after = unit("bringup-after.service", after(systemd));
    after.enabled = Some(false);
    let mut gate = unit("bringup-gate.target", gate());
    gate.enabled = Some(false);
    vec![service, gate, after]
}

/// Units of the image that would do our work behind our back: each gets a condition that never holds.
///
/// Not masked: the image has their files where a mask would stand, and would lose them. A condition is read when the job
/// runs, so that it also holds for one that this boot has queued already, and for every later boot.
pub(crate) fn rivals(context: &Context<'_>) -> Vec<Unit> {
    if !context.on_aws() || context.group.os.family != OsFamily::AmazonLinux2023 {
        return Vec::new();
    }
    let text = "[Unit]\nConditionPathExists=!/\n";
    let held_back = |name: &&str| Unit {
        name: (*name).to_owned(),
        content: None,
        enabled: None,
        mask: false,
        drop_ins: BTreeMap::from([("90-bringup.conf".to_owned(), text.to_owned())]),
        aliases: Vec::new(),
        placed_by: PlacedBy::Carrier,
    };
    NODEADM.iter().map(held_back).collect()
}

fn unit(name: &str, content: String) -> Unit {
    Unit {
        name: name.to_owned(),
        content: Some(content),
        enabled: None,
        mask: false,
        drop_ins: BTreeMap::new(),
        aliases: Vec::new(),
        placed_by: PlacedBy::Carrier,
    }
}

/// Where a oneshot cannot be restarted (systemd 219 of Amazon Linux 2, for one), the unit is of type notify: the agent
/// says READY when the gate is open, which ends the start job exactly as the exit of a oneshot does, and Restart= is
/// allowed. A failed start job is no loss in either shape: it is the agent that queues kubelet, from the run that
/// succeeds.
fn service(systemd: Systemd, aliases: &[String]) -> String {
    let (limit, timeout) = systemd.limits();
    // Of a oneshot, too, the manager shows what the agent says of itself.
    let kind = if systemd.lacks_oneshot_restart { "notify" } else { "oneshot" };
    let alias = if aliases.is_empty() { String::new() } else { format!("Alias={}\n", aliases.join(" ")) };
    format!(
        "[Unit]\n\
         Description=Bring this machine up to a Kubernetes node\n\
         Documentation=https://bringup.dev/\n\
         DefaultDependencies=no\n\
         RequiresMountsFor=/etc/bringup /opt/bringup /var/lib/bringup\n\
         Wants=network-online.target\n\
         After=local-fs.target systemd-tmpfiles-setup.service dbus.socket network-online.target\n\
         Conflicts=shutdown.target\n\
         Before=shutdown.target\n\
         {limit}\n\
         [Service]\n\
         Type={kind}\n\
         NotifyAccess=main\n\
         {timeout}ExecStart={AGENT} up --until gate\n\
         Restart=on-failure\n\
         {FOR_GOOD}RestartSec=5\n\
         StandardOutput=journal+console\n\n\
         [Install]\n\
         WantedBy=multi-user.target\n\
         {alias}"
    )
}

/// The gate's file is what it requires, and not the agent: systemd starts an agent that has died again by a restart, and
/// would restart, or stop, all that requires it, a kubelet that runs for days among it.
fn gate() -> String {
    format!(
        "[Unit]\n\
         Description=Kubelet may start\n\
         Documentation=https://bringup.dev/\n\
         Wants=bringup.service\n\
         After=bringup.service\n\
         AssertPathExists={GATE_FILE}\n"
    )
}

fn after(systemd: Systemd) -> String {
    let (limit, timeout) = systemd.limits();
    // Nothing waits for it, so that it may as well be of type simple.
    let kind = if systemd.lacks_oneshot_restart { "simple" } else { "oneshot" };
    format!(
        "[Unit]\n\
         Description=See this machine registered as a Kubernetes node\n\
         Documentation=https://bringup.dev/\n\
         DefaultDependencies=no\n\
         RequiresMountsFor=/etc/bringup /opt/bringup /var/lib/bringup\n\
         After=bringup-gate.target network-online.target\n\
         ConditionPathExists={GATE_FILE}\n\
         Conflicts=shutdown.target\n\
         Before=shutdown.target\n\
         {limit}\n\
         [Service]\n\
         Type={kind}\n\
         NotifyAccess=main\n\
         {timeout}ExecStart={AGENT} up --from gate\n\
         Restart=on-failure\n\
         {FOR_GOOD}RestartSec=5\n\
         StandardOutput=journal+console\n"
    )
}

/// The operator's units; drop-ins for a unit of ours are added to it, by whichever of its names.
///
/// The runtime starts before the agent places units: what is said about it travels with the carrier.
pub(crate) fn operator_units(context: &mut Context<'_>, decisions: &Decisions, units: &mut Vec<Unit>) {
    let runtime = runtime_unit(decisions.runtime);
    let mut names = BTreeSet::new();
    for (index, given) in context.group.units.iter().enumerate() {
        let path = context.at(["units"]).index(index);
        let real = units.iter().find(|unit| unit.aliases.contains(&given.name));
        let real = real.map_or_else(|| given.name.clone(), |unit| unit.name.clone());
        if !names.insert(real.clone()) {
            context.error(
                codes::UNIT_DUPLICATE,
                &path.key("name"),
                format!("there are two units `{}`", given.name),
                "join them: one unit may have several drop-ins",
            );
            continue;
        }
        check(context, &path, given);
        unit_text::check(context, &path, given);
        let drop_ins = drop_ins(context, &path, given);
        let is_runtime = real == runtime;
        if is_runtime && given.mask {
            context.key_error(
                codes::UNIT_RESERVED,
                &path.key("mask"),
                format!("the plan starts `{}`", given.name),
                "remove `mask`",
            );
        }
        if let Some(ours) = units.iter_mut().find(|unit| unit.name == real) {
            let mine = OUR_UNITS.contains(&real.as_str());
            if (given.content.is_some() && ours.content.is_some()) || mine && given.content.is_some() {
                context.error(
                    codes::UNIT_RESERVED,
                    &path.key("content"),
                    format!("the plan brings `{}` itself", given.name),
                    "use `dropIns` to change it",
                );
            }
            for (key, set) in [("mask", given.mask), ("enabled", given.enabled.is_some())] {
                if set && !is_runtime {
                    context.key_error(
                        codes::UNIT_RESERVED,
                        &path.key(key),
                        format!("the plan decides when `{}` starts", given.name),
                        format!("remove `{key}`"),
                    );
                }
            }
            if is_runtime {
                ours.enabled = given.enabled;
            }
            if ours.content.is_none() {
                ours.content.clone_from(&given.content);
            }
            for (name, text) in drop_ins {
                if ours.drop_ins.insert(name.clone(), text).is_some() {
                    context.error(
                        codes::UNIT_RESERVED,
                        &path.key("dropIns"),
                        format!("the plan has a drop-in `{name}` of its own"),
                        "give yours another name",
                    );
                }
            }
            continue;
        }
        if OUR_UNITS.contains(&real.as_str()) {
            context.error(
                codes::UNIT_RESERVED,
                &path.key("name"),
                format!("`{}` is a name that plans keep for themselves", given.name),
                "give yours another name",
            );
            continue;
        }
        units.push(Unit {
            name: given.name.clone(),
            content: given.content.clone(),
            enabled: given.enabled,
            mask: given.mask,
            drop_ins,
            aliases: Vec::new(),
            placed_by: if is_runtime { PlacedBy::Carrier } else { PlacedBy::Agent },
        });
    }
}

/// Whether systemd takes this for the name of a unit of a kind that may be placed.
pub(crate) fn is_unit_name(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, suffix)| SUFFIXES.contains(&suffix) && is_stem(stem))
        && name.len() <= 255
}

fn is_stem(stem: &str) -> bool {
    !stem.is_empty()
        && stem.chars().all(|letter| letter.is_ascii_alphanumeric() || ":-_.\\@".contains(letter))
}

fn check(context: &mut Context<'_>, path: &Path, unit: &OperatorUnit) {
    if !is_unit_name(&unit.name) {
        let suffix = unit.name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
        let hint = if matches!(suffix, "device" | "scope" | "snapshot") {
            format!("systemd makes units with the suffix `.{suffix}` itself")
        } else if !SUFFIXES.contains(&suffix) && is_stem(&unit.name) {
            format!("did you mean `{}.service`?", unit.name)
        } else {
            "write one such as `drivers.service`".to_owned()
        };
        context.error(
            codes::UNIT_NAME,
            &path.key("name"),
            format!("`{}` is no name of a unit", unit.name),
            hint,
        );
    }
    if unit.mask && (unit.content.is_some() || unit.enabled == Some(true) || !unit.drop_ins.is_empty()) {
        context.error(
            codes::UNIT_MASK,
            &path.key("mask"),
            format!("`{}` is masked, so that nothing else about it counts", unit.name),
            "remove `mask`, or everything else",
        );
    }
    if unit.enabled == Some(true)
        && unit.content.as_deref().is_some_and(|text| !text.lines().any(|line| line.trim() == "[Install]"))
    {
        context.error(
            codes::UNIT_INSTALL,
            &path.key("enabled"),
            format!("`{}` has no [Install] section, so that enabling it does nothing", unit.name),
            "add `[Install]` with `WantedBy=multi-user.target`",
        );
    }
    let nothing = unit.content.is_none() && unit.enabled.is_none() && !unit.mask && unit.drop_ins.is_empty();
    if nothing {
        context.warning(
            codes::WITHOUT_EFFECT,
            path,
            format!("nothing is said about `{}`", unit.name),
            "add `content`, `dropIns`, `enabled` or `mask`",
        );
    }
}

fn drop_ins(context: &mut Context<'_>, path: &Path, unit: &OperatorUnit) -> BTreeMap<String, String> {
    let mut drop_ins = BTreeMap::new();
    for (index, drop_in) in unit.drop_ins.iter().enumerate() {
        let place = path.key("dropIns").index(index).key("name");
        let stem = drop_in.name.strip_suffix(".conf").unwrap_or_default();
        if stem.is_empty() || stem.contains('/') {
            context.error(
                codes::UNIT_NAME,
                &place,
                format!("`{}` is no name of a drop-in: systemd reads only `*.conf`", drop_in.name),
                "write one such as `10-limits.conf`",
            );
        }
        if drop_ins.insert(drop_in.name.clone(), drop_in.content.clone()).is_some() {
            context.error(
                codes::UNIT_DUPLICATE,
                &place,
                format!("there are two drop-ins `{}`", drop_in.name),
                "give one of them another name",
            );
        }
    }
    drop_ins
}
