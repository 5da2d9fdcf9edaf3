"""One self-contained HTML file: text, tables, figures with hover and zoom, pictures, verdicts.

The file needs no network: the Vega-Lite runtime is inlined once, the data of every figure is inside, and a
content security policy forbids the page to ask for anything else. `Report` is a builder that every report of the
package uses; it knows nothing of scenarios, sweeps or studies.
"""

from __future__ import annotations

import base64
import html
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from roamsim._roamsim import version
from roamsim.files import write_whole
from roamsim.pages import runtime
from roamsim.tables.cells import Cell, numbers
from roamsim.tables.values import exact_value, shown_value
from roamsim.tables.words import count

if TYPE_CHECKING:
    import altair
    import polars
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    Table = Sequence[Mapping[str, Any]] | polars.DataFrame
    Chart = altair.TopLevelMixin | Mapping[str, Any]

#: Rows of a table that are written into the page (chosen, because a page of more is slow on a phone).
TABLE_ROWS = 300

#: Rows from which on a table is as high as any may be, 38 rem in `report.html`: with its head, 18 lines of 2.1 rem.
LONG = 17

#: Characters up to which the cells of a first column stay on one line on a telephone (chosen: what 5.5 rem hold).
BRIEF = 10

#: Characters of a cell from which on its column is prose, whose lines are broken (chosen: names are shorter).
PROSE = 40

#: The part of a cell that tells of an interval or of a published value; a narrow column has it on a line of its own.
_INTERVAL = re.compile(r"± \S+|\([-\d][^()]*\)")

#: A space between a number and its unit.
_BEFORE_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|[kMGT]?(?:b/s|bit/s|B)|[mµn]?s|min|h|k?m|m/s|km/h|dBm?|[kMG]?Hz)(?![\w/]))"
)

#: Sections that need no table of contents (chosen: they are seen at once).
FEW_SECTIONS = 2

#: Verdicts in the order of a page, with the words for one statement and for several.
VERDICT_WORDS = {
    "differs": ("differs", "differ"),
    "agrees": ("agrees", "agree"),
    "not decidable": ("is not decidable", "are not decidable"),
}

_VERDICT_CLASS = {"agrees": "agrees", "differs": "differs", "not decidable": "open"}


