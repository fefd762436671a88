#!/usr/bin/env bash
# Makes .venv with everything that tile-migrate and its tests need, native parts included.
# Takes seconds when nothing changed since the last time.
#
#   PYTHON       interpreter to use (default: the first of python3, python3.11 … that is 3.11 or newer)
#   TORCH_SPEC   what to install for TileLang's torch dependency (default: torch==2.13.0)
#   TORCH_INDEX  index with CPU builds of torch, tried first (default: PyTorch's own; empty: PyPI only)
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
torch_spec=${TORCH_SPEC:-torch==2.13.0}
torch_index=${TORCH_INDEX-https://download.pytorch.org/whl/cpu}

fail() {
    printf 'bootstrap: %s\n' "$@" >&2
    exit 1
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    fail 'Python 3.11 or newer is needed; on Debian or Ubuntu: apt install python3 python3-venv'
}

state() {
    {
        printf '%s\n' "$torch_spec"
        cat pyproject.toml CMakeLists.txt
        find compat backend \( -name '*.cpp' -o -name '*.cc' -o -name '*.c' -o -name '*.h' \
            -o -name '*.S' -o -name 'CMakeLists.txt' -o -name 'ffi.py' \) -print0 | sort -z | xargs -0 cat
    } | sha256sum
}

command -v g++ >/dev/null || fail 'g++ is needed; on Debian or Ubuntu: apt install g++'

stamp=$venv/.tile-migrate-stamp
current=$(state)
if [[ -f $stamp && $(<"$stamp") == "$current" ]]; then
    exit 0
fi

if [[ ! -x $venv/bin/python ]]; then
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail 'the venv module is needed; on Debian or Ubuntu: apt install python3-venv'
    echo "bootstrap: making $venv with $("$python" --version)" >&2
    "$python" -m venv "$venv"
fi

pip=("$venv/bin/python" -m pip --disable-pip-version-check --quiet)
if ! "$venv/bin/python" -c 'import torch' 2>/dev/null; then
    echo "bootstrap: installing $torch_spec" >&2
    if [[ -z $torch_index ]] || ! "${pip[@]}" install --retries 0 --timeout 10 \
        --index-url "$torch_index" "$torch_spec" 2>/dev/null; then
        "${pip[@]}" install "$torch_spec"
    fi
fi
echo 'bootstrap: installing tile-migrate with its dependencies' >&2
"${pip[@]}" install --editable '.[dev]'
printf '%s\n' "$current" >"$stamp"
