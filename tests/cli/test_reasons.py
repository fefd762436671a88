"""What the command line says besides verdicts: why it exits as it does, and what did not match."""

import json

import pytest

from hipify_tile.cli import session


def of_format(cli, *args):
    ran = cli("src", "--verify", "--format", "json", *args)
    return json.loads(ran.out), ran


def test_baseline_cannot_hide_an_unparsed_kernel_and_the_summary_says_so(cli, tree):
    tree({"a.cu": "refused unparsed"})
    cli("src", "--format", "json", "--output-file", "old.json")
    ran = cli("src", "--baseline", "old.json")
    assert ran.code == 1
    assert "exit      1: 1 kernel unparsed (hiding findings does not change that)" in ran.out
    quiet = cli("src", "--baseline", "old.json", "-q")
    assert (quiet.out, quiet.err) == ("", "exit 1: 1 kernel unparsed (hiding findings does not "
                                          "change that)\n")  # fmt: skip


def test_check_tells_would_change_from_findings(cli, tree):
    tree({"a.cu": "fill"})
    stale = cli("src", "-o", "out", "--check")
    assert stale.code == 1
    assert "check     2 files would change in out/" in stale.out
    assert "exit      1: 2 files would change" in stale.out
    report, ran = of_format(cli, "-o", "out", "--check")
    assert report["exit"] == {"status": 1, "reasons": {"outdated": 2}}
    assert ran.err == "exit 1: 2 files would change\n"
    cli("src", "-o", "out")
    report, ran = of_format(cli, "-o", "out", "--check")
    assert (ran.code, report["exit"]) == (0, {"status": 0, "reasons": {}})
    tree({"b.cu": "refused"})
    report, ran = of_format(cli, "-o", "out", "--check")
    assert report["exit"]["reasons"] == {"findings": 1, "outdated": 1}  # the manifest lists it
    cli("src", "-o", "out")
    report, ran = of_format(cli, "-o", "out", "--check")
    assert (ran.code, report["exit"]["reasons"]) == (1, {"findings": 1})


def test_diff_says_on_stderr_why_it_exits_with_one(cli, tree):
    tree({"a.cu": "fill refused"})
    ran = cli("src", "--diff")
    assert ran.code == 1
    assert ran.err == "exit 1: 1 finding\n"


def test_diff_of_a_tree_elsewhere_has_clean_paths(cli, tree, tmp_path, monkeypatch):
    source = tree({"a.cu": "fill"})
    monkeypatch.chdir(source)
    ran = cli(".", "--diff", "-o", str(tmp_path / "out"))
    assert f"+++ b{tmp_path}/out/a_cu.py" in ran.out
    assert "//" not in ran.out.splitlines()[1]


def test_only_that_matches_nothing_is_a_usage_error_with_near_names(cli, tree):
    tree({"a.cu": "fill scale"})
    ran = cli("src", "--only", "scael")
    assert ran.code == 2
    assert ran.err == "error: [TM0013] --only scael matches no kernel; the nearest: scale\n"
    far = cli("src", "--only", "fill", "--only", "zzz*")
    assert far.code == 2
    assert "kernels here: fill, scale" in far.err


def test_keep_that_matches_nothing_is_a_warning_and_in_settings_a_note(cli, tree, tmp_path):
    tree({"a.cu": "fill"})
    report, ran = of_format(cli, "--keep", "fil")
    (found,) = [d for d in report["diagnostics"] if d["code"] == "TM0013"]
    assert (ran.code, found["severity"], found["notes"]) == (1, "warning", ["the nearest: fill"])
    (tmp_path / "tile-migrate.toml").write_text('keep = ["fil"]\nonly = ["nothing", "fill"]\n')
    report, ran = of_format(cli)
    found = [d["severity"] for d in report["diagnostics"] if d["code"] == "TM0013"]
    assert (ran.code, found) == (0, ["note", "note"])


