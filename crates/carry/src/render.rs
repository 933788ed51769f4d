//! From a load to the bytes of a carrier, within the platform's limit.

use bringup_diag::{Finding, Findings, Severity};
use bringup_spec::{
    Carrier, Document, JoinMethod, NodeGroup, OsFamily, PartType, Platform, UserDataEncoding,
};
use bringup_yaml::Path;

use crate::budget::{Budget, PartSize, budget_of, too_small_elsewhere};
use crate::bundle::bundle;
use crate::cloud_config::cloud_config;
use crate::compress::{base64_text, gzip, gzip_strong};
use crate::fetch::{Fetcher, is_fetch_preferred, is_fetchable, out_of_reach};
use crate::load::Load;
use crate::multipart::multipart;
use crate::nodeconfig::nodeconfig;
use crate::template::template;
use crate::user_parts::merged;
use crate::{codes, ignition};

/// How a carrier was made to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// As it is.
    Plain,
    /// Compressed.
    Gzip,
    /// Compressed as strongly as we can.
    StrongGzip,
}

/// A carrier.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Which.
    pub carrier: Carrier,
    /// The name of its file, with `.gz` if it is compressed and `.b64` if it is in base64.
    pub file_name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What its pieces take, before compression.
    pub parts: Vec<PartSize>,
    /// The size of its user-data against the platform's limit; nothing for what is no user-data.
    pub budget: Option<Budget>,
    /// How it was made to fit.
    pub form: Form,
    /// Whether the plan is not inside but fetched by the node.
    pub plan_fetched: bool,
    /// What there is to tell.
    pub findings: Findings,
}

/// The carriers of a group: what it asks for, else what its operating system reads. Where the image's nodeadm brings the
/// node up, user-data is what it reads.
pub fn carriers_of(document: &Document, group: &NodeGroup) -> Vec<Carrier> {
    if document.cluster.spec.leaves_to_nodeadm(group) {
        let mut carriers = Vec::new();
        for carrier in &group.carriers {
            let carrier = match carrier {
                Carrier::CloudInit | Carrier::Multipart => Carrier::NodeConfig,
                other => *other,
            };
            if !carriers.contains(&carrier) {
                carriers.push(carrier);
            }
        }
        return if carriers.is_empty() { vec![Carrier::NodeConfig] } else { carriers };
    }
    if !group.carriers.is_empty() {
        return group.carriers.clone();
    }
    let mergeable = group.parts.iter().all(|part| part.kind == PartType::CloudConfig);
    vec![match group.os.family {
        OsFamily::Flatcar => Carrier::Ignition,
        _ if mergeable => Carrier::CloudInit,
        _ => Carrier::Multipart,
    }]
}

/// How a carrier of the group is written: what is no user-data is written as it is.
pub fn encoding_of(group: &NodeGroup, carrier: Carrier) -> UserDataEncoding {
    match carrier {
        Carrier::CloudInit | Carrier::Multipart | Carrier::Ignition | Carrier::NodeConfig => {
            group.user_data_encoding
        }
        Carrier::CloudFormation | Carrier::CloudFormationJson | Carrier::Bundle => UserDataEncoding::Plain,
    }
}

/// What there is to tell of an encoding that no carrier of the group follows.
pub fn unused_encoding(document: &Document, group_path: &Path, group: &NodeGroup) -> Option<Finding> {
    let asked = group.user_data_encoding;
    let followed =
        carriers_of(document, group).into_iter().any(|carrier| encoding_of(group, carrier) == asked);
    (!followed).then(|| {
        let message = "`userDataEncoding` has no effect: no carrier of this group is user-data";
        Finding::warning(codes::ENCODING_UNUSED, message)
            .at(document.key_place(&group_path.key("userDataEncoding")))
            .hint("take it away: a template encodes what is in it by itself")
    })
}

