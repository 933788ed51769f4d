//! Secrets that the node resolves; never journalled, never told.

use std::path::Path;
use std::time::Instant;

use bringup_aws::store::{self, Object};
use bringup_plan::Plan;
use bringup_progress::{Failure, FailureKind};
use bringup_spec::SecretSource;

use crate::actions::of_file;
use crate::knowledge::Knowledge;
use crate::machine::Machine;
use crate::network::{self, Network};

/// Who resolves secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolver<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) plan: &'a Plan,
    pub(crate) knowledge: &'a Knowledge<'a>,
    pub(crate) network: &'a Network,
    pub(crate) deadline: Instant,
}

impl Resolver<'_> {
    /// The bytes of a secret.
    pub(crate) fn resolve(&self, source: &SecretSource) -> Result<Vec<u8>, Failure> {
        let region = || network::region(self.plan, self.knowledge);
        let value = match source {
            SecretSource::File(path) => return self.file(path),
            SecretSource::Environment(name) => {
                return Err(Failure::new(
                    FailureKind::Permanent,
                    format!("the variable `{name}` is known only where the plan is built"),
                    "take the secret from a file, S3, SSM or Secrets Manager",
                ));
            }
            SecretSource::S3(address) => {
                let object = Object::parse(address).map_err(|fault| {
                    Failure::new(FailureKind::Permanent, fault.to_string(), "write `s3://BUCKET/KEY`")
                })?;
                self.network.call(
                    &region()?,
                    self.deadline,
                    |credentials, region, at| object.get(region, 0, credentials, at),
                    |response| match response.status {
                        200 => Ok(response.body.to_vec()),
                        _ => Err(Object::refused(response)),
                    },
                )?
            }
            SecretSource::SsmParameter(name) => self
                .network
                .call(
                    &region()?,
                    self.deadline,
                    |credentials, region, at| store::parameter(name, region, credentials, at),
                    store::parameter_value,
                )?
                .expose()
                .clone(),
            SecretSource::SecretsManager(id) => self
                .network
                .call(
                    &region()?,
                    self.deadline,
                    |credentials, region, at| store::secret(id, region, credentials, at),
                    store::secret_value,
                )?
                .expose()
                .clone(),
        };
        Ok(value)
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let read = self.machine.files().read(Path::new(path)).map_err(|fault| of_file(&fault))?;
        read.ok_or_else(|| {
            Failure::new(
                FailureKind::Operator,
                format!("the secret's file `{path}` is not there"),
                "put it there, mode 0600; the agent goes on by itself",
            )
        })
    }
}
