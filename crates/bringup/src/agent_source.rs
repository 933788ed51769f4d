//! Where a carrier of ours has its agent from: whoever swaps it, runs another program as root.

use bringup_carry::{Inspection, inspect};

const AGENT: &str = "/opt/bringup/bin/bringup-node";
/// The stub that fetches it, where the carrier has no way of its own.
const STUB: &str = "/opt/bringup/bin/bringup-fetch";
/// What the stub calls for each thing that it fetches: mode, path, digest, mirrors.
const OBTAIN: &str = "obtain ";

/// Where the first of a group's carriers that tells has its agent from.
pub(crate) fn agent_in<'file>(files: impl Iterator<Item = (&'file str, &'file [u8])>) -> Option<String> {
    let carriers = files.filter(|(name, _)| *name != "plan.json");
    let mut carriers = carriers.map(|(name, bytes)| inspect(name, bytes)).filter(|carrier| carrier.decoded);
    carriers.next().map(|carrier| agent_of(&carrier))
}

/// Where the agent of this carrier comes from.
pub(crate) fn agent_of(carrier: &Inspection) -> String {
    let carrier = carrier.parts.first().unwrap_or(carrier);
    let file = |path: &str| carrier.files.iter().find(|file| file.path == path);
    if let Some(agent) = file(AGENT) {
        let digest = agent.sha256.as_deref().unwrap_or("unknown");
        return match &agent.source {
            Some(source) => format!("sha256 {digest} from {source}"),
            None => format!("sha256 {digest}, carried along"),
        };
    }
    let stub = file(STUB).and_then(|stub| std::str::from_utf8(stub.content.as_deref()?).ok());
    let call = stub.into_iter().flat_map(str::lines).find_map(|line| {
        let mut words = line.strip_prefix(OBTAIN)?.split(' ').map(|word| word.trim_matches('\''));
        let (_, path, digest) = (words.next()?, words.next()?, words.next()?);
        (path == AGENT).then(|| format!("sha256 {digest} from {}", words.collect::<Vec<_>>().join(" ")))
    });
    call.unwrap_or_else(|| "in the image".to_owned())
}
