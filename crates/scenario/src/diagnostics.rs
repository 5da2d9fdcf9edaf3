//! What is wrong with a scenario, where, and what to do about it.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU16;
use std::ops::Range;

use crate::excerpt::{Excerpt, shortened};
use crate::printable::printable;
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, Severity,
    SourceCode, SourceSpan, SpanContents, ThemeCharacters, ThemeStyles,
};

/// The width of a rendered report. It is fixed, because a report is data like any other.
const WIDTH: usize = 100;

/// A piece of one of the texts. Every key and value of a tree has one, or has none, in 8 octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Counted from 1.
    source: NonZeroU16,
    start: u32,
    /// Of a longer piece the beginning: no more is shown than a part of its first line.
    length: u16,
}

const _: () = assert!(size_of::<Option<Place>>() == 8);

impl Place {
    /// `None` of one in a text behind the first 65,535.
    pub fn new(source: u32, span: Range<usize>) -> Option<Place> {
        Some(Place {
            source: NonZeroU16::new(u16::try_from(source).ok()?.checked_add(1)?)?,
            start: u32::try_from(span.start).unwrap_or(u32::MAX),
            length: u16::try_from(span.len()).unwrap_or(u16::MAX),
        })
    }

    fn source(self) -> usize {
        usize::from(self.source.get()) - 1
    }

    /// Whether it is in an override: the scenario is the first text, and files have no names of files.
    pub fn is_of_an_override(self) -> bool {
        self.source() > 0
    }
}

/// A text that was read: the scenario, or an override.
#[derive(Clone, Debug)]
struct Source {
    name: String,
    /// Of the same length as what was read, but safe to print.
    text: String,
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub struct Problem {
    message: String,
    path: String,
    help: Option<String>,
    place: Option<Place>,
    related: Option<(Place, String)>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), path: String::new(), help: None, place: None, related: None }
    }

    pub(crate) fn at(mut self, place: Option<Place>) -> Problem {
        self.place = place;
        self
    }

    pub(crate) fn path(mut self, path: impl Into<String>) -> Problem {
        self.path = path.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn help_if(mut self, help: Option<String>) -> Problem {
        self.help = help;
        self
    }

    /// A second place that the problem is about, and what stands there.
    pub(crate) fn related(mut self, place: Option<Place>, label: impl Into<String>) -> Problem {
        self.related = place.map(|place| (place, label.into()));
        self
    }

    /// What is wrong, in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn advice(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The key that it is about, in the notation of overrides; empty where the whole text is meant.
    pub fn key_path(&self) -> &str {
        &self.path
    }
}

/// The problems found so far, and the texts that they are in.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    sources: Vec<Source>,
    problems: Vec<Problem>,
    left_out: usize,
    /// What is valid, and hardly meant.
    warnings: Vec<Problem>,
    /// Where elements are copies of each other: what was said already, without the numbers of the copies.
    said: Option<BTreeSet<(Place, String)>>,
}

impl Problems {
    /// More problems than this are not collected: the first ones are usually the cause of the rest.
    pub const MAX: usize = 50;

    /// Adds a text; places refer to it by the number returned.
    pub fn source(&mut self, name: &str, text: &str) -> u32 {
        let source = Source { name: printable(name), text: printable(text) };
        self.sources.push(source);
        (self.sources.len() - 1) as u32
    }

    /// Keeps the text of a source after all.
    pub fn keep_text(&mut self, source: u32, text: &str) {
        if let Some(source) = self.sources.get_mut(source as usize) {
            source.text = printable(text);
        }
    }

    pub fn add(&mut self, problem: Problem) {
        if self.is_said(&problem) {
            return;
        }
        if self.full() {
            self.leave_out();
        } else {
            self.problems.push(problem);
        }
    }

    /// Adds something that is no reason to refuse the scenario.
    pub fn warn(&mut self, warning: Problem) {
        if !self.is_said(&warning) && self.warnings.len() < Problems::MAX {
            self.warnings.push(warning);
        }
    }

    /// The warnings for the user, in the order of the text, each as in a report.
    pub fn warnings(&mut self) -> Vec<String> {
        self.warnings.sort_by_key(|warning| warning.place);
        let render = |warning| render(warning, &self.sources, Severity::Warning, false);
        self.warnings.iter().map(render).collect()
    }

    /// From now on a problem that all copies of an element have, which have its place, is told of the first.
    pub fn fold_copies(&mut self) {
        self.said.get_or_insert_default();
    }

    fn is_said(&mut self, problem: &Problem) -> bool {
        let (Some(said), Some(place)) = (&mut self.said, problem.place) else { return false };
        !said.insert((place, problem.message.chars().filter(|c| !c.is_ascii_digit()).collect()))
    }

    /// Counts a problem that there is no room for.
    pub fn leave_out(&mut self) {
        self.left_out += 1;
    }

