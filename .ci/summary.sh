#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Failed tests with the end of what they printed, then all suites of test.sh and check.sh in one line each, then their sum; steps
# that failed, as a build, count as failed tests.  Fails when anything did.
set -euo pipefail
cd "$(dirname "$0")/../build/results"
shopt -s nullglob

# ctest writes a failed test's output after the line with its result.
failures_of() {
    awk -v suite="$1" '
        function print_last(   i) {
            for (i = count > 30 ? count - 29 : 1; i <= count; i++) print "    " lines[i]
            failed = count = 0
        }
        /^ *Start +[0-9]+:/ || /^ *[0-9]+\/[0-9]+ Test +#/ || /% tests passed/ {
            if (failed) print_last()
            if (/\*\*\*/ && !/\*\*\*(Skipped|Not Run \(Disabled\))/) {
                failed = 1
                sub(/^ *[0-9]+\/[0-9]+ Test +/, "")
                print suite ": " $0
            }
            next
        }
        failed && NF { lines[++count] = substr($0, 1, 300) }' "$2"
}

for file in *.log; do
    name=${file%.log}
    failures_of "${name#*.}" "$file"
done

passed_sum=0
failed_sum=0
printf '%-16s %8s %8s %8s\n' suite passed failed skipped
for file in *.log; do
    # "98% tests passed, 2 tests failed out of 100" at the end, skipped ones among the passed.
    closing=$(grep ' tests failed out of ' "$file" | tail -1) || continue
    failures=$(sed -E 's/.*, ([0-9]+) tests? failed.*/\1/' <<< "$closing")
    skipped=$(grep -cE ' \((Skipped|Disabled)\)$' "$file") || true
    passed=$((${closing##* } - failures - skipped))
    name=${file%.log}
    printf '%-16s %8d %8d %8d\n' "${name#*.}" "$passed" "$failures" "$skipped"
    passed_sum=$((passed_sum + passed))
    failed_sum=$((failed_sum + failures))
done
for file in *.failed; do
    sed 's/^/failed: /' "$file"
    failed_sum=$((failed_sum + $(wc -l < "$file")))
done
echo "$passed_sum passed, $failed_sum failed"
[ "$passed_sum" -gt 0 ] && [ "$failed_sum" -eq 0 ]