impl Load<'_> {
    /// Renders one carrier, encoded as the document asks.
    pub fn render(&self, carrier: Carrier) -> Rendered {
        let rendered = self.render_plain(carrier);
        match encoding_of(self.group, carrier) {
            UserDataEncoding::Plain => rendered,
            UserDataEncoding::Base64 => Rendered {
                bytes: base64_text(&rendered.bytes).into_bytes(),
                file_name: format!("{}.b64", rendered.file_name),
                ..rendered
            },
        }
    }

    /// Whether nobody makes the token that the node joins with. Images of EKS with `bootstrap.sh` have a program for it, others
    /// nodeadm, which reads a NodeConfig alone.
    fn lacks_token(&self, carrier: Carrier) -> bool {
        let spec = &self.document.cluster.spec;
        let by_nodeadm = match carrier {
            Carrier::NodeConfig => true,
            Carrier::CloudFormation | Carrier::CloudFormationJson => spec.leaves_to_nodeadm(self.group),
            Carrier::CloudInit | Carrier::Multipart | Carrier::Ignition | Carrier::Bundle => false,
        };
        let has_program = matches!(self.group.os.family, OsFamily::AmazonLinux2 | OsFamily::Ubuntu);
        let by_token = spec.join.method == JoinMethod::EksToken && self.group.platform == Platform::Aws;
        by_token && !self.has_agent() && !by_nodeadm && !has_program
    }

    /// Renders one carrier, whatever encoding the document asks for. Platforms count its bytes before they are encoded.
    pub fn render_plain(&self, carrier: Carrier) -> Rendered {
        let mut findings = Findings::new();
        if self.lacks_token(carrier) {
            let nodeadm = self.document.cluster.spec.leaves_to_nodeadm(self.group);
            let other = if nodeadm { "take `nodeconfig`, which the image's nodeadm reads, or " } else { "" };
            findings.push(
                Finding::error(
                    codes::AGENT_NEEDED,
                    format!("`{carrier}` has nobody on the node who makes a token of EKS"),
                )
                .at(self.place("agent"))
                .hint(format!("{other}write `agent: image` or `agent: fetch`")),
            );
        }
        let mut rendered = match carrier {
            Carrier::CloudInit | Carrier::Multipart => user_data(self, carrier, &mut findings),
            Carrier::Ignition => ignition::render(self, &mut findings),
            Carrier::Bundle => {
                let (bytes, parts) = bundle(self, &mut findings);
                Rendered::plain(carrier, "bundle.tar", bytes, parts)
            }
            Carrier::NodeConfig => {
                // There is no plan inside that could be fetched instead.
                let make = |_: bool, findings: &mut Findings| nodeconfig(self, findings);
                fitted(self, carrier, "nodeconfig.mime", false, make, &mut findings)
            }
            Carrier::CloudFormation | Carrier::CloudFormationJson => template(self, carrier, &mut findings),
        };
        rendered.findings = findings.sorted();
        rendered
    }
}

impl Rendered {
    /// A carrier that is no user-data.
    pub(crate) fn plain(carrier: Carrier, file_name: &str, bytes: Vec<u8>, parts: Vec<PartSize>) -> Self {
        Self {
            carrier,
            file_name: file_name.to_owned(),
            bytes,
            parts,
            budget: None,
            form: Form::Plain,
            plan_fetched: false,
            findings: Findings::new(),
        }
    }
}

/// User-data for cloud-init.
pub(crate) fn user_data(load: &Load<'_>, carrier: Carrier, findings: &mut Findings) -> Rendered {
    let mut single = carrier == Carrier::CloudInit;
    if single && let Err(why) = merged(load) {
        single = false;
        findings.push(
            Finding::note(codes::FORCES_MULTIPART, format!("one cloud-config cannot hold the group's parts: {why}; the carrier is a multipart message"))
                .at(load.place("parts"))
                .hint("write `carriers: [multipart]` to say so in the document"),
        );
    }
    let make = |fetched: bool, findings: &mut Findings| {
        if single && let Ok(made) = cloud_config(load, fetched, findings) {
            return made;
        }
        multipart(load, fetched, findings)
    };
    let file_name = if single { "cloud-config.yaml" } else { "user-data.mime" };
    fitted(load, carrier, file_name, load.has_agent(), make, findings)
}

/// Makes user-data fit: plain, then compressed, then strongly compressed, then the same without the plan inside.
pub(crate) fn fitted(
    load: &Load<'_>,
    carrier: Carrier,
    file_name: &str,
    holds_plan: bool,
    make: impl Fn(bool, &mut Findings) -> (Vec<u8>, Vec<PartSize>),
    findings: &mut Findings,
) -> Rendered {
    let (platform, limit) = budget_of(load.group.platform);
    let preferred = holds_plan && is_fetch_preferred(load, Fetcher::Stub);
    let (plain, parts) = make(preferred, findings);
    let size = plain.len();
    let (form, bytes) = packed(plain, limit);
    let mut rendered = Rendered {
        carrier,
        file_name: file_name.to_owned(),
        budget: Some(Budget { platform, limit, used: bytes.len(), plain: size }),
        bytes,
        parts,
        form,
        plan_fetched: preferred,
        findings: Findings::new(),
    };
    if rendered.bytes.len() > limit && holds_plan && !preferred && is_fetchable(load, Fetcher::Stub) {
        // What there is to tell was told above.
        let (plain, parts) = make(true, &mut Findings::new());
        let size = plain.len();
        let (form, bytes) = packed(plain, limit);
        rendered.budget = Some(Budget { platform, limit, used: bytes.len(), plain: size });
        rendered = Rendered { bytes, parts, form, plan_fetched: true, ..rendered };
    }
    if rendered.form != Form::Plain {
        rendered.file_name.push_str(".gz");
    }
    tell_size(load, &rendered, findings);
    rendered
}

