//! Which machine starts the cluster, where the first one that makes an object in S3 does.
//!
//! The object holds the id of the instance that made it. Whoever finds it there reads who that was: a machine that died
//! after it had made the object, before its journal knew, finds its own id.

use std::time::Instant;

use bringup_aws::store::Object;
use bringup_facts::{ElectionFacts, Facts};
use bringup_progress::{Failure, FailureKind};

use crate::network::Network;

/// Makes the object if nobody has, and says who did.
pub(super) fn hold(
    network: &Network,
    address: &str,
    facts: &Facts,
    deadline: Instant,
) -> Result<ElectionFacts, Failure> {
    let permanent = |why: String, fix: &str| Failure::new(FailureKind::Permanent, why, fix);
    let object =
        Object::parse(address).map_err(|fault| permanent(fault.to_string(), "write `s3://BUCKET/KEY`"))?;
    let unknown = || {
        permanent("this instance does not know its region or its id".to_owned(), "see the metadata service")
    };
    let (region, own) = facts.region.as_ref().zip(facts.instance_id.as_ref()).ok_or_else(unknown)?;
    let body = format!("{own}\n");
    let made = network.call(
        region,
        deadline,
        |credentials, region, at| object.put_if_absent(region, body.as_bytes(), credentials, at),
        Object::put_answer,
    )?;
    let holder = if made { own.clone() } else { holder(network, &object, address, region, deadline)? };
    Ok(ElectionFacts { object: address.to_owned(), holder })
}

fn holder(
    network: &Network,
    object: &Object,
    address: &str,
    region: &str,
    deadline: Instant,
) -> Result<String, Failure> {
    let found = network.call(
        region,
        deadline,
        |credentials, region, at| object.get(region, 0, credentials, at),
        |response| match response.status {
            200 => Ok(response.body.to_vec()),
            _ => Err(Object::refused(response)),
        },
    )?;
    let text = String::from_utf8(found).unwrap_or_default();
    let id = text.trim();
    let is_id = id.starts_with("i-")
        && id.len() <= 64
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_id {
        return Ok(id.to_owned());
    }
    Err(Failure::new(
        FailureKind::Operator,
        format!("`{address}` is there, and no instance's id is in it"),
        "name an object that nobody else uses, or remove it; the agent goes on by itself",
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use bringup_progress::FailureKind;

    use super::hold;
    use crate::actions::stage::{Stage, soon, well};
    use crate::server::{Asked, Reply};

    const FIRST: &str = "s3://harbour/first";
    const OWN: &str = "i-0123456789abcdef0";

    /// A store that keeps its promise, and what was asked of it.
    fn store(held: &str) -> (impl Fn(&Asked) -> Reply + Send + Sync + 'static, Arc<Mutex<String>>) {
        let object = Arc::new(Mutex::new(held.to_owned()));
        let kept = Arc::clone(&object);
        let answer = move |asked: &Asked| {
            let mut object = kept.lock().unwrap();
            match (asked.method.as_str(), object.is_empty()) {
                ("PUT", true) => {
                    assert_eq!(asked.header("if-none-match"), "*");
                    *object = String::from_utf8(asked.body.clone()).unwrap();
                    Reply::new(200, "")
                }
                ("PUT", false) => Reply::new(412, "<Error><Code>PreconditionFailed</Code></Error>"),
                ("GET", false) => Reply::new(200, object.as_str()),
                _ => Reply::new(404, "<Error><Code>NoSuchKey</Code></Error>"),
            }
        };
        (answer, object)
    }

    #[test]
    fn the_first_makes_the_object_and_the_second_reads_who_that_was() {
        let (answer, object) = store("");
        let stage = Stage::new(answer, well);
        let first = hold(&stage.network, FIRST, &stage.facts, soon()).unwrap();
        assert_eq!((first.holder.as_str(), first.object.as_str()), (OWN, FIRST));
        assert_eq!(*object.lock().unwrap(), format!("{OWN}\n"));
        // One that died before its journal knew finds its own id.
        assert_eq!(hold(&stage.network, FIRST, &stage.facts, soon()).unwrap(), first);
        let mut other = stage.facts.clone();
        other.instance_id = Some("i-0fedcba9876543210".to_owned());
        assert_eq!(hold(&stage.network, FIRST, &other, soon()).unwrap(), first);
    }

    #[test]
    fn an_object_of_somebody_else_is_told() {
        let stage = Stage::new(store("state of terraform").0, well);
        let failure = hold(&stage.network, FIRST, &stage.facts, soon()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Operator);
        assert_eq!(failure.why, "`s3://harbour/first` is there, and no instance's id is in it");
    }

    #[test]
    fn a_machine_without_rights_waits_for_them() {
        let denied = |_: &Asked| Reply::new(403, "<Error><Code>AccessDenied</Code></Error>");
        let stage = Stage::new(denied, well);
        let failure = hold(&stage.network, FIRST, &stage.facts, soon()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Operator);
        assert_eq!(failure.fix, "allow `s3:PutObject` in a policy of the instance's role");
    }
}
