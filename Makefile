# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Short commands; everything else is CMake (presets release, debug, asan, clang, fuzz).
#
#   make                                       install packages, build everything
#   make demo                                  install packages, build the programs, denoise a picture of the project
#   make demo INPUT=picture.png                denoise another picture
#   make demo MODEL=model [INPUT=file]         run another network: a model file, or a folder with one (docs/formats.md); INPUT
#                                              is a PNG or JPEG for a classifier with a classes.txt, else .npy files
#   make node                                  install packages, build the package for Node.js (docs/node.md)
#   make python                                install packages, build and test the package for Python (docs/tutorial-python.md)
#   make test                                  install packages, build, run the release suite (a quarter of an hour on two cores)
#   make check                                 what takes longer: a clang build, the suites under sanitizers, fuzz targets, random
#                                              graphs, kernels and models with the instruction set capped; docs/testing.md
#   make check-all                             make check, and the entries that repeat others under sanitizers
#   make fuzz TIME=3600                        every fuzz target for so long, as many at once as there are cores
#   make random TIME=3600                      random graphs for so long
#   make generated-long [HOURS=1] [SEED=1]     generated models under sanitizers, as many as the time allows
#   make bench                                 time kernels, operators and networks
#   make install [PREFIX=/usr/local]           install what is built, else build the programs first; DESTDIR is put in front
#   make uninstall                             remove what was installed
#   make size [REVISION=HEAD^]                 lines of each folder and words of each page, compared with a revision
#   make doc                                   render the reference of the public headers, where there is doxygen
#   make packages                              make the Debian packages libwebnn0, libwebnn-codegen0, libwebnn-dev, webnn-tools, python3-webnn
#   make release [OUT=out/release]             make the last commit's packages for Debian 12 and 13, amd64 and arm64, for Python and for
#                                              Node.js, and their checksums; with FOR=trixie-arm64 for that only
#   make help                                  print this list

MODEL ?=
INPUT ?=
TIME ?= 3600
HOURS ?= 1
SEED ?= 1
PREFIX ?= /usr/local
REVISION ?= HEAD^
OUT ?= out/release
FOR ?= bookworm-amd64 bookworm-arm64 trixie-amd64 trixie-arm64
SHELL := /bin/bash

.PHONY: all help setup programs demo node python test check check-all fuzz random generated-long bench size doc install uninstall packages release format \
	clean

all: setup
	cmake --preset release
	cmake --build --preset release

setup:
	@.ci/setup.sh

help:
	@sed -n 's/^#   \(make\)/\1/p; s/^#      \( *[A-Za-z]\)/   \1/p' Makefile

# The demo needs neither the tests nor their packages.
programs:
	@.ci/setup.sh demo
	cmake --preset release -DWEBNN_TESTS=OFF
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

node:
	@.ci/setup.sh node
	cmake --preset release -DWEBNN_TESTS=OFF
	cmake --build --preset release --target webnn-node

python:
	@.ci/setup.sh python
	cmake --preset release -DWEBNN_TESTS=OFF -DWEBNN_PYTHON=ON
	cmake --build --preset release --target webnn-python-wheel webnn-run
	tests/python/run.sh build/release

test: setup
	.ci/test.sh

check:
	@.ci/setup.sh check
	.ci/check.sh

check-all: export WEBNN_CHECK = all
check-all: check

fuzz:
	@.ci/setup.sh check
	cmake --preset fuzz -DWEBNN_FUZZ_SECONDS=$(TIME)
	cmake --build --preset fuzz
	ctest --preset fuzz -j "$$(nproc)" --verbose

random: setup
	cmake --preset release -DWEBNN_RANDOM_SECONDS=$(TIME)
	cmake --build --preset release --target random-graphs
	ctest --preset release -j "$$(nproc)" --verbose -R '^random-long-'

generated-long: setup
	cmake --preset asan
	cmake --build --preset asan --target generated-models
	build/asan/bin/generated-models --seed $(SEED) --count 1000000000 --seconds $$(($(HOURS) * 3600)) --jobs $$(nproc) --keep build/asan \
		--failures 200 --table

size:
	@tests/structure/size.sh $(REVISION)

doc:
	cmake --preset release
	cmake --build build/release --target doc

build/release/bin/webnn-run:
	$(MAKE) programs

install: build/release/bin/webnn-run
	cmake --install build/release --prefix $(PREFIX)

uninstall:
	cmake --build build/release --target webnn-uninstall

packages:
	@.ci/setup.sh demo dpkg-dev file python3-dev
	cmake --preset release -DWEBNN_TESTS=OFF
	cmake --build --preset release --target programs
	cd build/release && cpack

release:
	frontend/package/release.sh $(OUT) $(FOR)

bench: programs
	build/release/bin/webnn-bench

format:
	git ls-files '*.c' '*.cc' '*.h' | xargs clang-format-19 -i

clean:
	rm -rf build out
