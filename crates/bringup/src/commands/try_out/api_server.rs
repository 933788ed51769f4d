//! The API server that a node asks for the cluster's version, where the lab has no cluster: its answer is made up.

use std::sync::Arc;

use bringup_lab::{Authority, Given, Wishes};
use bringup_plan::ApiServer;
use bringup_spec::{AgentSource, Authority as Named, Bootstrap, ClusterSpec};
use serde_json::json;

use super::of_lab;
use super::surroundings::Surroundings;
use crate::Terminal;
use crate::outcome::Stop;

impl Surroundings {
    /// Lets the API server tell its version, where a node of the group asks for it. Nobody here has the key of the
    /// document's authority: the lab's own takes its place.
    pub(super) fn version(
        &mut self,
        spec: &mut ClusterSpec,
        group: usize,
        wishes: &Wishes,
        terminal: &mut Terminal,
    ) -> Result<(), Stop> {
        let asks = spec.kubernetes.detect && wishes.kubernetes.is_none();
        let Some(group) = spec.node_groups.get(group).filter(|_| asks) else { return Ok(()) };
        // The node that starts the cluster has nobody to ask.
        let is_first = group.bootstrap == Some(Bootstrap::Always(true));
        let Some(api) = spec.api.as_mut().filter(|_| !is_first && group.agent.from != AgentSource::None)
        else {
            return Ok(());
        };
        let Some(named) = &mut api.certificate_authority else { return Ok(()) };
        let authority = Authority::of(wishes.machine.as_deref()).map_err(|fault| of_lab(&fault))?;
        let pem = authority.pem().to_owned();
        *named = Named::parse(&pem).map_err(|fault| Stop::failed(fault.message))?;
        self.authority = Some(Arc::new(authority));
        terminal.say("the lab's own authority vouches for the API server, not `api.certificateAuthority`\n");
        let url = ApiServer { endpoint: api.endpoint.clone(), certificate_authority: pem }.version_url();
        if !self.serves(&url) {
            let version = &spec.kubernetes.version;
            let told = format!("v1.{}.{}", version.minor, version.patch.unwrap_or_default());
            let answer = json!({"major": "1", "minor": version.minor.to_string(), "gitVersion": told});
            self.served.push((url, Given::Made(answer.to_string().into_bytes())));
            self.stand_in(&format!("the API server's version ({told})"));
        }
        Ok(())
    }
}
