#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# In a new Debian system with nothing but a compiler, CMake and pkg-config the project's packages install with what they depend on,
# and the programs of the tutorials compile with pkg-config, with find_package and with FetchContent, and run.
#
# usage: chroot.sh BUILD_DIR SOURCE_DIR                the packages of the build folder, in a Debian like this one
#        chroot.sh PACKAGES_DIR SOURCE_DIR CODENAME
set -euo pipefail
build=$(realpath "$1")
source=$(realpath "$2")
. "$source/tests/install/system.sh"
needs cpack dpkg-shlibdeps file

echo "the project's packages"
packages=$build
if [ $# -eq 2 ]; then
    packages=$work/packages
    cpack --config "$build/CPackConfig.cmake" -B "$packages" >"$work/log" 2>&1 || fail "cpack"
fi

new_system "${3:-$VERSION_CODENAME}" gcc,g++,cmake,ninja-build,pkg-config

echo "the packages and what they depend on"
cp "$packages"/*.deb "$root/work/"
install "/work/*.deb" || fail "the packages do not install"

mkdir "$root/work/installed" "$root/work/fetched" "$root/work/source"
examples=/usr/share/doc/webnn/examples
# runs DIRECTORY: both programs there print what the pages of the tutorials say.
runs() {
    for program in tutorial tutorial_cpp; do
        inside "cd $1 && ./$program" || fail "$1/$program"
        awk '$0 == "```text" { on = 1; next } /^```/ { on = 0 } on' "$source/docs/tutorial-c.md" | diff - "$work/log" ||
            fail "$1/$program prints something else than docs/tutorial-c.md"
    done
}

echo "pkg-config"
inside "cd /work; gcc -std=c17 $examples/tutorial.c -o tutorial \$(pkg-config --cflags --libs webnn)
        g++ -std=c++17 $examples/tutorial_cpp.cc -o tutorial_cpp \$(pkg-config --cflags --libs webnn)" || fail "pkg-config"
runs /work
inside "webnn-run --version && webnnc --version && webnn-opt --version" || fail "the programs of webnn-tools"
cat >"$root/work/sum.webnn" <<'MODEL'
webnn_graph "sum" v1 { inputs { x: f32[2]; } nodes { y = add(x, x); } outputs { y; } }
MODEL
inside "cd /work && webnn-run sum.webnn --random 1 && webnnc sum.webnn -o sum.o --header sum.h --library none && test -s sum.o && test -s sum.h &&
        webnn-opt sum.webnn" || fail "a model in the programs of webnn-tools"

# project FOLDER LINE: a project with the line, and both programs.
project() {
    cat >"$root/$1/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
$2
add_executable(tutorial $examples/tutorial.c)
add_executable(tutorial_cpp $examples/tutorial_cpp.cc)
foreach(target tutorial tutorial_cpp)
  target_link_libraries(\${target} PRIVATE webnn::webnn)
endforeach()
CMAKE
}

echo "find_package"
project work/installed "find_package(webnn REQUIRED)"
inside "cd /work/installed && cmake -G Ninja -S . -B . && ninja tutorial tutorial_cpp" || fail "find_package"
runs /work/installed

# Without the installed library, so that nothing of it is taken by mistake; the examples are in its documents.
echo "FetchContent"
cp "$root$examples"/tutorial* "$root/work/fetched/"
inside "dpkg --purge python3-webnn webnn-tools libwebnn-dev libwebnn-codegen0 libwebnn0" || fail "the packages cannot be removed"
# The packages that the page about building names for the library.
install llvm-19-dev libdnnl-dev libffi-dev || fail "what the library is built with"
(cd "$source" && tar -cf - CMakeLists.txt LICENSE README.md CHANGELOG.md codegen docs examples frontend include ir passes runtime \
    tests/entries.cmake) | tar -xf - -C "$root/work/source"
examples=/work/fetched
project work/fetched "include(FetchContent)
FetchContent_Declare(webnn SOURCE_DIR /work/source)
FetchContent_MakeAvailable(webnn)"
inside "cd /work/fetched && cmake -G Ninja -S . -B . -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O0 \
    -DCMAKE_CXX_FLAGS_RELEASE=-O0 && ninja -j $(nproc) tutorial tutorial_cpp" || fail "FetchContent"
runs /work/fetched
echo "the packages and the sources work in a new system"
