#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What a user of an installed library relies on: headers that compile as C and C++, the pkg-config file, the CMake package, and
# no exported symbol but the public API.
#
# usage: check.sh BUILD_DIR SOURCE_DIR
set -euo pipefail

build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The manifest in the build folder is what `make uninstall` goes by: it stays that of the user's own installation.
[ ! -e "$build/install_manifest.txt" ] || cp "$build/install_manifest.txt" "$work/manifest.before"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
mv "$build/install_manifest.txt" "$work/manifest"
[ ! -e "$work/manifest.before" ] || cp "$work/manifest.before" "$build/install_manifest.txt"
folder=$(dirname "$(find "$work/prefix" -name libwebnn.so)")
[ -e "$folder/libwebnn.so" ] || { echo "libwebnn.so was not installed"; exit 1; }

echo "exported symbols"
exports() { # LIBRARY PATTERN: nothing else
    ! nm -D --defined-only "$folder/$1" | sed 's/.* //; s/@.*//' | grep -Ev "$2" || { echo "$1 exports more than its interface"; exit 1; }
}
exports libwebnn.so '^(wnn[A-Z]|_(init|fini)$)'
exports libwebnn_rt.so '^webnn_rt_'
exports libwebnn_model.so '^wnn(Dynamic)?Model[A-Z]'
if ldd "$folder/libwebnn_rt.so" | grep LLVM >/dev/null; then echo "libwebnn_rt needs LLVM"; exit 1; fi
ldd "$folder/libwebnn_model.so" | grep "libwebnn.so.0 => $folder/" >/dev/null || { echo "libwebnn_model does not find libwebnn"; exit 1; }

echo "tools and their man pages"
for tool in webnn-run webnnc webnn-opt; do
    [ -x "$work/prefix/bin/$tool" ] || { echo "$tool was not installed"; exit 1; }
    [ -s "$work/prefix/share/man/man1/$tool.1" ] || { echo "the man page of $tool was not installed"; exit 1; }
done

echo "the code generator: absent, and of another build"
codegen=$folder/libwebnn_codegen.so.0
host=$folder/libwebnn_codegen_host.so.0
exports libwebnn_codegen.so.0 '^webnn_codegen_plugin$'
if ldd "$folder/libwebnn.so" | grep -E 'LLVM|dnnl' >/dev/null; then echo "libwebnn loads LLVM or oneDNN when it starts"; exit 1; fi
run=$work/prefix/bin/webnn-run
model=$source/examples/models/shapes/model.onnx
fails() { # MESSAGE COMMAND...
    if "${@:2}" >"$work/log" 2>&1 || ! grep "$1" "$work/log"; then echo "not refused: ${*:2}"; cat "$work/log"; exit 1; fi
}
"$run" --quiet "$model" --dim batch=1 --save "$work/saved"
if [ -e "$host" ]; then
    mv "$codegen" "$work/codegen"
    WEBNN_CACHE=off "$run" --quiet "$model" --dim batch=1 --save "$work/saved"
    mv "$work/codegen" "$codegen"
    mv "$host" "$work/host"
fi
mv "$codegen" "$work/codegen"
"$run" "$work/saved" | grep '^computed'
"$work/prefix/bin/webnnc" --version
fails "no code generator.* $codegen.*libwebnn-codegen0" "$run" "$model" --dim batch=1
fails 'no code generator.*/libwebnn_codegen.so.0' "$work/prefix/bin/webnnc" "$model" --dim batch=1 -o "$work/shapes.o"
LC_ALL=C sed 's/\(0\.2\.0 \)[0-9a-f]\{16\}/\10000000000000000/' "$work/codegen" >"$codegen"
fails "$codegen is of build 0.2.0 0000000000000000" "$run" "$model" --dim batch=1
mv "$work/codegen" "$codegen"
[ ! -e "$work/host" ] || mv "$work/host" "$host"

echo "pages"
"$source/tests/docs/check_links.sh" "$work/prefix/share/doc/webnn"

