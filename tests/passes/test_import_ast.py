"""Golden tests of *import*: ``import-ast/*.cu`` → the printed ``simt.Kernel`` next to it."""

from pathlib import Path

import pytest
from imported import kernels_of

from hipify_tile.ir.printer import print_ir

FILES = sorted(Path(__file__).with_name("import-ast").glob("*.cu"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_import(path, request):
    text = "\n".join(
        print_ir(result.kernel)
        if result.kernel
        else f"refused {cursor.spelling}: {result.diagnostics[0].code} at line "
        f"{result.diagnostics[0].span.line}: {result.diagnostics[0].headline}\n"
        for cursor, result in kernels_of(path)
    )
    expected = path.with_suffix(".expected")
    if request.config.getoption("--update-golden"):
        expected.write_text(text)
    assert text == expected.read_text()
