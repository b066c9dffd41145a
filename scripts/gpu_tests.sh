#!/bin/sh
# Everything that needs a GPU, on a bare machine that has one and reaches no network:
#
#     scripts/gpu_tests.sh [WHEELS] [-- NAMES…]
#
# WHEELS (default .whl) is what scripts/gpu_setup.sh installs from. NAMES are patterns of submissions for
# `grader verify`; left out, all references, and all submissions that earn something else where there are GPUs.
# It runs doctor, the tests marked `gpu`, and the submissions; what they leave lies below $OUT (default /tmp/gpu).
set -eu
cd "$(dirname "$0")/.."
wheels=${1:-.whl}
[ $# -gt 0 ] && shift
[ "${1:-}" = "--" ] && shift
OUT=${OUT:-/tmp/gpu}
mkdir -p "$OUT"

. scripts/gpu_setup.sh

python3 -P -m grader doctor --probe || true
# Only files that hold such a test: others import libraries that a bare machine lacks, which ends a run of pytest.
# shellcheck disable=SC2046 # names of files: no spaces
python3 -P -m pytest -q -p no:cacheprovider -m gpu $(grep -rlE 'mark\.gpu' --include='test_*.py' tests) || failed=1
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # names of folders: no spaces
    set -- '*/reference' $(grep -l '^on_gpu:' tests/submissions/*/expected.yaml | cut -d/ -f3)
fi
python3 -P -m grader verify --out "$OUT/results" "$@" || failed=1
exit "${failed:-0}"
