//! Where nodes are, and how they move.

use roamsim_engine::{Span, Time};
use roamsim_network::mobility::Trajectory;

use super::build;
use super::model::{Area, Motion, Place};
use crate::files::{Fault, Walk};
use crate::node::model::Node;
use crate::report::{At, Key, Report, Step, join};
use crate::timing::check_start;
use crate::units::{length_text, time_text};

/// Shorter rounds than this are no walk, and would make a run of any length endless to look at.
const SHORTEST_ROUND: Span = Span::from_ms(1);

/// Checks every node of a run of this duration; returns where each is at each time, as far as the scenario
/// says.
pub(crate) fn check(
    nodes: &[Node],
    area: Option<Area>,
    duration: Span,
    report: &mut Report<'_>,
) -> Vec<Option<Trajectory>> {
    let area = area.filter(|area| check_area(area, report));
    let end = Time::ZERO + duration;
    let mut trajectories = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        let at = [Key("node"), At(i)];
        if let Some(start) = node.motion.as_deref().and_then(Motion::start) {
            check_start(&join(&at, ["motion", "start"]), start, duration, report);
        }
        let trajectory = match check_motion(&at, node, duration, report) {
            true => build::trajectory(node),
            false => None,
        };
        if let (Some(area), Some(trajectory)) = (&area, &trajectory) {
            check_within(&at, node, trajectory, area, end, report);
        }
        trajectories.push(trajectory);
    }
    trajectories
}

fn check_area(area: &Area, report: &mut Report<'_>) -> bool {
    let good = area.from.x_m < area.to.x_m && area.from.y_m < area.to.y_m;
    if !good {
        let steps = [Key("scenario"), Key("area")];
        let help = "`from` is the lower left corner, `to` the upper right one";
        report.add(&steps, "this area has no inside: `to` must be above and to the right of `from`", help);
    }
    good
}

/// Checks a node's motion by itself; whether a trajectory can be made of it.
fn check_motion(at: &[Step], node: &Node, duration: Span, report: &mut Report<'_>) -> bool {
    let Some(motion) = node.motion.as_deref() else { return true };
    let steps = join(at, ["motion"]);
    match motion {
        Motion::Setdest(file) => {
            return check_file(at, node, file.walk(), duration, report);
        }
        Motion::Bonnmotion(file) => {
            return check_file(at, node, file.walk(), duration, report);
        }
        Motion::Linear(_) | Motion::BackAndForth(_) | Motion::Waypoints(_) => {}
    }
    let Some(place) = node.position else {
        let help = "write `position = { x = \"0m\", y = \"0m\" }`, where the motion begins";
        report.add(&steps, format!("\"{}\" moves, but it has no position", node.name), help);
        return false;
    };
    match motion {
        Motion::Linear(motion) => check_speed(&steps, motion.speed_m_per_s, report),
        Motion::BackAndForth(motion) => {
            if !check_speed(&steps, motion.speed_m_per_s, report) {
                return false;
            }
            let round_s = 2.0 * distance_m(place, motion.to) / motion.speed_m_per_s;
            let long = motion.pause > Span::ZERO || round_s >= SHORTEST_ROUND.as_secs_f64();
            if place == motion.to {
                report.add(&join(&steps, ["to"]), "this is where the node already is", "write another place");
            } else if !long {
                let help = "lower the speed, or write places that are further apart";
                report.add(
                    &join(&steps, ["speed"]),
                    "there and back takes less than 1ms at this speed",
                    help,
                );
            }
            place != motion.to && long
        }
        Motion::Waypoints(motion) => {
            if motion.points.is_empty() {
                let help = "write `points = [{ x = \"100m\", y = \"0m\", speed = \"5m/s\" }]`";
                report.add(&steps, "a walk over no waypoints leads nowhere", help);
            }
            let mut good = !motion.points.is_empty();
            for (j, point) in motion.points.iter().enumerate() {
                let mut steps = join(&steps, ["points"]);
                steps.push(At(j));
                good &= check_speed(&steps, point.speed_m_per_s, report);
            }
            good
        }
        Motion::Setdest(_) | Motion::Bonnmotion(_) => true,
    }
}

