#!/bin/sh
# Everything that needs a GPU, on a bare machine that has one and reaches no network:
#
#     scripts/gpu_tests.sh [WHEELS] [-- NAMES…]
#
# WHEELS (default .whl) holds wheels of what the machine lacks, and bubblewrap and its libraries as .deb
# (apt-get download bubblewrap libcap2 libselinux1 libpcre2-8-0). NAMES are patterns of hand-ins for
# `grader verify`; left out, all that are marked by a rubric with items for a GPU.
# It runs doctor, the tests marked `gpu`, and the hand-ins; what they leave lies below $OUT (default /tmp/gpu).
set -eu
cd "$(dirname "$0")/.."
wheels=${1:-.whl}
[ $# -gt 0 ] && shift
[ "${1:-}" = "--" ] && shift
OUT=${OUT:-/tmp/gpu}
mkdir -p "$OUT"

# a sandbox shows folders of packages by this name
site=/tmp/grader-wheels/site-packages
if ls "$wheels"/*.whl >/dev/null 2>&1; then
    python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target "$site" "$wheels"/*.whl
fi
export PYTHONPATH="$site:$PWD" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
if ! command -v bwrap >/dev/null && ls "$wheels"/*.deb >/dev/null 2>&1; then
    for package in "$wheels"/*.deb; do dpkg -x "$package" /tmp/grader-debs; done
    export PATH="/tmp/grader-debs/usr/bin:$PATH"
    bwrap --version >/dev/null 2>&1 ||
        export LD_LIBRARY_PATH="/tmp/grader-debs/lib/x86_64-linux-gnu:/tmp/grader-debs/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi

python3 -P -m grader doctor --probe || true
python3 -P -m pytest -q -p no:cacheprovider -m gpu tests ${GPU_TESTS:-} || failed=1
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # names of folders: no spaces
    set -- cdp_hw1/reference cdp_hw1_gpu/reference $(grep -lE '^rubric: cdp_hw1(_gpu)?$' tests/submissions/*/expected.yaml | cut -d/ -f3)
fi
python3 -P -m grader verify --out "$OUT/results" "$@" || failed=1
exit "${failed:-0}"
