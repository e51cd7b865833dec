# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# For people in a hurry; everything else is CMake (presets release, debug, asan, clang, fuzz).
#
#   make                                       install packages, build everything
#   make demo                                  install packages, build the programs, denoise the picture that comes with the project
#   make demo INPUT=picture.png                denoise another picture
#   make demo MODEL=model [INPUT=file]         run another network: a model file, or a folder with one (docs/manifest.md); INPUT
#                                              is a PNG or JPEG for a classifier with a classes.txt, else .npy files
#   make test                                  install packages, build, run every test (release, then under sanitizers)
#   make bench                                 time kernels, operators and networks

MODEL ?=
INPUT ?=
SHELL := /bin/bash

.PHONY: all setup programs demo test bench format clean

all: setup
	cmake --preset release
	cmake --build --preset release

setup:
	@.ci/setup.sh

programs: setup
	cmake --preset release
	cmake --build --preset release --target programs

demo: programs
	@mkdir -p out
ifneq ($(wildcard $(MODEL)/classes.txt),)
	build/release/bin/classify $(MODEL) $(INPUT)
else ifneq ($(wildcard $(MODEL)/weights),)
	build/release/bin/run_manifest $(MODEL) $(INPUT)
else ifneq ($(MODEL),)
	build/release/bin/webnn-run $(MODEL) --random 1 $(addprefix --input ,$(INPUT))
else ifneq ($(INPUT),)
	build/release/bin/denoise $(INPUT) out/denoised.png
else
	build/release/bin/denoise examples/data/still_life_noisy.png out/denoised.png examples/data/still_life.png
endif

test: setup
	.ci/test.sh

bench: programs
	build/release/bin/webnn-bench

format:
	git ls-files '*.c' '*.h' | xargs clang-format-19 -i

clean:
	rm -rf build out
