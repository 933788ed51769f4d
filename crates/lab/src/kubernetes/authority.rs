//! The authority of the lab's cluster, with its certificates in files: that is how Kubernetes' programs take them.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::LabFault;

/// An authority that lives as long as its folder.
pub(super) struct Authority {
    folder: PathBuf,
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Authority").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// A certificate with its key, in PEM.
pub(super) struct Pair {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    /// Makes one, and writes `ca.crt` and `ca.key`.
    pub(super) fn make(folder: &Path) -> Result<Self, LabFault> {
        let key = KeyPair::generate().map_err(fault)?;
        let mut wanted = parameters(&[], None, "lab")?;
        wanted.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        wanted.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = wanted.self_signed(&key).map_err(fault)?.pem();
        let pair = Pair { certificate: certificate.clone(), key: key.serialize_pem() };
        let authority = Self { folder: folder.to_owned(), certificate, issuer: Issuer::new(wanted, key) };
        authority.write("ca", &pair)?;
        Ok(authority)
    }

    pub(super) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Writes `NAME.crt` and `NAME.key` for a server with these names or addresses.
    pub(super) fn server(&self, name: &str, hosts: &[&str]) -> Result<(), LabFault> {
        let mut wanted = parameters(hosts, None, name)?;
        wanted.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.write(name, &self.issue(&wanted)?)
    }

    /// A certificate for somebody of a group who asks.
    pub(super) fn client(&self, group: Option<&str>, name: &str) -> Result<Pair, LabFault> {
        let mut wanted = parameters(&[], group, name)?;
        wanted.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(&wanted)
    }

    fn issue(&self, wanted: &CertificateParams) -> Result<Pair, LabFault> {
        let key = KeyPair::generate().map_err(fault)?;
        let certificate = wanted.signed_by(&key, &self.issuer).map_err(fault)?.pem();
        Ok(Pair { certificate, key: key.serialize_pem() })
    }

    fn write(&self, name: &str, pair: &Pair) -> Result<(), LabFault> {
        for (end, text) in [("crt", &pair.certificate), ("key", &pair.key)] {
            let path = self.folder.join(format!("{name}.{end}"));
            std::fs::write(&path, text).map_err(LabFault::file("write", &path))?;
        }
        Ok(())
    }
}

fn parameters(hosts: &[&str], group: Option<&str>, name: &str) -> Result<CertificateParams, LabFault> {
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>();
    let mut wanted = CertificateParams::new(hosts).map_err(fault)?;
    if let Some(group) = group {
        wanted.distinguished_name.push(DnType::OrganizationName, group);
    }
    wanted.distinguished_name.push(DnType::CommonName, name);
    Ok(wanted)
}

fn fault(fault: impl std::fmt::Display) -> LabFault {
    LabFault::Certificate(fault.to_string())
}
