# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# For test.sh and check.sh, which source it: steps that may fail without ending the others, and suites whose results are kept
# in build/results for summary.sh.  The sourcing script sets `part`, which names its results.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
jobs=$(nproc)
results=$PWD/build/results
mkdir -p "$results"
rm -f "$results/$part".*
failed=()

# step <command>: builds, and what else is no suite.
step() {
    echo "== $*"
    "$@" && return
    failed+=("$*")
    echo "$*" >> "$results/$part.failed"
}

# suite <name> <preset> <options of ctest>
suite() {
    local name=$1 preset=$2 log=$results/$part.$1.log
    shift 2
    echo "== $name: ctest --preset $preset $*"
    ctest --preset "$preset" -j "$jobs" "$@" 2>&1 | tee "$log" || failed+=("suite $name")
    # A suite without that line has not run: no tests were found, or ctest was ended.
    grep -q ' tests failed out of ' "$log" && return
    failed+=("suite $name, which did not run")
    echo "suite $name did not run" >> "$results/$part.failed"
}

# The exit status of the whole, after a list of what failed.
finish() {
    [ ${#failed[@]} -eq 0 ] && return
    printf 'failed: %s\n' "${failed[@]}"
    return 1
}
