//! What containers start from on EKS' images: an OCI specification.

use serde_json::{Map, Value, json};

/// nodeadm's own specification with the given fields laid over it; here null is kept.
pub fn base_runtime_spec(given: &Map<String, Value>) -> Value {
    let capabilities = [
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "NET_RAW",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    ]
    .map(|name| format!("CAP_{name}"));
    let mount = |kind: &str, destination: &str, source: &str, options: &[&str]| json!({"destination": destination, "options": options, "source": source, "type": kind});
    let namespaces = ["ipc", "mount", "network", "pid", "uts"].map(|kind| json!({"type": kind}));
    let mut spec = json!({
        "ociVersion": "1.1.0",
        "root": {"path": "rootfs"},
        "process": {
            "capabilities": {
                "bounding": capabilities, "effective": capabilities, "permitted": capabilities,
            },
            "cwd": "/",
            "noNewPrivileges": true,
            "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 65_536, "hard": 1_048_576}],
            "user": {"gid": 0, "uid": 0},
        },
        "mounts": [
            mount("tmpfs", "/dev", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
            mount("mqueue", "/dev/mqueue", "mqueue", &["nosuid", "noexec", "nodev"]),
            mount("devpts", "/dev/pts", "devpts",
                &["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]),
            mount("proc", "/proc", "proc", &["nosuid", "noexec", "nodev"]),
            mount("sysfs", "/sys", "sysfs", &["nosuid", "noexec", "nodev", "ro"]),
        ],
        "linux": {
            "maskedPaths": [
                "/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
                "/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/sys/firmware",
            ],
            "namespaces": namespaces,
            "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
            "resources": {"devices": [{"access": "rwm", "allow": false}]},
        },
    });
    if let Value::Object(spec) = &mut spec {
        lay_over(spec, given);
    }
    spec
}

fn lay_over(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(base)), Value::Object(over)) => lay_over(base, over),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}
