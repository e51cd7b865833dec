#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A release made in two folders has the same bytes, and for each system everything.  Debian's packages for another system
# than this one install there, with what they depend on, or run in QEMU.
#
# usage: release.sh SOURCE_DIR [CODENAME-ARCHITECTURE ...]
set -euo pipefail

source=$1
shift
for program in git npm cpack dpkg-shlibdeps file; do
    command -v "$program" >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
git -C "$source" rev-parse -q --verify HEAD >/dev/null || { echo "skipped: the sources have no history"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for folder in one and/another; do
    mkdir -p "$work/$folder"
    status=0
    TMPDIR=$work/$folder "$source/frontend/package/release.sh" "$work/$folder/out" "$@" >"$work/log" 2>&1 || status=$?
    [ $status -eq 0 ] || { tail -n 60 "$work/log"; exit $status; }
done
sums=$work/one/out/SHA256SUMS
(cd "$work/one/out" && sha256sum --quiet -c SHA256SUMS)
cat "$sums"
for system in "${@:-$(. /etc/os-release && echo "$VERSION_CODENAME")-$(dpkg --print-architecture)}"; do
    for file in {libwebnn0,libwebnn-codegen0,libwebnn-dev,webnn-tools,python3-webnn}"_.*~deb[0-9]*_${system#*-}.deb" \
        'webnn-[0-9].*whl' 'webnn-node-.*tgz'; do
        grep -q "  $system/$file$" "$sums" || { echo "there is no $system/$file"; exit 1; }
    done
done
diff "$sums" "$work/and/another/out/SHA256SUMS"

for system in "$@"; do
    folder=$work/one/out/$system codename=${system%-*}
    if [ "${system#*-}" = arm64 ]; then
        depends=$(for package in "$folder"/*.deb; do dpkg-deb -f "$package" Depends; done |
            tr ',' '\n' | sed 's/[(|].*//; /webnn/d')
        mmdebstrap --quiet --variant=extract --architectures=arm64 --include="base-files nodejs $(echo $depends)" "$codename" "$work/root"
        for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$work/root"; done
        models=$source/examples/models/shapes
        qemu-aarch64 -L "$work/root" "$work/root/usr/bin/webnn-run" "$models/model.onnx" --input "$models/moon.npy" \
            --compare "probabilities=$models/moon_probabilities.npy"
        npm=$work/npm/node_modules/webnn-node && mkdir -p "$npm"
        tar -xzf "$folder"/webnn-node-*.tgz -C "$npm" --strip-components 1
        grep '"cpu": \["arm64"\]' "$npm/package.json"
        sed -n '/^## Quick start/,/^`require/s/^    //p' "$npm/README.md" >"$work/npm/quick.mjs"
        qemu-aarch64 -L "$work/root" "$work/root/usr/bin/node" "$work/npm/quick.mjs" | grep '\[ 0, 0, 6.5, 9 \]'
    else
        "$source/tests/install/chroot.sh" "$folder" "$source" "$codename"
    fi
done
