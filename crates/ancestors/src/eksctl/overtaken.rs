//! Files of the image that commands like to change, and that the plan does not heed.

use bringup_diag::Span;

use crate::codes;
use crate::shell;
use crate::tell::Teller;
use crate::user_data::overtaken::{self, Joins, When};

/// What docker alone reads.
const DOCKERS: &str = "/etc/docker/daemon.json";
const DOCKER_CONFIG: &str = "add `runtime: {dockerConfig: {...}}` to the group with `--with additions.yaml`";
const REGISTRIES: &str = "remove it; containerd reads what is said of a registry from `/etc/containerd/certs.d/HOST/hosts.toml`, which a command may write";

/// Tells of lines of a command that name such a file; `docker` is whether that is the runtime. `when` says of a line and its number
/// when it is done, if it is; `at` has its place.
pub(super) fn tell_of(
    command: &str,
    docker: bool,
    when: &dyn Fn(&str, u32) -> Option<When>,
    at: &dyn Fn(u32) -> Span,
    tell: &mut Teller<'_>,
) {
    overtaken::tell_of(command, Joins::Eksctl, when, at, tell);
    for line in shell::lines(command).iter().filter(|line| line.text.contains(DOCKERS)) {
        match when(line.text.trim(), line.number) {
            Some(When::Before) if docker => {
                let message = format!(
                    "this line has to do with `{DOCKERS}`, which is written by the plan afterwards: what it changes there is lost"
                );
                tell.warning(codes::FIELD_DIFFERS, at(line.number), message, DOCKER_CONFIG);
            }
            Some(_) if !docker => {
                let message = format!(
                    "this line has to do with `{DOCKERS}`, which nothing reads that runs pods: the runtime is containerd, here as with eksctl"
                );
                tell.note(codes::DIFFERENCE, at(line.number), message, REGISTRIES);
            }
            Some(_) | None => {}
        }
    }
}
