//! A certificate authority of the run's own, so that addresses with `https` can be served.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::LabFault;

/// An authority that nobody but one container trusts. Its key is never written down.
pub(crate) struct Authority {
    pem: String,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// A new one.
    pub(crate) fn new() -> Result<Self, LabFault> {
        let key = rcgen::KeyPair::generate().map_err(fault)?;
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).map_err(fault)?;
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        parameters.distinguished_name.push(rcgen::DnType::CommonName, "The lab of one run");
        let pem = parameters.self_signed(&key).map_err(fault)?.pem();
        Ok(Self { pem, issuer: rcgen::Issuer::new(parameters, key) })
    }

    /// Its certificate.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// How a server of these hosts speaks.
    pub(crate) fn server(&self, hosts: &BTreeSet<String>) -> Result<Arc<ServerConfig>, LabFault> {
        let key = rcgen::KeyPair::generate().map_err(fault)?;
        let names = hosts.iter().cloned().collect::<Vec<_>>();
        let certificate = rcgen::CertificateParams::new(names)
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

fn fault(fault: impl std::fmt::Display) -> LabFault {
    LabFault::Certificate(fault.to_string())
}