def test_patterns_match_qualified_names_and_ids(cli, tree):
    tree({"a.cu": "fill"})
    assert cli("src", "--only", "a.cu:*").code == 0


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--level", "tile"), "TM0014"),
        (("--keep", "fill"), "TM0010"),
        (("--target", "ascend"), "TM2401"),
    ],
)
def test_kept_by_choice_shows_its_code_in_every_format(cli, tree, args, code):
    tree({"a.cu": "fill"})
    report, ran = of_format(cli, *args)
    (kernel,) = report["kernels"]
    assert (ran.code, kernel["verdict"]) == (0, "kept")
    assert code in kernel["diagnostics"]
    (row,) = [x for x in cli("src", "--verify", *args).out.splitlines() if x.startswith("fill")]
    assert row.split()[-1] == code
    page = cli("src", "--verify", "--format", "html", *args).out
    assert f">{code}</span>" in page.split("<tbody>")[1].split("</tbody>")[0]


def test_level_that_is_left_out_is_not_executed(cli, tree):
    tree({"a.cu": "fill"})
    report, _ = of_format(cli, "--level", "tile")
    assert set(report["kernels"][0]["levels"]) == {"tile"}
    headlines = [d["message"] for d in report["diagnostics"] if d["code"] == "TM0014"]
    assert headlines == ["level tile cannot be had; loop can"]


def test_unverified_for_lack_of_asking_shows_its_code(cli, tree):
    tree({"a.cu": "fill"})
    (row,) = [x for x in cli("src").out.splitlines() if x.startswith("fill")]
    assert row.split()[-1] == "TM5008"


def test_usage_errors_name_the_program_not_its_default_command(cli):
    ran = cli("--no-such-option", "src")
    assert ran.err.startswith("Usage: tile-migrate [OPTIONS] {PATH}...\nTry 'tile-migrate -h'")


def test_misspelled_command_names_the_nearest_one(cli, tree):
    tree({"a.cu": "fill"})
    ran = cli("verfy", "src")
    assert (ran.code, "did you mean `verify`?" in ran.err) == (2, True)
    tree({"../verfy/a.cu": "fill"})
    assert cli("verfy").code == 0  # a folder of that name
    assert cli("--verify", "src").code == 0  # an option is no command


def test_negative_number_of_processes_is_a_usage_error(cli, tree):
    tree({"a.cu": "fill"})
    ran = cli("src", "-j", "-3")
    assert (ran.code, "0 or more" in ran.err) == (2, True)


def test_no_sources_names_the_folder_and_shows_no_excerpt(cli, tmp_path):
    (tmp_path / "none").mkdir()
    ran = cli("none")
    assert "error[TM0009]: no CUDA source was found in none\n  = help" in ran.out


def test_both_commands_make_the_same_request(cli, tree, monkeypatch):
    """Every shared option reaches the request from ``run`` as from ``verify``."""
    tree({"a.cu": "fill"})
    asked = []
    real = session.make_report
    monkeypatch.setattr(
        session, "make_report", lambda request, stages: asked.append(request) or real(request)
    )
    options = ["--only", "fill", "--keep", "x", "--level", "loop", "--target", "cpu", "-j", "1"]
    options += ["--seed", "7", "--no-cache", "-q", "--", "-DX=1"]
    cli("src", "--verify", *options)
    cli("verify", "src", *options)
    assert asked[0] == asked[1]
    assert asked[0].clang_args == ("-DX=1",)
    assert (asked[0].level, asked[0].target, asked[0].only) == ("loop", "cpu", ("fill",))


def test_one_cache_folder_for_verdicts_and_compiled_code(monkeypatch, tmp_path):
    from hipify_tile.cache import default_directory
    from hipify_tile.compat import user_cache_dir

    monkeypatch.setenv("TILE_MIGRATE_CACHE", str(tmp_path))
    assert default_directory() == user_cache_dir() == tmp_path
    monkeypatch.delenv("TILE_MIGRATE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_directory() == user_cache_dir() == tmp_path / "tile-migrate"
