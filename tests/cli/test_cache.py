"""The cache answers only when nothing that matters has changed."""

import json
import time
from dataclasses import replace

import pytest

from hipify_tile import driver


@pytest.fixture
def runs(cli, monkeypatch):
    fresh = []
    real = driver.process_unit

    def counting(job):
        fresh.append(job.unit.path.rpartition("/")[2])
        return real(job)

    monkeypatch.setattr(driver, "process_unit", counting)

    def call(*args):
        fresh.clear()
        cli("src", "-j", "1", *args)
        return sorted(fresh)

    return call


def test_second_run_analyses_nothing(runs, tree):
    tree({"a.cu": "fill", "b.cu": "scale"})
    assert runs() == ["a.cu", "b.cu"]
    assert runs() == []
    assert runs("--no-cache") == ["a.cu", "b.cu"]


def test_an_edit_costs_its_own_file_only(runs, tree):
    source = tree({"a.cu": "fill", "b.cu": "scale"})
    runs()
    (source / "a.cu").write_text((source / "a.cu").read_text() + "// edited\n")
    assert runs() == ["a.cu"]


def test_verdicts_come_from_the_cache(runs, cli, tree):
    tree({"a.cu": "fill"})
    runs("--verify")
    report = json.loads(cli("src", "--format", "json").out)
    assert report["kernels"][0]["verdict"] == "verified"
    assert runs("--verify") == []
    assert runs("--verify", "--seed", "5") == ["a.cu"]


def test_options_and_arguments_are_part_of_the_key(runs, tree):
    tree({"a.cu": "fill"})
    runs()
    assert runs("--level", "loop") == ["a.cu"]
    assert runs("--keep", "fill") == ["a.cu"]
    assert runs("--", "-DX=1") == ["a.cu"]
    assert runs("--", "-DX=1") == []


def test_a_new_header_beside_the_source_is_noticed(runs, tree):
    source = tree({"a.cu": "fill"})
    runs()
    (source / "new.h").write_text("\n")
    assert runs() == ["a.cu"]


def test_an_edit_during_the_run_is_not_hidden(cli, tree, monkeypatch):
    source = tree({"a.cu": "fill"})
    text = (source / "a.cu").read_text()
    real = driver.process_unit
    done = []

    def edited_meanwhile(job):
        stages = job.stages

        def analyze(unit):
            found = stages.analyze(unit)
            if not done:
                time.sleep(0.02)
                (source / "a.cu").write_text(text + "// edited\n")
            done.append(unit.path)
            return found

        return real(replace(job, stages=replace(stages, analyze=analyze)))

    monkeypatch.setattr(driver, "process_unit", edited_meanwhile)
    cli("src", "-j", "1")
    cli("src", "-j", "1")
    assert len(done) == 2
    cli("src", "-j", "1")
    assert len(done) == 2


def test_our_bugs_are_not_cached(runs, tree):
    tree({"a.cu": "crash_emit"})
    runs()
    assert runs() == ["a.cu"]


def test_a_damaged_entry_is_a_miss(runs, tree, tmp_path):
    tree({"a.cu": "fill"})
    runs()
    for path in (tmp_path / ".cache").rglob("*.emitted-*"):
        path.write_bytes(path.read_bytes()[:100])
    assert runs() == ["a.cu"]


def test_a_cached_run_over_many_files_is_fast(runs, tree):
    tree({f"f{i}.cu": "fill scale copy" for i in range(40)})
    runs("--verify")
    started = time.perf_counter()
    assert runs("--verify") == []
    assert time.perf_counter() - started < 3.0