class Report:
    """Collects sections in the order of the calls and writes them as one HTML file.

    Args:
        title: the page's heading and the browser's title.
        subtitle: one line under it, for instance what was run and when.
    """

    def __init__(self, title: str, subtitle: str = "") -> None:
        self.title = title
        self.subtitle = subtitle
        self._lead: list[str] = []
        self._body: list[str] = []
        self._contents: list[tuple[str, str]] = []
        self._charts: dict[str, dict[str, Any]] = {}
        self._time_lines: dict[str, Mapping[str, Any]] = {}
        self._ids: set[str] = set()

    def heading(self, title: str) -> None:
        """Starts a section; it appears in the table of contents."""
        anchor = self._new_id(title)
        shown = _together(title)
        self._contents.append((anchor, shown))
        self._body.append(f'<h2 id="{anchor}">{html.escape(shown)}</h2>')

    @contextmanager
    def section(self, title: str, holds: str = "", *, folded: bool = False) -> Iterator[None]:
        """A section that folds; links to what is in it unfold it.

        Args:
            title: its heading, which appears in the table of contents.
            holds: what is in it, in small print beside the heading.
            folded: whether only the heading is shown until a reader asks for the rest.
        """
        anchor, shown = self._new_id(title), _together(title)
        self._contents.append((anchor, shown))
        before, self._body = self._body, []
        try:
            yield
        finally:
            inside, self._body = self._body, before
            self._body.append(_part("section", anchor, shown, holds, Markup("\n".join(inside)), folded))

    def text(self, text: str, *, lead: bool = False) -> None:
        """Adds paragraphs in Markdown; HTML inside is shown as text, for names of a scenario may stand in them.

        Args:
            text: the paragraphs.
            lead: whether they stand above the table of contents.
        """
        (self._lead if lead else self._body).append(f'<div class="text">{_markdown(text)}</div>')

    def plain(self, text: str) -> None:
        """Adds a paragraph of plain text: in names of a scenario nothing is taken for Markdown."""
        self._body.append(f'<div class="text"><p>{html.escape(_together(text))}</p></div>')

    def found(self, sentences: Sequence[str]) -> None:
        """Adds what came out, above the table of contents, in plain sentences."""
        self._lead.append(_part("found", list(sentences)))

    def table(
        self,
        rows: Table,
        caption: str = "",
        note: str | None = None,
        *,
        max_rows: int = TABLE_ROWS,
        folded: bool = False,
        lead: bool = False,
        id: str = "table",
    ) -> None:
        """Adds a table with one column for each key of the rows.

        Args:
            rows: a list of mappings or a polars frame. Missing values (`None`, NaN) are shown as a dash; the numbers
                of a column in one format, and as they are when the pointer rests on them or the row is opened.
            caption: what the table shows.
            note: a remark in small print.
            max_rows: rows that are written; a note says how many were left out.
            folded: whether only the caption is shown until a reader asks for the rest.
            lead: whether it stands above the table of contents.
            id: its anchor; a number is added where it is taken.
        """
        shown, total = _rows(rows, max_rows)
        columns = list(dict.fromkeys(key for row in shown for key in row))
        numeric = {c for c in columns if any(_is_number(row.get(c)) for row in shown)}
        prose = {c for c in columns if any(len(shown_value(row.get(c))) > PROSE for row in shown)} - numeric
        intervals = {c for c in columns if any(_INTERVAL.search(shown_value(row.get(c))) for row in shown)}
        kinds = {
            c: "number" if c in numeric else "prose" if c in prose else "interval" if c in intervals else ""
            for c in columns
        }
        if columns and not kinds[columns[0]] and all(len(shown_value(row.get(columns[0]))) <= BRIEF for row in shown):
            kinds[columns[0]] = "brief"
        cells = [_cells([row.get(c) for row in shown], kinds[c]) for c in columns]
        lines = list(zip(*cells, strict=True))
        body = _part("table", list(kinds.items()), lines, LONG, total - len(shown), note)
        self._captioned(f'id="{self._new_id(id)}" class="table"', caption, body, folded, lead)

    def figure(
        self,
        id: str,
        chart: Chart,
        caption: str,
        note: str | None = None,
        *,
        statements: Sequence[str] = (),
        lead: bool = False,
        folded: bool = False,
    ) -> None:
        """Adds an interactive figure.

        Args:
            id: anchor of the figure, unique in the report (a second use is a `ValueError`).
            chart: an Altair chart, or a Vega-Lite specification as a mapping. Hover shows the encoded values where
                the chart sets no tooltip of its own, and zooming is added where the chart has none.
            caption: what the figure shows, with its metric's definition where there could be doubt.
            note: a remark in small print (what is chosen, what is not modelled).
            statements: the `id`s of the statements that it bears on; links lead to them.
            lead: whether it stands on the first screen, above the table of contents.
            folded: whether only the caption is shown until a reader asks for the rest.
        """
        if id in self._ids:
            raise ValueError(f"the report has two elements with the id {id!r}")
        anchor = self._new_id(id)
        self._charts[anchor] = responsive(specification(chart))
        (self._lead if lead else self._body).append(_part("chart", anchor, caption, note, statements, folded))

    def time_line(self, id: str, model: Mapping[str, Any], caption: str, note: str | None = None) -> None:
        """Adds lanes over one axis of time, to be zoomed, with a sequence chart of the same span beside them.

        Args:
            id: anchor of the time line, unique in the report.
            model: `end` (s), `lanes`, `packets` and `steps`, as `roamsim.reports.inspector` writes them and
                `pages/inspector/` reads them.
            caption: what it shows.
            note: a remark in small print.
        """
        anchor = self._new_id(id)
        self._time_lines[anchor] = model
        self._body.append(_part("time_line", anchor, caption, note))

    def picture(
        self,
        id: str,
        svg_text: str,
        caption: str,
        note: str | None = None,
        *,
        folded: bool = False,
        lead: bool = False,
    ) -> None:
        """Adds an SVG picture, on a white ground; its scripts and identifiers stay inside it.

        Args:
            id: anchor of the picture, unique in the report.
            svg_text: a whole SVG document.
            caption: what the picture shows; also its text for those who do not see it.
            note: a remark in small print.
            folded: whether only the caption is shown until a reader asks for the rest.
            lead: whether it stands above the table of contents.
        """
        if id in self._ids:
            raise ValueError(f"the report has two elements with the id {id!r}")
        anchor = self._new_id(id)
        data = base64.b64encode(svg_text.encode()).decode()
        body = _part("image", caption, data, note)
        self._captioned(f'id="{anchor}" class="picture"', caption, body, folded, lead)

    def answer(self, question: str, text: str) -> None:
        """Adds a question and the answer to it, in Markdown, above the table of contents.

        On a narrow screen what follows in `lead` stands behind the first table or item of the answer.
        """
        first, further = _opening(text)
        self._lead.append(_part("answer", question, Markup(first), Markup(further)))

    def outcome(self, asked: str, came_out: Sequence[str]) -> None:
        """Adds what was asked and what came out of it, a sentence each, above the table of contents."""
        self._lead.append(_part("outcome", asked, came_out))

    def statements(self, statements: Iterable[Mapping[str, Any]], head: str = "published") -> None:
        """Adds published statements, folded by verdict: a line each, out of which the rest of it folds.

        Args:
            statements: mappings with `id`, `published`, `ours` (the measured value as the line shows it), `verdict`
                (`agrees`, `differs` or `not decidable`, with a reason after a colon if there is one) and `rests_on`
                (what the verdict takes beyond what was published; the column is left out where no line has it).
                `measured` and `interval` (two numbers, a text, or `None`) and further keys, under their own names,
                fold out of the line.
            head: of the column of statements.
        """
        known = ("id", "published", "ours", "rests_on", "measured", "interval", "verdict")
        lines = []
        for statement in statements:
            word, _, reason = str(statement.get("verdict", "not decidable")).partition(":")
            facts = [("Measured", statement.get("measured")), ("95 % interval", _interval(statement.get("interval")))]
            facts += [(key.replace("_", " ").capitalize(), v) for key, v in statement.items() if key not in known]
            facts.append(("Why", reason.strip()))
            lines.append(
                {
                    "id": str(statement.get("id", "")),
                    "published": str(statement.get("published", "")),
                    "ours": str(statement.get("ours") or ""),
                    "rests_on": str(statement.get("rests_on") or ""),
                    "verdict": word.strip(),
                    "kind": _VERDICT_CLASS.get(word.strip().lower(), "open"),
                    "facts": [(name, shown_value(value)) for name, value in facts if value not in (None, "")],
                }
            )
        groups = [
            (_VERDICT_CLASS[verdict], _counted(verdict, len(found)), found)
            for verdict in VERDICT_WORDS
            if (found := [line for line in lines if line["kind"] == _VERDICT_CLASS[verdict]])
        ]
        self._body.append(_part("statements", groups, any(line["rests_on"] for line in lines), head))

    def parameters(self, parameters: Mapping[str, Any], caption: str = "Parameters") -> None:
        """Adds a list of names and values; nested mappings are written with dotted names."""
        entries = [(name, exact_value(value)) for name, value in _flatten(parameters)]
        self._body.append(_part("parameters", entries, caption))

    def preformatted(self, text: str, caption: str) -> None:
        """Adds a file or a command as it is, folded away until asked for."""
        self._body.append(_part("source", text, caption))

    def html(self) -> str:
        """The whole page."""
        return (
            _environment()
            .get_template("report.html")
            .render(
                title=self.title,
                subtitle=self.subtitle,
                lead=Markup(_part("opening", Markup("\n".join(self._lead))) if self._lead else ""),
                with_contents=len(self._contents) > FEW_SECTIONS,
                contents=Markup(_part("contents", self._contents) if len(self._contents) > FEW_SECTIONS else ""),
                body=Markup("\n".join(self._body)),
                hint=Markup(_ZOOM_HINT if self._charts else ""),
                version=version(),
                runtime=Markup(runtime.script() if self._charts else ""),
                charts=Markup(_script_json(self._charts)),
                drawing=Markup(_script("ordered.js", "thinned.js", "room.js") if self._charts else ""),
                time_line_style=Markup(_inspector("css") if self._time_lines else ""),
                time_line_script=Markup(_script("ordered.js") + _inspector("js") if self._time_lines else ""),
                time_lines=Markup(_script_json(self._time_lines)),
            )
        )

    def write(self, path: str | os.PathLike[str], *, follow: bool = False) -> Path:
        """Writes the page (complete or not at all) and returns its path; `follow` as in `files.write_aside`.

        Raises:
            OSError: the file cannot be written.
        """
        return write_whole(path, self.html().encode(), follow=follow)

    def _captioned(self, attributes: str, caption: str, body: str, folded: bool, lead: bool) -> None:
        """Adds a figure under its caption; folded, it comes out of the caption."""
        (self._lead if lead else self._body).append(
            _part("captioned", Markup(attributes), caption, Markup(body), folded)
        )

    def _new_id(self, wanted: str) -> str:
        base = re.sub(r"[^a-zA-Z0-9_.-]+", "-", wanted).strip("-") or "part"
        anchor, n = base, 2
        while anchor in self._ids:
            anchor, n = f"{base}-{n}", n + 1
        self._ids.add(anchor)
        return anchor


