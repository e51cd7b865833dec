#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The release suite: every test but those labelled `long`.  From nothing it takes a quarter of an hour on two cores.
# WEBNN_SHARED names the directory with conformance data and models (default ../shared); tests that need it are skipped where it
# is absent.
part=test
source "$(dirname "$0")/suites.sh"

step cmake --preset release
step cmake --build --preset release -j "$jobs"
suite release release -LE '^long$'
finish
