//! Files that a script changes before its call of `bootstrap.sh`, and that the plan writes afterwards.

use bringup_diag::Span;

use crate::codes;
use crate::tell::Teller;

/// A path, and what to write instead.
const FILES: [(&str, &str); 5] = [
    ("/etc/kubernetes/kubelet/", "`kubelet: {config: {...}}`"),
    ("/etc/containerd/config.toml", "`runtime: {config: ...}`"),
    ("/etc/docker/daemon.json", "`runtime: {dockerConfig: {...}}`"),
    ("/etc/eks/image-credential-provider/", "`kubelet: {imageCredentialProviders: ...}`"),
    ("/var/lib/kubelet/kubeconfig", "nothing: the plan writes what the node joins with"),
];

/// Tells of lines of a script that name such a file and stand in the part before the call; `at` has the place of a line.
pub(super) fn tell_of(script: &str, before: &str, at: &dyn Fn(u32) -> Span, tell: &mut Teller<'_>) {
    for (line, number) in script.lines().zip(1_u32..) {
        let trimmed = line.trim();
        if trimmed.starts_with('#') || !before.contains(trimmed) {
            continue;
        }
        let Some((path, field)) = FILES.iter().find(|(path, _)| trimmed.contains(path)) else { continue };
        let message = format!(
            "this line has to do with `{path}`, where the plan writes afterwards: what it changes there is lost"
        );
        let hint =
            format!("write {field} of the group with `--with additions.yaml`, or do it behind the call");
        tell.warning(codes::FIELD_DIFFERS, at(number), message, hint);
    }
}