_ZOOM_HINT = (
    '<p class="note hint">Point at a figure to read its values. Drag to move it; zoom with Ctrl and the wheel. '
    "Click a name in a legend to show it alone, and further names to add them. Double-click to show all.</p>"
)


def specification(chart: Chart) -> dict[str, Any]:
    """The Vega-Lite specification of an Altair chart, without Altair's limit on rows; a mapping is copied."""
    if isinstance(chart, Mapping):
        return json.loads(json.dumps(chart))  # type: ignore[no-any-return]
    import altair

    with altair.data_transformers.disable_max_rows():
        spec: dict[str, Any] = chart.to_dict()
        if "scales" not in _binds(spec) and hasattr(chart, "interactive"):
            spec = chart.interactive().to_dict()
    return spec


def responsive(spec: dict[str, Any]) -> dict[str, Any]:
    """Adapts a specification to the page: container width, no wheel that steals the page's scrolling."""
    spec.pop("$schema", None)
    if "mark" in spec or "layer" in spec:
        spec["width"] = "container"
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
        spec.setdefault("height", 320)
        if not isinstance(spec["height"], int | float):
            spec["height"] = 320
    # Views under each other get their width where they are drawn: Vega-Lite fits single ones only.
    # The page's style decides colours of text and ground, so that light and dark both work.
    config = spec.get("config", {})
    config.pop("background", None)
    spec.pop("background", None)
    for param in _params(spec):
        if param.get("bind") == "scales":
            select = param.get("select")
            select = {"type": select} if isinstance(select, str) else dict(select or {"type": "interval"})
            select["zoom"] = "wheel![event.ctrlKey || event.metaKey]"
            param["select"] = select
    return spec


