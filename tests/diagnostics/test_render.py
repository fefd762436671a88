"""Rendered diagnostics: excerpts of any bytes, 80 columns, stable text."""

from pathlib import Path

import pytest

from hipify_tile.diagnostics.model import Edit, Label
from hipify_tile.diagnostics.registry import REGISTRY, diagnostic
from hipify_tile.diagnostics.render import concise, github, sarif, text
from hipify_tile.ir.span import Span


def span_of(path: Path, needle: bytes, last: bool = False) -> Span:
    raw = path.read_bytes()
    start = raw.rindex(needle) if last else raw.index(needle)
    line = raw.count(b"\n", 0, start) + 1
    column = start - raw.rfind(b"\n", 0, start)
    return Span(str(path), line, column, start, start + len(needle))


@pytest.fixture
def bfs(tmp_path):
    path = tmp_path / "bfs.cu"
    path.write_bytes(
        b"__global__ void bfs(int *level) {\n"
        b"    int v = blockIdx.x * blockDim.x + threadIdx.x;\n"
        b"    int w = 0;\n"
        b"    if (level[v] == 3) {\n"
        b"        __syncthreads();\n"
        b"    }\n"
        b"}\n"
    )
    return path


def test_excerpt_shows_the_cause(bfs, tmp_path):
    d = diagnostic(
        "TM1204",
        span_of(bfs, b"__syncthreads()"),
        labels=(
            Label(
                span_of(bfs, b"blockIdx.x * blockDim.x + threadIdx.x"), "differs between threads"
            ),
            Label(span_of(bfs, b"level[v] == 3"), "so this branch is divergent"),
            Label(span_of(bfs, b"__syncthreads()"), "barrier inside it"),
        ),
        notes=("bfs was kept as CUDA",),
        help="move the barrier after the `if`",
    )
    assert text.render(d, str(tmp_path)) == (
        "error[TM1204]: barrier is reached by only some threads\n"
        " --> bfs.cu:5:9\n"
        "  |\n"
        "2 |     int v = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  |             ------------------------------------- differs between threads\n"
        "...\n"
        "4 |     if (level[v] == 3) {\n"
        "  |         ------------- so this branch is divergent\n"
        "5 |         __syncthreads();\n"
        "  |         ^^^^^^^^^^^^^^^ barrier inside it\n"
        "  |\n"
        "  = note: bfs was kept as CUDA\n"
        "  = help: move the barrier after the `if`\n"
        "  = more: tile-migrate explain TM1204"
    )


@pytest.mark.parametrize(
    ("raw", "needle", "shown"),
    [
        (b"int a;\r\nx = 1;\r\n", b"x", "2 | x = 1;\n  | ^\n"),
        (b"\xef\xbb\xbfx = 1;\n", b"x", "1 | x = 1;\n  | ^\n"),
        (b"\tint\tx;\n", b"x", "1 |     int x;\n  |         ^\n"),
        (b"/* caf\xe9 */ x = 1;\n", b"x", "1 | /* café */ x = 1;\n  |            ^\n"),
        ("/* café */ x = 1;\n".encode(), b"x", "1 | /* café */ x = 1;\n  |            ^\n"),
        (b"a\x00b x\n", b"x", "1 | a\N{REPLACEMENT CHARACTER}b x\n  |     ^\n"),
        (b"k<<<1,\n   2>>>(p);\n", b"k<<<1,\n   2>>>(p)", "1 | k<<<1,\n  | ^^^^^^\n"),
    ],
)
def test_any_bytes(tmp_path, raw, needle, shown):
    path = tmp_path / "x.cu"
    path.write_bytes(raw)
    span = span_of(path, needle)
    if raw.startswith(b"\xef\xbb\xbf"):
        span = Span(span.file, 1, 1, 3, 4)
    assert shown in text.render(diagnostic("TM1001", span), str(tmp_path)) + "\n"


def test_long_lines_are_cut_and_texts_wrapped(tmp_path):
    path = tmp_path / "x.cu"
    path.write_text("x = " + "1 + " * 100 + "1;\n")
    d = diagnostic(
        "TM1001", span_of(path, b"x"), notes=("a note " * 30,), help="do this " * 20,
        labels=(Label(span_of(path, b"x"), "a label " * 20),),
    )  # fmt: skip
    assert max(map(len, text.render(d, str(tmp_path)).split("\n"))) <= 80


def test_missing_file_and_missing_place(tmp_path):
    gone = diagnostic("TM0003", Span(str(tmp_path / "gone.cu"), 3, 1, 0, 5))
    assert "--> gone.cu:3:1" in text.render(gone, str(tmp_path))
    nowhere = diagnostic("TM0009")
    assert text.render(nowhere, str(tmp_path)).startswith("error[TM0009]")
    assert concise.render(nowhere, str(tmp_path)).startswith("tile-migrate error[TM0009]")


def test_label_in_another_file_is_a_remark(bfs, tmp_path):
    other = tmp_path / "k.cuh"
    other.write_text("int x;\n")
    labels = (Label(span_of(other, b"x"), "declared here"),)
    d = diagnostic("TM1003", span_of(bfs, b"level"), labels=labels)
    assert "= see: k.cuh:1: declared here" in text.render(d, str(tmp_path))


def test_github_escapes(bfs, tmp_path):
    d = diagnostic("TM1204", span_of(bfs, b"int v"), headline="100% a\nb", help="x")
    line = github.render(d, str(tmp_path))
    assert line == "::error file=bfs.cu,line=2,col=5,title=TM1204::100%25 a%0Ab%0Ahelp: x"


def test_sarif_fix_and_related(bfs, tmp_path):
    from dataclasses import replace

    d = diagnostic(
        "TM1204", span_of(bfs, b"__sync"), labels=(Label(span_of(bfs, b"level"), "here"),)
    )
    d = replace(d, edits=(Edit(span_of(bfs, b"w = 0"), "w = 1"),))
    log = sarif.as_dict([d, d], str(tmp_path), version="1.2.3")
    (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
    assert rule["help"]["markdown"].startswith("# TM1204")
    assert "helpUri" not in rule
    result = log["runs"][0]["results"][0]
    assert result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {
        "text": "w = 1"
    }
    assert result["relatedLocations"][0]["message"]["text"] == "here"
    first, second = (r["partialFingerprints"] for r in log["runs"][0]["results"])
    assert first != second


def test_sarif_columns_count_utf16_units(tmp_path):
    path = tmp_path / "x.cu"
    path.write_text("/* \N{GRINNING FACE}é */ x;\n")
    d = diagnostic("TM1001", span_of(path, b"x"))
    log = sarif.as_dict([d], str(tmp_path), version="1")
    region = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 11}


def test_headlines_obey_the_text_rules():
    for row in REGISTRY.values():
        assert len(row.headline) < 60, row
        assert not row.headline.endswith("."), row
        words = row.headline.split()
        assert words[0][:1].islower() or words[0] in ("TileLang",) or words[0].isupper(), row
        assert not {"please", "possibly"} & set(words), row
