//! Numbers of nodes, rolling updates, mixtures of capacity, signals and life-cycle hooks.

use bringup_spec::{SignalKind, SpotStrategy};

use super::Report;
use crate::codes;
use crate::write::LONGEST_PAUSE;

const HOUR: u64 = 3_600_000;

pub(super) fn check(report: &mut Report<'_>) {
    sizes(report);
    rolling_update(report);
    times(report);
    capacity(report);
    spot(report);
    signals(report);
    lifecycle_hook(report);
}

fn sizes(report: &mut Report<'_>) {
    let scaling = &report.request.scaling;
    let (min, max, desired) = (scaling.min, scaling.max, report.request.desired());
    let path = report.at(&["scaling"]);
    if min > max {
        let message = format!("`min` is {min}, but `max` only {max}");
        report.error(codes::SIZES, &path, message, "write a `max` that is not below `min`");
    } else if desired < min || desired > max {
        let message = format!("`desired` is {desired}, which is not between `min` {min} and `max` {max}");
        report.error(codes::SIZES, &path.key("desired"), message, &format!("write {min} to {max}"));
    }
}

fn rolling_update(report: &mut Report<'_>) {
    let scaling = &report.request.scaling;
    let update = &scaling.rolling_update;
    let path = report.at(&["scaling", "rollingUpdate"]);
    if update.max_batch_size == 0 {
        let message = "a batch of no nodes makes no progress";
        report.error(codes::ROLLING_UPDATE, &path.key("maxBatchSize"), message, "write 1 or more");
    }
    if let Some(in_service) = update.min_in_service
        && in_service >= scaling.max
    {
        report.error(
            codes::ROLLING_UPDATE,
            &path.key("minInService"),
            format!(
                "CloudFormation wants fewer nodes in service during an update than `max`, which is {}",
                scaling.max
            ),
            &format!("write {} or less, or raise `max`", scaling.max.saturating_sub(1)),
        );
    } else if update.min_in_service.is_none() && scaling.max > 0 && report.request.desired() == scaling.max {
        let path = report.at(&["scaling"]);
        report.note(
            codes::ROLLING_UPDATE,
            &path,
            format!("with `desired` equal to `max` an update takes nodes away before it adds new ones: {} stay in service", scaling.max.saturating_sub(1)),
            "raise `max` by `maxBatchSize` to keep all of them",
        );
    }
}

fn times(report: &mut Report<'_>) {
    let scaling = &report.request.scaling;
    let (pause, creation) = (report.request.pause(), scaling.creation_timeout);
    let hook = scaling.lifecycle_hook.is_some();
    if pause.milliseconds > LONGEST_PAUSE {
        let path = report.at(&["scaling", "rollingUpdate", "pause"]);
        let message = format!("CloudFormation waits an hour at most, not {pause}");
        report.error(codes::TIMEOUT, &path, message, "write `1h` or less");
    }
    if report.request.waits_for_signals() && pause.milliseconds == 0 {
        let path = report.at(&["scaling", "rollingUpdate", "pause"]);
        let message = "an update that waits for signals needs a `pause` to wait for";
        report.error(codes::TIMEOUT, &path, message, "write how long a node may take, such as `5m`");
    }
    let path = report.at(&["scaling", "creationTimeout"]);
    if creation.milliseconds > 12 * HOUR {
        let message = format!("CloudFormation waits twelve hours at most, not {creation}");
        report.error(codes::TIMEOUT, &path, message, "write `12h` or less");
    }
    if hook && !(30_000..=2 * HOUR).contains(&creation.milliseconds) {
        let message = format!("a life-cycle hook waits thirty seconds to two hours, not {creation}");
        report.error(codes::TIMEOUT, &path, message, "write a time from `30s` to `2h`");
    }
}

