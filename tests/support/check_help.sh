#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every program of the tests in a folder says for --help how it is called.
#
#   check_help.sh FOLDER EXAMPLES
#
# Programs of EXAMPLES, the folder of their sources, and those that they make are no tests.
failed=0
for program in "$1"/*; do
    name=$(basename "$program")
    [ -f "$program" ] && [ -x "$program" ] && [ ! -e "$2/$name.c" ] && [ ! -e "$2/$name.cc" ] || continue
    case $name in tutorial* | compiled_* | webnn-*-tables | webnn-cpp-operators) continue ;; esac
    case $( (timeout 60 "$program" --help 2>/dev/null </dev/null || echo failed) | grep -v '^skipped: ') in
        usage:*failed | [!u]* | '') echo "$name --help does not say how the program is called"; failed=1 ;;
    esac
done
exit $failed
