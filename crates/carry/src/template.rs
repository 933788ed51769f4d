//! A CloudFormation template with the user-data inside.

use bringup_cloudformation::{Template, codes as template_codes};
use bringup_diag::{Finding, Findings};
use bringup_spec::{Carrier, OsFamily};

use crate::bootstrap_call;
use crate::budget::{Budget, PartSize, budget_of};
use crate::cloud_config::cloud_config;
use crate::codes;
use crate::compress::{gzip, gzip_strong};
use crate::fetch::{Fetcher, is_fetch_preferred, is_fetchable};
use crate::ignition;
use crate::load::Load;
use crate::multipart::{multipart, packed_multipart};
use crate::nodeconfig::nodeconfig;
use crate::render::{Form, Rendered, tell_size};

/// CloudFormation takes a template of so many bytes in a call, and larger ones only from S3.
const TEMPLATE_LIMIT: usize = 51_200;

/// User-data that may stand in the template.
struct Candidate {
    bytes: Vec<u8>,
    plain: usize,
    parts: Vec<PartSize>,
    form: Form,
    fetched: bool,
}

/// The template, with the first form of user-data that fits.
pub(crate) fn template(load: &Load<'_>, carrier: Carrier, findings: &mut Findings) -> Rendered {
    let (platform, limit) = budget_of(load.group.platform);
    let mut last: Option<(Candidate, Template)> = None;
    if bootstrap_call::is_asked(load) {
        let template = bootstrap_call::template(load, findings);
        let size = template.user_data_bytes;
        let parts = vec![PartSize::new("the call of bootstrap.sh", size)];
        let candidate =
            Candidate { bytes: Vec::new(), plain: size, parts, form: Form::Plain, fetched: false };
        last = Some((candidate, template));
    } else if load.group.os.family == OsFamily::Flatcar {
        let mut said = Findings::new();
        let mut found = config(load, limit, &mut said);
        // With the names of the stack in it the config is larger; it may need another form.
        let added = found.1.user_data_bytes.saturating_sub(found.0.bytes.len());
        if found.1.user_data_bytes > limit {
            said = Findings::new();
            found = config(load, limit.saturating_sub(added), &mut said);
        }
        findings.append(said);
        last = Some(found);
    } else {
        let inside = if is_fetch_preferred(load, Fetcher::Stub) { WITH_PLAN } else { 0 };
        for (number, make) in FORMS.iter().enumerate().skip(inside) {
            // What there is to tell is the same in every form.
            let mut said = Findings::new();
            let Some(candidate) = make(load, &mut said) else { continue };
            if number == inside || last.is_none() {
                findings.append(said);
            }
            let template = written(load, &candidate);
            let unknown =
                template.findings.iter().any(|finding| finding.code == template_codes::STACK_UNKNOWN);
            let fits = template.user_data_bytes <= limit && !unknown;
            // A form that the stack's name cannot get into is no good, however small.
            if fits || !unknown || last.is_none() {
                last = Some((candidate, template));
            }
            if fits {
                break;
            }
        }
    }
    let file_name = if carrier == Carrier::CloudFormation { "template.yaml" } else { "template.json" };
    let Some((candidate, template)) = last else {
        return Rendered::plain(carrier, file_name, Vec::new(), Vec::new());
    };
    let text = if carrier == Carrier::CloudFormation { template.to_yaml() } else { template.to_json() };
    if text.len() > TEMPLATE_LIMIT {
        findings.push(
            Finding::note(
                codes::TEMPLATE_SIZE,
                format!(
                    "the template has {} bytes; CloudFormation takes {TEMPLATE_LIMIT} in a call",
                    text.len()
                ),
            )
            .at(load.place("carriers"))
            .hint(
                "upload it to S3 and deploy it from there: `aws cloudformation deploy --s3-bucket` does both",
            ),
        );
    }
    findings.append(template.findings);
    let rendered = Rendered {
        budget: Some(Budget { platform, limit, used: template.user_data_bytes, plain: candidate.plain }),
        form: candidate.form,
        plan_fetched: candidate.fetched,
        ..Rendered::plain(carrier, file_name, text.into_bytes(), candidate.parts)
    };
    tell_size(load, &rendered, findings);
    rendered
}

