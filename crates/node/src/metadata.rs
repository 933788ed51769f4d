//! Asks the instance metadata service: version 2 only, over one connection that is kept.

use std::cell::{Cell, RefCell};
use std::io::Read as _;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use bringup_aws::metadata::{self, Answer, MetadataFault, Question, SessionToken, Tried};
use bringup_aws::retry::Policy;
use bringup_aws::{Credentials, Method, Moment, Request, Response};
use bringup_facts::{Facts, Wanted};
use bringup_progress::{Failure, FailureKind};
use ureq::Agent;

use crate::machine::Machine;
use crate::patience::Patience;
use crate::web::{self, WebFault};

/// How long a session lasts, in seconds: longer than a node takes to come up.
const SESSION: u32 = 3600;

/// An attempt asks for half a minute; then it is told why there is no answer, and another attempt begins.
const POLICY: Policy = Policy { deadline_ms: Some(30_000), ..Policy::METADATA };

/// How long the first try may take. Each further one has twice as long: a slow service is still heard out.
const FIRST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(16);

/// No answer is longer.
const LONGEST_ANSWER: u64 = 128 * 1024;

/// The instance metadata service.
#[derive(Debug)]
pub(crate) struct Metadata {
    /// Where it may be, in the order in which it is looked for.
    addresses: Vec<String>,
    address: Cell<usize>,
    agent: Agent,
    session: RefCell<Option<SessionToken>>,
    credentials: RefCell<Option<Credentials>>,
}

impl Metadata {
    /// Of this machine; with IPv6, where subnets without IPv4 have it, too.
    pub(crate) fn new(ipv6: bool) -> Self {
        let mut addresses = vec![metadata::ADDRESS.to_owned()];
        if ipv6 {
            addresses.push(metadata::ADDRESS_IPV6.to_owned());
        }
        // A way to another service would be a way to feed a node another identity.
        #[cfg(debug_assertions)]
        if let Ok(address) = std::env::var("BRINGUP_METADATA") {
            addresses = vec![address];
        }
        Self::at(addresses)
    }

    /// At one of these addresses.
    pub(crate) fn at(addresses: Vec<String>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent(web::USER_AGENT)
            .input_buffer_size(16 * 1024)
            .output_buffer_size(4 * 1024)
            .build();
        Self {
            addresses,
            address: Cell::new(0),
            agent: Agent::new_with_config(config),
            session: RefCell::default(),
            credentials: RefCell::default(),
        }
    }

    /// Asks for what is wanted, and no more.
    pub(crate) fn facts(&self, wanted: &Wanted, deadline: Instant) -> Result<Facts, Failure> {
        let mut patience = Patience::new(POLICY, deadline);
        let mut facts = Facts { platform: Some("aws".to_owned()), ..Facts::default() };
        if wanted.identity {
            let document = self.must(&metadata::identity_document(), &mut patience)?;
            facts.instance_id = Some(document.instance_id);
            facts.instance_type = Some(document.instance_type);
            facts.region = Some(document.region);
            facts.zone = Some(document.zone);
            facts.address = document.address.filter(|_| !wanted.ipv6).map(|address| address.to_string());
        }
        if wanted.lifecycle {
            // Where it is not known, nothing but on demand was on offer.
            let asked = self.ask(&metadata::lifecycle(), &mut patience)?;
            facts.lifecycle = Some(asked.unwrap_or_else(|| "on-demand".to_owned()));
        }
        if wanted.hostname && !wanted.own_hostname {
            facts.hostname = Some(self.must(&metadata::hostname(), &mut patience)?);
        }
        if wanted.address && facts.address.is_none() {
            let address = if wanted.ipv6 {
                self.ask(&metadata::ipv6(), &mut patience)?.map(IpAddr::from)
            } else {
                self.ask(&metadata::local_ipv4(), &mut patience)?.map(IpAddr::from)
            };
            facts.address = address.map(|address| address.to_string());
        }
        if wanted.network {
            let mac = crate::address::hardware();
            facts.vpc_cidrs = self.network_blocks(mac.as_deref(), deadline).or_else(|failure| {
                if failure.kind == FailureKind::Transient { Err(failure) } else { Ok(Vec::new()) }
            })?;
        }
        for name in &wanted.tags {
            if let Some(value) = self.ask(&metadata::tag(name), &mut patience)? {
                facts.tags.insert(name.clone(), value);
            }
        }
        Ok(facts)
    }

