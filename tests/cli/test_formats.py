"""One report, many formats; the JSON keeps schema 1 and its totals add up."""

import json
import re

import jsonschema
import pytest

from hipify_tile.report import json as json_report

ALL = "fill refused unparsed wrong untested"


@pytest.fixture
def report(cli, tree):
    tree({"a.cu": ALL, "sub/b.cu": "scale"})
    return json.loads(cli("src", "--verify", "--format", "json").out)


def test_json_conforms_to_schema_1(report):
    jsonschema.Draft202012Validator.check_schema(json_report.schema())
    jsonschema.validate(report, json_report.schema())
    assert report["root"] == "src"
    assert [f["path"] for f in report["files"]] == ["a.cu", "sub/b.cu"]


def test_totals_add_up(report):
    totals = report["totals"]["kernels"]
    assert totals == {"all": 6, "verified": 2, "unverified": 1, "kept": 2, "unparsed": 1}
    for verdict in ("verified", "unverified", "kept", "unparsed"):
        counted = sum(k["verdict"] == verdict for k in report["kernels"])
        assert counted == totals[verdict]


def test_each_verdict_has_its_reason_and_targets(report):
    rows = {k["name"]: k for k in report["kernels"]}
    assert rows["wrong"]["level"] is None
    assert rows["wrong"]["targets"]["cpu"] is None
    assert rows["wrong"]["targets"]["cuda"] == "kept"
    assert rows["wrong"]["verification"]["max_abs_error"] == 4.0
    assert "TM5001" in rows["wrong"]["diagnostics"]
    assert rows["refused"]["effort"] == "hours"
    assert rows["fill"]["effort"] == "none"
    assert rows["fill"]["targets_executed"] == ["cpu"]
    assert rows["fill"]["targets"] == {
        "cuda": "loop", "hip": "loop", "metal": None, "webgpu": None, "cpu": "loop", "ascend": None,
    }  # fmt: skip
    assert rows["untested"]["targets_executed"] == []
    assert rows["unparsed"]["targets"]["cuda"] is None


def test_sarif_has_relative_uris_rules_and_distinct_fingerprints(cli, tree):
    tree({"a.cu": "refused also_refused", "b c.cu": "refused"})
    log = json.loads(cli("src", "--format", "sarif").out)
    run = log["runs"][0]
    assert log["version"] == "2.1.0"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["TM1204"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["help"]["text"] == "Run: tile-migrate explain TM1204"
    uris = {
        r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]
    }
    assert uris == {"src/a.cu", "src/b%20c.cu"}
    prints = [r["partialFingerprints"]["tileMigrate/v1"] for r in run["results"]]
    assert len(set(prints)) == 3
    assert all(rules[r["ruleIndex"]] == r["ruleId"] for r in run["results"])


def test_sarif_fingerprints_survive_edits_above(cli, tree, tmp_path):
    source = tree({"a.cu": "refused"}) / "a.cu"

    def prints():
        log = json.loads(cli("src", "--format", "sarif").out)
        return [r["partialFingerprints"] for r in log["runs"][0]["results"]]

    before = prints()
    source.write_text("// a new first line\n" + source.read_text())
    assert prints() == before


def test_github_and_concise_take_a_line_a_finding(cli, tree):
    tree({"a.cu": "refused"})
    github = cli("src", "--format", "github").out
    concise = cli("src", "--format", "concise").out
    assert github.startswith("::error file=src/a.cu,line=1,col=17,title=TM1204::barrier is")
    assert concise == ("src/a.cu:1:17 error[TM1204] barrier is reached by only some threads\n")


def test_html_is_self_contained(cli, tree, tmp_path):
    tree({"a.cu": ALL})
    page = cli("src", "--verify", "--format", "html").out
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)|@import|url\(""", page)
    for expected in ("1 of 5 kernels verified", "TM1204", "<svg"):
        assert expected in page
    assert "prefers-color-scheme: dark" in page
    assert "<script>" in page


def test_html_escapes_what_the_source_says(cli, tree):
    folder = tree({"a.cu": "fill"})
    source = folder / "a.cu"
    source.write_text(source.read_text().replace("p[0]", "/*<script>alert(1)</script>*/ p[0]"))
    page = cli("src", "--format", "html").out
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_report_writes_three_files_and_no_more(cli, tree, tmp_path):
    tree({"a.cu": "fill"})
    ran = cli("src", "--report", "--report-dir", "rep")
    written = sorted(p.name for p in (tmp_path / "rep").iterdir())
    assert written == ["index.html", "report.json", "report.sarif"]
    assert "rep/index.html" in ran.out


def test_output_file(cli, tree, tmp_path):
    tree({"a.cu": "fill"})
    ran = cli("src", "--format", "json", "--output-file", "r.json")
    assert ran.out == ""
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == 1


def test_text_fits_80_columns_and_ends_with_the_next_action(cli, tree):
    tree({"a.cu": ALL, "a/very/deep/folder/with/a/long/name/" + "x" * 50 + ".cu": "k" * 60})
    out = cli("src", "--verify", "--report").out
    assert max(map(len, out.splitlines())) <= 80
    assert out.splitlines()[-1].startswith("next      tile-migrate explain TM")
    assert "\x1b" not in out
    assert "2 verified · 1 unverified · 2 kept · 1 unparsed   of 6" in out


def test_quiet_prints_findings_only(cli, tree):
    tree({"a.cu": "fill refused"})
    assert cli("src", "-q").out.count("\n") == 1