echo "header as C and C++"
flags="-I$work/prefix/include -Wall -Wextra -Wpedantic -Werror -fsyntax-only"
# Included, as users do: functions of a file that is compiled itself would count as unused.
checks() { # LANGUAGE HEADER STANDARD...
    local language=$1 header=$2 compiler standard
    shift 2
    for compiler in gcc clang-19; do
        command -v $compiler >/dev/null || continue
        for standard in "$@"; do
            echo "#include <webnn/$(basename "$header")>" | $compiler -std=$standard $flags -x $language -
        done
    done
}
for header in "$work"/prefix/include/webnn/*.h; do
    checks c "$header" c11 c17
    checks c++ "$header" c++11 c++14 c++17 c++20
done
for header in "$work"/prefix/include/webnn/*.hpp; do checks c++ "$header" c++17 c++20; done

echo "pkg-config"
export PKG_CONFIG_PATH=$folder/pkgconfig
gcc -std=c17 "$source/examples/hello.c" -o "$work/hello" $(pkg-config --cflags --libs webnn)
LD_LIBRARY_PATH=$folder "$work/hello" | tee "$work/hello.txt"
grep -q '^compute:  0.2 0 0.6' "$work/hello.txt"
grep -q '^dispatch: 2 0 0.6' "$work/hello.txt"

# The programs of the tutorials, which print what the pages say (docs-tutorial-* holds the two together).
tutorial() { # PROGRAM
    (cd "$work" && LD_LIBRARY_PATH=$folder "$1") | grep -q '^loaded:   0 1 1 0' || { echo "$1 failed"; exit 1; }
}
gcc -std=c17 "$source/examples/tutorial.c" -o "$work/tutorial" $(pkg-config --cflags --libs webnn)
g++ -std=c++17 "$source/examples/tutorial_cpp.cc" -o "$work/tutorial_cpp" $(pkg-config --cflags --libs webnn)
tutorial "$work/tutorial"
tutorial "$work/tutorial_cpp"

cat >"$work/sum.webnn" <<'MODEL'
webnn_graph "sum" v1 {
  inputs { x: f32[2]; y: f32[2]; }
  nodes { z = add(x, y); }
  outputs { z; }
}
MODEL
gcc -std=c17 "$source/examples/read_model.c" -o "$work/read_model" $(pkg-config --cflags --libs webnn_model)
LD_LIBRARY_PATH=$folder "$work/read_model" "$work/sum.webnn" | tee "$work/read_model.txt"
grep -q '^computed' "$work/read_model.txt"
cat >"$work/model.cc" <<'CC'
#include <webnn/webnn_model.hpp>
int main(int, char **argv)
{
    webnn::DynamicModel const model(webnn::Context(), argv[1]);
    return model.graph({}).inputs().empty();
}
CC
g++ -std=c++17 "$work/model.cc" -o "$work/model" $(pkg-config --cflags --libs webnn_model)
LD_LIBRARY_PATH=$folder "$work/model" "$work/sum.webnn"

cat >"$work/rt.c" <<'RT'
#include <webnn/webnn_rt.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    struct webnn_rt_model *model;
    struct webnn_rt_program program = {0};
    return webnn_rt_create(&program, NULL, &model) == 0 || !strstr(webnn_rt_message(), "version 0") || model != NULL;
}
RT
gcc -std=c11 "$work/rt.c" -o "$work/rt" $(pkg-config --cflags --libs webnn_rt)
LD_LIBRARY_PATH=$folder "$work/rt"
gcc -std=c11 "$work/rt.c" -o "$work/rt-static" $(pkg-config --cflags webnn_rt) "$folder/libwebnn_rt.a" \
    $(pkg-config --static --libs-only-l webnn_rt | sed 's/-lwebnn_rt//')
"$work/rt-static"

echo "CMake package"
mkdir "$work/user"
cat >"$work/user/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(webnn 0.2 REQUIRED)
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE webnn::webnn)
add_executable(rt rt.c)
target_link_libraries(rt PRIVATE webnn::webnn_rt_static)
add_executable(read_model read_model.c)
target_link_libraries(read_model PRIVATE webnn::model)
webnn_add_model(shapes model.onnx --dim batch=1)
add_executable(classifier compiled_classifier.c)
target_link_libraries(classifier PRIVATE shapes)
foreach(source tutorial.c tutorial_cpp.cc)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE webnn::webnn)
endforeach()
CMAKE
cp "$source"/examples/{read_model.c,compiled_classifier.c,models/shapes/model.onnx,hello.c,tutorial.c,tutorial_cpp.cc} "$work/rt.c" \
    "$work/user/"
cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/user.log"
cmake --build "$work/user/build" >>"$work/user.log"
"$work/user/build/hello" | cmp - "$work/hello.txt"
"$work/user/build/rt"
"$work/user/build/read_model" "$work/sum.webnn" | cmp - "$work/read_model.txt"
"$work/user/build/classifier" "$source"/examples/models/shapes/{moon.npy,classes.txt} | grep '%  moon'
tutorial "$work/user/build/tutorial"
tutorial "$work/user/build/tutorial_cpp"

echo "models for other machines"
mkdir "$work/other"
cp "$source/examples/compiled_classifier.c" "$source/examples/models/shapes/model.onnx" "$work/other/"
cat >"$work/other/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(other LANGUAGES C)
find_package(webnn 0.2 REQUIRED)
webnn_add_model(shapes model.onnx --dim batch=1)
add_executable(classifier EXCLUDE_FROM_ALL compiled_classifier.c)
target_compile_definitions(classifier PRIVATE STANDALONE=1)
target_link_libraries(classifier PRIVATE -static shapes)
CMAKE
other() { # FOLDER TARGET SYSTEM PROCESSOR COMPILER LINE...: what is built there for that machine
    printf '%s\n' "set(CMAKE_SYSTEM_NAME $3)" "set(CMAKE_SYSTEM_PROCESSOR $4)" "set(CMAKE_C_COMPILER $5)" "${@:6}" >"$work/$1.cmake"
    cmake -S "$work/other" -B "$work/$1" -DCMAKE_TOOLCHAIN_FILE="$work/$1.cmake" \
        -Dwebnn_DIR="$folder/cmake/webnn" >"$work/user.log" 2>&1
    cmake --build "$work/$1" --target "$2" >>"$work/user.log"
    ! grep -i warning "$work/user.log" || exit 1
}
if command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null; then
    other aarch64 classifier Linux aarch64 aarch64-linux-gnu-gcc
    qemu-aarch64 "$work/aarch64/classifier" "$source"/examples/models/shapes/{moon.npy,classes.txt} | grep '%  moon'
fi
if command -v clang-19 >/dev/null; then
    other firmware shapes Generic arm clang-19 'set(CMAKE_C_COMPILER_TARGET arm-none-eabi)' \
        'set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mfloat-abi=hard")' 'set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)'
    llvm-readelf-19 -A "$work/firmware/webnn_models/shapes/shapes.o" >"$work/attributes"
    grep 'Value: cortex-m4' "$work/attributes"
    grep 'Description: AAPCS VFP' "$work/attributes"
fi
echo "uninstalling"
cmake -DMANIFEST="$work/manifest" -P "$source/frontend/package/uninstall.cmake" >"$work/uninstall.log" 2>&1
left=$(find "$work/prefix" -type f -o -type l -o -name webnn)
[ -z "$left" ] || { echo "left by uninstalling:"; echo "$left"; exit 1; }
echo "installed library is usable"
