//! What the options of `bringup try` ask for.

use std::time::Duration;

use bringup_lab::{Hindrance, Instance, MetadataFault, Misbehaviour, Wishes};

use crate::arguments::TryOut;
use crate::outcome::Stop;

/// What may be asked of the metadata service's behaviour, for messages.
const FAULTS: &str = "write `down=10s`, `401`, `403`, `404`, `429`, `500`, `slow=2s` or `garbage`";

/// Two words with a `=` between; addresses may have more of them in their left part.
pub(super) fn pairs<T>(
    texts: &[String],
    flag: &str,
    form: &str,
    right: impl Fn(&str) -> Option<T>,
) -> Result<Vec<(String, T)>, Stop> {
    let pair = |text: &String| {
        let (left, given) = text.rsplit_once('=')?;
        Some((left.to_owned(), right(given)?))
    };
    let wrong = |text: &String| Stop::input(format!("`{flag} {text}` is not of the form `{form}`"));
    texts.iter().map(|text| pair(text).ok_or_else(|| wrong(text))).collect()
}

/// Seconds, with or without their unit.
fn seconds(text: &str) -> Option<Duration> {
    text.trim_end_matches('s').parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

pub(super) fn wishes(arguments: &TryOut) -> Result<Wishes, Stop> {
    let mut instance = Instance::default();
    if let Some(kind) = &arguments.instance_type {
        instance.kind.clone_from(kind);
    }
    if let Some(id) = &arguments.instance_id {
        instance.id.clone_from(id);
    }
    let mut hindrances: std::collections::BTreeMap<String, Hindrance> = std::collections::BTreeMap::new();
    for (step, failures) in pairs(&arguments.fail, "--fail", "STEP=N", |text| text.parse().ok())? {
        hindrances.entry(step).or_default().failures = failures;
    }
    for (step, wait) in pairs(&arguments.slow, "--slow", "STEP=T", seconds)? {
        hindrances.entry(step).or_default().wait = wait;
    }
    Ok(Wishes {
        instance,
        machine: arguments.machine.clone(),
        kubelet: arguments.kubelet.clone(),
        kubernetes: None,
        misbehaviour: arguments.stand_in.as_deref().map_or(Ok(Misbehaviour::None), misbehaviour)?,
        metadata_fault: arguments.metadata_fault.as_deref().map(metadata_fault).transpose()?,
        hindrances,
        reboots: arguments.reboot,
        power_cuts: arguments.power_cut.clone(),
        kills: arguments.kill.clone(),
        until: pairs(&arguments.until, "--until", "WHO=WHAT", |text| Some(text.to_owned()))?,
        patience: Duration::from_secs(arguments.patience),
        shell: arguments.shell,
    })
}

fn metadata_fault(text: &str) -> Result<MetadataFault, Stop> {
    let wrong = || Stop::input(format!("`--metadata-fault {text}` is not known")).with_hint(FAULTS);
    let seconds = |text: &str| seconds(text).ok_or_else(wrong);
    Ok(match text.split_once('=') {
        Some(("down", time)) => MetadataFault::Down(seconds(time)?),
        Some(("slow", time)) => MetadataFault::Slow(seconds(time)?),
        None if text == "garbage" => MetadataFault::Garbage,
        None => match text.parse() {
            Ok(status @ (401 | 403 | 404 | 429 | 500..=599)) => MetadataFault::Status(status),
            _ => return Err(wrong()),
        },
        Some(_) => return Err(wrong()),
    })
}

fn misbehaviour(text: &str) -> Result<Misbehaviour, Stop> {
    let wrong = || {
        Stop::input(format!("`--stand-in {text}` is not known"))
            .with_hint("write `dies-after=3`, `never-answers`, `answers-500` or `starts-early`")
    };
    Ok(match text.split_once('=') {
        Some(("dies-after", seconds)) => {
            Misbehaviour::DiesAfter(seconds.trim_end_matches('s').parse().map_err(|_| wrong())?)
        }
        None if text == "never-answers" => Misbehaviour::NeverAnswers,
        None if text == "answers-500" => Misbehaviour::Answers500,
        None if text == "starts-early" => Misbehaviour::StartsEarly,
        _ => return Err(wrong()),
    })
}
