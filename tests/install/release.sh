#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A release made in two folders has the same bytes.
#
# usage: release.sh SOURCE_DIR
set -euo pipefail

source=$1
for program in git npm cpack dpkg-shlibdeps file; do
    command -v "$program" >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
git -C "$source" rev-parse -q --verify HEAD >/dev/null || { echo "skipped: the sources have no history"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for folder in one and/another; do
    mkdir -p "$work/$folder"
    TMPDIR=$work/$folder "$source/frontend/package/release.sh" "$work/$folder/out" >"$work/log" 2>&1 ||
        { tail -n 30 "$work/log"; exit 1; }
done
(cd "$work/one/out" && sha256sum --quiet -c SHA256SUMS)
cat "$work/one/out/SHA256SUMS"
for file in {libwebnn0,libwebnn-codegen0,libwebnn-dev,webnn-tools,python3-webnn}_'.*deb' 'webnn-[0-9].*whl' 'webnn-node-.*tgz'; do
    grep -q "  $file$" "$work/one/out/SHA256SUMS" || { echo "there is no $file"; exit 1; }
done
diff "$work/one/out/SHA256SUMS" "$work/and/another/out/SHA256SUMS"
