//! A certificate authority that lives as long as its folder. OpenSSL does the work.

use std::path::{Path, PathBuf};

use crate::LabFault;
use crate::fault::run;

/// Longer than any trial.
const DAYS: &str = "2";

#[derive(Debug)]
pub(super) struct Authority {
    folder: PathBuf,
    certificate: String,
}

impl Authority {
    /// Makes one, and writes `ca.crt` and `ca.key`.
    pub(super) fn make(folder: &Path) -> Result<Self, LabFault> {
        let mut authority = Self { folder: folder.to_owned(), certificate: String::new() };
        let extensions = "basicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign, digitalSignature\n\
                          subjectKeyIdentifier = hash\n";
        authority.issue("ca", "/CN=lab", extensions, false)?;
        let path = folder.join("ca.crt");
        authority.certificate = std::fs::read_to_string(&path).map_err(LabFault::file("read", &path))?;
        Ok(authority)
    }

    pub(super) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A certificate for a server with these names.
    pub(super) fn server(&self, name: &str, names: &str) -> Result<(), LabFault> {
        let extensions = format!(
            "basicConstraints = critical, CA:FALSE\nextendedKeyUsage = serverAuth\nsubjectAltName = {names}\n"
        );
        self.issue(name, "/CN=lab-api-server", &extensions, true)
    }

    /// A certificate for somebody who asks.
    pub(super) fn client(&self, name: &str, subject: &str) -> Result<(), LabFault> {
        self.issue(
            name,
            subject,
            "basicConstraints = critical, CA:FALSE\nextendedKeyUsage = clientAuth\n",
            true,
        )
    }

    /// Writes `NAME.crt` and `NAME.key`.
    fn issue(&self, name: &str, subject: &str, extensions: &str, signed: bool) -> Result<(), LabFault> {
        let path = |end: &str| self.folder.join(format!("{name}.{end}"));
        let settings = path("cnf");
        let text = format!(
            "[req]\ndistinguished_name = subject\nprompt = no\n[subject]\n[extensions]\n{extensions}"
        );
        std::fs::write(&settings, text).map_err(LabFault::file("write", &settings))?;
        let [settings, key, certificate] =
            [settings, path("key"), path("crt")].map(|path| path.display().to_string());
        let [authority, authority_key] =
            ["ca.crt", "ca.key"].map(|name| self.folder.join(name).display().to_string());
        let mut arguments =
            vec!["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        arguments.extend([
            "-days",
            DAYS,
            "-config",
            &settings,
            "-extensions",
            "extensions",
            "-subj",
            subject,
        ]);
        arguments.extend(["-keyout", &key, "-out", &certificate]);
        if signed {
            arguments.extend(["-CA", &authority, "-CAkey", &authority_key]);
        }
        run("openssl", &arguments).map(drop)
    }
}
