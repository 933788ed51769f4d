//! A whole template for one node group.

mod hardware;
mod identity;
mod image;
mod launch;
mod network;
mod parameters;
mod permissions;
mod request;
mod scaling;
mod script;
mod user_data;

use bringup_diag::Findings;
use bringup_plan::Plan;
use bringup_spec::{Document, NodeGroup};
use bringup_yaml::{Path, Value};

use crate::intrinsic::{attribute, map, reference};

pub(crate) use image::{ImageSource, image_source, minimum_volume_gib, root_device};
pub(crate) use permissions::statements;
pub(crate) use request::{LONGEST_PAUSE, Request};
pub use user_data::STACK_FILE;

/// A template.
#[derive(Clone, Debug)]
pub struct Template {
    /// The template; [`Template::to_yaml`] and [`Template::to_json`] write it out.
    pub value: Value,
    /// The raw size of the user-data as an instance gets it, at most: the stack's name counts with its longest form.
    pub user_data_bytes: usize,
    /// What there is to tell about the group's launch settings; with an error in it the template is not fit for use.
    pub findings: Findings,
}

impl Template {
    /// As YAML.
    pub fn to_yaml(&self) -> String {
        bringup_yaml::to_yaml(&self.value)
    }

    /// As JSON, indented, LF at the end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.value).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The template of a node group whose instances get `user_data`: `path` is the group's place in the document.
pub fn write(document: &Document, path: &Path, group: &NodeGroup, plan: &Plan, user_data: &[u8]) -> Template {
    let request = Request::new(document, path, group, plan);
    let mut findings = crate::check(document, path, group, plan);
    let carried = user_data::carried(&request, user_data, &mut findings);
    whole(&request, carried, findings)
}

/// The template of a node group whose instances call `bootstrap.sh`, with these arguments unless others are set when it is
/// deployed. `agent` says where our own program is, if anywhere: it tells the stack how it ended.
pub fn write_call(
    document: &Document,
    path: &Path,
    group: &NodeGroup,
    plan: &Plan,
    arguments: &str,
    agent: Option<&str>,
) -> Template {
    let mut request = Request::new(document, path, group, plan);
    request.arguments = Some(arguments.to_owned());
    let mut findings = crate::check(document, path, group, plan);
    let carried = script::carried(&request, agent, &mut findings);
    whole(&request, carried, findings)
}

fn whole(request: &Request<'_>, carried: user_data::Carried, findings: Findings) -> Template {
    let mut resources = Vec::new();
    resources.extend(identity::resources(request));
    resources.extend(network::resources(request));
    resources.extend(hardware::resources(request));
    resources.push(("NodeLaunchTemplate", launch::template(request, carried.value)));
    resources.push(("NodeGroup", scaling::group(request)));

    let mut template = vec![
        ("AWSTemplateFormatVersion", Value::from("2010-09-09")),
        ("Description", description(request).into()),
        ("Metadata", parameters::interface(request)),
        ("Parameters", parameters::parameters(request)),
    ];
    let conditions = parameters::conditions(request);
    if !conditions.is_empty() {
        template.push(("Conditions", map(conditions)));
    }
    template.push(("Resources", map(resources)));
    template.push(("Outputs", outputs(request)));
    Template { value: map(template), user_data_bytes: carried.bytes, findings: findings.sorted() }
}

fn description(request: &Request<'_>) -> String {
    format!("Nodes of the group {} of the Kubernetes cluster {}", request.group.name, request.cluster_name())
}

fn outputs(request: &Request<'_>) -> Value {
    let output = |about: &str, value: Value| map(vec![("Description", about.into()), ("Value", value)]);
    let mut outputs = Vec::new();
    if request.makes_role() {
        outputs.push((
            "NodeInstanceRole",
            output("The role of the nodes", attribute("NodeInstanceRole", "Arn")),
        ));
    }
    outputs.push((
        "NodeSecurityGroup",
        output("The security group of the nodes", reference("NodeSecurityGroup")),
    ));
    outputs.push(("NodeAutoScalingGroup", output("The Auto Scaling group", reference("NodeGroup"))));
    outputs.push(("NodeLaunchTemplate", output("The launch template", reference("NodeLaunchTemplate"))));
    map(outputs)
}
