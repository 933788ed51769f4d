//! What a translation has to tell.

use bringup_diag::{Code, Finding, Findings, Span};
use bringup_spec::Files;

/// Collects findings while documents are translated.
#[derive(Debug)]
pub(crate) struct Teller<'a> {
    files: &'a Files,
    findings: Findings,
    /// Whether additions stand beside the documents: what they cannot say may come from there.
    pub(crate) has_additions: bool,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(files: &'a Files) -> Self {
        Self { files, findings: Findings::new(), has_additions: false }
    }

    pub(crate) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(Finding::error(code, message).hint(hint), span);
    }

    pub(crate) fn warning(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(Finding::warning(code, message).hint(hint), span);
    }

    pub(crate) fn note(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(Finding::note(code, message).hint(hint), span);
    }

    fn push(&mut self, finding: Finding, span: Span) {
        self.findings.push(finding.at(self.files.place(span)));
    }

    pub(crate) fn into_findings(self) -> Findings {
        self.findings
    }
}
