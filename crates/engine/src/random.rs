//! Random streams: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3",
//! SC 2011), one independent stream a purpose.
//!
//! A stream is keyed by (seed, replication, name), never by the order of creation, so that changing one part
//! of a scenario leaves the draws of all other parts as they were. Distributions are drawn by inversion, one
//! draw a value, and logarithms come from the pure-Rust `libm`: the same key gives the same values on any
//! machine.

const ROUND_MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_INCREMENTS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// One block of Philox4x32-10: a bijection of the counter, chosen by the key.
fn philox4x32_10(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key[0] = key[0].wrapping_add(KEY_INCREMENTS[0]);
            key[1] = key[1].wrapping_add(KEY_INCREMENTS[1]);
        }
        let low = u64::from(ROUND_MULTIPLIERS[0]) * u64::from(counter[0]);
        let high = u64::from(ROUND_MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [
            (high >> 32) as u32 ^ counter[1] ^ key[0],
            high as u32,
            (low >> 32) as u32 ^ counter[3] ^ key[1],
            low as u32,
        ];
    }
    counter
}

/// How many blocks are made at once, and the draws that these are.
const BLOCKS: usize = 32;
const DRAWS: usize = 2 * BLOCKS;

/// Many blocks at once, of this counter and those behind it: the first half of each, and the second. Words
/// stand in 64 bits, the upper half of which means nothing, and no block asks for another: so the compiler
/// has vectors do it.
fn blocks(counter: u64, nonce: [u32; 2], key: [u32; 2]) -> [[u64; BLOCKS]; 2] {
    let low_half = |word: u64| u64::from(word as u32);
    let [mut first_halves, mut second_halves] = [[0; BLOCKS]; 2];
    for i in 0..BLOCKS {
        let mut a = counter.wrapping_add(i as u64);
        let mut b = a >> 32;
        let [mut c, mut d] = nonce.map(u64::from);
        let mut key = key.map(u64::from);
        for round in 0..10 {
            if round > 0 {
                key[0] = key[0].wrapping_add(u64::from(KEY_INCREMENTS[0]));
                key[1] = key[1].wrapping_add(u64::from(KEY_INCREMENTS[1]));
            }
            let low = u64::from(ROUND_MULTIPLIERS[0]) * low_half(a);
            let high = u64::from(ROUND_MULTIPLIERS[1]) * low_half(c);
            a = high >> 32 ^ b ^ key[0];
            b = high;
            c = low >> 32 ^ d ^ key[1];
            d = low;
        }
        first_halves[i] = low_half(a) | b << 32;
        second_halves[i] = low_half(c) | d << 32;
    }
    [first_halves, second_halves]
}

/// 53 of the bits, as a fraction.
fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// A random stream of its own: the n-th draw depends on the stream's key and on n alone.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    nonce: [u32; 2],
    block: u64,
    buffer: [u32; 4],
    used: u8,
}

impl Stream {
    /// The stream of one purpose (`"link pipe/server/loss"`) in one replication of one seed.
    pub fn new(seed: u64, replication: u64, name: &str) -> Stream {
        // The name is absorbed in blocks of 8 octets, its length last; Philox itself is the mixing function.
        let key = words(seed);
        let mut state = philox4x32_10([0, 0, words(replication)[0], words(replication)[1]], key);
        let mut absorb = |octets: [u8; 8]| {
            let block = words(u64::from_le_bytes(octets));
            state = philox4x32_10([state[0] ^ block[0], state[1] ^ block[1], state[2], state[3]], key);
        };
        for chunk in name.as_bytes().chunks(8) {
            let mut octets = [0; 8];
            octets[..chunk.len()].copy_from_slice(chunk);
            absorb(octets);
        }
        absorb((name.len() as u64).to_le_bytes());
        Stream { key: [state[0], state[1]], nonce: [state[2], state[3]], block: 0, buffer: [0; 4], used: 4 }
    }

