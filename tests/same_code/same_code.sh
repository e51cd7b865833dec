#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compares the machine code that two builds of the project generate.
#
#   same_code.sh OLD_WEBNNC NEW_WEBNNC OUT MODEL ...
#
# A MODEL is whatever webnnc reads; options of webnnc may follow it in the same argument ("models/magika-v3 --dim n=1").  Each
# is compiled by both programs to standalone objects for x86-64 baseline, x86-64-v3, x86-64-v4 and aarch64; the constants go
# into a file next to the object, so that the order of packed weights is compared, too.
# A structural change must leave every byte as it is.  A change that is meant to alter code says so by the list this prints.
#
# Objects are kept in OUT, in a folder named after the model and a hash of its path and options, and are made again if the
# compiler is another one or a file of the model is newer than they are: comparing a second time against the same OLD_WEBNNC
# costs half.  Exits with 1 if anything differs or does not compile, with 2 if the arguments are wrong or two of them name the
# same model.
set -uo pipefail

[ $# -ge 4 ] || { sed -n '3,16s/^# \{0,1\}//p' "$0" >&2; exit 2; }
old=$1 new=$2 out=$3
shift 3
for compiler in "$old" "$new"; do
    [ -f "$compiler" ] && [ -x "$compiler" ] || { echo "same_code.sh: $compiler is no program" >&2; exit 2; }
done

old_hash=$(sha256sum <"$old") new_hash=$(sha256sum <"$new")
old=$(realpath "$old") new=$(realpath "$new")

declare -A targets=([baseline]="--cpu x86-64" [x86-64-v3]="--cpu x86-64-v3" [x86-64-v4]="--cpu x86-64-v4"
    [aarch64]="--target aarch64-linux-gnu")

# The name of a model's folder in OUT: models of equal base names, and a model with other options, have folders of their own.
folder_of() { # PATH OPTION ...
    printf '%s-%s\n' "$(basename "$1" .onnx)" "$(printf '%s\n' "$@" | sha256sum | cut -c 1-16)"
}

# Whether a file of the model is newer than FILE: any file of a model that is a folder, and for a model that is a file also
# those next to it, which may hold its weights.
model_is_newer() { # MODEL FILE
    local folder=$1 depth=()
    [ -d "$1" ] || { folder=$(dirname "$1"); depth=(-maxdepth 1); }
    [ -n "$(find -L "$folder" "${depth[@]}" -type f -newer "$2" -print -quit)" ]
}

compile() { # COMPILER HASH FOLDER MODEL OPTION ...
    local compiler=$1 folder=$3 model=$4 key
    key=$(printf '%s\n' "${@:2:1}" "${@:4}")
    shift 4
    [ -e "$folder/model.o" ] && [ "$(cat "$folder/key" 2>/dev/null)" = "$key" ] &&
        ! model_is_newer "$model" "$folder/key" && return
    rm -rf "$folder"
    mkdir -p "$folder"
    touch "$folder/begun"
    # The path of the weights and the function's prefix are part of the object: they are the same on both sides.
    (cd "$folder" && "$compiler" "$model" -q --emit obj -o model.o --library none --name model --weights model.weights "$@") \
        >"$folder/log" 2>&1 || { rm -f "$folder/model.o"; return; }
    # The key comes last and is as old as the beginning, so that neither half an object nor one of a model that changed
    # meanwhile is kept.
    printf '%s\n' "$key" >"$folder/key"
    touch -r "$folder/begun" "$folder/key"
}

same_weights() { # FILE FILE: both are absent if the model has no constants
    { [ ! -e "$1" ] && [ ! -e "$2" ]; } || cmp -s "$1" "$2"
}

declare -A given
folders=()
for model in "$@"; do
    read -ra words <<<"$model"
    [ ${#words[@]} -gt 0 ] && [ -e "${words[0]}" ] || { echo "same_code.sh: there is no model ${words[0]-}" >&2; exit 2; }
    folder=$(folder_of "$(realpath "${words[0]}")" "${words[@]:1}")
    [ -z "${given[$folder]-}" ] || { echo "same_code.sh: $model and ${given[$folder]} are the same model" >&2; exit 2; }
    given[$folder]=$model
    folders+=("$folder")
done

differ=0 same=0
for folder in "${folders[@]}"; do
    name=${given[$folder]}
    read -ra words <<<"$name"
    model=$(realpath "${words[0]}")
    for target in "${!targets[@]}"; do
        a=$out/old/$target/$folder b=$out/new/$target/$folder
        # shellcheck disable=SC2086
        compile "$old" "$old_hash" "$a" "$model" "${words[@]:1}" ${targets[$target]} &
        # shellcheck disable=SC2086
        compile "$new" "$new_hash" "$b" "$model" "${words[@]:1}" ${targets[$target]} &
        wait
        if [ ! -e "$a/key" ] || [ ! -e "$a/model.o" ] || [ ! -e "$b/key" ] || [ ! -e "$b/model.o" ]; then
            echo "$name for $target does not compile: $(tail -qn1 "$a/log" "$b/log" | sort -u | head -n1)"
            differ=$((differ + 1))
        elif ! cmp -s "$a/model.o" "$b/model.o" || ! same_weights "$a/model.weights" "$b/model.weights"; then
            text() { "${OBJCOPY:-llvm-objcopy-19}" -O binary --only-section=.text "$1" - 2>/dev/null | sha256sum; }
            what="data"
            [ "$(text "$a/model.o")" = "$(text "$b/model.o")" ] || what="code"
            echo "$name for $target has other $what: $(stat -c %s "$a/model.o") and $(stat -c %s "$b/model.o") bytes"
            differ=$((differ + 1))
        else
            same=$((same + 1))
        fi
    done
done
echo "$same objects are the same, $differ differ"
[ "$differ" -eq 0 ]
