//! The one order of all steps: ours in their phases, the operator's where they want to be.
//!
//! Our own steps and the borders of the phases are a fixed line. An operator's step lands in a gap of that line: right
//! behind what it comes after, else right before what it comes before, else in `pre-install`. Within a gap, steps keep
//! the order that they ask for among themselves, then that of the document.

use std::collections::BTreeMap;

use bringup_diag::closest;
use bringup_spec::{Phase, Text};
use bringup_yaml::Path;

use crate::context::Context;
use crate::flavour::SCRIPTS;
use crate::{Action, Step, codes};

/// Where an operator's step wants to be.
pub(crate) struct Wish {
    /// Phases or steps that it must end before.
    pub(crate) before: Vec<String>,
    /// Phases or steps that must have ended before it starts.
    pub(crate) after: Vec<String>,
    /// The step's path in the document.
    pub(crate) path: Path,
}

/// An entry of the fixed line.
enum Mark {
    Opens(Phase),
    Ours(Box<Step>),
    Closes(Phase),
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Named {
    Phase(Phase),
    /// A step of ours, by its place in the line.
    Ours(usize),
    /// A step of the operator's, by its place in the document.
    Operator(usize),
}

struct Placing {
    /// The first gap that its `after` allows, if it has any.
    after: Option<usize>,
    /// The last gap that its `before` allows, if it has any.
    before: Option<usize>,
    /// Steps of the operator's that come first.
    predecessors: Vec<usize>,
    /// The last gap that its own `before` and those of the steps behind it allow.
    highest: Option<usize>,
    gap: usize,
    /// Whether it and all that come before it only say what they precede: they stand as late as they may.
    late: bool,
}

/// All steps in order. `ours` is sorted by phase, and in order within each phase.
pub(crate) fn ordered(context: &mut Context<'_>, ours: Vec<Step>, operators: Vec<(Step, Wish)>) -> Vec<Step> {
    let line = line(ours);
    if operators.is_empty() {
        return line.into_iter().filter_map(Mark::step).collect();
    }
    let names = names(&line, &operators);
    check_names(context, &names, &operators);
    let mut placings = placings(context, &line, &names, &operators);
    let Some(sequence) = sequence(context, &placings, &operators) else { return Vec::new() };
    place(context, &line, &mut placings, &sequence, &operators);
    assemble(line, &placings, &sequence, operators)
}

fn line(ours: Vec<Step>) -> Vec<Mark> {
    let mut by_phase: BTreeMap<Phase, Vec<Step>> = BTreeMap::new();
    for step in ours {
        by_phase.entry(step.phase).or_default().push(step);
    }
    let mut line = Vec::new();
    for phase in Phase::ALL {
        line.push(Mark::Opens(*phase));
        line.extend(
            by_phase.remove(phase).unwrap_or_default().into_iter().map(|step| Mark::Ours(Box::new(step))),
        );
        line.push(Mark::Closes(*phase));
    }
    line
}

impl Mark {
    fn step(self) -> Option<Step> {
        if let Self::Ours(step) = self { Some(*step) } else { None }
    }
}

/// Phases come first: where a step of ours has the name of its phase, the phase is meant.
fn names(line: &[Mark], operators: &[(Step, Wish)]) -> BTreeMap<String, Named> {
    let mut names = BTreeMap::new();
    for (index, (step, _)) in operators.iter().enumerate() {
        names.insert(step.name.clone(), Named::Operator(index));
    }
    for (index, mark) in line.iter().enumerate() {
        if let Mark::Ours(step) = mark {
            names.insert(step.name.clone(), Named::Ours(index));
        }
    }
    names.extend(Phase::ALL.iter().map(|phase| (phase.word().to_owned(), Named::Phase(*phase))));
    names
}

fn check_names(context: &mut Context<'_>, names: &BTreeMap<String, Named>, operators: &[(Step, Wish)]) {
    for (step, wish) in operators {
        if let Some(Named::Ours(_)) = names.get(&step.name) {
            context.error(
                codes::STEP_RESERVED,
                &wish.path.key("name"),
                format!("the plan has a step `{}` of its own", step.name),
                "give the step another name",
            );
        }
    }
}

fn border(line: &[Mark], wanted: Phase, closing: bool) -> usize {
    let is_it = |mark: &Mark| match mark {
        Mark::Opens(phase) => *phase == wanted && !closing,
        Mark::Closes(phase) => *phase == wanted && closing,
        Mark::Ours(_) => false,
    };
    line.iter().position(is_it).unwrap_or_default()
}

fn placings(
    context: &mut Context<'_>,
    line: &[Mark],
    names: &BTreeMap<String, Named>,
    operators: &[(Step, Wish)],
) -> Vec<Placing> {
    let mut placings: Vec<Placing> = operators
        .iter()
        .map(|_| Placing {
            after: None,
            before: None,
            predecessors: Vec::new(),
            highest: None,
            gap: 0,
            late: false,
        })
        .collect();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for (index, (step, wish)) in operators.iter().enumerate() {
        let mut bounds = (None, None);
        for (position, name) in wish.after.iter().enumerate() {
            let path = wish.path.key("after").index(position);
            let bound = match lookup(context, names, &path, name, &step.name) {
                // kubelet is queued with the gate: nothing can stand between.
                Some(Named::Phase(Phase::Gate)) => border(line, Phase::Kubelet, true) + 1,
                Some(Named::Phase(phase)) => border(line, phase, true) + 1,
                Some(Named::Ours(at)) => at + 1,
                Some(Named::Operator(other)) => {
                    edges.push((other, index));
                    continue;
                }
                None => continue,
            };
            bounds.0 = bounds.0.max(Some(bound));
        }
        for (position, name) in wish.before.iter().enumerate() {
            let path = wish.path.key("before").index(position);
            let bound = match lookup(context, names, &path, name, &step.name) {
                Some(Named::Phase(Phase::Kubelet)) => border(line, Phase::Gate, false),
                Some(Named::Phase(phase)) => border(line, phase, false),
                Some(Named::Ours(at)) => at,
                Some(Named::Operator(other)) => {
                    edges.push((index, other));
                    continue;
                }
                None => continue,
            };
            bounds.1 = Some(bounds.1.map_or(bound, |known: usize| known.min(bound)));
        }
        if let Some(placing) = placings.get_mut(index) {
            (placing.after, placing.before) = bounds;
            placing.late = wish.after.is_empty() && !wish.before.is_empty();
        }
    }
    for (first, second) in edges {
        if let Some(placing) = placings.get_mut(second) {
            placing.predecessors.push(first);
        }
    }
    placings
}

fn lookup(
    context: &mut Context<'_>,
    names: &BTreeMap<String, Named>,
    path: &Path,
    name: &str,
    own: &str,
) -> Option<Named> {
    if name == own {
        context.error(
            codes::STEP_CYCLE,
            path,
            format!("`{own}` cannot be before or after itself"),
            "name another step or a phase",
        );
        return None;
    }
    let found = names.get(name).or_else(|| names.get(&format!("hook:{name}"))).copied();
    if found.is_none() {
        let known = names.keys().map(String::as_str);
        let hint = closest(name, known).map_or_else(
            || "write a phase such as `pre-install`, `runtime`, `gate` or `post-install`, or the name of a step".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        context.error(codes::STEP_UNKNOWN, path, format!("there is no phase or step `{name}`"), hint);
    }
    found
}

/// The operator's steps in an order that keeps to their edges, that of the document where there is a choice.
fn sequence(
    context: &mut Context<'_>,
    placings: &[Placing],
    operators: &[(Step, Wish)],
) -> Option<Vec<usize>> {
    let mut done = vec![false; placings.len()];
    let mut sequence = Vec::with_capacity(placings.len());
    while sequence.len() < placings.len() {
        let ready = |index: &usize| {
            let free = |placing: &Placing| {
                placing.predecessors.iter().all(|first| done.get(*first).copied().unwrap_or(true))
            };
            !done.get(*index).copied().unwrap_or(true) && placings.get(*index).is_some_and(free)
        };
        let next = (0..placings.len()).find(ready);
        if let Some(next) = next {
            if let Some(done) = done.get_mut(next) {
                *done = true;
            }
            sequence.push(next);
            continue;
        }
        let cycle = cycle(placings, &done);
        let name = |index: &usize| {
            operators.get(*index).map(|(step, _)| format!("`{}`", step.name)).unwrap_or_default()
        };
        let shown: Vec<String> = cycle.iter().chain(cycle.first()).map(name).collect();
        if let Some((_, wish)) = cycle.first().and_then(|first| operators.get(*first)) {
            context.error(
                codes::STEP_CYCLE,
                &wish.path.clone(),
                format!("these steps wait for each other: {}", shown.join(" after ")),
                "remove one `before` or `after` among them",
            );
        }
        return None;
    }
    Some(sequence)
}

/// Some cycle among the steps that are not done, by walking back until a step comes again.
fn cycle(placings: &[Placing], done: &[bool]) -> Vec<usize> {
    let waiting = |index: &usize| !done.get(*index).copied().unwrap_or(true);
    let mut walk: Vec<usize> = Vec::new();
    let mut next = (0..placings.len()).find(waiting);
    while let Some(index) = next {
        if let Some(start) = walk.iter().position(|earlier| *earlier == index) {
            return walk.split_off(start);
        }
        walk.push(index);
        next = placings.get(index).and_then(|placing| placing.predecessors.iter().copied().find(waiting));
    }
    walk
}

fn place(
    context: &mut Context<'_>,
    line: &[Mark],
    placings: &mut [Placing],
    sequence: &[usize],
    operators: &[(Step, Wish)],
) {
    let usual = border(line, Phase::PreInstall, true);
    // Backwards: what a step must precede, those behind it must precede too.
    for index in sequence.iter().rev() {
        let followers = followers(placings, *index).filter_map(|other| other.highest);
        let highest = placings.get(*index).and_then(|placing| placing.before);
        let highest = followers.chain(highest).min();
        if let Some(placing) = placings.get_mut(*index) {
            placing.highest = highest;
        }
    }
    // Forwards: behind what it comes after. A step that only says what it precedes waits for the last pass.
    for index in sequence {
        let Some(placing) = placings.get(*index) else { continue };
        let first = |index: &usize| placings.get(*index);
        let late = placing.late && placing.predecessors.iter().filter_map(first).all(|first| first.late);
        let behind = placing.predecessors.iter().filter_map(first).filter(|first| !first.late);
        let lowest = behind.map(|first| first.gap).chain(placing.after).max();
        let explicit = operators.get(*index).is_some_and(|(_, wish)| !wish.after.is_empty());
        let gap = match (lowest, placing.highest) {
            (Some(lowest), _) if explicit => lowest,
            (lowest, Some(highest)) if placing.late => highest.max(lowest.unwrap_or_default()),
            (lowest, Some(highest)) => usual.min(highest).max(lowest.unwrap_or_default()),
            (lowest, None) => usual.max(lowest.unwrap_or_default()),
        };
        if let Some(placing) = placings.get_mut(*index) {
            placing.late = late;
            placing.gap = gap;
        }
    }
    // Backwards: before what it precedes.
    for index in sequence.iter().rev() {
        let Some(placing) = placings.get(*index).filter(|placing| placing.late) else { continue };
        let gap =
            followers(placings, *index).map(|other| other.gap).chain(placing.before).min().unwrap_or(usual);
        if let Some(placing) = placings.get_mut(*index) {
            placing.gap = gap;
        }
    }
    for index in sequence {
        let (Some(placing), Some((step, wish))) = (placings.get(*index), operators.get(*index)) else {
            continue;
        };
        check_needs(context, line, placing.gap, step, wish);
        if placing.before.is_some_and(|highest| placing.gap > highest) {
            let message = format!(
                "`{}` cannot be there: what it comes before is over when what it comes after ends",
                step.name
            );
            let hint = "the phases run in this order: identify, fetch, pre-install, update, runtime, configure, reboot, gate, kubelet, control-plane, registered, platform, post-install, report";
            context.error(codes::STEP_IMPOSSIBLE, &wish.path.key("before"), message, hint);
        }
    }
}

/// What a step uses is there before it: the node's facts, and its own script.
fn check_needs(context: &mut Context<'_>, line: &[Mark], gap: usize, step: &Step, wish: &Wish) {
    let comes_later = |is_it: &dyn Fn(&Step) -> bool| {
        let at = line.iter().position(|mark| matches!(mark, Mark::Ours(step) if is_it(step)));
        at.is_some_and(|at| gap <= at)
    };
    let Action::Run { command, environment, .. } = &step.action else { return };
    let fact = command.iter().chain(environment.values()).flat_map(Text::facts).next();
    if let Some(fact) = fact
        && comes_later(&|step| step.action == Action::LearnFacts)
    {
        let message = format!("`{}` uses `@{{{fact}}}`, and runs before the node knows any fact", step.name);
        let hint = "let it run after `identify`, or write the value itself";
        context.error(codes::STEP_IMPOSSIBLE, &wish.path, message, hint);
    }
    let program = command.first().and_then(|text| text.as_literal()).unwrap_or_default();
    let writes = |step: &Step| matches!(&step.action, Action::WriteFile { path, .. } if path == program);
    if program.starts_with(SCRIPTS) && comes_later(&writes) {
        let message =
            format!("the script of `{}` is put in place in the phase `fetch`, and it runs before", step.name);
        let hint = "let it run after `fetch`, or use `run` with a program of the image";
        context.error(codes::STEP_IMPOSSIBLE, &wish.path, message, hint);
    }
}

fn followers(placings: &[Placing], index: usize) -> impl Iterator<Item = &Placing> {
    placings.iter().filter(move |other| other.predecessors.contains(&index))
}

fn assemble(
    line: Vec<Mark>,
    placings: &[Placing],
    sequence: &[usize],
    operators: Vec<(Step, Wish)>,
) -> Vec<Step> {
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for index in sequence {
        if let Some(placing) = placings.get(*index) {
            waiting.entry(placing.gap).or_default().push(*index);
        }
    }
    let mut operators: Vec<Option<Step>> = operators.into_iter().map(|(step, _)| Some(step)).collect();
    let mut steps = Vec::new();
    let mut previous = Phase::Identify;
    let mut inside = false;
    for (gap, mark) in line.into_iter().enumerate() {
        for index in waiting.remove(&gap).unwrap_or_default() {
            let Some(mut step) = operators.get_mut(index).and_then(Option::take) else { continue };
            let late = placings.get(index).is_some_and(|placing| placing.late);
            // Between two phases: the end of the one that it follows, or the beginning of the one that it precedes.
            step.phase = match &mark {
                Mark::Opens(phase) if late && !inside => *phase,
                _ => previous,
            };
            steps.push(step);
        }
        match mark {
            Mark::Opens(phase) => {
                previous = phase;
                inside = true;
            }
            Mark::Closes(_) => inside = false,
            Mark::Ours(step) => steps.push(*step),
        }
    }
    // Behind the last phase.
    for index in waiting.into_values().flatten() {
        if let Some(mut step) = operators.get_mut(index).and_then(Option::take) {
            step.phase = Phase::Report;
            steps.push(step);
        }
    }
    steps
}