    /// A stream of its own for a number, whatever was drawn of this one: one of a pair, of a stretch of time.
    /// Its key is this stream's block of that number.
    pub fn child(&self, number: u64) -> Stream {
        let counter = words(number);
        let [a, b, c, d] = philox4x32_10([counter[0], counter[1], self.nonce[0], self.nonce[1]], self.key);
        Stream { key: [a, b], nonce: [c, d], block: 0, buffer: [0; 4], used: 4 }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        if self.used >= 4 {
            let counter = words(self.block);
            self.buffer = philox4x32_10([counter[0], counter[1], self.nonce[0], self.nonce[1]], self.key);
            self.block += 1;
            self.used = 0;
        }
        let at = usize::from(self.used);
        self.used += 2;
        u64::from(self.buffer[at]) | u64::from(self.buffer[at + 1]) << 32
    }

    /// Passes over so many calls of [`Stream::next_u64`], whatever their number in the same time.
    pub fn skip(&mut self, draws: u64) {
        let left = u64::from((4 - self.used) / 2);
        let Some(beyond) = draws.checked_sub(left) else {
            self.used += 2 * draws as u8;
            return;
        };
        self.used = 4;
        self.block += beyond / 2;
        if !beyond.is_multiple_of(2) {
            self.next_u64();
        }
    }

    /// What the next 64 calls of [`Stream::next_u64`] give.
    fn next_64(&mut self) -> [u64; DRAWS] {
        let mut values = [0; DRAWS];
        if self.used < 4 {
            values.iter_mut().for_each(|value| *value = self.next_u64());
            return values;
        }
        let [first, second] = blocks(self.block, self.nonce, self.key);
        self.block += BLOCKS as u64;
        for i in 0..BLOCKS {
            values[2 * i] = first[i];
            values[2 * i + 1] = second[i];
        }
        values
    }

    /// Uniform on [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        fraction(self.next_u64())
    }

    /// True with the given probability: always one draw, whatever the probability.
    pub fn bernoulli(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// What the next 64 calls of [`Stream::bernoulli`] give, that of the first in the lowest bit, in less
    /// time.
    pub fn bernoulli_64(&mut self, probability: f64) -> u64 {
        // 53 bits as a fraction are less than the probability where they are less than so many: all of these
        // are exact.
        let below = (probability * (1u64 << 53) as f64).ceil() as u64;
        self.next_64().iter().rev().fold(0, |all, &draw| all << 1 | u64::from(draw >> 11 < below))
    }

    /// Uniform on 0..n (Lemire's multiply and shift; its bias is below n / 2^64). Zero when n is zero.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with the given mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }
}

/// A stream that makes 64 draws at a time, before they are asked for: the values are those of the [`Stream`],
/// in its order, in half the time. For who draws often: it takes half a kilobyte.
#[derive(Clone, Debug)]
pub struct Ahead {
    stream: Stream,
    draws: [u64; DRAWS],
    next: usize,
}

impl Ahead {
    /// Goes on where a stream is.
    pub fn new(stream: Stream) -> Ahead {
        Ahead { stream, draws: [0; DRAWS], next: DRAWS }
    }

    #[inline(never)]
    fn make(&mut self) {
        self.draws = self.stream.next_64();
        self.next = 0;
    }