    /// What whoever launched the instance gave it.
    pub(crate) fn user_data(&self, deadline: Instant) -> Result<Option<Vec<u8>>, Failure> {
        self.ask(&metadata::user_data(), &mut Patience::new(POLICY, deadline))
    }

    /// The IPv4 blocks of the network that the machine is in. `mac` is the hardware address of its primary interface, where
    /// the machine knows it: that saves a question.
    pub(crate) fn network_blocks(
        &self,
        mac: Option<&str>,
        deadline: Instant,
    ) -> Result<Vec<String>, Failure> {
        let mut patience = Patience::new(POLICY, deadline);
        let asked = mac.map(|mac| self.must(&metadata::vpc_ipv4_cidrs(mac), &mut patience));
        match asked {
            Some(Ok(blocks)) => Ok(blocks),
            // Another interface may be the first one.
            Some(Err(failure)) if failure.kind == FailureKind::Transient => Err(failure),
            _ => {
                let mac = self.must(&metadata::mac(), &mut patience)?;
                self.must(&metadata::vpc_ipv4_cidrs(&mac), &mut patience)
            }
        }
    }

    /// The identity document as it came, and its signature.
    pub(crate) fn identity(&self, deadline: Instant) -> Result<(String, String), Failure> {
        let mut patience = Patience::new(POLICY, deadline);
        let document = self.must(&metadata::identity_document(), &mut patience)?;
        let signature = self.must(&metadata::identity_signature(), &mut patience)?;
        Ok((document.text, signature))
    }

    /// Credentials of the instance's role that last for a while.
    pub(crate) fn credentials(&self, deadline: Instant) -> Result<Credentials, Failure> {
        let at = Moment::from_unix(Machine::now_ms() / 1000);
        if let Some(known) = self.credentials.borrow().as_ref().filter(|known| known.is_fresh(at)) {
            return Ok(known.clone());
        }
        let none = || {
            Failure::new(
                FailureKind::Operator,
                "the instance has no role, and so no credentials",
                "give the instance a profile with a role; the agent goes on by itself",
            )
        };
        let mut patience = Patience::new(POLICY, deadline);
        let role = self.ask(&metadata::role_name(), &mut patience)?.ok_or_else(none)?;
        let found = self.ask(&metadata::role_credentials(&role), &mut patience)?.ok_or_else(none)?;
        self.credentials.replace(Some(found.clone()));
        Ok(found)
    }

    /// Credentials that a service has called out of date are asked for anew.
    pub(crate) fn forget_credentials(&self) {
        self.credentials.replace(None);
    }

    /// Asks for what every instance has.
    fn must<T>(&self, question: &Question<T>, patience: &mut Patience) -> Result<T, Failure> {
        let absent = MetadataFault::Missing { what: question.what() };
        self.ask(question, patience)?.ok_or_else(|| permanent(&absent))
    }

