"""``--in-place`` edits the sources, once, and only what git can give back."""

import subprocess

import pytest

SOURCE = "__global__ void k(int *x) { *x = 1; }\nvoid f(int *x) { k<<<1, 1>>>(x); }\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a.cu"
    path.write_text(SOURCE)
    return path


def git(folder, *words):
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True)


def test_without_a_repository_nothing_is_edited(cli, source):
    shown = cli(str(source), "--in-place")
    assert shown.code == 1
    assert "[TM6002]" in shown.err
    assert source.read_text() == SOURCE


def test_clean_tree_is_edited_once(cli, source):
    folder = source.parent
    git(folder, "init", "-q")
    git(folder, "add", "a.cu")
    assert cli(str(source), "--in-place").code == 1
    git(folder, "commit", "-qm", "x")
    assert cli(str(source), "--in-place").code == 0
    edited = source.read_text()
    assert "TM_LAUNCH((k), (1, 1), (x))" in edited
    git(folder, "commit", "-qam", "y")
    again = cli(str(source), "--in-place", "--", f"-I{include()}")
    assert again.code == 0
    assert source.read_text() == edited


def include():
    from hipify_tile.compat import include_dir

    return include_dir()
