//! A heap with four children per node, half as deep as a binary one. The four children of an entry lie
//! together. An entry has its key and the number of its event.
//!
//! Taking the earliest entry leaves a hole at the root. The caller mostly pushes another entry next, which
//! sinks from the root. So one entry sinks, instead of one sinking and another rising.

use super::NOTHING;

const CHILDREN: usize = 4;

/// Four entries with the same parent.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Siblings {
    keys: [u64; CHILDREN],
    /// What they stand for.
    codes: [u32; CHILDREN],
}

impl Siblings {
    const NONE: Siblings = Siblings { keys: [NOTHING; CHILDREN], codes: [0; CHILDREN] };

    /// The earliest key, and whose it is.
    #[inline(always)]
    fn earliest(&self) -> (usize, u64) {
        let mut earliest = (0, self.keys[0]);
        for (i, &key) in self.keys.iter().enumerate().skip(1) {
            if key < earliest.1 {
                earliest = (i, key);
            }
        }
        earliest
    }
}

/// The root's number among its siblings, of which it is alone.
const ROOT: usize = CHILDREN - 1;

/// A heap of entries.
pub(super) struct Heap {
    /// Place p is number p % 4 of siblings p / 4, the first place is the root's, and the children of place p
    /// are siblings p - 2.
    places: Vec<Siblings>,
    /// The first place without an entry.
    end: usize,
    /// The root has been taken, and nothing has come into its place yet.
    hole_at_root: bool,
}

impl Default for Heap {
    fn default() -> Self {
        Heap { places: vec![Siblings::NONE], end: ROOT, hole_at_root: false }
    }
}

impl Heap {
    #[inline(always)]
    pub fn push(&mut self, key: u64, code: u32) {
        if self.hole_at_root {
            self.hole_at_root = false;
            self.sink_from_root(key, code);
        } else {
            self.add(key, code);
        }
    }

    /// The earliest key, or [`NOTHING`].
    #[inline(always)]
    pub fn first(&mut self) -> u64 {
        if self.hole_at_root {
            self.close_hole();
        }
        self.places[0].keys[ROOT]
    }

    /// Takes the earliest entry, which there is.
    #[inline(always)]
    pub fn take_first(&mut self) -> u32 {
        self.hole_at_root = true;
        self.places[0].codes[ROOT]
    }

    /// The earliest key behind the root, whose entry has been taken.
    #[inline]
    pub fn second(&self) -> u64 {
        self.places.get(1).map_or(NOTHING, |children| children.earliest().1)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.end - ROOT - usize::from(self.hole_at_root)
    }

    #[inline(always)]
    fn write(&mut self, place: usize, key: u64, code: u32) {
        let siblings = &mut self.places[place / CHILDREN];
        siblings.keys[place % CHILDREN] = key;
        siblings.codes[place % CHILDREN] = code;
    }

    /// Puts the last entry in the place of the root's hole.
    #[inline(never)]
    fn close_hole(&mut self) {
        self.hole_at_root = false;
        self.end -= 1;
        let last = &mut self.places[self.end / CHILDREN];
        let key = std::mem::replace(&mut last.keys[self.end % CHILDREN], NOTHING);
        let code = last.codes[self.end % CHILDREN];
        if self.end > ROOT {
            self.sink_from_root(key, code);
        }
    }

    /// Adds an entry at the end, and moves it up past all parents that are later.
    pub fn add(&mut self, key: u64, code: u32) {
        let mut place = self.end;
        self.end += 1;
        if place / CHILDREN == self.places.len() {
            self.places.push(Siblings::NONE);
        }
        while place > ROOT {
            let parent = place / CHILDREN + 2;
            let siblings = &self.places[parent / CHILDREN];
            let (above, its_code) = (siblings.keys[parent % CHILDREN], siblings.codes[parent % CHILDREN]);
            if above < key {
                break;
            }
            self.write(place, above, its_code);
            place = parent;
        }
        self.write(place, key, code);
    }

    /// Moves the root's place down, past all earliest children earlier than `key`, and writes the entry
    /// there.
    #[inline(always)]
    fn sink_from_root(&mut self, key: u64, code: u32) {
        let mut place = ROOT;
        let mut below = 1;
        while let Some(children) = self.places.get(below) {
            let (child, earliest) = children.earliest();
            if key < earliest {
                break;
            }
            let its_code = children.codes[child % CHILDREN];
            self.write(place, earliest, its_code);
            place = below * CHILDREN + child;
            below = place - 2;
        }
        self.write(place, key, code);
    }

    /// The keys of all places, the hole and those without an entry among them.
    pub fn keys(&mut self) -> impl Iterator<Item = &mut u64> {
        self.places.iter_mut().flat_map(|siblings| &mut siblings.keys)
    }

    /// All entries, in their order.
    pub fn drain(&mut self) -> Vec<(u64, u32)> {
        if self.hole_at_root {
            self.close_hole();
        }
        let all = std::mem::take(self).places;
        let entries = all.iter().flat_map(|siblings| siblings.keys.into_iter().zip(siblings.codes));
        let mut entries: Vec<(u64, u32)> = entries.filter(|&(key, _)| key != NOTHING).collect();
        entries.sort_unstable();
        entries
    }
}
