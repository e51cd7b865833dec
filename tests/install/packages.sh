#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The Debian packages hold what they should, say what they depend on, and what they hold works where it is unpacked.
#
# usage: packages.sh BUILD_DIR SOURCE_DIR
set -euo pipefail

build=$1
source=$2
for program in cpack dpkg-deb dpkg-shlibdeps file; do
    command -v "$program" >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cpack --config "$build/CPackConfig.cmake" -B "$work" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
rm -rf "$work/_CPack_Packages"
python=
[ ! -e "$build/python/webnn/_webnn.abi3.so" ] || python=python3-webnn
for name in libwebnn0 libwebnn-codegen0 libwebnn-dev webnn-tools $python; do
    package=$(find "$work" -name "${name}_*.deb")
    [ -n "$package" ] || { echo "there is no package $name"; ls "$work"; exit 1; }
    dpkg-deb -x "$package" "$work/root"
    dpkg-deb -f "$package" Package Depends
    dpkg-deb -f "$package" Depends >"$work/$name.depends"
done
grep -q 'libllvm19' "$work/libwebnn-codegen0.depends"
grep -q 'libwebnn0 (= ' "$work/libwebnn-codegen0.depends"
! grep -q 'libllvm19' "$work/libwebnn0.depends" || { echo "libwebnn0 needs LLVM"; exit 1; }
grep -q 'libdnnl[0-9]' "$work/libwebnn0.depends"
grep -q 'libwebnn0 (= ' "$work/libwebnn-dev.depends"
grep -q 'libwebnn-codegen0 (= .*libwebnn0' "$work/webnn-tools.depends"

root=$work/root/usr
library=$(dirname "$(find "$root" -name 'libwebnn.so.0')")
export LD_LIBRARY_PATH=$library
export PKG_CONFIG_PATH=$library/pkgconfig
[ -s "$root/share/doc/webnn/LICENSE" ] || { echo "the licence is not installed"; exit 1; }
gcc -std=c17 "$source/examples/hello.c" -o "$work/hello" $(pkg-config --cflags --libs webnn)
"$work/hello" | grep '^dispatch: 2 0 0.6'
# The readers of models come with their headers, both of C and of C++.
gcc -std=c17 "$source/examples/describe_model.c" -o "$work/describe_model" $(pkg-config --cflags --libs webnn_model)
printf 'webnn_graph "sum" v1 { inputs { x: f32[2]; } nodes { y = relu(x); } outputs { y; } }' >"$work/sum.webnn"
"$work/describe_model" "$work/sum.webnn" | grep '^input x: float32 \[2\]'
[ -s "$root/include/webnn/webnn_model.hpp" ] || { echo "webnn_model.hpp is not installed"; exit 1; }
"$root/bin/webnn-run" --version
# What libwebnn-dev has for CMake finds webnnc in webnn-tools.
mkdir "$work/user"
cp "$source/examples/compiled_classifier.c" "$source/examples/models/shapes/model.onnx" "$work/user/"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(user LANGUAGES C)' 'find_package(webnn REQUIRED)' \
    'webnn_add_model(shapes model.onnx --dim batch=1)' 'add_executable(classifier compiled_classifier.c)' \
    'target_link_libraries(classifier PRIVATE shapes)' >"$work/user/CMakeLists.txt"
cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$root" >"$work/log" && cmake --build "$work/user/build" >>"$work/log" ||
    { cat "$work/log"; exit 1; }
"$work/user/build/classifier" "$source"/examples/models/shapes/{moon.npy,classes.txt} | grep '%  moon'
if [ -n "$python" ]; then
    grep -q 'libwebnn0 (= .*python3 (>= 3.11)' "$work/python3-webnn.depends"
    (cd / && PYTHONPATH=$root/lib/python3/dist-packages /usr/bin/python3 -c 'import webnn; print(webnn.load, webnn.__file__)' |
        grep "$root/lib/python3/dist-packages/webnn/__init__.py")
fi
# npm's archive has what graphs are built with.
if [ -e "$build/node/webnn-node/webnn.node" ] && command -v npm >/dev/null; then
    cmake --install "$build" --component node --prefix "$work/pack" >"$work/log"
    (cd "$work" && npm pack --offline ./pack && npm install --offline --prefix npm ./webnn-node-*.tgz) >"$work/log" 2>&1 ||
        { cat "$work/log"; exit 1; }
    sed -n '/^## Quick start/,/^`require/s/^    //p' "$work/npm/node_modules/webnn-node/README.md" >"$work/npm/quick.mjs"
    node "$work/npm/quick.mjs" | grep '\[ 0, 0, 6.5, 9 \]'
fi
