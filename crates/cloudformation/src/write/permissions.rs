//! What the nodes' role must be allowed beyond the managed policies: exactly what the plan makes the node do.

use std::collections::{BTreeMap, BTreeSet};

use bringup_plan::{Action, Content, Election, InstallSource};
use bringup_spec::{SecretSource, SignalKind};
use bringup_yaml::Value;

use super::Request;
use crate::intrinsic::{literal_in_sub, map, sub};

/// What a role must be allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The actions.
    pub(crate) actions: Vec<&'static str>,
    /// The resources, with `${AWS::…}` in them.
    pub(crate) resources: Vec<String>,
}

impl Statement {
    /// As a statement of a policy.
    pub(crate) fn value(&self) -> Value {
        map(vec![
            ("Effect", "Allow".into()),
            ("Action", Value::list(self.actions.iter().copied())),
            ("Resource", Value::List(self.resources.iter().map(sub).collect())),
        ])
    }
}

/// The statements that the group's nodes need, by a fixed order.
pub(crate) fn statements(request: &Request<'_>) -> Vec<Statement> {
    let mut by_action: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    let mut allow = |action: &'static str, resource: String| {
        by_action.entry(action).or_default().insert(resource);
    };
    for source in sources(request) {
        match source {
            Source::Object(address) => {
                if let Some(object) = address.strip_prefix("s3://") {
                    allow("s3:GetObject", format!("arn:${{AWS::Partition}}:s3:::{}", literal_in_sub(object)));
                }
            }
            Source::Parameter(name) => allow("ssm:GetParameter", parameter_arn(&literal_in_sub(&name))),
            Source::Secret(name) => {
                allow("secretsmanager:GetSecretValue", secret_arn(&literal_in_sub(&name)));
            }
        }
    }
    if let Some(Election::Store { object }) = &request.plan.bootstrap
        && let Some(object) = object.strip_prefix("s3://")
    {
        let arn = format!("arn:${{AWS::Partition}}:s3:::{}", literal_in_sub(object));
        allow("s3:GetObject", arn.clone());
        allow("s3:PutObject", arn);
    }
    if request.needs_stack() {
        let stack =
            "arn:${AWS::Partition}:cloudformation:${AWS::Region}:${AWS::AccountId}:stack/${AWS::StackName}/*";
        allow("cloudformation:SignalResource", stack.to_owned());
    }
    for (_, signal) in request.signals(SignalKind::CloudFormation) {
        if let Some(stack) = &signal.stack {
            let name = literal_in_sub(stack_name(stack));
            let arn = format!(
                "arn:${{AWS::Partition}}:cloudformation:${{AWS::Region}}:${{AWS::AccountId}}:stack/{name}/*"
            );
            allow("cloudformation:SignalResource", arn);
        }
    }
    for (_, signal) in request.signals(SignalKind::LifecycleAction) {
        let name = signal.resource.as_deref().unwrap_or(super::scaling::GROUP_NAME);
        let arn = format!(
            "arn:${{AWS::Partition}}:autoscaling:${{AWS::Region}}:${{AWS::AccountId}}:autoScalingGroup:*:autoScalingGroupName/{name}"
        );
        allow("autoscaling:CompleteLifecycleAction", arn);
    }
    by_action
        .into_iter()
        .map(|(action, resources)| Statement {
            actions: vec![action],
            resources: resources.into_iter().collect(),
        })
        .collect()
}

/// Something of AWS that a node reads with its own credentials.
enum Source {
    Object(String),
    Parameter(String),
    Secret(String),
}

impl Source {
    fn of_secret(secret: &SecretSource) -> Option<Self> {
        match secret {
            SecretSource::S3(address) => Some(Self::Object(address.clone())),
            SecretSource::SsmParameter(name) => Some(Self::Parameter(name.clone())),
            SecretSource::SecretsManager(name) => Some(Self::Secret(name.clone())),
            SecretSource::File(_) | SecretSource::Environment(_) => None,
        }
    }
}

fn sources(request: &Request<'_>) -> Vec<Source> {
    let mut sources = Vec::new();
    let objects = |sources: &mut Vec<Source>, urls: &[String]| {
        sources.extend(urls.iter().filter(|url| url.starts_with("s3://")).cloned().map(Source::Object));
    };
    for step in &request.plan.steps {
        match &step.action {
            Action::Fetch { urls, .. } => objects(&mut sources, urls),
            Action::Install { source, choices, .. } => {
                for source in choices.iter().map(|choice| &choice.source).chain([source]) {
                    match source {
                        InstallSource::Extension { urls, .. } | InstallSource::Url { urls, .. } => {
                            objects(&mut sources, urls);
                        }
                        InstallSource::Image | InstallSource::Package { .. } => {}
                    }
                }
            }
            Action::WriteFile { content, .. } => in_content(content, &mut sources),
            Action::Signal { token: Some(secret), .. } => sources.extend(Source::of_secret(secret)),
            _ => {}
        }
    }
    sources
}

fn in_content(content: &Content, sources: &mut Vec<Source>) {
    match content {
        Content::Secret(secret) => sources.extend(Source::of_secret(secret)),
        Content::Pieces(pieces) => pieces.iter().for_each(|piece| in_content(piece, sources)),
        Content::Text(_) | Content::Base64(_) | Content::Merged { .. } | Content::PodTable(_) => {}
    }
}

fn parameter_arn(name: &str) -> String {
    if name.starts_with("arn:") {
        return name.to_owned();
    }
    let name = name.trim_start_matches('/');
    format!("arn:${{AWS::Partition}}:ssm:${{AWS::Region}}:${{AWS::AccountId}}:parameter/{name}")
}

/// A secret's ARN ends in six random letters that its name does not have.
fn secret_arn(name: &str) -> String {
    if name.starts_with("arn:") {
        return name.to_owned();
    }
    format!(
        "arn:${{AWS::Partition}}:secretsmanager:${{AWS::Region}}:${{AWS::AccountId}}:secret:{name}-??????"
    )
}

/// The name in a stack's ARN, or the name itself.
fn stack_name(stack: &str) -> &str {
    match stack.split_once(":stack/") {
        Some((_, rest)) => rest.split('/').next().unwrap_or(rest),
        None => stack,
    }
}
