#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A project that takes the sources in, by add_subdirectory and by FetchContent, gets the targets, and neither tools nor tests nor
# options that are its own.  With `build` programs are built, too, with the shared library and with the static one, which does not
# mind names of theirs that it uses inside, and with a model that webnnc compiles on the way; and they are run.
#
# usage: embedded.sh SOURCE_DIR [build]
set -euo pipefail

source=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/user"
cp "$source"/examples/{hello.c,read_model.c,compiled_classifier.c,models/shapes/model.onnx} "$work/user/"
# Names that the library has inside.
cat >"$work/user/names.c" <<'C'
int error_set, arena_array, kernel_create, guard_run, schedule_cpu, machine_compile;
C
write_project() { # HOW
    cat >"$work/user/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
$1
foreach(target webnn::webnn webnn::webnn_rt webnn::webnn_rt_static webnn::model webnn::webnnc)
  get_target_property(type \${target} TYPE)
endforeach()
foreach(target webnn-run webnn-opt webnn-bench test-ir-graph)
  if(TARGET \${target})
    message(FATAL_ERROR "there is \${target}")
  endif()
endforeach()
get_directory_property(options COMPILE_OPTIONS)
if(options OR CMAKE_RUNTIME_OUTPUT_DIRECTORY OR CMAKE_C_VISIBILITY_PRESET)
  message(FATAL_ERROR "the project has options or variables of the library's: \${options}")
endif()
add_executable(hello hello.c names.c)
target_link_libraries(hello PRIVATE webnn::webnn)
add_executable(read_model read_model.c names.c)
target_link_libraries(read_model PRIVATE webnn::model)
webnn_add_model(shapes model.onnx --dim batch=1 --library none)
add_executable(classifier compiled_classifier.c)
target_compile_definitions(classifier PRIVATE STANDALONE=1)
target_link_libraries(classifier PRIVATE shapes)
CMAKE
}

flags="-DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O0 -DCMAKE_CXX_FLAGS_RELEASE=-O0"
configure() { # FOLDER OPTION...
    # shellcheck disable=SC2086
    cmake -G Ninja -S "$work/user" -B "$work/$1" $flags "${@:2}" >"$work/log" || { cat "$work/log"; exit 1; }
}
printf 'webnn_graph "sum" v1 { inputs { x: f32[2]; } nodes { y = relu(x); } outputs { y; } }' >"$work/sum.webnn"
programs() { # FOLDER: builds and runs them
    cmake --build "$work/$1" -j "$(nproc)" --target hello read_model classifier >"$work/log" || { tail -n 30 "$work/log"; exit 1; }
    "$work/$1/hello" | grep '^dispatch: 2 0 0.6'
    "$work/$1/read_model" "$work/sum.webnn" | grep '^computed'
    "$work/$1/classifier" "$source"/examples/models/shapes/{moon.npy,classes.txt} | grep '%  moon'
    if ldd "$work/$1/classifier" | grep libwebnn >/dev/null; then echo "the model needs a library"; exit 1; fi
}

echo "FetchContent"
write_project "include(FetchContent)
FetchContent_Declare(webnn SOURCE_DIR $source)
FetchContent_MakeAvailable(webnn)"
configure fetched
! grep -q '^BUILD_SHARED_LIBS' "$work/fetched/CMakeCache.txt" || { echo "BUILD_SHARED_LIBS is set for the whole project"; exit 1; }
ninja -C "$work/fetched" -t commands _deps/webnn-build/all >"$work/unasked"
! grep -E 'webnnc|webnn_io' "$work/unasked" || { echo "webnnc or the readers are built unasked"; exit 1; }
[ "${2:-}" != build ] || programs fetched

echo "add_subdirectory, static"
write_project "add_subdirectory($source webnn)"
configure static -DBUILD_SHARED_LIBS=OFF
[ "${2:-}" = build ] || exit 0
programs static
if ldd "$work/static/hello" "$work/static/read_model" | grep libwebnn >/dev/null; then echo "the program needs the shared library"; exit 1; fi
