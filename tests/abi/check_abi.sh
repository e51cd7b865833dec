#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The binary interface of libwebnn, libwebnn_model and libwebnn_rt is the one that the descriptions next to this script say (docs/abi.md).
#
#   check_abi.sh LIBRARY_DIR             compares by libabigail's abidiff, and exits with 1 where anything differs
#   check_abi.sh LIBRARY_DIR --write     writes the descriptions again, after a change that is meant
#
# Libraries are built without debugging information, in which libabigail reads types.  So a stand-in of each is compiled with it
# from the public headers alone: every declared function with a body that does nothing.  The compiler holds the real ones to
# the same declarations; that names and soname are the real library's, too, is checked here.
set -euo pipefail

libraries=$(realpath "$1")
write=${2:-}
here=$(dirname "$(realpath "$0")")
include=$(realpath "$here/../../include")
for program in abidw abidiff gcc nm readelf; do
    command -v "$program" >/dev/null || { echo "skipped: there is no $program (Debian: abigail-tools, gcc, binutils)"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# stand_in NAME HEADER ...: $work/NAME.so
stand_in() {
    local name=$1 headers=
    shift
    for header in "$@"; do headers+="#include <webnn/$header>"$'\n'; done
    # Functions of compiled objects take and give these structs, and the library has no such function.
    [ "$name" != libwebnn_rt ] ||
        headers+='WEBNN_RT_EXPORT void stand_in_objects(const struct webnn_object *o,
            const struct webnn_object_options *options, const struct webnn_object_parallel *parallel);'
    gcc -E -P -std=c17 -I"$include" -x c - <<<"$headers" |
        awk -v mark='__attribute__((visibility("default")))' '
             { text = text $0 "\n" }
             END { while ((at = index(text, mark)) > 0) {
                       printf "%s", substr(text, 1, at - 1)
                       text = substr(text, at + length(mark))
                       end = index(text, ";")
                       printf "%s { __builtin_unreachable(); }", substr(text, 1, end - 1)
                       text = substr(text, end + 1)
                   }
                   printf "%s", text }' >"$work/$name.c"
    # Of the functions that its header includes only its own are exported.
    [ "$name" != libwebnn_model ] || set -- -Wl,--version-script="$here/../../frontend/package/webnn_model.map"
    [ "$name" = libwebnn_model ] || set --
    (cd "$work" && gcc "$@" -std=c17 -g -fPIC -shared -ffile-prefix-map="$work"=. \
        -Wl,-soname,"$(soname "$libraries/$name.so")" -o "$name.so" "$name.c")
}

soname() {
    readelf -d "$1" | sed -n 's/.*soname: \[\(.*\)\]/\1/p'
}

exported() {
    nm -D --defined-only "$1" | awk '$3 !~ /^_|^stand_in_/ { sub(/@.*/, "", $3); print $3 }' | sort
}

# check NAME HEADER ...
check() {
    local name=$1 description=$here/$1.abi
    stand_in "$@"
    # Places in files, names of parameters and facts about every library of this architecture are left out.
    abidw --no-show-locs --no-comp-dir-path --no-corpus-path --no-elf-needed --no-parameter-names \
        --no-write-default-sizes --out-file "$work/$name.abi" "$work/$name.so"
    diff <(exported "$work/$name.so") <(exported "$libraries/$name.so") >"$work/names" || {
        echo "$name.so exports other functions (>) than the public headers declare (<):"
        cat "$work/names"
        failed=1
    }
    if [ "$write" = --write ]; then
        cp "$work/$name.abi" "$description"
        return
    fi
    abidiff "$description" "$work/$name.abi" || {
        echo "The binary interface of $name.so is not that of tests/abi/$name.abi; docs/abi.md says what may change."
        echo "If the change is meant, note it in CHANGELOG.md and run: cmake --build build/release --target abi-description"
        failed=1
    }
}

check libwebnn webnn.h webnn_call.h webnn_draft.h
check libwebnn_rt webnn_rt.h webnn_object.h
# It is built only along with the tools.
[ ! -e "$libraries/libwebnn_model.so" ] || check libwebnn_model webnn_model.h
exit $failed
