//! Services that are snaps: what snapd is asked, and what its answers mean.
//!
//! Nothing here touches snapd: requests are made and answers are read, and the node carries them to its socket.
//! The interface is <https://snapcraft.io/docs/snapd-api>.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{Action, Plan, Snap};

/// Where snapd listens.
pub const SOCKET: &str = "/run/snapd.socket";

/// Where snapd knows programs by other names.
const ALIASES: &str = "/v2/aliases";

/// The unit that kubelet runs in where it is no snap.
const KUBELET: &str = "kubelet.service";

/// What is sent to snapd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapRequest {
    /// The method of HTTP.
    pub method: &'static str,
    /// The path.
    pub path: String,
    /// What is sent along, JSON.
    pub body: Option<String>,
}

/// What becomes of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// It starts, and is not enabled: whoever opens the gate starts it at every boot.
    Start,
    /// It stops.
    Stop,
}

/// What snapd answers where it does not refuse.
#[derive(Clone, Debug, PartialEq)]
pub enum SnapAnswer {
    /// It is done, and this came of it.
    Done(Value),
    /// It is under way, as the change of this id.
    Change(String),
}

/// How a change stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeState {
    /// It is under way: what snapd says that it does.
    UnderWay(String),
    /// It has ended well.
    Done,
    /// It has ended otherwise, and was undone.
    Failed(String),
}

/// Why snapd refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapRefusal {
    /// What it says.
    pub message: String,
    /// Its word for the kind of error, which may be empty.
    pub kind: String,
}

impl SnapRefusal {
    /// Whether asking again may help: something else is being done to the snap, or snapd itself is about to restart.
    pub fn is_transient(&self) -> bool {
        matches!(self.kind.as_str(), "snap-change-conflict" | "daemon-restart" | "system-restart")
            || self.kind.is_empty()
    }

    /// Whether there is no such snap, or it has no services.
    pub fn is_absent(&self) -> bool {
        matches!(self.kind.as_str(), "snap-not-found" | "snap-not-installed" | "app-not-found")
    }
}

impl Snap {
    /// The unit that snapd makes for the service.
    pub fn unit(&self) -> String {
        format!("snap.{}.{}.service", self.name, self.service)
    }

    /// Asks what the snap is set to.
    pub fn ask(&self) -> SnapRequest {
        SnapRequest { method: "GET", path: self.configuration(), body: None }
    }

    /// The settings that are not yet as the plan wants them, given what the snap is set to; null for those that are to go.
    /// Of settings that the plan does not name, those go that were set by an earlier one, the `own`; the others are the image's.
    pub fn unlike(&self, is: &Value, own: &BTreeSet<String>) -> Map<String, Value> {
        let wanted = self.settings.iter().map(|(name, text)| (name.clone(), value(text.as_literal())));
        let wanted = wanted.filter(|(name, wanted)| is.get(name) != Some(wanted));
        let is_set = |name: &&String| is.get(name.as_str()).is_some_and(|value| !value.is_null());
        let gone = own.iter().filter(|name| !self.settings.contains_key(*name)).filter(is_set);
        wanted.chain(gone.map(|name| (name.clone(), Value::Null))).collect()
    }

    /// Sets these settings.
    pub fn set(&self, settings: Map<String, Value>) -> SnapRequest {
        let body = Some(Value::Object(settings).to_string());
        SnapRequest { method: "PUT", path: self.configuration(), body }
    }

    /// Starts or stops all services of the snap.
    pub fn control(&self, control: Control) -> SnapRequest {
        let action = match control {
            Control::Start => "start",
            Control::Stop => "stop",
        };
        let body = Some(json!({"action": action, "names": [self.name]}).to_string());
        SnapRequest { method: "POST", path: "/v2/apps".to_owned(), body }
    }

    /// Asks which names programs of snaps have beside their own.
    pub fn ask_aliases() -> SnapRequest {
        SnapRequest { method: "GET", path: ALIASES.to_owned(), body: None }
    }

