#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The code in README.md, the one block of C and the one of C++, compiles as the body of a main function and runs.
#
# usage: check_readme.sh ROOT LIBRARY_DIR C_COMPILER C++_COMPILER [OPTION ...]
set -euo pipefail

root=$1 libraries=$(realpath "$2") cc=$3 cxx=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# program LANGUAGE FILE HEADER ...: FILE becomes a program with the block of that language in it.
program() {
    local language=$1 file=$2
    shift 2
    [ "$(grep -c "^\`\`\`$language\$" "$root/README.md")" -eq 1 ] || { echo "README.md has not one block of $language"; exit 1; }
    {
        printf '#include <%s>\n' "$@"
        echo 'int main() {'
        awk -v fence="\`\`\`$language" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$root/README.md"
        echo 'return out[0] != 0.2f || out[1] != 0; }'
    } >"$file"
}
program c "$work/readme.c" stdio.h webnn/webnn.h
program cpp "$work/readme.cc" vector webnn/webnn.hpp
link=(-I"$root/include" -L"$libraries" -lwebnn -Wl,-rpath,"$libraries")
"$cc" -std=c17 -Wall -Wextra -Werror "$@" "$work/readme.c" -o "$work/in_c" "${link[@]}"
"$cxx" -std=c++17 -Wall -Wextra -Werror "$@" "$work/readme.cc" -o "$work/in_cpp" "${link[@]}"
# The excerpt in C releases nothing.
ASAN_OPTIONS=detect_leaks=0 "$work/in_c" || { echo "the code in C computes something else"; exit 1; }
"$work/in_cpp" || { echo "the code in C++ computes something else"; exit 1; }
