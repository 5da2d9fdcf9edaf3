//! Where nodes are, and how they move.

use super::model::{Motion, Place};
use crate::node::model::Node;
use roamsim_network::mobility::{Point, Trajectory};

/// Where a node is at each time; `None` when the scenario does not say.
pub(crate) fn trajectory(node: &Node) -> Option<Trajectory> {
    let place = node.position.map(point);
    match node.motion.as_deref() {
        None => place.map(Trajectory::fixed),
        Some(Motion::Linear(motion)) => {
            let stop = (point(motion.to), motion.speed_m_per_s, roamsim_engine::Span::ZERO);
            Some(Trajectory::waypoints(place?, motion.start, &[stop]))
        }
        Some(Motion::BackAndForth(motion)) => Some(Trajectory::back_and_forth(
            place?,
            point(motion.to),
            motion.speed_m_per_s,
            motion.pause,
            motion.start,
        )),
        Some(Motion::Waypoints(motion)) => {
            let stops: Vec<_> = motion
                .points
                .iter()
                .map(|stop| (Point::new(stop.x_m, stop.y_m), stop.speed_m_per_s, stop.pause))
                .collect();
            Some(Trajectory::waypoints(place?, motion.start, &stops))
        }
        Some(Motion::Setdest(file)) => file.walk()?.ok().map(|walk| walk.trajectory),
        Some(Motion::Bonnmotion(file)) => file.walk()?.ok().map(|walk| walk.trajectory),
    }
}

fn point(place: Place) -> Point {
    Point::new(place.x_m, place.y_m)
}
