//! Waits until the node object exists.

mod skew;

use std::path::Path;
use std::time::{Duration, Instant};

use bringup_aws::{Method, Request};
use bringup_progress::{Failure, FailureKind, Success};
use bringup_systemd::{Activity, Systemd};

use super::{Doing, Stopped, of_bus};
use crate::kubeconfig::{Kubeconfig, User};
use crate::machine::Machine;
use crate::network::{self, Network};
use crate::teller::Teller;
use crate::web::{Answer, Trust, Web, WebFault};

/// How long one attempt watches; then it is told what is missing, and another one begins.
const ATTEMPT: Duration = Duration::from_secs(30);
/// How often it is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long rights may take to be known everywhere.
const RIGHTS: Duration = Duration::from_secs(10);

/// Waits until the API server has the node, as far as kubelet's own credentials let us see it.
///
/// With `check_skew`, the version of kubelet is then held against the API server's own.
pub(super) fn wait(doing: &Doing<'_>, kubeconfig: &str, check_skew: bool) -> Result<Success, Stopped> {
    if !doing.machine.is_itself() {
        return Ok(Success::default());
    }
    runs(doing)?;
    let name = doing.knowledge.with(|known| known.node_name())?;
    let deadline = network::deadline(doing.order.timeout_ms).min(Instant::now() + ATTEMPT);
    let Doing { machine, network, .. } = *doing;
    let watch = Watch { machine, network, kubeconfig, name: &name, deadline, check_skew };
    if let Seen::Hidden(why) = watch.wait(LOOK, RIGHTS)? {
        let what = if check_skew {
            "whether the node has registered, and with a version that it may have,"
        } else {
            "whether the node has registered"
        };
        Teller::note(&format!("{what} could not be checked: {why}"));
    }
    Ok(Success::default())
}

/// A kubelet that somebody has stopped registers nothing.
fn runs(doing: &Doing<'_>) -> Result<(), Stopped> {
    let unit = doing.plan.kubelet_unit();
    let state =
        Systemd::connect().and_then(|mut systemd| systemd.state(&unit)).map_err(|fault| of_bus(&fault))?;
    if state.is_none_or(|state| matches!(state.activity, Activity::Inactive | Activity::Failed)) {
        let why = format!("`{unit}` does not run, and registers nothing");
        return Err(Failure::new(FailureKind::Transient, why, format!("`systemctl start {unit}`")).into());
    }
    Ok(())
}

/// What one look shows.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Registered,
    NotYet {
        why: String,
        fix: &'static str,
    },
    /// The credentials are good, but not for looking.
    Hidden(String),
}

struct Watch<'a> {
    machine: &'a Machine,
    network: &'a Network,
    kubeconfig: &'a str,
    name: &'a str,
    deadline: Instant,
    check_skew: bool,
}

const SEE_KUBELET: &str = "see `journalctl --unit kubelet.service`";

impl Watch<'_> {
    fn wait(&self, look: Duration, rights: Duration) -> Result<Seen, Failure> {
        let mut hidden_since = None;
        let mut asker: Option<Asker> = None;
        loop {
            let (why, fix) = match self.look(&mut asker)? {
                Seen::Registered => return Ok(Seen::Registered),
                Seen::Hidden(why) => {
                    let since = *hidden_since.get_or_insert_with(Instant::now);
                    // A program's word for who asks does not change with time; rights do.
                    if asker.is_none() || since.elapsed() >= rights {
                        return Ok(Seen::Hidden(why));
                    }
                    (why, SEE_KUBELET)
                }
                Seen::NotYet { why, fix } => (why, fix),
            };
            if Instant::now() >= self.deadline {
                let why = format!("the node `{}` has not registered: {why}", self.name);
                return Err(Failure::new(FailureKind::Transient, why, fix));
            }
            std::thread::sleep(look);
        }
    }

    fn look(&self, asker: &mut Option<Asker>) -> Result<Seen, Failure> {
        if asker.is_none() {
            let read = Kubeconfig::read(self.machine.files(), Path::new(self.kubeconfig));
            let config = match read {
                Ok(config) => config,
                // Where kubelet asks for its certificate itself, the file is there once it has been given one.
                Err(why) => return Ok(Seen::NotYet { why, fix: SEE_KUBELET }),
            };
            match Asker::new(config, self.network, self.deadline)? {
                Ok(found) => *asker = Some(found),
                Err(program) => {
                    return Ok(Seen::Hidden(format!(
                        "its credentials come from `{program}`, which is not run"
                    )));
                }
            }
        }
        let Some(asker) = asker else { return Ok(Seen::Hidden(String::new())) };
        let answer = match asker.ask(&format!("/api/v1/nodes/{}", self.name)) {
            Ok(answer) => answer,
            Err(why) => return Ok(Seen::NotYet { why, fix: "see that this machine reaches the API server" }),
        };
        Ok(match answer.status {
            200 if self.check_skew => skew::look(asker, &answer.body)?,
            200 => Seen::Registered,
            404 => Seen::NotYet { why: "the API server does not know it".to_owned(), fix: SEE_KUBELET },
            // Kubelet has no others: it is refused, too.
            401 => Seen::NotYet {
                why: "the API server does not accept this machine's credentials (401)".to_owned(),
                fix: "let the cluster know the machine's role or certificate, and see that the clock is right",
            },
            403 => Seen::Hidden("the API server does not let this machine look (403)".to_owned()),
            status => Seen::NotYet {
                why: format!("the API server answers with {status}"),
                fix: "see the API server's log",
            },
        })
    }
}

/// Asks the API server in the node's name.
struct Asker {
    server: String,
    web: Web,
    headers: Vec<(&'static str, String)>,
}

impl Asker {
    /// Or the name of the program that would have to be run for it.
    fn new(
        config: Kubeconfig,
        network: &Network,
        deadline: Instant,
    ) -> Result<Result<Self, String>, Failure> {
        let (bearer, credential) = match config.user {
            User::Bearer(token) => (Some(token), None),
            User::Certificate(credential) => (None, Some(credential)),
            User::Eks(subject) => (Some(subject.token(network, deadline)?.bearer.expose().clone()), None),
            User::Program(name) => return Ok(Err(name)),
        };
        let trust = config.trust.unwrap_or_else(|| Trust::system_and(&[]));
        let mut headers = vec![("accept", "application/json".to_owned())];
        headers.extend(bearer.map(|token| ("authorization", format!("Bearer {token}"))));
        Ok(Ok(Self { server: config.server, web: network.web.again(trust, credential), headers }))
    }

    fn ask(&self, path: &str) -> Result<Answer, String> {
        let request = Request {
            method: Method::Get,
            url: format!("{}{path}", self.server),
            headers: self.headers.clone(),
            body: Vec::new(),
        };
        let unanswered =
            |fault: WebFault| format!("the API server at {} cannot be asked: {}", self.server, fault.why);
        self.web.send(&request).map_err(unanswered)
    }
}

#[cfg(test)]
mod tests;