/// An Ignition config of at most `limit` bytes, if that can be, in its template.
fn config(load: &Load<'_>, limit: usize, findings: &mut Findings) -> (Candidate, Template) {
    let inner = ignition::within(load, limit, findings);
    let candidate = Candidate {
        plain: inner.bytes.len(),
        bytes: inner.bytes,
        parts: inner.parts,
        form: inner.form,
        fetched: inner.plan_fetched,
    };
    let template = written(load, &candidate);
    (candidate, template)
}

fn written(load: &Load<'_>, candidate: &Candidate) -> Template {
    bringup_cloudformation::write(load.document, &load.group_path, load.group, load.plan, &candidate.bytes)
}

/// So many of the forms have the plan inside.
const WITH_PLAN: usize = 5;

type Make = fn(&Load<'_>, &mut Findings) -> Option<Candidate>;

/// The forms of user-data, in the order in which they are tried. Compressed as a whole it is smallest, but then the
/// stack's name cannot be put in; a message with compressed parts leaves room for it.
const FORMS: [Make; 9] = [
    |load, findings| Some(plain(load, false, findings)),
    |load, findings| Some(whole(plain(load, false, findings), Form::Gzip)),
    |load, findings| Some(parted(load, false, Form::Gzip, findings)),
    |load, findings| Some(whole(plain(load, false, findings), Form::StrongGzip)),
    |load, findings| Some(parted(load, false, Form::StrongGzip, findings)),
    |load, findings| is_fetchable(load, Fetcher::Stub).then(|| plain(load, true, findings)),
    |load, findings| {
        is_fetchable(load, Fetcher::Stub).then(|| whole(plain(load, true, findings), Form::Gzip))
    },
    |load, findings| {
        is_fetchable(load, Fetcher::Stub).then(|| whole(plain(load, true, findings), Form::StrongGzip))
    },
    |load, findings| {
        is_fetchable(load, Fetcher::Stub).then(|| parted(load, true, Form::StrongGzip, findings))
    },
];

/// The operator's parts stay parts of their own; without any, one document is smaller than a message.
fn plain(load: &Load<'_>, fetched: bool, findings: &mut Findings) -> Candidate {
    if is_for_nodeadm(load) {
        let (bytes, parts) = nodeconfig(load, findings);
        return Candidate { plain: bytes.len(), bytes, parts, form: Form::Plain, fetched };
    }
    let single = if load.parts.is_empty() { cloud_config(load, fetched, findings).ok() } else { None };
    let (bytes, parts) = single.unwrap_or_else(|| multipart(load, fetched, findings));
    Candidate { plain: bytes.len(), bytes, parts, form: Form::Plain, fetched }
}

fn whole(candidate: Candidate, form: Form) -> Candidate {
    let pack = if form == Form::Gzip { gzip } else { gzip_strong };
    Candidate { bytes: pack(&candidate.bytes), form, ..candidate }
}

fn is_for_nodeadm(load: &Load<'_>) -> bool {
    load.document.cluster.spec.leaves_to_nodeadm(load.group)
}

/// A message whose parts are compressed one by one; of one for nodeadm, they stay as they are.
fn parted(load: &Load<'_>, fetched: bool, form: Form, findings: &mut Findings) -> Candidate {
    if is_for_nodeadm(load) {
        return plain(load, fetched, findings);
    }
    let pack = if form == Form::Gzip { gzip } else { gzip_strong };
    let (bytes, parts) = packed_multipart(load, fetched, pack, findings);
    let plain = multipart(load, fetched, &mut Findings::new()).0.len();
    Candidate { bytes, plain, parts, form, fetched }
}
