//! The paths of an association: which there are, the primary one, and which takes over (RFC 9260 5.4, 6.4,
//! 8.2).

use super::config::Config;
use super::path::{Path, PathState};
use crate::machine::Address;

/// The peer's addresses beyond which none is added. Chosen: each takes a path with its timers for every
/// address of this end, and 16 is well above the interfaces of a host.
pub(super) const MOST_PEER_ADDRESSES: usize = 16;

/// The paths. Each is known by its place, which it keeps.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    pub(super) all: Vec<PathState>,
    pub(super) locals: Vec<Address>,
    pub(super) remotes: Vec<Address>,
    primary: usize,
    any_removed: bool,
}

impl Paths {
    /// Every pair of a local and a remote address; the primary one is that of the first two.
    pub(super) fn new(config: &Config, locals: &[Address], remotes: &[Address]) -> Paths {
        let mut paths = Paths {
            all: Vec::new(),
            locals: unique(locals),
            remotes: Vec::new(),
            primary: 0,
            any_removed: false,
        };
        for remote in unique(remotes) {
            paths.add_remote(config, remote);
        }
        paths
    }

    pub(super) fn place_of(&self, path: Path) -> Option<usize> {
        self.all.iter().position(|state| state.path == path && !state.removed)
    }

    /// The paths that are there, with their places.
    pub(super) fn present(&self) -> impl Iterator<Item = (usize, &PathState)> {
        self.all.iter().enumerate().filter(|(_, state)| !state.removed)
    }

    pub(super) fn add_remote(&mut self, config: &Config, remote: Address) {
        if !self.remotes.contains(&remote) {
            self.remotes.push(remote);
            for i in 0..self.locals.len() {
                self.add(config, Path { local: self.locals[i], remote });
            }
        }
    }

    pub(super) fn add_local(&mut self, config: &Config, local: Address) {
        if !self.locals.contains(&local) {
            self.locals.push(local);
            for i in 0..self.remotes.len() {
                self.add(config, Path { local, remote: self.remotes[i] });
            }
        }
    }

    /// One of its addresses was not there: the path is new, or comes back to its place.
    fn add(&mut self, config: &Config, path: Path) {
        let fresh = PathState::new(config, path);
        let removed =
            self.any_removed.then(|| self.all.iter().position(|state| state.path == path)).flatten();
        match removed {
            Some(place) => self.all[place] = fresh,
            None => self.all.push(fresh),
        }
    }

    /// The paths from this address go with it; their places.
    pub(super) fn remove_local(&mut self, local: Address) -> Vec<usize> {
        self.locals.retain(|&other| other != local);
        self.remove(|path| path.local == local)
    }

    /// The paths to this address go with it; their places.
    pub(super) fn remove_remote(&mut self, remote: Address) -> Vec<usize> {
        self.remotes.retain(|&other| other != remote);
        self.remove(|path| path.remote == remote)
    }

    /// The primary path moves on if it is among those that go.
    fn remove(&mut self, gone: impl Fn(Path) -> bool) -> Vec<usize> {
        let mut places = Vec::new();
        for (place, state) in self.all.iter_mut().enumerate() {
            if !state.removed && gone(state.path) {
                state.removed = true;
                self.any_removed = true;
                state.stop();
                places.push(place);
            }
        }
        if self.all.get(self.primary).is_some_and(|state| state.removed) {
            self.set_primary(self.alternate(self.primary));
        }
        places
    }

    /// The place of the primary path; of one that will be there while no address of the peer is known.
    pub(super) fn primary(&self) -> usize {
        self.primary
    }

    /// This one is the primary path. The one before is deposed if it may have carried data and is not being
    /// left.
    pub(super) fn set_primary(&mut self, place: usize) {
        if place != self.primary
            && let Some(before) = self.all.get_mut(self.primary)
        {
            before.deposed = before.carries();
        }
        self.all[place].deposed = false;
        self.primary = place;
    }

