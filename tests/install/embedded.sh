#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A project that takes the sources in, by add_subdirectory and by FetchContent, gets the targets, and neither tools nor tests nor
# options that are its own.  With `build` the library is built, too, as a static one, and a program with names of its own that the
# library uses inside is linked with it and run.
#
# usage: embedded.sh SOURCE_DIR [build]
set -euo pipefail

source=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/user"
cp "$source/examples/hello.c" "$source/examples/read_model.c" "$work/user/"
# Names that the library has inside.
cat >"$work/user/names.c" <<'C'
int error_set, arena_array, kernel_create, guard_run, schedule_cpu, machine_compile;
C
write_project() { # HOW
    cat >"$work/user/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
$1
foreach(target webnn::webnn webnn::webnn_rt webnn::webnn_rt_static)
  if(NOT TARGET \${target})
    message(FATAL_ERROR "there is no \${target}")
  endif()
endforeach()
foreach(target webnn-run webnnc webnn-bench test-ir-graph)
  if(TARGET \${target})
    message(FATAL_ERROR "there is \${target}")
  endif()
endforeach()
get_directory_property(options COMPILE_OPTIONS)
if(options)
  message(FATAL_ERROR "the project has options: \${options}")
endif()
if(CMAKE_RUNTIME_OUTPUT_DIRECTORY OR CMAKE_C_VISIBILITY_PRESET)
  message(FATAL_ERROR "the project has variables of the library's")
endif()
add_executable(hello hello.c names.c)
target_link_libraries(hello PRIVATE webnn::webnn)
if(TARGET webnn::model)
  add_executable(read_model read_model.c names.c)
  target_link_libraries(read_model PRIVATE webnn::model)
endif()
CMAKE
}

echo "FetchContent"
write_project "include(FetchContent)
FetchContent_Declare(webnn SOURCE_DIR $source)
FetchContent_MakeAvailable(webnn)"
cmake -G Ninja -S "$work/user" -B "$work/fetched" >"$work/log" || { cat "$work/log"; exit 1; }
! grep -q '^BUILD_SHARED_LIBS' "$work/fetched/CMakeCache.txt" || { echo "BUILD_SHARED_LIBS is set for the whole project"; exit 1; }

echo "add_subdirectory, static"
write_project "add_subdirectory($source webnn)"
cmake -G Ninja -S "$work/user" -B "$work/static" -DBUILD_SHARED_LIBS=OFF -DWEBNN_MODEL=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O0 \
    -DCMAKE_CXX_FLAGS_RELEASE=-O0 >"$work/log" || { cat "$work/log"; exit 1; }
[ "${2:-}" = build ] || exit 0

cmake --build "$work/static" -j "$(nproc)" --target hello read_model >"$work/log" || { tail -n 30 "$work/log"; exit 1; }
"$work/static/hello" | tee "$work/hello.txt"
grep -q '^dispatch: 2 0 0.6' "$work/hello.txt"
printf 'webnn_graph "sum" v1 { inputs { x: f32[2]; } nodes { y = relu(x); } outputs { y; } }' >"$work/sum.webnn"
"$work/static/read_model" "$work/sum.webnn" | grep '^computed'
if ldd "$work/static/hello" "$work/static/read_model" | grep libwebnn >/dev/null; then echo "the program needs the shared library"; exit 1; fi
