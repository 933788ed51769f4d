//! Applies an Ignition config with the real Ignition, as the initial RAM disk would before the first boot.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::LabFault;
use crate::fault::outcome;
use crate::network::Network;

/// Debian ships it for the initial RAM disk only.
pub(crate) const PROGRAM: &str = "/usr/lib/dracut/modules.d/30ignition/ignition";

/// Mounts the layers and applies the config. The arguments are: the root below, the folder of the machine, the program.
/// It is built to relabel what it wrote and has no option against it: here the labeller does nothing. What it fetches, it
/// fetches inside the container's network and trusting what the machine trusts.
const APPLY: &str = r#"set -eu
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/merged"
mount --bind "$2/merged/etc/hosts" /etc/hosts
mkdir -p "$2/ignition/bin"
ln -sf /bin/true "$2/ignition/bin/setfiles"
export PATH="$2/ignition/bin:$PATH" IGNITION_CONFIG_FILE="$2/ignition/config" SSL_CERT_FILE="$2/merged/etc/ssl/certs/ca-certificates.crt"
for stage in fetch-offline fetch files; do
    "$3" --log-to-stdout --platform file --stage "$stage" --root "$2/merged" --config-cache "$2/ignition/cache" \
        --neednet "$2/ignition/neednet" --state-file "$2/ignition/state" --fetch-timeout 30s
done
"#;

/// Applies a config to the layers in `folder` over `lower`.
pub(crate) fn apply(lower: &Path, folder: &Path, network: &Network, config: &[u8]) -> Result<(), LabFault> {
    let own = folder.join("ignition");
    std::fs::create_dir_all(&own).map_err(LabFault::file("make", &own))?;
    let path = own.join("config");
    std::fs::write(&path, config).map_err(LabFault::file("write", &path))?;
    let mut command = Command::new("nsenter");
    command
        .arg(format!("--net={}", network.file().display()))
        .args(["unshare", "--mount", "--propagation", "private", "sh", "-c", APPLY, "sh"])
        .args([lower, folder, Path::new(PROGRAM)])
        .stdin(Stdio::null());
    outcome("ignition", command).map(|_| ())
}
