//! What reports show of long lines and long words: the part that the problem is about.
//!
//! Lines come from outside and may be of any length. Cutting them keeps reports readable, and keeps columns
//! within what formatting can pad (65,535).

use std::ops::Range;

/// Characters of a line that are shown. Chosen: a line and its gutter fit a wide terminal.
const LINE_CHARS: usize = 120;
/// Characters shown in front of the place that a report is about, in a line that is cut. Chosen.
const BEFORE_CHARS: usize = 40;
/// Characters of a message or a piece of advice that are shown. Chosen: a dozen lines.
const MESSAGE_CHARS: usize = 1200;
const ELLIPSIS: char = '…';

/// A text whose long lines are cut.
#[derive(Debug)]
pub(crate) struct Excerpt {
    pub text: String,
    /// The places asked for, in the cut text; `None` for what was cut away.
    pub spans: Vec<Option<Range<usize>>>,
    /// Where lines begin in the cut text, and the octets by which their columns have moved to the left.
    moved: Vec<(usize, usize)>,
}

impl Excerpt {
    /// Cuts the long lines of a text: around the first place that begins in them, else behind their
    /// beginning. No place may reach over the end of its line.
    pub fn new(text: &str, places: &[Range<usize>]) -> Excerpt {
        let mut excerpt = Excerpt { text: String::new(), spans: vec![None; places.len()], moved: Vec::new() };
        let mut start = 0;
        for whole in text.split_inclusive('\n') {
            let line = whole.trim_end_matches('\n');
            // The end of a line belongs to it.
            let here = |place: &&Range<usize>| (start..=start + line.len()).contains(&place.start);
            let about = places.iter().find(here).map(|place| place.start - start);
            let kept = kept(line, about);
            let at = excerpt.text.len();
            if kept.start > 0 {
                excerpt.text.push(ELLIPSIS);
            }
            let moved = kept.start + at - excerpt.text.len();
            excerpt.moved.push((at, moved));
            excerpt.text.push_str(&line[kept.clone()]);
            if kept.end < line.len() {
                excerpt.text.push(ELLIPSIS);
            }
            excerpt.text.push_str(&whole[line.len()..]);
            for (place, span) in places.iter().zip(&mut excerpt.spans) {
                if (start + kept.start..=start + kept.end).contains(&place.start) {
                    let cut = |place: usize| at + place.min(start + kept.end) - start - moved;
                    *span = Some(cut(place.start)..cut(place.end));
                }
            }
            start += whole.len();
        }
        excerpt
    }

    /// By how many octets the column of a place in the cut text is to the left of its column in the whole.
    pub fn moved(&self, at: usize) -> usize {
        let line = self.moved.partition_point(|&(start, _)| start <= at);
        line.checked_sub(1).map_or(0, |line| self.moved[line].1)
    }
}

/// The octets of a line that are shown.
fn kept(line: &str, place: Option<usize>) -> Range<usize> {
    // As many octets hold no more characters.
    if line.len() <= LINE_CHARS || line.chars().count() <= LINE_CHARS {
        return 0..line.len();
    }
    let place = place.unwrap_or(0);
    let start = match line[..place].char_indices().rev().nth(BEFORE_CHARS - 1) {
        Some((start, _)) if line[..place].chars().count() > LINE_CHARS - BEFORE_CHARS => start,
        _ => 0,
    };
    let end = line[start..].char_indices().nth(LINE_CHARS).map_or(line.len(), |(end, _)| start + end);
    start..end
}

/// The beginning and the end of a long text.
pub(crate) fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= MESSAGE_CHARS {
        return text.to_owned();
    }
    let half = MESSAGE_CHARS / 2;
    let beginning: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{beginning}{ELLIPSIS} ({} characters left out) {ELLIPSIS}{end}", count - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice;

    #[test]
    fn a_long_line_is_cut_around_its_place() {
        // 300 letters, of which the 201st is what it is about: 40 stand before it, and 120 are shown in all.
        let text = format!("short\n{}Z{}\nlast", "a".repeat(200), "b".repeat(99));
        let excerpt = Excerpt::new(&text, &[206..207, 6..7, 308..311]);
        let line = format!("…{}Z{}…", "a".repeat(40), "b".repeat(79));
        assert_eq!(excerpt.text, format!("short\n{line}\nlast"));
        // "short" and its end take 6 octets, the ellipsis 3, the letters before Z 40.
        assert_eq!(excerpt.spans[0], Some(49..50));
        assert_eq!(&excerpt.text[49..50], "Z");
        assert_eq!(excerpt.spans[1], None);
        assert_eq!(&excerpt.text[excerpt.spans[2].clone().expect("the last line is whole")], "ast");
        // 160 letters are gone and an ellipsis of 3 octets stands for them.
        assert_eq!((excerpt.moved(0), excerpt.moved(49), excerpt.moved(excerpt.text.len())), (0, 157, 0));
    }

    #[test]
    fn lines_of_no_great_length_stay_whole() {
        let text = format!("{}\n\n{}", "µ".repeat(120), "x".repeat(121));
        let excerpt = Excerpt::new(&text, slice::from_ref(&(text.len()..text.len())));
        assert_eq!(excerpt.text.lines().next(), Some("µ".repeat(120).as_str()));
        // The place is the end of the text: the 40 letters before it are left.
        assert_eq!(excerpt.text.lines().last(), Some(format!("…{}", "x".repeat(40)).as_str()));
        assert_eq!(excerpt.spans, [Some(excerpt.text.len()..excerpt.text.len())]);
        assert_eq!(Excerpt::new("", slice::from_ref(&(0..0))).text, "");
    }

    #[test]
    fn a_long_message_keeps_both_ends() {
        assert_eq!(shortened(&"x".repeat(1200)), "x".repeat(1200));
        let cut = shortened(&format!("a{}z", "µ".repeat(5000)));
        assert!(cut.starts_with("aµ") && cut.ends_with("µz") && cut.contains("(3802 characters left out)"));
    }
}