fn distance_m(a: Place, b: Place) -> f64 {
    let (x_m, y_m) = (a.x_m - b.x_m, a.y_m - b.y_m);
    (x_m * x_m + y_m * y_m).sqrt()
}

fn check_speed(at: &[Step], speed_m_per_s: f64, report: &mut Report<'_>) -> bool {
    if speed_m_per_s <= 0.0 {
        let help = "write a speed above zero, or leave `motion` out for a node that stays";
        report.add(&join(at, ["speed"]), "at a speed of zero a node arrives nowhere", help);
    }
    speed_m_per_s > 0.0
}

fn check_file(
    at: &[Step],
    node: &Node,
    walk: Option<Result<Walk, Fault>>,
    duration: Span,
    report: &mut Report<'_>,
) -> bool {
    let steps = join(at, ["motion"]);
    if node.position.is_some() {
        let help = "leave `position` out, or write the motion without a file";
        report.add(&join(at, ["position"]), "the file says where the node is", help);
    }
    let walk = match walk {
        None => {
            report.add(&steps, "this motion needs a `file`", "write `file = \"walk.ns_movements\"`");
            return false;
        }
        Some(Err(fault)) => {
            report.add(&join(&steps, ["content"]), fault.message, fault.help);
            return false;
        }
        Some(Ok(walk)) => walk,
    };
    if let Some(first) = walk.first_move.map(|at| at.since(Time::ZERO)).filter(|&first| first >= duration) {
        let message = format!(
            "\"{}\" stays where it is: its first move begins at {}, and the run ends after {}",
            node.name,
            time_text(first),
            time_text(duration)
        );
        let help = "let the times of the file begin at 0, or give the scenario a longer `duration`";
        report.warn(&join(&steps, ["content"]), message, help);
    }
    true
}

fn check_within(
    at: &[Step],
    node: &Node,
    trajectory: &Trajectory,
    area: &Area,
    end: Time,
    report: &mut Report<'_>,
) {
    let inside = |x_m: f64, y_m: f64| {
        // A rounding error is no exit.
        let within = |value: f64, low: f64, high: f64| value >= low - 1e-6 && value <= high + 1e-6;
        within(x_m, area.from.x_m, area.to.x_m) && within(y_m, area.from.y_m, area.to.y_m)
    };
    let mut before = None;
    let Some((time, place)) = trajectory.corners(end).find(|&corner| {
        let out = !inside(corner.1.x_m, corner.1.y_m);
        if !out {
            before = Some(corner);
        }
        out
    }) else {
        return;
    };
    // The way from the corner before, as far as it is inside.
    let (time, place) = match before {
        None => (time, place),
        Some((start, from)) => {
            let share = |from: f64, to: f64, low: f64, high: f64| match to {
                _ if to > high => (high - from) / (to - from),
                _ if to < low => (low - from) / (to - from),
                _ => 1.0,
            };
            let inside = share(from.x_m, place.x_m, area.from.x_m, area.to.x_m)
                .min(share(from.y_m, place.y_m, area.from.y_m, area.to.y_m))
                .clamp(0.0, 1.0);
            let spent = Span::from_ns((time.since(start).as_ns() as f64 * inside) as u64);
            // Whole milliseconds are enough to find the place in a file.
            (start + Span::from_ms(spent.as_ns() / 1_000_000), trajectory.position(start + spent))
        }
    };
    let (x, y) = (length_text(place.x_m), length_text(place.y_m));
    let since = time.since(Time::ZERO);
    let (steps, message) = match since {
        Span::ZERO => {
            (join(at, ["position"]), format!("\"{}\" begins outside of the area, at ({x}, {y})", node.name))
        }
        _ => {
            let message =
                format!("\"{}\" leaves the area: at {} it is at ({x}, {y})", node.name, time_text(since));
            (join(at, ["motion"]), message)
        }
    };
    let help = format!(
        "the area reaches from ({}, {}) to ({}, {}); keep the node inside, or make [scenario] `area` larger",
        length_text(area.from.x_m),
        length_text(area.from.y_m),
        length_text(area.to.x_m),
        length_text(area.to.y_m)
    );
    report.add_related(&steps, message, help, (&[Key("scenario"), Key("area")], "the area"));
}