def _counted(verdict: str, number: int) -> str:
    """How many statements have a verdict."""
    return f"{count(number, 'statement')} {VERDICT_WORDS[verdict][number > 1]}"


def _interval(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"{shown_value(value[0])} … {shown_value(value[1])}"
    return "" if value is None else shown_value(value)


@lru_cache
def _environment() -> jinja2.Environment:
    """The templates of the page; what they are given is escaped, unless it is `Markup`."""
    loader = jinja2.FileSystemLoader(str(resources.files("roamsim.pages")))
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters |= {
        "inline": _inline,
        "together": _together,
        "statement_anchor": _statement_anchor,
        "breakable": _breakable,
        "head": _head,
    }
    return environment


def _part(name: str, *contents: Any) -> str:
    """One element of the page, by the name of its macro in report_parts.html."""
    return str(getattr(_environment().get_template("report_parts.html").module, name)(*contents))


def _markdown(text: str) -> str:
    """Markdown as HTML, with values that stay on one line with their unit; HTML inside is shown as text."""
    markdown, parsed = _parsed(text)
    return _rendered(markdown, parsed)


def _opening(text: str) -> tuple[str, str]:
    """Markdown as HTML in two parts: up to its first table or the first item of its first list, and the rest."""
    markdown, parsed = _parsed(text)
    for at, token in enumerate(parsed):
        if token.type == "table_close":
            return _rendered(markdown, parsed[: at + 1]), _rendered(markdown, parsed[at + 1 :])
        if token.type == "list_item_close" and token.level == 1 and parsed[at + 1].type == "list_item_open":
            opens = next(one for one in parsed if one.type in ("bullet_list_open", "ordered_list_open"))
            closes = next(one for one in parsed[at:] if one.level == 0)
            first, further = [*parsed[: at + 1], closes], [opens, *parsed[at + 1 :]]
            if opens.type == "ordered_list_open":
                further[0] = replace(opens, attrs={"start": int(opens.attrs.get("start", 1)) + 1})
            return _rendered(markdown, first), _rendered(markdown, further)
    return _rendered(markdown, parsed), ""


def _parsed(text: str) -> tuple[MarkdownIt, list[Token]]:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    parsed = markdown.parse(text)
    for part in (part for block in parsed for part in block.children or []):
        # Not what is code, which may be copied.
        if part.type == "text":
            part.content = _together(part.content)
    return markdown, parsed


def _rendered(markdown: MarkdownIt, parsed: Sequence[Token]) -> str:
    rendered: str = markdown.renderer.render(parsed, markdown.options, {})
    return rendered


def _inline(text: str) -> Markup:
    """Text with its formulas and code marked up: `x` becomes code, and what follows ^ is raised."""
    parts = re.split(r"`([^`]+)`", text)
    marked = "".join(
        f"<code>{html.escape(part)}</code>"
        if place % 2
        else html.escape(_together(part).replace(" … ", "\u00a0…\u00a0"))
        for place, part in enumerate(parts)
    )
    return Markup(re.sub(r"\^(?:\(([^()]*)\)|(\w+))", lambda m: f"<sup>{m[1] or m[2]}</sup>", marked))


def _together(text: str) -> str:
    """Text in which a value stays on one line with its interval and its unit."""
    return _BEFORE_UNIT.sub("\u00a0", text.replace(" ± ", "\u00a0±\u00a0"))


def _breakable(text: str) -> str:
    """A cell's text that a narrow column breaks before an interval, not inside of it, and not before a unit."""
    return _INTERVAL.sub(lambda part: part[0].replace(" ", "\u00a0"), _BEFORE_UNIT.sub("\u00a0", text))


def _head(name: str) -> Markup:
    """A column's name, which a narrow column breaks behind an underscore."""
    return Markup(html.escape(name).replace("_", "_<wbr>"))


def _statement_anchor(name: str) -> str:
    return f"statement-{re.sub(r'[^a-zA-Z0-9_.-]+', '-', name)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Cell) and not isinstance(value, bool)


def _cells(values: list[Any], kind: str) -> list[tuple[str, str, str]]:
    """The cells of a column: its kind, what is shown, what is exact. Fractions have one format, also beside texts."""
    shown: list[Any] = list(values)
    places = [place for place, value in enumerate(values) if type(value) in (int, float)]
    if any(isinstance(values[place], float) and not values[place].is_integer() for place in places):
        for place, cell in zip(places, numbers([values[place] for place in places]), strict=True):
            shown[place] = cell
    pairs = zip(shown, values, strict=True)
    return [(kind, shown_value(one), exact_value(value)) for one, value in pairs]


def _rows(rows: Table, limit: int) -> tuple[list[Mapping[str, Any]], int]:
    if isinstance(rows, Sequence):
        return list(rows[:limit]), len(rows)
    return list(rows.head(limit).to_dicts()), rows.height


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{name}.")
        else:
            yield name, value


def _params(spec: Any) -> Iterable[dict[str, Any]]:
    """Every parameter of a specification, at any depth of its views."""
    if isinstance(spec, dict):
        yield from spec.get("params", [])
        for key in ("layer", "hconcat", "vconcat", "concat"):
            for view in spec.get(key, []):
                yield from _params(view)
        yield from _params(spec.get("spec"))


def _binds(spec: dict[str, Any]) -> set[str]:
    return {p["bind"] for p in _params(spec) if isinstance(p.get("bind"), str)}


def _script_json(value: Any) -> str:
    """JSON that is safe inside a script element: without the sign that begins `</script>` and `<!--`."""
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), default=str)
    return text.replace("<", "\\u003c")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return value


def _inspector(ending: str) -> str:
    """The scripts or the style of time lines: the files of their folder, one after the other."""
    files = sorted(resources.files("roamsim.pages.inspector").iterdir(), key=lambda file: file.name)
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file.name.endswith(f".{ending}"))


def _script(*names: str) -> str:
    """A script of the page, from its files."""
    return "".join(resources.files("roamsim.pages").joinpath(name).read_text(encoding="utf-8") for name in names)