    /// As [`Stream::next_u64`].
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        if self.next >= DRAWS {
            self.make();
        }
        self.next += 1;
        self.draws[self.next - 1]
    }

    /// As [`Stream::uniform`].
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        fraction(self.next_u64())
    }

    /// As [`Stream::bernoulli`].
    #[inline]
    pub fn bernoulli(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// The natural logarithm of 1 - [`Ahead::uniform`]: what numbers drawn by inversion of an exponential or
    /// a geometric law are made of.
    #[inline]
    pub fn logarithm(&mut self) -> f64 {
        libm::log(1.0 - self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passed_over_is_not_drawn() {
        let stream = Stream::new(3, 1, "skip");
        for before in 0..4 {
            for passed in 0..7 {
                let mut drawn = stream.clone();
                for _ in 0..before {
                    drawn.next_u64();
                }
                let mut skipped = drawn.clone();
                for _ in 0..passed {
                    drawn.next_u64();
                }
                skipped.skip(passed);
                assert_eq!(
                    [0; 3].map(|_| skipped.next_u64()),
                    [0; 3].map(|_| drawn.next_u64()),
                    "{before} {passed}"
                );
            }
        }
    }

    #[test]
    fn many_at_once_are_as_many_one_by_one_from_anywhere_in_a_block() {
        let stream = Stream::new(3, 1, "many");
        // From the first block on, from the second, and where the lower word of the counter ends.
        for block in [0, 1, u64::from(u32::MAX) - 1] {
            for drawn_before in 0..4 {
                let mut one_by_one = Stream { block, ..stream.clone() };
                for _ in 0..drawn_before {
                    one_by_one.next_u64();
                }
                let mut at_once = one_by_one.clone();
                for _ in 0..3 {
                    let expected: [u64; 64] = std::array::from_fn(|_| one_by_one.next_u64());
                    assert_eq!(at_once.next_64(), expected, "{block} {drawn_before}");
                }
                assert_eq!(at_once.next_u64(), one_by_one.next_u64());
            }
        }
    }

    #[test]
    fn draws_made_ahead_are_those_of_the_stream() {
        let mut stream = Stream::new(3, 1, "ahead");
        stream.next_u64();
        let mut ahead = Ahead::new(stream.clone());
        for i in 0..10_000 {
            if i % 3 == 0 {
                let expected = libm::log(1.0 - stream.uniform());
                assert_eq!(ahead.logarithm().to_bits(), expected.to_bits(), "{i}");
            } else {
                assert_eq!(ahead.bernoulli(0.3), stream.bernoulli(0.3), "{i}");
                assert_eq!(ahead.uniform(), stream.uniform(), "{i}");
                assert_eq!(ahead.next_u64(), stream.next_u64(), "{i}");
            }
        }
    }

    #[test]
    fn bernoulli_64_is_bernoulli_64_times() {
        let (mut one_by_one, mut at_once) = (Stream::new(3, 1, "many"), Stream::new(3, 1, "many"));
        // The first draw itself, as a fraction, is not less than itself, and less than the next number.
        let first = one_by_one.clone().uniform();
        for probability in [first, first.next_up(), 0.0, 1e-300, 0.01, 0.3, 1.0, 2.0, -1.0, f64::NAN] {
            let expected = (0..64).fold(0, |all, i| all | u64::from(one_by_one.bernoulli(probability)) << i);
            assert_eq!(at_once.bernoulli_64(probability), expected, "{probability}");
        }
    }

    #[test]
    fn philox_known_answers() {
        // Known-answer vectors that accompany the paper (Random123, kat_vectors, philox4x32 10).
        assert_eq!(philox4x32_10([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox4x32_10([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox4x32_10([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn streams_differ_by_seed_replication_and_name() {
        let first = |seed, replication, name| Stream::new(seed, replication, name).next_u64();
        let all = [
            first(1, 0, "loss"),
            first(2, 0, "loss"),
            first(1, 1, "loss"),
            first(1, 0, "losses"),
            first(1, 0, "loss\0"),
            first(1, 0, ""),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b), "draw {i} repeats");
        }
        assert_eq!(first(1, 0, "loss"), first(1, 0, "loss"));
    }

    #[test]
    fn a_child_depends_on_the_key_and_its_number_alone() {
        let mut stream = Stream::new(1, 0, "shadowing");
        let first: Vec<u64> = (0..4).map(|number| stream.child(number).next_u64()).collect();
        stream.next_u64();
        let again: Vec<u64> = (0..4).map(|number| stream.child(number).next_u64()).collect();
        assert_eq!(first, again);
        assert!((1..4).all(|number| !first[..number].contains(&first[number])), "{first:?}");
    }

    #[test]
    fn distributions_have_their_moments() {
        let mut stream = Stream::new(7, 0, "moments");
        let n = 200_000;
        let mean = (0..n).map(|_| stream.exponential(2.0)).sum::<f64>() / f64::from(n);
        // Standard error of the mean: 2 / sqrt(200000) = 0.0045; four of them.
        assert!((mean - 2.0).abs() < 0.018, "{mean}");
        let hits = (0..n).filter(|_| stream.bernoulli(0.2)).count() as f64 / f64::from(n);
        // sqrt(0.2 * 0.8 / 200000) = 0.0009.
        assert!((hits - 0.2).abs() < 0.0036, "{hits}");
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        // Each is binomial(70000, 1/7): standard deviation 92.6.
        assert!(counts.iter().all(|&c| (i64::from(c) - 10_000).abs() < 400), "{counts:?}");
        assert_eq!(stream.below(0), 0);
    }
}
