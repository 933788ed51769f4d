//! A certificate authority of the machine's own, so that addresses with `https` can be served.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertificateParams, DnType, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::LabFault;

/// Where a machine that is kept has it: the certificate, then the key.
const FILE: &str = "authority.pem";
/// What the key begins with.
const KEY: &str = "-----BEGIN PRIVATE KEY-----";

/// An authority that nobody but one container trusts. Its key is written down only with a machine that is kept, whose
/// plan may name it for as long as the machine is there.
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// That of the machine in this folder, or a new one.
    pub fn of(machine: Option<&Path>) -> Result<Self, LabFault> {
        let Some(folder) = machine else { return Self::new() };
        let path = folder.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(kept) => return Self::read(&kept),
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => {}
            Err(reason) => return Err(LabFault::file("read", &path)(reason)),
        }
        let made = Self::new()?;
        std::fs::create_dir_all(folder).map_err(LabFault::file("make", folder))?;
        let text = format!("{}{}", made.pem, made.issuer.key().serialize_pem());
        let file = std::fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(LabFault::file("write", &path))?;
        Ok(made)
    }

    fn new() -> Result<Self, LabFault> {
        let key = KeyPair::generate().map_err(fault)?;
        let parameters = parameters()?;
        let pem = parameters.self_signed(&key).map_err(fault)?.pem();
        Ok(Self { pem, issuer: Issuer::new(parameters, key) })
    }

    fn read(kept: &str) -> Result<Self, LabFault> {
        let (pem, key) = kept.split_at(kept.find(KEY).unwrap_or(kept.len()));
        let key = KeyPair::from_pem(key).map_err(fault)?;
        Ok(Self { pem: pem.to_owned(), issuer: Issuer::new(parameters()?, key) })
    }

    /// Its certificate.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// How a server of these hosts speaks.
    pub(crate) fn server(&self, hosts: &BTreeSet<String>) -> Result<Arc<ServerConfig>, LabFault> {
        let key = KeyPair::generate().map_err(fault)?;
        let names = hosts.iter().cloned().collect::<Vec<_>>();
        let certificate = CertificateParams::new(names)
            .and_then(|parameters| parameters.signed_by(&key, &self.issuer))
            .map_err(fault)?;
        let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let settings = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], secret)
            })
            .map_err(fault)?;
        Ok(Arc::new(settings))
    }
}

/// The certificate of an authority whose key nobody has, for documents that must name one.
pub fn certificate() -> Result<String, LabFault> {
    Ok(Authority::new()?.pem)
}

fn parameters() -> Result<CertificateParams, LabFault> {
    let mut parameters = CertificateParams::new(Vec::new()).map_err(fault)?;
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    parameters.distinguished_name.push(DnType::CommonName, "The lab of one machine");
    Ok(parameters)
}

fn fault(fault: impl std::fmt::Display) -> LabFault {
    LabFault::Certificate(fault.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::Authority;

    /// A plan on the disk of a machine that is kept names it, and is not written anew at the next call.
    #[test]
    fn a_machine_that_is_kept_has_one_authority() {
        let folder = tempfile::tempdir().unwrap();
        let machine = folder.path().join("machine");
        let (first, again) = (Authority::of(Some(&machine)).unwrap(), Authority::of(Some(&machine)).unwrap());
        assert_eq!(first.pem(), again.pem());
        assert_eq!(first.issuer.key().serialize_pem(), again.issuer.key().serialize_pem());
        let file = std::fs::metadata(machine.join(super::FILE)).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        assert_ne!(Authority::of(None).unwrap().pem(), first.pem());
    }

    #[test]
    fn what_is_no_authority_is_not_taken_for_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(super::FILE), "nothing").unwrap();
        assert!(Authority::of(Some(folder.path())).is_err());
    }
}
