//! What a template is made from, with the defaults filled in.

use std::collections::BTreeMap;

use bringup_plan::Plan;
use bringup_spec::{
    Document, JoinMethod, Launch, LaunchUserData, MetadataOptions, NodeGroup, NodeRole, Role, RollingUpdate,
    Scaling, Signal, SignalKind, Span,
};
use bringup_yaml::Path;

/// CloudFormation pauses no longer than an hour, in milliseconds.
pub(crate) const LONGEST_PAUSE: u64 = 3_600_000;

/// A node group on its way to a template.
pub(crate) struct Request<'a> {
    /// The document, for places and for what is common to all groups.
    pub(crate) document: &'a Document,
    /// Where the group stands.
    pub(crate) path: &'a Path,
    /// The group.
    pub(crate) group: &'a NodeGroup,
    /// Its plan.
    pub(crate) plan: &'a Plan,
    /// Its launch template's settings.
    pub(crate) launch: Launch,
    /// Its Auto Scaling group's settings.
    pub(crate) scaling: Scaling,
    /// The arguments of the call of `bootstrap.sh`, where that is its user-data.
    pub(crate) arguments: Option<String>,
}

impl<'a> Request<'a> {
    pub(crate) fn new(document: &'a Document, path: &'a Path, group: &'a NodeGroup, plan: &'a Plan) -> Self {
        let launch = group.launch.clone().unwrap_or_else(default_launch);
        let scaling = group.scaling.clone().unwrap_or_else(default_scaling);
        Self { document, path, group, plan, launch, scaling, arguments: None }
    }

    /// The name of the EKS cluster, or of the cluster.
    pub(crate) fn cluster_name(&self) -> &str {
        let cluster = &self.document.cluster;
        let named = cluster.spec.aws.as_ref().and_then(|aws| aws.cluster_name.as_deref());
        named.unwrap_or(cluster.metadata.name.as_str())
    }

    /// Whether the control plane is EKS'.
    pub(crate) fn is_eks(&self) -> bool {
        self.document.cluster.spec.join.method == JoinMethod::EksToken
    }

    /// Whether the nodes run the control plane themselves.
    pub(crate) fn is_control_plane(&self) -> bool {
        self.group.role == Role::ControlPlane
    }

    /// Whether the template has to do with the control plane's security group.
    pub(crate) fn has_control_plane_group(&self) -> bool {
        let aws = self.document.cluster.spec.aws.as_ref();
        self.is_eks() || aws.is_some_and(|aws| aws.control_plane_security_group.is_some())
    }

    /// Whether pods have IPv6 addresses.
    pub(crate) fn is_ipv6(&self) -> bool {
        self.document.cluster.spec.network.service_ranges.first().is_some_and(|range| !range.is_ipv4())
    }

    /// Whether the template makes role and instance profile.
    pub(crate) fn makes_role(&self) -> bool {
        self.launch.role.instance_profile.is_none()
    }

    /// Whether the template makes the access entry.
    pub(crate) fn makes_access_entry(&self) -> bool {
        self.is_eks()
            && self.launch.role.access_entry
            && (self.makes_role() || self.launch.role.arn.is_some())
    }

    /// So many nodes to begin with.
    pub(crate) fn desired(&self) -> u32 {
        self.scaling.desired.unwrap_or(self.scaling.min)
    }

    /// Whether the group mixes instance types or ways to pay.
    pub(crate) fn is_mixed(&self) -> bool {
        let scaling = &self.scaling;
        self.group.instance_types.len() > 1
            || self.launch.spot
            || scaling.on_demand_percentage.is_some()
            || scaling.on_demand_base.is_some()
            || scaling.spot_strategy.is_some()
            || scaling.spot_pools.is_some()
            || scaling.spot_max_price.is_some()
    }

    /// The signals of one kind.
    pub(crate) fn signals(&self, kind: SignalKind) -> impl Iterator<Item = (usize, &'a Signal)> {
        self.group.signals.iter().enumerate().filter(move |(_, signal)| signal.kind == kind)
    }

    /// Whether the stack waits for signals of the nodes.
    pub(crate) fn waits_for_signals(&self) -> bool {
        self.signals(SignalKind::CloudFormation).next().is_some()
    }

    /// How long an update waits for a node, or between batches. A new node takes as long in an update as in a new stack.
    pub(crate) fn pause(&self) -> Span {
        self.scaling.rolling_update.pause.unwrap_or(if self.waits_for_signals() {
            Span { milliseconds: self.scaling.creation_timeout.milliseconds.min(LONGEST_PAUSE) }
        } else {
            Span::seconds(300)
        })
    }

    /// Whether a node must be told the stack's name.
    pub(crate) fn needs_stack(&self) -> bool {
        self.signals(SignalKind::CloudFormation).any(|(_, signal)| signal.stack.is_none())
    }

    /// Whether a node must be told the name of its Auto Scaling group.
    pub(crate) fn needs_group(&self) -> bool {
        self.signals(SignalKind::LifecycleAction).any(|(_, signal)| signal.resource.is_none())
    }
}

fn default_launch() -> Launch {
    Launch {
        image: None,
        image_parameter: None,
        key_name: None,
        public_key: None,
        volumes: Vec::new(),
        metadata: MetadataOptions::default(),
        tags: BTreeMap::new(),
        security_groups: Vec::new(),
        role: NodeRole::default(),
        spot: false,
        ebs_optimized: None,
        monitoring: false,
        user_data: LaunchUserData::Plan,
        cpu_credits: None,
        placement_group: None,
        efa_interfaces: 0,
        enclave: false,
    }
}

/// One node, and room for a second while the first is replaced.
fn default_scaling() -> Scaling {
    Scaling {
        min: 1,
        max: 2,
        desired: None,
        rolling_update: RollingUpdate::default(),
        creation_timeout: Span::seconds(900),
        tags: BTreeMap::new(),
        on_demand_percentage: None,
        on_demand_base: None,
        spot_strategy: None,
        spot_pools: None,
        spot_max_price: None,
        capacity_rebalance: false,
        max_instance_lifetime: None,
        load_balancers: Vec::new(),
        target_groups: Vec::new(),
        lifecycle_hook: None,
    }
}
