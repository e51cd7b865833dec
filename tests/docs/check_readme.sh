#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The code in README.md, the one block of C and the one of C++, compiles as the body of a main function and runs; those in
# Python and JavaScript run where their packages are built.
#
# usage: check_readme.sh ROOT LIBRARY_DIR C_COMPILER C++_COMPILER [OPTION ...]
set -euo pipefail

root=$1 libraries=$(realpath "$2") cc=$3 cxx=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# program LANGUAGE FILE HEADER ...: FILE becomes a program with the block of that language in it.
block() { # LANGUAGE
    [ "$(grep -c "^\`\`\`$1\$" "$root/README.md")" -eq 1 ] || { echo "README.md has not one block of $1" >&2; exit 1; }
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$root/README.md"
}
program() {
    local language=$1 file=$2
    shift 2
    {
        printf '#include <%s>\n' "$@"
        echo 'int main() {'
        block "$language"
        echo 'return !(probabilities[8] > 0 && probabilities[8] < 1); }'
    } >"$file"
}
program c "$work/readme.c" stdio.h webnn/webnn_model.h
program cpp "$work/readme.cc" vector webnn/webnn_model.hpp
link=(-I"$root/include" -L"$libraries" -lwebnn_model -lwebnn -Wl,-rpath,"$libraries")
"$cc" -std=c17 -Wall -Wextra -Werror "$@" "$work/readme.c" -o "$work/in_c" "${link[@]}"
"$cxx" -std=c++17 -Wall -Wextra -Werror "$@" "$work/readme.cc" -o "$work/in_cpp" "${link[@]}"
cd "$root" # where the code finds its model
# The excerpt in C releases nothing.
ASAN_OPTIONS=detect_leaks=0 "$work/in_c" || { echo "the code in C computes something else"; exit 1; }
"$work/in_cpp" || { echo "the code in C++ computes something else"; exit 1; }

# Programs over the packages.  Neither Python nor Node.js is built with sanitizers, which their own tests load first.
built=$(dirname "$libraries")
case " $* " in *sanitize*) exit ;; esac
if [ -d "$built/python/webnn" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    block python >"$work/readme.py"
    # As the page says, but for the build folder: nothing that it does not name is there.
    command=$(grep -o 'PYTHONPATH=build/release/python python3' README.md) || command=false
    [ "$(env -i PATH=/usr/bin PYTHONDONTWRITEBYTECODE=1 ${command//build\/release/$built} "$work/readme.py")" = '[6]' ] ||
        { echo "the code in Python computes something else"; exit 1; }
fi
if [ -e "$built/node/webnn-node/webnn.node" ]; then
    mkdir "$work/node_modules"
    ln -s "$built/node/webnn-node" "$work/node_modules/webnn-node"
    block js >"$work/readme.mjs"
    [ "$(node "$work/readme.mjs")" = '[ 2, 8 ]' ] || { echo "the code in JavaScript computes something else"; exit 1; }
fi
