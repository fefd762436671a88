"""What a launch and a thread cost on the CPU, as nanoseconds and against plain C++ in the same run.

Compiles the engine and one program with g++; prints a table. A ratio is time / time of the named
peer: a function queued to a ``std::thread`` and waited for, a hand-written loop that OpenMP spreads
over as many OS threads, one ``swapcontext``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
from runtime_objects import build_objects, build_program


def main() -> None:
    """Build, run, print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = ("-O2", "-march=native", "-fopenmp")
        program = build_program("overhead", build_objects(folder / "o"), folder, flags)
        text = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    print(f"{'what':<44}{'ns':>10}{'peer ns':>10}{'ratio':>8}")
    for line in text.splitlines():
        row = json.loads(line)
        ratio = row["ns"] / row["peer"]
        print(f"{row['what']:<44}{row['ns']:>10.1f}{row['peer']:>10.1f}{ratio:>8.2f}")


if __name__ == "__main__":
    main()