fn capacity(report: &mut Report<'_>) {
    let request = report.request;
    let share = request.scaling.on_demand_percentage;
    let several = request.group.instance_types.len() > 1;
    let spot = request.launch.spot || share.is_some_and(|share| share < 100);
    let path = report.at(&["scaling", "onDemandPercentage"]);
    match share {
        Some(share) if share > 100 => {
            report.error(
                codes::SPOT,
                &path,
                format!("{share} is more than a hundred percent"),
                "write 0 to 100",
            );
        }
        Some(100) if request.launch.spot => {
            let message = "`launch` asks for spot capacity, and `onDemandPercentage` for none of it";
            report.error(codes::SPOT, &path, message, "take `spot: true` away, or write less than 100");
        }
        _ => {}
    }
    if spot && !several {
        let path = if request.launch.spot { report.at(&["launch", "spot"]) } else { path };
        report.warning(
            codes::SPOT,
            &path,
            "spot capacity of a single instance type is often not to be had",
            "name several types of like size in `instanceTypes`",
        );
    }
}

fn spot(report: &mut Report<'_>) {
    let scaling = &report.request.scaling;
    if let Some(pools) = scaling.spot_pools {
        let path = report.at(&["scaling", "spotPools"]);
        if !(1..=20).contains(&pools) {
            report.error(
                codes::SPOT,
                &path,
                format!("nodes cannot be spread over {pools} kinds"),
                "write 1 to 20",
            );
        }
        if let Some(strategy) =
            scaling.spot_strategy.filter(|strategy| *strategy != SpotStrategy::LowestPrice)
        {
            let message = format!("`{strategy}` has no `spotPools`");
            report.error(codes::SPOT, &path, message, "remove it, or choose the strategy `lowest-price`");
        }
    }
    if let Some(price) = &scaling.spot_max_price {
        let fits = price.parse::<f64>().is_ok_and(|price| price.is_finite() && price > 0.0);
        if !fits {
            let path = report.at(&["scaling", "spotMaxPrice"]);
            report.error(
                codes::SPOT,
                &path,
                format!("`{price}` is no price"),
                "write dollars such as \"0.05\"",
            );
        }
    }
    if let Some(most) = scaling.max_instance_lifetime
        && !(24 * HOUR..=365 * 24 * HOUR).contains(&most.milliseconds)
    {
        let path = report.at(&["scaling", "maxInstanceLifetime"]);
        let message = format!("a group replaces nodes after a day to a year, not after {most}");
        report.error(codes::TIMEOUT, &path, message, "write a time from `24h` to `8760h`");
    }
}

fn signals(report: &mut Report<'_>) {
    let request = report.request;
    for (index, signal) in request.signals(SignalKind::CloudFormation) {
        if let Some(resource) = signal.resource.as_deref().filter(|resource| *resource != "NodeGroup")
            && signal.stack.is_none()
        {
            let path = report.at(&["signals"]).index(index).key("resource");
            let message =
                format!("the template's stack waits for signals to `NodeGroup`, not to `{resource}`");
            report.error(codes::SIGNAL, &path, message, "take `resource` away, or name the other `stack`");
        }
    }
}

fn lifecycle_hook(report: &mut Report<'_>) {
    let request = report.request;
    let hook = request.scaling.lifecycle_hook.as_deref();
    if let Some(name) = hook {
        let path = report.at(&["scaling", "lifecycleHook"]);
        let fits = (1..=255).contains(&name.len())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_/".contains(letter));
        if !fits {
            let message = format!("`{name}` is no name of a life-cycle hook");
            report.error(codes::LIFECYCLE_HOOK, &path, message, "write letters, digits, `-`, `_` and `/`");
        }
    }
    for (index, signal) in request.signals(SignalKind::LifecycleAction) {
        let path = report.at(&["signals"]).index(index);
        if signal.resource.is_none()
            && let Some(name) = signal.hook.as_deref().filter(|name| hook != Some(*name))
        {
            let message = format!("the template's group has no life-cycle hook `{name}`");
            report.error(
                codes::LIFECYCLE_HOOK,
                &path.key("hook"),
                message,
                &format!("write `lifecycleHook: {name}` in `scaling`"),
            );
        }
    }
}
