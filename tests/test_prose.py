"""What `docs/prose.py` finds in pages and messages, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT, module_of

LONG = "The queue " + "drops one more packet and " * 7 + "stops."  # 2 + 7 * 5 + 1 = 38 words


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    return module_of(ROOT / "docs/prose.py")


def problems(prose: ModuleType, folder: Path, name: str, text: str) -> list[tuple[int, str]]:
    file = folder / name
    file.write_text(text)
    return [(found.line, found.problem) for found in prose.check(file, {r"\bof which\b": "a sentence"})]


def test_a_long_sentence_is_found_with_its_line(prose: ModuleType, tmp_path: Path) -> None:
    assert problems(prose, tmp_path, "page.md", f"# Page\n\nShort.\n\n{LONG}\n") == [(5, "38 words")]


def test_thirty_words_are_allowed_and_one_more_is_not(prose: ModuleType, tmp_path: Path) -> None:
    assert problems(prose, tmp_path, "page.md", "Word " * 29 + "end.") == []
    assert problems(prose, tmp_path, "page.md", "Word " * 30 + "end.") == [(1, "31 words")]


def test_code_counts_as_one_word_and_blocks_and_headings_as_none(prose: ModuleType, tmp_path: Path) -> None:
    code = "`" + "word " * 40 + "`"
    text = f"# {LONG}\n\nRun {code} now.\n\n```text\n{LONG} of which\n```\n\n    {LONG}\n\n<!-- {LONG} -->\n"
    assert problems(prose, tmp_path, "page.md", text) == []


def test_items_and_cells_are_texts_of_their_own(prose: ModuleType, tmp_path: Path) -> None:
    words = "word " * 20
    items = f"Items:\n- {words}\n- {words}\n\n| a | b |\n|---|---|\n| {words} | {words} |\n"
    assert problems(prose, tmp_path, "page.md", items) == []
    assert problems(prose, tmp_path, "page.md", f"| a | b |\n|---|---|\n| x | {words}{words} |\n") == [
        (3, "40 words")
    ]


def test_items_between_semicolons_count_by_themselves_from_three_on(prose: ModuleType, tmp_path: Path) -> None:
    item = "word " * 19 + "end"
    assert problems(prose, tmp_path, "page.md", f"Three: {item}; {item}; {item}.") == []
    assert problems(prose, tmp_path, "page.md", f"Two: {item}; {item}.") == [(1, "41 words")]


def test_abbreviations_and_numbers_end_no_sentence(prose: ModuleType) -> None:
    assert prose.sentences("See e.g. Jain. RFC 9293 Sec. 3.8 has it. `x` begins one. ns-2 as well.") == [
        "See e.g. Jain.",
        "RFC 9293 Sec. 3.8 has it.",
        "Code begins one.",
        "ns-2 as well.",
    ]


def test_a_chain_of_passives_and_a_phrase_are_found(prose: ModuleType, tmp_path: Path) -> None:
    chain = "A packet is queued, then it is sent, and its copy was dropped."
    assert problems(prose, tmp_path, "page.md", chain) == [(1, "3 passives")]
    assert problems(prose, tmp_path, "page.md", "Ten packets, of which two are lost.") == [
        (1, "'of which' (a sentence)")
    ]


def test_messages_are_read_and_docstrings_only_of_what_users_call(prose: ModuleType) -> None:
    module = (
        f'"""{LONG}"""\n\nraise ValueError(\n    f"{{n}} packets, of which {{m}} are lost"\n)\nKEY = "of which"\n'
    )
    assert sorted(prose.of_python(module, False)) == [(4, "Code packets, of which Code are lost"), (6, "of which")]
    assert sorted(prose.of_python(module, True))[0] == (1, LONG)
    texts = prose.texts(ROOT / "python/roamsim/api.py")
    assert any(text.startswith("Runs a scenario at every combination") for _, text in texts)


def test_messages_of_rust_are_read_and_tests_are_not(prose: ModuleType) -> None:
    source = (
        '// "no message"\nfn f() { fail("the queue \\\n    holds {packets} packets") }\n'
        '#[cfg(test)]\nmod tests { const A: &str = "not this one"; }\n'
    )
    assert list(prose.of_rust(source)) == [(2, "the queue holds Code packets")]


def test_the_list_only_shrinks(
    prose: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("Two, of which one.\n")
    rules = tmp_path / "prose.toml"
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "RULES", rules)
    monkeypatch.setattr(prose, "files", lambda: [page])
    phrases = "[phrases]\n'\\bof which\\b' = 'a sentence'\n[not_yet]\n"

    rules.write_text(phrases)
    assert prose.main([]) == 1
    assert "page.md:1: 'of which' (a sentence): Two, of which one." in capsys.readouterr().out
    rules.write_text(phrases + '"page.md" = 1\n')
    assert prose.main([]) == 0
    page.write_text("Two, of which one. Four, of which two.\n")
    assert prose.main([]) == 1
    assert "page.md: 2 findings; docs/prose.toml allows 1" in capsys.readouterr().out
    page.write_text("Two.\n")
    assert prose.main([]) == 1
    assert "remove page.md, it has no findings" in capsys.readouterr().out
    rules.write_text(phrases + '"gone.md" = 1\n')
    assert prose.main([]) == 1
    assert "remove gone.md, there is no such file" in capsys.readouterr().out


def test_a_python_file_outside_of_the_package_is_read_without_its_docstrings(
    prose: ModuleType, tmp_path: Path
) -> None:
    text = f'"""{LONG}"""\n\nraise ValueError("{LONG}")\n'
    assert problems(prose, tmp_path, "program.py", text) == [(3, "38 words")]
    assert prose.main([str(tmp_path / "program.py")]) == 1