/// Compression only as strong as it has to be.
fn packed(plain: Vec<u8>, limit: usize) -> (Form, Vec<u8>) {
    if plain.len() <= limit {
        return (Form::Plain, plain);
    }
    let usual = gzip(&plain);
    if usual.len() <= limit {
        return (Form::Gzip, usual);
    }
    (Form::StrongGzip, gzip_strong(&plain))
}

/// Findings about the size of a carrier. A plan that is fetched is told in the same words of every carrier, so that a group
/// is told once.
pub(crate) fn tell_size(load: &Load<'_>, rendered: &Rendered, findings: &mut Findings) {
    let Some(budget) = &rendered.budget else { return };
    let place = load.place("carriers");
    if rendered.plan_fetched {
        let finding = if is_fetch_preferred(load, Fetcher::Ignition) {
            Finding::note(
                codes::FETCHED_PLAN,
                "as with kops, the user-data has the plan's digest alone: the node fetches the plan",
            )
        } else {
            Finding::warning(
                codes::FETCHED_PLAN,
                format!(
                    "with the plan inside, the user-data is over {}'s {} bytes; the node fetches the plan instead",
                    budget.platform, budget.limit
                ),
            )
        };
        findings.push(
            finding.at(place.clone()).hint("upload what `bringup publish` lays out before a machine starts"),
        );
    }
    if budget.fits() {
        return;
    }
    let by_ignition = match rendered.carrier {
        Carrier::CloudFormation | Carrier::CloudFormationJson => load.group.os.family == OsFamily::Flatcar,
        carrier => carrier == Carrier::Ignition,
    };
    if !by_ignition {
        let is_lost = load.group.platform == Platform::Aws;
        findings.extend(out_of_reach(load, if is_lost { Severity::Error } else { Severity::Warning }));
    }
    if load.group.platform == Platform::Aws {
        findings.push(
            Finding::error(
                codes::OVER_BUDGET,
                format!(
                    "the user-data of the carrier `{}` has {} bytes; {} takes {}",
                    rendered.carrier, budget.used, budget.platform, budget.limit
                ),
            )
            .at(place)
            .hint(format!(
                "give files as `urls` with `sha256` instead of inline, or publish the plan (`bringup publish`) and build with `--base-url`; {}{}",
                smaller(load, rendered, budget).unwrap_or_default(),
                largest(load, rendered)
            )),
        );
    } else if let Some(platforms) = too_small_elsewhere(budget.used) {
        findings.push(
            Finding::note(
                codes::SOME_PLATFORMS,
                format!(
                    "the user-data of the carrier `{}` has {} bytes, more than some platforms take: {platforms}",
                    rendered.carrier, budget.used
                ),
            )
            .at(place)
            .hint(largest(load, rendered)),
        );
    }
}

/// What one document would take instead of a message: nothing in it is in base64 before it is compressed.
fn smaller(load: &Load<'_>, rendered: &Rendered, budget: &Budget) -> Option<String> {
    if rendered.carrier != Carrier::Multipart {
        return None;
    }
    let (plain, _) = cloud_config(load, rendered.plan_fetched, &mut Findings::new()).ok()?;
    let used = packed(plain, budget.limit).1.len();
    let enough = if used <= budget.limit { "which fits" } else { "still too much" };
    (used < budget.used)
        .then(|| format!("as one cloud-config (`cloud-init`) it has {used} bytes, {enough}; "))
}

/// The largest pieces that somebody could do something about.
fn largest(load: &Load<'_>, rendered: &Rendered) -> String {
    let whole = load.pieces(&rendered.parts);
    let mut pieces: Vec<&PartSize> = whole.iter().flat_map(PartSize::leaves).collect();
    pieces.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.name.cmp(&other.name)));
    let named: Vec<String> =
        pieces.iter().take(3).map(|piece| format!("`{}` ({} bytes)", piece.name, piece.bytes)).collect();
    format!("the largest pieces before compression are {}", named.join(", "))
}