    /// Where new data goes: the primary path, or another while that is not usable.
    pub(super) fn current(&self) -> usize {
        match self.all.get(self.primary) {
            Some(primary) if !primary.usable() => self.alternate(self.primary),
            _ => self.primary,
        }
    }

    /// A usable path other than this one, rather one that shares no address with it (RFC 9260 6.4.1), rather
    /// the primary one. Without any: of the potentially failed ones, this one included, that with the fewest
    /// timeouts in a row (RFC 7829 3.2), rather the primary one. Without these: the path itself, or if
    /// it has been removed any that is there.
    pub(super) fn alternate(&self, of: usize) -> usize {
        let Some(from) = self.all.get(of) else { return self.primary };
        let shared = |path: Path| {
            u32::from(path.local == from.path.local) + u32::from(path.remote == from.path.remote)
        };
        let others = self.present().filter(|&(place, state)| place != of && state.usable());
        let best = others.min_by_key(|&(place, state)| (shared(state.path), place != self.primary, place));
        let failing = || {
            let failing = self.present().filter(|(_, state)| state.confirmed && state.potentially_failed);
            failing.min_by_key(|&(place, state)| (state.errors, place != self.primary, place))
        };
        let best = best.or_else(failing);
        let last = if from.removed {
            self.present().map(|(place, state)| (!state.confirmed, place)).min().map(|(_, place)| place)
        } else {
            None
        };
        best.map(|(place, _)| place).or(last).unwrap_or(of)
    }
}

fn unique(addresses: &[Address]) -> Vec<Address> {
    let mut once = Vec::new();
    for address in addresses {
        if !once.contains(address) {
            once.push(*address);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_by_two() -> Paths {
        let [a, b, c, d] = [0, 1, 2, 3].map(Address);
        let mut paths = Paths::new(&Config::default(), &[a, b], &[c, d, c]);
        paths.all.iter_mut().for_each(|state| state.confirmed = true);
        paths
    }

    #[test]
    fn the_alternate_path_shares_no_address_if_there_is_one() {
        let mut paths = two_by_two();
        // (a, c), (b, c), (a, d), (b, d).
        assert_eq!(paths.all.len(), 4);
        assert_eq!((paths.current(), paths.alternate(0), paths.alternate(1)), (0, 3, 2));
        paths.all[3].active = false;
        assert_eq!(paths.alternate(0), 1);
        paths.all[0].active = false;
        assert_eq!(paths.current(), 1);
        paths.all[1].active = false;
        paths.all[2].confirmed = false;
        // None is usable: the primary one goes on.
        assert_eq!(paths.current(), 0);
    }

    #[test]
    fn the_primary_path_is_never_a_deposed_one() {
        let mut paths = two_by_two();
        let deposed = |paths: &Paths| paths.all.iter().map(|state| state.deposed).collect::<Vec<_>>();
        paths.set_primary(3);
        assert_eq!(deposed(&paths), [true, false, false, false]);
        // (b, d) goes, and the only one that shares no address with it is the first again; then (b, d) comes
        // anew.
        paths.remove_local(Address(1));
        assert_eq!((paths.primary(), deposed(&paths)), (0, vec![false; 4]));
        paths.add_local(&Config::default(), Address(1));
        // One that never carried data is not deposed.
        paths.set_primary(3);
        paths.set_primary(2);
        assert_eq!(deposed(&paths), [true, false, false, false]);
    }

    #[test]
    fn a_removed_address_takes_its_paths_with_it() {
        let mut paths = two_by_two();
        let gone = paths.remove_local(Address(0));
        assert_eq!(gone, [0, 2]);
        assert_eq!((paths.primary(), paths.alternate(0)), (3, 3));
        paths.add_local(&Config::default(), Address(0));
        // The places are taken again, by new paths.
        assert_eq!(paths.all.len(), 4);
        assert!(!paths.all[0].removed && !paths.all[0].confirmed);
    }
}