    pub fn count(&self) -> usize {
        self.problems.len()
    }

    pub fn full(&self) -> bool {
        self.problems.len() >= Problems::MAX
    }

    /// The problems for the user, in the order of the text.
    pub fn into_diagnostics(mut self) -> Diagnostics {
        if self.problems.is_empty() {
            self.problems.push(Problem::new("this scenario cannot be read"));
        }
        self.problems.sort_by_key(|problem| problem.place);
        Diagnostics { sources: self.sources, problems: self.problems, left_out: self.left_out }
    }
}

/// Why a scenario is refused: at least one problem, in the order of the text.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    sources: Vec<Source>,
    problems: Vec<Problem>,
    left_out: usize,
}

impl Diagnostics {
    /// The problems, at least one.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The report for a person: each problem with its line, a caret and advice; 100 columns wide.
    pub fn render(&self, color: bool) -> String {
        let mut report = String::new();
        for problem in &self.problems {
            report.push_str(&render(problem, &self.sources, Severity::Error, color));
            report.push('\n');
        }
        let count = self.problems.len() + self.left_out;
        let name = &self.sources[0].name;
        match (count, self.left_out) {
            (1, _) => {}
            (_, 0) => report.push_str(&format!("{name}: {count} problems\n")),
            (_, left_out) => {
                report.push_str(&format!("{name}: {count} problems; {left_out} are not shown\n"));
            }
        }
        report
    }
}

/// A problem for a person: its line, a caret and advice; 100 columns wide.
fn render(problem: &Problem, sources: &[Source], severity: Severity, color: bool) -> String {
    let styles = if color { ThemeStyles::ansi() } else { ThemeStyles::none() };
    let handler =
        GraphicalReportHandler::new_themed(GraphicalTheme { characters: ThemeCharacters::unicode(), styles })
            .with_width(WIDTH)
            .with_links(false)
            .with_context_lines(1)
            .without_syntax_highlighting();
    let shown = Shown::new(problem, sources);
    let mut report = String::new();
    // Writing to a string fails only if a Display does, and none of ours does.
    let _ = handler.render_report(&mut report, &Report { problem, shown, severity, scenario: &sources[0] });
    report.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

/// The text that a problem stands in, its long lines cut, and where.
struct Shown<'a> {
    name: &'a str,
    excerpt: Excerpt,
    labels: Vec<LabeledSpan>,
}

impl<'a> Shown<'a> {
    /// `None` for a problem without a place.
    fn new(problem: &Problem, sources: &'a [Source]) -> Option<Shown<'a>> {
        let place = problem.place?;
        let source = sources.get(place.source())?;
        let related = problem.related.as_ref().filter(|(other, _)| other.source == place.source);
        let mut places = vec![source.first_line(place)];
        places.extend(related.map(|(other, _)| source.first_line(*other)));
        let excerpt = Excerpt::new(&source.text, &places);
        let span = |number: usize| {
            let span = excerpt.spans.get(number)?.as_ref()?;
            Some(SourceSpan::new(span.start.into(), span.len()))
        };
        let main = span(0).map(|span| LabeledSpan::new_primary_with_span(None, span));
        let related = related
            .zip(span(1))
            .map(|((_, label), span)| LabeledSpan::new_with_span(Some(printable(&shortened(label))), span));
        let labels = main.into_iter().chain(related).collect();
        Some(Shown { name: &source.name, excerpt, labels })
    }
}

/// One problem in miette's words.
struct Report<'a> {
    problem: &'a Problem,
    shown: Option<Shown<'a>>,
    severity: Severity,
    scenario: &'a Source,
}

impl fmt::Debug for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shown.is_none() {
            write!(f, "{}: ", self.scenario.name)?;
        }
        if !self.problem.path.is_empty() {
            write!(f, "{}: ", printable(&shortened(&self.problem.path)))?;
        }
        f.write_str(&printable(&shortened(&self.problem.message)))
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.help.as_ref().map(|help| Box::new(printable(&shortened(help))) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.shown.as_ref().map(|shown| shown as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.shown.as_ref()?.labels.iter().cloned()))
    }
}

impl Source {
    /// The part of a place that is on its first line and inside the text.
    fn first_line(&self, place: Place) -> Range<usize> {
        let floor = |at: u32| {
            let mut at = (at as usize).min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (floor(place.start), floor(place.start.saturating_add(place.length.into())));
        start..self.text[start..end].find('\n').map_or(end, |length| start + length)
    }
}

impl SourceCode for Shown<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let contents = self.excerpt.text.read_span(span, before, after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.to_owned(),
            contents.data(),
            *contents.span(),
            contents.line(),
            contents.column() + self.excerpt.moved(contents.span().offset()),
            // miette counts from the start of the text, and would then join snippets that are far apart.
            contents.data().iter().filter(|byte| **byte == b'\n').count(),
        )))
    }
}
