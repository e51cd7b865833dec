#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Trains the small network again and compares what comes out with the files in the tree.
#
#   train_shapes.sh MODELS
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "skipped: there is no NumPy (Debian: python3-numpy)"; exit 77; }
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
/usr/bin/python3 "$1/train_shapes.py" "$folder" | tee "$folder/printed" || exit 1
# What the page says of it; a network that learnt nothing would have an eighth of them right.
grep -qxF "$(sed -n 's/.*prints `\(.* % of .* held-out .*\)`.*/\1/p' "$1/../README.md")" "$folder/printed" || exit 1
rm "$folder/printed"
diff -r "$folder" "$1/shapes"