    /// Asks one question, again and again while that may help.
    fn ask<T>(&self, question: &Question<T>, patience: &mut Patience) -> Result<Option<T>, Failure> {
        patience.afresh();
        let mut renewed = false;
        loop {
            let known = self.session.borrow().clone();
            let answer = match known {
                Some(token) => self.send(&question.request(self.base(), &token), patience, |tried| {
                    question.judge(tried, renewed)
                }),
                None => {
                    match self.send(&metadata::token_request(self.base(), SESSION), patience, metadata::token)
                    {
                        Answer::Value(token) => {
                            self.session.replace(Some(token));
                            continue;
                        }
                        Answer::Permanent(fault) => Answer::Permanent(fault),
                        Answer::Transient(passing) => {
                            self.elsewhere();
                            Answer::Transient(passing)
                        }
                        // There is no token to renew yet, and always one to be had.
                        Answer::Absent | Answer::RenewToken => {
                            Answer::Permanent(MetadataFault::TokenRefused { what: question.what() })
                        }
                    }
                }
            };
            match answer {
                Answer::Value(value) => return Ok(Some(value)),
                Answer::Absent => return Ok(None),
                Answer::RenewToken => {
                    renewed = true;
                    self.session.replace(None);
                }
                Answer::Permanent(fault) => return Err(permanent(&fault)),
                Answer::Transient(passing) => {
                    if !patience.wait() {
                        let (why, fix) = (passing.to_string(), passing.hint());
                        return Err(Failure::new(FailureKind::Transient, why, fix));
                    }
                }
            }
        }
    }

    fn base(&self) -> &str {
        self.addresses.get(self.address.get()).map_or(metadata::ADDRESS, String::as_str)
    }

    /// A service that is silent may be at another address.
    fn elsewhere(&self) {
        self.address.set((self.address.get() + 1) % self.addresses.len().max(1));
    }

    fn send<T>(
        &self,
        request: &Request,
        patience: &Patience,
        judge: impl FnOnce(Tried<'_>) -> Answer<T>,
    ) -> Answer<T> {
        let longer = 1_u32.checked_shl(patience.failures()).unwrap_or(u32::MAX);
        let time = FIRST.saturating_mul(longer).min(LONGEST);
        match self.try_once(request, time) {
            Ok((status, body)) => judge(Tried::Response(Response { status, body: &body })),
            Err(fault) => judge(Tried::Silence(&fault.why)),
        }
    }

    fn try_once(&self, request: &Request, time: Duration) -> Result<(u16, Vec<u8>), WebFault> {
        let mut parts = ureq::http::Request::builder().method(request.method.as_str()).uri(&request.url);
        for (name, value) in &request.headers {
            parts = parts.header(*name, value);
        }
        let odd = |_| WebFault::permanent("the request cannot be sent");
        // A PUT without a body must still say that it has none.
        let response = match request.method {
            Method::Get => self.timed(parts.body(()).map_err(odd)?, time),
            Method::Put | Method::Post => self.timed(parts.body(request.body.as_slice()).map_err(odd)?, time),
        };
        let response = response.map_err(|fault| WebFault::of(&fault))?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let mut reader = response.into_body().into_reader().take(LONGEST_ANSWER);
        reader.read_to_end(&mut body).map_err(|fault| WebFault::of_io(&fault))?;
        Ok((status, body))
    }

    /// None of these limits starts a thread, as one on looking a name up would.
    fn timed<S: ureq::AsSendBody>(
        &self,
        request: ureq::http::Request<S>,
        time: Duration,
    ) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let timed = self
            .agent
            .configure_request(request)
            .timeout_connect(Some(time))
            .timeout_send_request(Some(time))
            .timeout_recv_response(Some(time))
            .timeout_recv_body(Some(time))
            .build();
        self.agent.run(timed)
    }
}

/// What asking again does not change. Most of it somebody can mend without another plan.
fn permanent(fault: &MetadataFault) -> Failure {
    let kind = match fault {
        MetadataFault::Forbidden
        | MetadataFault::TokenRefused { .. }
        | MetadataFault::Role(_)
        | MetadataFault::SeveralNames => FailureKind::Operator,
        MetadataFault::NoVersion2 { .. }
        | MetadataFault::Missing { .. }
        | MetadataFault::Misunderstood { .. } => FailureKind::Permanent,
    };
    Failure::new(kind, fault.to_string(), fault.hint())
}
