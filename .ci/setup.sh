#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what the build and the tests need on Debian 12, as root or with sudo.  Does nothing when all of it is there.
set -euo pipefail

packages=(build-essential cmake ninja-build pkg-config git ca-certificates llvm-19-dev libdnnl-dev libffi-dev libcmocka-dev
          libcjson-dev libpng-dev libjpeg-dev libzip-dev libsndfile1-dev libkissfft-dev libprotobuf-c-dev protobuf-c-compiler clang-19 libclang-rt-19-dev
          gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user lld-19 nodejs)

missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

root=()
[ "$(id -u)" -eq 0 ] || root=(sudo)
echo "installing ${missing[*]}"
"${root[@]}" apt-get update -qq
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
