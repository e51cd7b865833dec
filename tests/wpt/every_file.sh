#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs each N-th conformance case of the files named, or of all, on the engine.
#   every_file.sh WPT-CONFORMANCE FOLDER N [NAME]...
# Exit status: 0 all passed or were skipped, 1 not, 77 all were skipped.
program=$1 folder=$2 every=$3 skipped=77 failed=0
shift 3
if [ $# -eq 0 ]; then
    for file in "$folder"/*.json; do
        name=${file##*/}
        set -- "$@" "${name%.json}"
    done
fi
for name; do
    "$program" "$folder/$name.json" --mode engine --every "$every"
    case $? in
    0) skipped=0 ;;
    77) ;;
    *) failed=1 && echo "$name: failed" ;;
    esac
done
[ $failed -eq 0 ] && exit $skipped
exit 1
