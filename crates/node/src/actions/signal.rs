//! Tells others how it ended.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use bringup_aws::retry::Policy;
use bringup_aws::signal::{LifecycleAction, Outcome, StackSignal};
use bringup_aws::{Method, Request, Response};
use bringup_disk::{Owner, Wanted};
use bringup_plan::{Action, Plan, Step};
use bringup_progress::{Failed, Failure, FailureKind, Success};
use bringup_spec::{Fact, SecretSource, SignalKind, Text};
use serde_json::{Value, json};

use super::{Doing, Stopped, of_file};
use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::network::{self, Network};
use crate::patience::Patience;
use crate::secrets::Resolver;
use crate::teller::Teller;
use crate::web::shown;

/// What only the stack of this machine knows: `{"group", "resource", "stack"}`.
const STACK_FILE: &str = "/etc/bringup/stack.json";

/// For one attempt; the step itself has more of them.
const POLICY: Policy = Policy { deadline_ms: Some(30_000), ..Policy::SERVICE };

/// How long an agent that gives up tries to tell somebody.
const LAST_WORDS: Duration = Duration::from_mins(1);

/// Tells that it worked.
pub(super) fn success(
    doing: &Doing<'_>,
    kind: SignalKind,
    target: &BTreeMap<String, Text>,
    token: Option<&SecretSource>,
) -> Result<Success, Stopped> {
    let messenger = Messenger {
        machine: doing.machine,
        plan: doing.plan,
        knowledge: doing.knowledge,
        network: doing.network,
        deadline: network::deadline(doing.order.timeout_ms),
    };
    messenger.tell(kind, target, token, None)?;
    Ok(Success::default())
}

/// Tells everybody whom success would be told that it did not. Whoever cannot be told is passed over: nothing is left
/// that could be tried.
pub(crate) fn failure(
    machine: &Machine,
    plan: &Plan,
    knowledge: &Knowledge<'_>,
    network: &Network,
    failed: &Failed,
) {
    let deadline = Instant::now() + LAST_WORDS;
    let messenger = Messenger { machine, plan, knowledge, network, deadline };
    for step in plan.steps.iter().filter(|step| step.name != failed.step && is_ours(step, knowledge)) {
        // Before the facts are known, a target without facts in it can still be told.
        let action = knowledge.action(step).unwrap_or_else(|_| step.action.clone());
        if let Action::Signal { kind, target, token } = &action
            && let Err(failure) = messenger.tell(*kind, target, token.as_ref(), Some(failed))
        {
            Teller::note(&format!("cannot signal the failure to `{kind}`: {}", failure.why));
        }
    }
}

fn is_ours(step: &Step, knowledge: &Knowledge<'_>) -> bool {
    let elected = || knowledge.with(|known| known.elected()).unwrap_or(false);
    (!step.elected_only || elected()) && (!step.others_only || !elected())
}

struct Messenger<'a> {
    machine: &'a Machine,
    plan: &'a Plan,
    knowledge: &'a Knowledge<'a>,
    network: &'a Network,
    deadline: Instant,
}

