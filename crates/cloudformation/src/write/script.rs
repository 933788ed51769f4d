//! User-data that calls the image's `bootstrap.sh`, as the template that EKS publishes has it.

use bringup_diag::{Finding, Findings};
use bringup_spec::SignalKind;

use super::Request;
use super::user_data::{Carried, RESOURCE, longest};
use crate::codes;
use crate::intrinsic::single;

/// Where images of Amazon Linux have the program that signals stacks.
const CFN_SIGNAL: &str = "/opt/aws/bin/cfn-signal";

/// A parameter's value may have so many bytes.
const LONGEST_PARAMETER: usize = 4096;

/// The names of clusters are no longer.
const LONGEST_CLUSTER_NAME: usize = 100;

/// The script, for `Fn::Sub`.
pub(super) fn carried(request: &Request<'_>, agent: Option<&str>, findings: &mut Findings) -> Carried {
    let arguments = request.arguments.as_deref().unwrap_or_default();
    if arguments.len() > LONGEST_PARAMETER {
        let message = format!(
            "the arguments of `bootstrap.sh` have {} bytes; a parameter has at most {LONGEST_PARAMETER}",
            arguments.len()
        );
        let hint = "leave `api` out, so that nodes ask EKS for it, or write `userData: plan`";
        let place = request.document.place(&request.path.keys(["launch", "userData"]));
        findings.push(Finding::error(codes::BOOTSTRAP_ARGUMENTS, message).at(place).hint(hint));
    }
    let mut script =
        "#!/bin/bash\nset -o xtrace\n/etc/eks/bootstrap.sh ${ClusterName} ${BootstrapArguments}\n".to_owned();
    if let Some((_, signal)) = request.signals(SignalKind::CloudFormation).next() {
        let program = agent.map_or_else(|| CFN_SIGNAL.to_owned(), |agent| format!("{agent} signal"));
        let stack = signal.stack.as_deref().unwrap_or("${AWS::StackName}");
        let resource = signal.resource.as_deref().unwrap_or(RESOURCE);
        let lines = [
            format!("{program} --exit-code $?"),
            format!("--stack {stack}"),
            format!("--resource {resource}"),
            "--region ${AWS::Region}".to_owned(),
        ];
        script.push_str(&lines.join(" \\\n  "));
        script.push('\n');
    }
    let bytes = longest(&script) + arguments.len() + LONGEST_CLUSTER_NAME;
    Carried { bytes, value: single("Fn::Base64", single("Fn::Sub", script)) }
}
