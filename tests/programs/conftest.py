"""Whole programs need the runtime library. Building all takes minutes: a few run by default."""

import pytest

from hipify_tile.compat import library_path

# Node ids' ends. The others carry the mark `full`.
DEFAULT = (
    "test_every_mode_gives_the_same_result[01_heat_streams]",
    "test_ddmin_finds_a_set_of_which_nothing_can_be_left_out",
    "test_bisect_finds_two_kernels_that_break_it_together",
    "test_run_passes_status_and_summary_on",
    "test_case_runs_in_every_mode[44_device_linkage]",
    "test_recorded_launches_are_replayed",
    "test_a_wrong_kernel_is_found",
    "test_cmake_builds_again_what_a_header_changes_and_nothing_else",
    "test_every_mode_gives_the_same_result[06_nbody_graph]",
    "test_nvcc_and_gxx_make_programs_of_one_result[01_heat_streams]",
    "test_names_of_nvcc_and_gxx_meet[static]",
    "test_kernels_without_code_are_errors_with_a_name",
    "test_programs_need_neither_python_nor_cuda",
    "test_allocations_fail_when_memory_is_used_up[kept]",
    "test_a_faulting_kernel_is_an_error_that_stays[kept-address]",
)


def _has_runtime() -> bool:
    try:
        library_path("cudart")
    except OSError:
        return False
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ours = [item for item in items if "tests/programs/" in item.path.as_posix()]
    if ours and not _has_runtime():
        for item in ours:
            item.add_marker(pytest.mark.skip(reason="libtm_cudart is not part of this build"))
    for item in ours:
        if not item.nodeid.endswith(DEFAULT):
            item.add_marker(pytest.mark.full)