    /// Names that are not there yet, given those that are.
    pub fn missing_aliases(&self, are: &Value) -> Vec<(&str, &str)> {
        let is_there = |alias: &str, program: &str| {
            let snap = program.split('.').next().unwrap_or_default();
            let found = are.get(snap).and_then(|names| names.get(alias));
            let text = |key: &str| found.and_then(|found| found.get(key)).and_then(Value::as_str);
            text("command") == Some(program) && text("status") != Some("disabled")
        };
        let all = self.aliases.iter().map(|(alias, program)| (alias.as_str(), program.as_str()));
        all.filter(|(alias, program)| !is_there(alias, program)).collect()
    }

    /// Gives a program of a snap another name.
    pub fn alias(alias: &str, program: &str) -> SnapRequest {
        let (snap, app) = program.split_once('.').unwrap_or((program, program));
        let body = json!({"action": "alias", "alias": alias, "app": app, "snap": snap});
        SnapRequest { method: "POST", path: ALIASES.to_owned(), body: Some(body.to_string()) }
    }

    /// Takes such a name away.
    pub fn unalias(alias: &str, program: &str) -> SnapRequest {
        let snap = program.split('.').next().unwrap_or_default();
        let body = json!({"action": "unalias", "alias": alias, "snap": snap});
        SnapRequest { method: "POST", path: ALIASES.to_owned(), body: Some(body.to_string()) }
    }

    fn configuration(&self) -> String {
        format!("/v2/snaps/{}/conf", self.name)
    }
}

impl Plan {
    /// The unit that kubelet runs in.
    pub fn kubelet_unit(&self) -> String {
        self.kubelet_snap().map_or_else(|| KUBELET.to_owned(), Snap::unit)
    }

    /// The snap that kubelet is, if it is one.
    pub fn kubelet_snap(&self) -> Option<&Snap> {
        self.steps.iter().find_map(|step| match &step.action {
            Action::StartKubelet { snap, .. } => snap.as_ref(),
            _ => None,
        })
    }
}

