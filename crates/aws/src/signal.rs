//! Telling CloudFormation and auto scaling groups how the node came up.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::sign::{Draft, Signer, encoded_pairs};
use crate::{Credentials, Fault, Method, Moment, Request, Response, partition};

/// Whether the node came up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did.
    Success,
    /// It did not.
    Failure,
}

/// What became of a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It was taken.
    Taken,
    /// Nobody waits for it: it was sent before, or whoever waited has gone. Nothing is left to do.
    NotAwaited,
}

/// A signal to a resource of a stack.
#[derive(Clone, Copy, Debug)]
pub struct StackSignal<'a> {
    /// The stack's region.
    pub region: &'a str,
    /// The stack's name or id.
    pub stack: &'a str,
    /// The resource's logical name.
    pub resource: &'a str,
    /// Which instance signals: its id.
    pub instance: &'a str,
    /// How it ended.
    pub outcome: Outcome,
}

impl StackSignal<'_> {
    /// As `cfn-signal` does it when it has no credentials: the instance shows its identity document and the signature
    /// that the metadata service gives with it. That needs no role, only that the instance belongs to the stack.
    /// `document` and `signature` are the service's answers as they came.
    pub fn with_identity(&self, document: &str, signature: &str) -> Request {
        let document = STANDARD.encode(document.trim_end());
        let signature: String = signature.split_ascii_whitespace().collect();
        let mut fields = self.fields().to_vec();
        fields.push(("ContentType", "JSON"));
        let place = partition::endpoint("cloudformation", self.region);
        Request {
            method: Method::Get,
            url: format!("https://{place}/?{}", encoded_pairs(fields.into_iter())),
            headers: vec![
                ("accept", "application/json".to_owned()),
                ("authorization", format!("CFN_V1 {document}:{signature}")),
            ],
            body: Vec::new(),
        }
    }

    /// Signed with the credentials of a role that may call `cloudformation:SignalResource`.
    pub fn with_credentials(&self, credentials: &Credentials, at: Moment) -> Request {
        let service = "cloudformation";
        let draft = Draft::form(partition::endpoint(service, self.region), &self.fields());
        Signer { credentials, region: self.region, service, at }.signed(draft)
    }

    fn fields(&self) -> [(&str, &str); 6] {
        let status = match self.outcome {
            Outcome::Success => "SUCCESS",
            Outcome::Failure => "FAILURE",
        };
        [
            ("Action", "SignalResource"),
            ("Version", "2010-05-15"),
            ("StackName", self.stack),
            ("LogicalResourceId", self.resource),
            ("UniqueId", self.instance),
            ("Status", status),
        ]
    }

    /// What the answer means, whichever way the signal was sent.
    pub fn heard(response: Response<'_>) -> Result<Heard, Fault> {
        heard(
            "cloudformation:SignalResource",
            response,
            &["cannot be signaled", "can not be signaled", "already exists. Signals may only be updated"],
        )
    }
}

/// The end of a life-cycle hook: the group goes on with the instance, or gives it up.
#[derive(Clone, Copy, Debug)]
pub struct LifecycleAction<'a> {
    /// The group's region.
    pub region: &'a str,
    /// The group's name.
    pub group: &'a str,
    /// The hook's name.
    pub hook: &'a str,
    /// The instance's id.
    pub instance: &'a str,
    /// How it ended.
    pub outcome: Outcome,
}

impl LifecycleAction<'_> {
    /// Signed with the credentials of a role that may call `autoscaling:CompleteLifecycleAction`.
    pub fn with_credentials(&self, credentials: &Credentials, at: Moment) -> Request {
        let result = match self.outcome {
            Outcome::Success => "CONTINUE",
            Outcome::Failure => "ABANDON",
        };
        let fields = [
            ("Action", "CompleteLifecycleAction"),
            ("Version", "2011-01-01"),
            ("LifecycleHookName", self.hook),
            ("AutoScalingGroupName", self.group),
            ("LifecycleActionResult", result),
            ("InstanceId", self.instance),
        ];
        let service = "autoscaling";
        let draft = Draft::form(partition::endpoint(service, self.region), &fields);
        Signer { credentials, region: self.region, service, at }.signed(draft)
    }

    /// What the answer means.
    pub fn heard(response: Response<'_>) -> Result<Heard, Fault> {
        heard("autoscaling:CompleteLifecycleAction", response, &["No active Lifecycle Action found"])
    }
}

/// `over` are the words with which the service says that it does not wait.
fn heard(action: &'static str, response: Response<'_>, over: &[&str]) -> Result<Heard, Fault> {
    if response.status == 200 {
        return Ok(Heard::Taken);
    }
    match Fault::of(action, response) {
        Fault::Permanent(refusal)
            if refusal.code == "ValidationError"
                && over.iter().any(|words| refusal.message.contains(words)) =>
        {
            Ok(Heard::NotAwaited)
        }
        fault => Err(fault),
    }
}
