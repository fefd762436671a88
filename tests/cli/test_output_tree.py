"""Migrating: sources untouched, nothing foreign overwritten, twice changes nothing."""

import hashlib
import json
from pathlib import Path

from hipify_tile.output import module_paths


def snapshot(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def test_writes_a_module_a_source_and_a_manifest(cli, tree, tmp_path):
    source = tree({"a.cu": "fill refused", "sub/a.cu": "scale", "b.cu": "refused"})
    before = snapshot(source)
    ran = cli("src", "-o", "out")
    assert ran.code == 1
    assert sorted(snapshot(tmp_path / "out")) == ["a_cu.py", "manifest.json", "sub/a_cu.py"]
    assert snapshot(source) == before
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    files = {row["id"]: row["file"] for row in manifest["kernels"]}
    assert files == {
        "a.cu:fill": "a_cu.py",
        "sub/a.cu:scale": "sub/a_cu.py",
        "a.cu:refused": None,
        "b.cu:refused": None,
    }
    assert str(tmp_path) not in (tmp_path / "out/manifest.json").read_text()


def test_second_run_changes_nothing(cli, tree, tmp_path):
    tree({"a.cu": "fill", "b.cuh": "scale"})
    cli("src", "-o", "out")
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*")}
    ran = cli("src", "-o", "out")
    assert "nothing new" in ran.out
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*")} == times
    assert sorted(p.name for p in tmp_path.iterdir()) == [".cache", "out", "src"]


def test_a_run_on_a_part_loses_nothing(cli, tree, tmp_path):
    tree({"a.cu": "fill", "sub/b.cu": "scale"})
    cli("src", "-o", "out")
    before = snapshot(tmp_path / "out")
    for part in (("src/a.cu",), ("src", "--only", "fill")):
        ran = cli(*part, "-o", "out")
        assert ran.code == 2
        assert snapshot(tmp_path / "out") == before
    (tmp_path / "src/a.cu").write_text("__global__ void refused() {}\n")
    cli("src", "-o", "out")
    assert sorted(snapshot(tmp_path / "out")) == ["manifest.json", "sub/b_cu.py"]


def test_same_stems_never_collide(cli, tree, tmp_path):
    tree({"axpy.cu": "a", "axpy.cuh": "b", "x/axpy.cu": "c", "a.b.cu": "d", "a_b.cu": "e"})
    cli("src", "-o", "out")
    modules = [p for p in snapshot(tmp_path / "out") if p.endswith(".py")]
    assert len(modules) == 5
    text = "".join((tmp_path / "out" / p).read_text() for p in modules)
    assert all(f"def {name}()" in text for name in "abcde")


def test_module_paths_differ_even_where_case_does_not_count():
    names = module_paths(["K.cu", "k.cu", "a.b.cu", "a_b.cu", "../x.cu", "/y/x.cu", "1.cu"])
    assert len({path.casefold() for path in names.values()}) == len(names)
    assert all(".." not in path and not path.startswith("/") for path in names.values())
    assert names["1.cu"] == "_1_cu.py"


def test_unverified_kernels_are_written_only_on_request(cli, tree, tmp_path):
    tree({"a.cu": "untested"})
    cli("src", "-o", "out")
    assert sorted(snapshot(tmp_path / "out")) == ["manifest.json"]
    cli("src", "-o", "out2", "--no-verify")
    assert sorted(snapshot(tmp_path / "out2")) == ["a_cu.py", "manifest.json"]


def test_wrong_kernels_are_never_written(cli, tree, tmp_path):
    tree({"a.cu": "wrong"})
    cli("src", "-o", "out")
    assert sorted(snapshot(tmp_path / "out")) == ["manifest.json"]


def test_foreign_and_edited_files_are_refused(cli, tree, tmp_path):
    tree({"a.cu": "fill"})
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a_cu.py").write_text("mine\n")
    ran = cli("src", "-o", "out")
    assert ran.code == 2
    assert "a_cu.py" in ran.err
    assert (tmp_path / "out/a_cu.py").read_text() == "mine\n"
    assert not (tmp_path / "out/manifest.json").exists()
    cli("src", "-o", "new")
    (tmp_path / "new/a_cu.py").write_text("edited\n")
    assert cli("src", "-o", "new").code == 2
    assert (tmp_path / "new/a_cu.py").read_text() == "edited\n"


def test_stale_modules_go_away_unless_edited(cli, tree, tmp_path):
    source = tree({"a.cu": "fill", "b.cu": "scale"})
    cli("src", "-o", "out")
    (source / "b.cu").unlink()
    cli("src", "-o", "out")
    assert sorted(snapshot(tmp_path / "out")) == ["a_cu.py", "manifest.json"]


def test_output_inside_the_source_tree_is_not_scanned(cli, tree, tmp_path):
    tree({"a.cu": "fill", "out/old.cu": "old"})
    report = json.loads(cli("src", "-o", "src/out", "--format", "json").out)
    assert [k["name"] for k in report["kernels"]] == ["fill"]
    again = json.loads(cli("src", "-o", "src/out", "--format", "json").out)
    assert again["totals"]["kernels"] == report["totals"]["kernels"]


def test_dry_run_diff_and_check_write_nothing(cli, tree, tmp_path):
    tree({"a.cu": "fill"})
    dry = cli("src", "-o", "out", "--dry-run")
    assert "create out/a_cu.py" in dry.out
    diff = cli("src", "-o", "out", "--diff")
    assert "+++ b/out/a_cu.py" in diff.out
    assert "+def fill():" in diff.out
    assert cli("src", "-o", "out", "--check").code == 1
    assert not (tmp_path / "out").exists()
    assert cli("src", "-o", "out").code == 0
    assert cli("src", "-o", "out", "--check").code == 0
    assert cli("src", "-o", "out", "--diff").out == ""


def test_check_fails_after_the_source_changed(cli, tree, tmp_path):
    source = tree({"a.cu": "fill"})
    cli("src", "-o", "out")
    (source / "a.cu").write_text((source / "a.cu").read_text().replace("fill", "full"))
    assert cli("src", "-o", "out", "--check").code == 1
