//! Whom to trust, and what to show.

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, parse_pem};

/// Where systems keep the authorities that they trust; the first that is there counts.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Whom to trust.
#[derive(Clone, Debug)]
pub(crate) struct Trust {
    system: bool,
    authorities: Vec<String>,
}

impl Trust {
    /// The system's own authorities, and these.
    pub(crate) fn system_and(authorities: &[String]) -> Self {
        Self { system: true, authorities: authorities.to_vec() }
    }

    /// Nobody but this authority.
    pub(crate) fn only(authority: String) -> Self {
        Self { system: false, authorities: vec![authority] }
    }

    pub(super) fn certificates(&self) -> Vec<Certificate<'static>> {
        let bundle =
            if self.system { BUNDLES.iter().find_map(|path| std::fs::read(path).ok()) } else { None };
        let own = self.authorities.iter().map(String::as_bytes);
        bundle.as_deref().into_iter().chain(own).flat_map(certificates).collect()
    }
}

/// The certificates in a PEM file; what is none is passed over.
fn certificates(pem: &[u8]) -> impl Iterator<Item = Certificate<'static>> {
    parse_pem(pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    })
}

/// A certificate with its key, to be shown to a server.
pub(crate) struct Credential(ClientCert);

impl Credential {
    /// From PEM; both may stand in one file. Nothing, if one of them is missing or they do not fit together.
    pub(crate) fn from_pem(certificate: &[u8], key: &[u8]) -> Option<Self> {
        let chain: Vec<Certificate<'static>> = certificates(certificate).collect();
        // The client would panic over what does not fit.
        let parsed = PrivateKeyDer::from_pem_slice(key).ok()?;
        let shown =
            chain.iter().map(|certificate| CertificateDer::from(certificate.der().to_vec())).collect();
        CertifiedKey::from_der(shown, parsed, &rustls::crypto::ring::default_provider()).ok()?;
        Some(Self(ClientCert::new_with_certs(&chain, PrivateKey::from_pem(key).ok()?)))
    }

    pub(super) fn into_inner(self) -> ClientCert {
        self.0
    }
}
