//! All that is beyond this machine: the web, the metadata service, the services of AWS.

use std::time::{Duration, Instant};

use bringup_aws::retry::Policy;
use bringup_aws::{Credentials, Fault, Moment, Request, Response};
use bringup_plan::Plan;
use bringup_progress::{Failure, FailureKind};
use bringup_spec::{Fact, Platform};

use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::metadata::Metadata;
use crate::patience::Patience;
use crate::web::{Trust, Web, shown};

/// For one attempt at a step; the step itself has more of them.
const POLICY: Policy = Policy { deadline_ms: Some(30_000), ..Policy::SERVICE };

/// What is beyond this machine.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) web: Web,
    pub(crate) metadata: Metadata,
}

impl Network {
    /// As a plan describes it.
    pub(crate) fn of_plan(plan: &Plan) -> Self {
        Self {
            web: Web::new(&plan.environment, Trust::system_and(&plan.certificate_authorities)),
            metadata: Metadata::new(plan.ipv6),
        }
    }

    /// As the environment of the process describes it.
    pub(crate) fn of_process() -> Self {
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self { web: Web::new(&environment, Trust::system_and(&[])), metadata: Metadata::new(true) }
    }

    /// Asks a service of AWS with the instance's credentials.
    pub(crate) fn call<T>(
        &self,
        region: &str,
        deadline: Instant,
        make: impl Fn(&Credentials, &str, Moment) -> Request,
        read: impl Fn(Response<'_>) -> Result<T, Fault>,
    ) -> Result<T, Failure> {
        let mut patience = Patience::new(POLICY, deadline);
        let mut region = region.to_owned();
        let (mut renewed, mut moved) = (false, false);
        loop {
            let credentials = self.metadata.credentials(deadline)?;
            let request = make(&credentials, &region, now());
            let failure = match self.web.send(&request) {
                Ok(answer) => match read(answer.response()) {
                    Ok(value) => return Ok(value),
                    Err(Fault::Expired(_)) if !renewed => {
                        renewed = true;
                        self.metadata.forget_credentials();
                        continue;
                    }
                    Err(Fault::Elsewhere { region: there, .. }) if !moved => {
                        moved = true;
                        region = there;
                        continue;
                    }
                    Err(fault) => of_service(&fault),
                },
                Err(fault) => fault.failure(&shown(&request.url)),
            };
            if failure.kind != FailureKind::Transient || !patience.wait() {
                return Err(failure);
            }
        }
    }
}

/// Now, as signatures have it.
pub(crate) fn now() -> Moment {
    Moment::from_unix(Machine::now_ms() / 1000)
}

/// When an attempt that may take so long must be over.
pub(crate) fn deadline(timeout_ms: u64) -> Instant {
    let now = Instant::now();
    now.checked_add(Duration::from_millis(timeout_ms)).unwrap_or(now)
}

/// The region that this machine is in.
pub(crate) fn region(plan: &Plan, knowledge: &Knowledge<'_>) -> Result<String, Failure> {
    if plan.platform != Platform::Aws {
        return Err(Failure::new(
            FailureKind::Permanent,
            "AWS can be asked by instances of EC2 only, and the platform is another",
            "write `platform: aws`, or take it from elsewhere",
        ));
    }
    knowledge.with(|known| known.value(&Fact::Region))
}

/// The failure that a service's refusal is.
pub(crate) fn of_service(fault: &Fault) -> Failure {
    let fix = fault.hint();
    let kind = match fault {
        Fault::Transient(_) | Fault::Expired(_) | Fault::Unreadable { .. } => FailureKind::Transient,
        // Rights can be given while the machine waits.
        Fault::Permanent(_) if fix.is_some() => FailureKind::Operator,
        Fault::Permanent(_) | Fault::Elsewhere { .. } => FailureKind::Permanent,
    };
    Failure::new(kind, fault.to_string(), fix.unwrap_or_default())
}
