"""--only, --keep, --level, --target, suppressions and baselines."""

import json

from hipify_tile.cli import session


def report(cli, *args):
    return json.loads(cli("src", "--verify", "--format", "json", *args).out)


def test_keep_and_only(cli, tree):
    tree({"a.cu": "fill scale copy"})
    kept = report(cli, "--keep", "sc*")
    assert {k["name"]: k["verdict"] for k in kept["kernels"]} == {
        "fill": "verified", "scale": "kept", "copy": "verified",
    }  # fmt: skip
    only = report(cli, "--only", "fill")
    assert [k["verdict"] for k in only["kernels"]] == ["verified", "kept", "kept"]
    assert only["kernels"][1]["diagnostics"] == ["TM0010"]


def test_level_and_target(cli, tree):
    tree({"a.cu": "fill"})
    assert report(cli, "--level", "loop")["kernels"][0]["verdict"] == "verified"
    assert report(cli, "--level", "tile")["kernels"][0]["verdict"] == "kept"
    asked = report(cli, "--target", "ascend")["kernels"][0]
    assert asked["verdict"] == "kept"
    assert "TM2401" in asked["diagnostics"]


def test_comment_hides_a_finding_but_not_the_verdict(cli, tree):
    source = tree({"a.cu": "refused"}) / "a.cu"
    source.write_text("// tile-migrate: ignore[TM1204] known\n" + source.read_text())
    ran = cli("src", "--format", "json")
    found = json.loads(ran.out)
    assert ran.code == 0
    assert found["totals"]["suppressed"] == 1
    assert found["kernels"][0]["verdict"] == "kept"
    assert found["kernels"][0]["diagnostics"] == ["TM1204"]


def test_unused_comment_is_reported(cli, tree):
    source = tree({"a.cu": "fill"}) / "a.cu"
    source.write_bytes(b"// \xe9 tile-migrate: ignore[TM1204]\r\n" + source.read_bytes())
    assert cli("src", "--format", "concise").out == ""
    source.write_bytes(b"int e; // tile-migrate: ignore[TM1204]\r\n" + source.read_bytes())
    ran = cli("src", "--format", "concise")
    assert ran.code == 1
    assert ran.out == "src/a.cu:1:8 warning[TM0011] suppression of TM1204 hides nothing\n"


def test_unused_comment_on_verification_is_judged_only_when_executed(cli, tree):
    source = tree({"a.cu": "fill"}) / "a.cu"
    source.write_text("// tile-migrate: ignore[TM5003] x\n" + source.read_text())
    assert cli("src").code == 0
    assert cli("src", "--verify").code == 1


def test_configuration_ignores_by_path(cli, tree):
    source = tree({"old/a.cu": "refused", "b.cu": "refused"})
    (source / "tile-migrate.toml").write_text('[per-file-ignores]\n"old/*" = ["TM1204"]\n')
    assert cli("src", "--format", "concise").out.startswith("src/b.cu:")


def test_baseline_hides_old_findings_only(cli, tree):
    source = tree({"a.cu": "refused"})
    cli("src", "--format", "json", "--output-file", "old.json")
    assert cli("src", "--baseline", "old.json").code == 0
    text = (source / "a.cu").read_text()
    (source / "a.cu").write_text("\n\n" + text + text.replace("refused", "new_refused"))
    ran = cli("src", "--baseline", "old.json", "--format", "concise")
    assert ran.code == 1
    assert ran.out.count("\n") == 1


def test_our_bugs_cannot_be_hidden(cli, tree):
    source = tree({"a.cu": "crash_emit"})
    (source / "tile-migrate.toml").write_text('[per-file-ignores]\n"*" = ["TM9001"]\n')
    assert cli("src").code == 101


def test_cases_that_differ_are_saved_whatever_the_cache_holds(cli, tree, tmp_path, monkeypatch):
    """The folder reaches the stage that verifies, and no stored verdict takes its place."""
    tree({"a.cu": "wrong"})
    asked = []
    faked = session.run_project

    def noting(project, options, stages, progress):
        asked.append((stages.verify.keywords, options.cache))
        return faked(project, options, stages, progress)

    cli("verify", "src")
    monkeypatch.setattr(session, "run_project", noting)
    assert cli("verify", "src", "--save-failures", "cases").code == 1
    assert asked == [({"save_failures": tmp_path / "cases"}, None)]
    assert (tmp_path / "cases").is_dir()


def test_a_folder_for_cases_that_cannot_be_made_is_a_usage_error(cli, tree, tmp_path):
    tree({"a.cu": "fill"})
    (tmp_path / "cases").write_text("")
    assert cli("verify", "src", "--save-failures", "cases").code == 2


def test_settings_for_target_and_output_folder_take_effect(cli, tree, tmp_path):
    tree({"a.cu": "fill"})
    settings = tmp_path / "tile-migrate.toml"
    settings.write_text('target = "ascend"\nout = "migrated"\n')
    (row,) = report(cli)["kernels"]
    assert row["verdict"] == "kept"  # the emission runs on cuda, hip and cpu
    assert "create migrated/" in cli("src", "--dry-run").out
    settings.write_text('target = "cpu"\n')
    (row,) = report(cli)["kernels"]
    assert row["verdict"] == "verified"