/// A value as `snap set` takes it: JSON where it is JSON, else text. A flag without a value is one that is switched on.
fn value(text: Option<&str>) -> Value {
    let text = text.unwrap_or_default();
    if text.is_empty() {
        return Value::Bool(true);
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Asks how a change stands.
pub fn change(id: &str) -> SnapRequest {
    SnapRequest { method: "GET", path: format!("/v2/changes/{id}"), body: None }
}

/// Lets a change go: a change that nobody waits for any more would stand in the way of the next one.
pub fn abort(id: &str) -> SnapRequest {
    let body = Some(json!({"action": "abort"}).to_string());
    SnapRequest { method: "POST", path: format!("/v2/changes/{id}"), body }
}

/// Reads an answer.
pub fn answer(status: u16, body: &[u8]) -> Result<SnapAnswer, SnapRefusal> {
    let refusal = |message: String, kind: &str| SnapRefusal { message, kind: kind.to_owned() };
    let Ok(mut answer) = serde_json::from_slice::<Value>(body) else {
        return Err(refusal(format!("snapd answers {status} and no JSON"), ""));
    };
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match text(&answer, "type").as_str() {
        "sync" => Ok(SnapAnswer::Done(answer.get_mut("result").map(Value::take).unwrap_or_default())),
        "async" => match text(&answer, "change") {
            id if is_id(&id) => Ok(SnapAnswer::Change(id)),
            _ => Err(refusal("snapd does not say which change it makes".to_owned(), "")),
        },
        "error" => {
            let result = answer.get("result").cloned().unwrap_or_default();
            let message = match text(&result, "message") {
                message if message.is_empty() => format!("snapd answers {status}"),
                message => message,
            };
            Err(SnapRefusal { message, kind: text(&result, "kind") })
        }
        _ => Err(refusal(format!("snapd answers {status} and nothing that is known"), "")),
    }
}

/// Ids become parts of paths.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// How a change stands, by what snapd says of it.
pub fn change_state(change: &Value) -> ChangeState {
    let text = |key: &str| change.get(key).and_then(Value::as_str).unwrap_or_default();
    let tasks = change.get("tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of_task =
        |task: &Value, key: &str| task.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if change.get("ready").and_then(Value::as_bool) != Some(true) {
        let doing = tasks.iter().find(|task| of_task(task, "status") != "Done");
        return ChangeState::UnderWay(doing.map(|task| of_task(task, "summary")).unwrap_or_default());
    }
    match (text("status"), text("err")) {
        ("Done", _) => ChangeState::Done,
        (status, "") => ChangeState::Failed(format!("the change has ended as `{status}`")),
        (_, why) => ChangeState::Failed(why.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bringup_spec::Text;

    use super::*;

    fn snap() -> Snap {
        let settings = [
            ("config", "/etc/eksctl/kubelet.yaml"),
            ("max-pods", "29"),
            ("node-ip", "10.0.0.1"),
            ("v", "2"),
            ("quiet", ""),
        ];
        let settings: BTreeMap<String, Text> =
            settings.iter().map(|(name, value)| ((*name).to_owned(), Text::literal(*value))).collect();
        let aliases = [("kubectl", "kubectl-eks.kubectl"), ("kubelet", "kubelet-eks.kubelet")];
        let aliases = aliases.map(|(alias, program)| (alias.to_owned(), program.to_owned())).into();
        Snap { name: "kubelet-eks".to_owned(), service: "daemon".to_owned(), settings, aliases }
    }

    /// What is there is told as snapd's own documentation has it: by snap, and by the name.
    #[test]
    fn names_that_are_there_are_not_given_again() {
        let are = json!({"kubelet-eks": {"kubelet": {"command": "kubelet-eks.kubelet", "status": "manual", "manual": "kubelet"}}});
        assert_eq!(snap().missing_aliases(&are), [("kubectl", "kubectl-eks.kubectl")]);
        let of_others = json!({"other": {"kubectl": {"command": "other.kubectl", "status": "auto", "auto": "kubectl"}},
            "kubelet-eks": {"kubelet": {"command": "kubelet-eks.kubelet", "status": "disabled", "auto": "kubelet"}}});
        assert_eq!(snap().missing_aliases(&of_others).len(), 2);
        let asked = Snap::alias("kubelet", "kubelet-eks.kubelet");
        assert_eq!((asked.method, asked.path.as_str()), ("POST", "/v2/aliases"));
        assert_eq!(
            asked.body.as_deref(),
            Some(r#"{"action":"alias","alias":"kubelet","app":"kubelet","snap":"kubelet-eks"}"#)
        );
        assert_eq!(
            Snap::unalias("kubelet", "kubelet-eks.kubelet").body.as_deref(),
            Some(r#"{"action":"unalias","alias":"kubelet","snap":"kubelet-eks"}"#)
        );
    }

    #[test]
    fn only_what_is_not_yet_so_is_set_and_values_are_those_of_snap_set() {
        let wanted = snap().unlike(&json!({"max-pods": 29, "v": "2", "image": "kept"}), &BTreeSet::new());
        // `snap set a v=2` makes a number, so that the text `2` is not yet right.
        assert_eq!(
            Value::Object(wanted.clone()),
            json!({"config": "/etc/eksctl/kubelet.yaml", "node-ip": "10.0.0.1", "quiet": true, "v": 2})
        );
        let set = snap().set(wanted);
        assert_eq!((set.method, set.path.as_str()), ("PUT", "/v2/snaps/kubelet-eks/conf"));
        let is = json!({"config": "/etc/eksctl/kubelet.yaml", "max-pods": 29, "node-ip": "10.0.0.1", "v": 2, "quiet": true});
        assert!(snap().unlike(&is, &BTreeSet::new()).is_empty());
    }

    #[test]
    fn what_an_earlier_plan_has_set_goes_and_what_the_image_has_set_stays() {
        let own = ["max-pods", "node-ip", "node-labels", "v"].map(str::to_owned).into();
        let is = json!({"config": "/etc/eksctl/kubelet.yaml", "max-pods": 29, "node-ip": "10.0.0.1", "v": 2,
            "quiet": true, "node-labels": "a=b", "image": "kept"});
        assert_eq!(Value::Object(snap().unlike(&is, &own)), json!({"node-labels": null}));
        let is = json!({"config": "/etc/eksctl/kubelet.yaml", "max-pods": 29, "node-ip": "10.0.0.1", "v": 2,
            "quiet": true, "image": "kept"});
        assert!(snap().unlike(&is, &own).is_empty());
    }

    #[test]
    fn services_are_started_and_never_enabled() {
        assert_eq!(snap().unit(), "snap.kubelet-eks.daemon.service");
        let body = |control| snap().control(control).body.unwrap();
        assert_eq!(body(Control::Start), r#"{"action":"start","names":["kubelet-eks"]}"#);
        assert_eq!(body(Control::Stop), r#"{"action":"stop","names":["kubelet-eks"]}"#);
    }

    /// The answers are snapd 2.57's own, taken from its socket.
    #[test]
    fn answers_of_snapd_are_understood() {
        let conf = br#"{"type":"sync","status-code":200,"status":"OK","result":{}}"#;
        assert_eq!(answer(200, conf), Ok(SnapAnswer::Done(json!({}))));
        let accepted =
            br#"{"type":"async","status-code":202,"status":"Accepted","result":null,"change":"7"}"#;
        assert_eq!(answer(202, accepted), Ok(SnapAnswer::Change("7".to_owned())));
        let absent = br#"{"type":"error","status-code":404,"status":"Not Found","result":{"message":"snap \"kubelet-eks\" is not installed","kind":"snap-not-found","value":"kubelet-eks"}}"#;
        let refusal = answer(404, absent).unwrap_err();
        assert!(refusal.is_absent() && !refusal.is_transient());
        assert_eq!(refusal.message, "snap \"kubelet-eks\" is not installed");
        // A change that it does not know.
        let unknown = br#"{"type":"error","status-code":404,"status":"Not Found","result":{"message":"cannot find change with id \"7\""}}"#;
        assert!(!answer(404, unknown).unwrap_err().is_absent());
        let busy = br#"{"type":"error","status-code":409,"status":"Conflict","result":{"message":"busy","kind":"snap-change-conflict"}}"#;
        assert!(answer(409, busy).unwrap_err().is_transient());
        for (status, body) in
            [(502, &b"<html>"[..]), (200, b"{}"), (202, br#"{"type":"async","change":"../x"}"#)]
        {
            assert!(answer(status, body).unwrap_err().is_transient());
        }
    }

    #[test]
    fn a_change_is_done_only_when_snapd_says_so() {
        let doing = json!({"ready": false, "status": "Doing", "tasks": [
            {"status": "Done", "summary": "a"}, {"status": "Doing", "summary": "Run configure hook"}]});
        assert_eq!(change_state(&doing), ChangeState::UnderWay("Run configure hook".to_owned()));
        // One of snapd's own, whose task has not begun.
        let waiting = json!({"id": "2", "kind": "configure-snap", "summary": "Change configuration of \"core\" snap",
            "status": "Do", "tasks": [{"id": "3", "kind": "run-hook", "summary": "Run configure hook of \"core\" snap",
            "status": "Do", "progress": {"label": "", "done": 0, "total": 1}}], "ready": false});
        let hook = "Run configure hook of \"core\" snap".to_owned();
        assert_eq!(change_state(&waiting), ChangeState::UnderWay(hook));
        assert_eq!(change_state(&json!({"ready": true, "status": "Done"})), ChangeState::Done);
        let failed = json!({"ready": true, "status": "Error", "err": "cannot perform the following tasks:\n- x (no)\n"});
        let why = "cannot perform the following tasks:\n- x (no)".to_owned();
        assert_eq!(change_state(&failed), ChangeState::Failed(why));
        let why = "the change has ended as `Undone`".to_owned();
        assert_eq!(change_state(&json!({"ready": true, "status": "Undone"})), ChangeState::Failed(why));
        assert_eq!(change_state(&json!({})), ChangeState::UnderWay(String::new()));
    }
}