impl Messenger<'_> {
    fn tell(
        &self,
        kind: SignalKind,
        target: &BTreeMap<String, Text>,
        token: Option<&SecretSource>,
        failed: Option<&Failed>,
    ) -> Result<(), Failure> {
        // A directory that stands for a machine must not speak in that machine's name.
        if kind != SignalKind::File && !self.machine.is_itself() {
            return Ok(());
        }
        self.send(kind, target, token, failed)
    }

    fn send(
        &self,
        kind: SignalKind,
        target: &BTreeMap<String, Text>,
        token: Option<&SecretSource>,
        failed: Option<&Failed>,
    ) -> Result<(), Failure> {
        let named = |name: &str| target.get(name).and_then(Text::as_literal).map(str::to_owned);
        let outcome = if failed.is_some() { Outcome::Failure } else { Outcome::Success };
        match kind {
            SignalKind::CloudFormation => {
                let stack = self.name(named("stack"), "stack")?;
                let resource = self.name(named("resource"), "resource")?;
                self.stack(&stack, &resource, outcome)
            }
            SignalKind::LifecycleAction => {
                let group = self.name(named("resource"), "group")?;
                let hook = named("hook").ok_or_else(|| missing("hook"))?;
                self.lifecycle(&group, &hook, outcome)
            }
            SignalKind::Http => {
                let url = named("url").ok_or_else(|| missing("url"))?;
                self.post(&url, token, &self.body(failed))
            }
            SignalKind::File => {
                let path = named("path").ok_or_else(|| missing("path"))?;
                let content = format!("{:#}\n", self.body(failed));
                let wanted = Wanted { content: content.as_bytes(), mode: 0o644, owner: Owner::ROOT };
                let written = self.machine.files().replace(Path::new(&path), wanted);
                written.map(|_| ()).map_err(|fault| of_file(&fault))
            }
        }
    }

    /// What a listener of ours hears. Nothing in it is what a program wrote: that may hold secrets.
    fn body(&self, failed: Option<&Failed>) -> Value {
        let node = self.knowledge.with(|known| known.node_name()).ok();
        let instance = self.knowledge.with(|known| known.value(&Fact::InstanceId)).ok();
        let mut body = json!({
            "outcome": if failed.is_some() { "failure" } else { "success" },
            "cluster": self.plan.cluster,
            "group": self.plan.group,
            "kubernetes": self.plan.kubernetes,
            "atMs": Machine::now_ms(),
        });
        if let Value::Object(fields) = &mut body {
            fields.extend(node.map(|node| ("node".to_owned(), node.into())));
            fields.extend(instance.map(|id| ("instance".to_owned(), id.into())));
            fields.extend(failed.map(|failed| {
                ("failure".to_owned(), json!({"step": failed.step, "why": failed.why, "fix": failed.fix}))
            }));
        }
        body
    }

    /// A name of the target, or the one that the stack has left for its machines.
    fn name(&self, given: Option<String>, key: &str) -> Result<String, Failure> {
        if let Some(given) = given {
            return Ok(given);
        }
        let bytes = self.machine.files().read(Path::new(STACK_FILE)).map_err(|fault| of_file(&fault))?;
        let names: Value = serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default();
        names.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| {
            Failure::new(
                FailureKind::Operator,
                format!("the signal's {key} is neither in the plan nor in `{STACK_FILE}`"),
                "name it in the document, or launch the node from its template",
            )
        })
    }

    fn stack(&self, stack: &str, resource: &str, outcome: Outcome) -> Result<(), Failure> {
        let (region, instance) = self.whence()?;
        let signal = StackSignal { region: &region, stack, resource, instance: &instance, outcome };
        tell_stack(self.network, self.deadline, &signal)
    }

    fn lifecycle(&self, group: &str, hook: &str, outcome: Outcome) -> Result<(), Failure> {
        let (region, instance) = self.whence()?;
        let action = LifecycleAction { region: &region, group, hook, instance: &instance, outcome };
        let heard = self.network.call(
            &region,
            self.deadline,
            |credentials, _, at| action.with_credentials(credentials, at),
            LifecycleAction::heard,
        );
        heard.map(|_| ())
    }

    fn post(&self, url: &str, token: Option<&SecretSource>, body: &Value) -> Result<(), Failure> {
        let Self { machine, plan, knowledge, network, deadline } = *self;
        let mut headers = vec![("content-type", "application/json".to_owned())];
        if let Some(source) = token {
            let secret = Resolver { machine, plan, knowledge, network, deadline }.resolve(source)?;
            let secret = String::from_utf8(secret).unwrap_or_default();
            let secret = secret.trim();
            if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(Failure::new(
                    FailureKind::Operator,
                    "the signal's token is empty, or has letters that no header can carry",
                    "put the right token there; the agent goes on by itself",
                ));
            }
            headers.push(("authorization", format!("Bearer {secret}")));
        }
        let request = Request {
            method: Method::Post,
            url: url.to_owned(),
            headers,
            body: body.to_string().into_bytes(),
        };
        patiently(network, deadline, &request, |response| match response.status {
            200..=299 => Ok(()),
            status => {
                let (kind, fix) = match status {
                    408 | 429 | 500..=599 => (FailureKind::Transient, ""),
                    401 | 403 => (FailureKind::Operator, "see that the signal's token is the right one"),
                    _ => (FailureKind::Permanent, "see that the signal's `url` is the right one"),
                };
                Err(Failure::new(kind, format!("{} answered with {status}", shown(url)), fix))
            }
        })
    }

    fn whence(&self) -> Result<(String, String), Failure> {
        let region = network::region(self.plan, self.knowledge)?;
        let instance = self.knowledge.with(|known| known.value(&Fact::InstanceId))?;
        Ok((region, instance))
    }
}

/// Tells a stack, as `cfn-signal` does it: the identity document is proof enough for the stack's own instances. A role that
/// may signal is the other way.
pub(crate) fn tell_stack(
    network: &Network,
    deadline: Instant,
    signal: &StackSignal<'_>,
) -> Result<(), Failure> {
    let refused = match network.metadata.identity(deadline) {
        Ok((document, signature)) => {
            let request = signal.with_identity(&document, &signature);
            match patiently(network, deadline, &request, |response| {
                StackSignal::heard(response).map(|_| ()).map_err(|fault| network::of_service(&fault))
            }) {
                Ok(()) => return Ok(()),
                Err(failure) if failure.kind == FailureKind::Transient => return Err(failure),
                Err(failure) => failure,
            }
        }
        Err(failure) => failure,
    };
    let signed = network.call(
        signal.region,
        deadline,
        |credentials, _, at| signal.with_credentials(credentials, at),
        StackSignal::heard,
    );
    match signed {
        Ok(_) => Ok(()),
        // What the first way said is nearer to the cause than that there is no second one.
        Err(failure) if failure.kind != FailureKind::Transient => Err(refused),
        Err(failure) => Err(failure),
    }
}

fn patiently(
    network: &Network,
    deadline: Instant,
    request: &Request,
    judge: impl Fn(Response<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut patience = Patience::new(POLICY, deadline);
    loop {
        let judged = match network.web.send(request) {
            Ok(answer) => judge(answer.response()),
            Err(fault) => Err(fault.failure(&shown(&request.url))),
        };
        match judged {
            Err(failure) if failure.kind == FailureKind::Transient && patience.wait() => {}
            other => return other,
        }
    }
}

fn missing(name: &str) -> Failure {
    Failure::new(FailureKind::Permanent, format!("the signal has no `{name}`"), "build the plan anew")
}

#[cfg(test)]
mod tests;
