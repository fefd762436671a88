"""Exit status: 0 clean, 1 findings or would change, 2 usage or configuration, 101 our bug."""

import json

import pytest


def test_clean_run_exits_with_zero(cli, tree):
    tree({"a.cu": "fill scale"})
    assert cli("src", "--verify").code == 0


def test_unverified_for_lack_of_asking_is_no_finding(cli, tree):
    tree({"a.cu": "fill"})
    ran = cli("src", "--format", "json")
    report = json.loads(ran.out)
    assert ran.code == 0
    assert report["kernels"][0]["verdict"] == "unverified"
    assert report["kernels"][0]["diagnostics"] == ["TM2002", "TM5008"]


@pytest.mark.parametrize("name", ["refused", "unparsed", "wrong", "untested"])
def test_any_kernel_that_is_not_migrated_exits_with_one(cli, tree, name):
    tree({"a.cu": f"fill {name}"})
    assert cli("src", "--verify").code == 1


def test_no_source_is_a_finding(cli, tmp_path):
    (tmp_path / "src").mkdir()
    ran = cli("src")
    assert ran.code == 1
    assert "TM0009" in ran.out


@pytest.mark.parametrize(
    "args",
    [
        ("missing",),
        ("src", "--no-such-option"),
        ("src", "--level", "best"),
        ("src", "--config", "missing.toml"),
        ("src", "--baseline", "missing.json"),
        ("explain", "TM7777"),
        (),
        ("--report",),
    ],
)
def test_usage_errors_exit_with_two(cli, tree, args):
    tree({"a.cu": "fill"})
    assert cli(*args).code == 2


def test_bad_configuration_exits_with_two_and_names_the_key(cli, tree, tmp_path):
    tree({"a.cu": "fill"})
    (tmp_path / "src" / "tile-migrate.toml").write_text('exclud = ["x"]\n')
    ran = cli("src")
    assert ran.code == 2
    assert "exclude" in ran.err
    assert "TM0006" in ran.err


@pytest.mark.parametrize("name", ["crash_emit", "crash_verify", "crash_analyze"])
def test_our_bug_costs_one_kernel_and_exits_with_101(cli, tree, name):
    tree({"a.cu": f"fill {name}", "b.cu": "scale"})
    ran = cli("src", "--verify", "--format", "json")
    report = json.loads(ran.out)
    verdicts = {k["name"]: k["verdict"] for k in report["kernels"]}
    assert ran.code == 101
    assert verdicts["scale"] == "verified"
    assert [d["code"] for d in report["diagnostics"] if d["severity"] == "error"] == ["TM9001"]
    if name != "crash_analyze":
        assert verdicts == {"fill": "verified", name: "kept", "scale": "verified"}
        broken = next(k for k in report["kernels"] if k["name"] == name)
        assert "ZeroDivisionError" in broken["extra"]["traceback"]
