#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# setup.sh [demo|node|python|test|check|aarch64] [PACKAGE...]
# Installs the packages needed on Debian 12 and 13, and named ones, as root or with sudo: by the library, the tools and the
# examples but those with sound and with tokenizers (demo), also by the package for Node.js (node) or for Python (python), also by the
# release suite (test, the default), also by `make check` (check), also, in the folder build/aarch64-root, by the preset aarch64
# (aarch64).
# Does nothing when all of it is there.  Without apt-get it says what to install.
set -euo pipefail

what=test
case "${1:-}" in demo | node | python | test | check | aarch64) what=$1; shift ;; esac

packages=(build-essential cmake ninja-build pkg-config git ca-certificates llvm-19-dev libdnnl-dev libffi-dev
          libcjson-dev libpng-dev libjpeg-dev libzip-dev libprotobuf-c-dev protobuf-c-compiler "$@")
if [ "$what" != demo ] && [ "$what" != python ]; then
    packages+=(nodejs)
    # The headers of Node-API: some packages of nodejs have them, Debian's own has them in libnode-dev.
    [ -e /usr/include/node/node_api.h ] || packages+=(libnode-dev)
fi
[ "$what" = demo ] || [ "$what" = node ] || packages+=(python3-dev python3-numpy)
if [[ $what = @(test|check|aarch64) ]]; then
    packages+=(libsndfile1-dev libkissfft-dev libpcre2-dev libutf8proc-dev libcmocka-dev gcc-aarch64-linux-gnu
               libc6-dev-arm64-cross qemu-user clang-19 lld-19 ocl-icd-opencl-dev pocl-opencl-icd)
fi
# What programs for aarch64 are built with: arm64 packages of this Debian, unpacked and not installed.
arm64=(base-files nodejs libnode-dev)
for package in "${packages[@]}"; do
    [[ $package != *-dev || $package = dpkg-dev ]] || arm64+=("$package")
done
[ "$what" != aarch64 ] || packages+=(g++-aarch64-linux-gnu mmdebstrap)
[ "$what" != check ] || packages+=(libclang-rt-19-dev doxygen abigail-tools mmdebstrap dpkg-dev file oclgrind
                                libopenmpi-dev openmpi-bin qemu-system-arm)

if ! command -v apt-get >/dev/null; then
    cat >&2 <<TEXT
There is no apt-get here, so nothing is installed.  Install with this system's own package manager, unless it is there:

    a compiler for C17 and C++17 (gcc 12 or newer), make, CMake 3.25, Ninja, pkg-config, git
    LLVM 19 with its headers and llvm-config-19; oneDNN 2.6 or 3.7, libffi, cJSON, libpng, libjpeg, libzip, protobuf-c
    with headers, and protobuf-c's compiler

docs/building.md says what each is for.  In Debian all of it and what else \`make $what\` needs is in the packages

$(printf '%s\n' "${packages[@]}" | paste -sd ' ' | fold -sw 116 | sed 's/^/    /')

The build goes on and names the first that it does not find.
TEXT
    exit 0
fi
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
if [ ${#missing[@]} -ne 0 ]; then
    root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    echo "installing ${missing[*]}"
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

folder=$(realpath "$(dirname "$0")/..")/build/aarch64-root
[ "$what" = aarch64 ] && [ ! -e "$folder/node" ] || exit 0
echo "unpacking ${arm64[*]} for arm64"
rm -rf "$folder"
mkdir -p "${folder%/*}"
# shellcheck source=/dev/null
mmdebstrap --quiet --variant=extract --skip=cleanup/apt/cache --architectures=arm64 --include="${arm64[*]}" \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$folder"
# What dpkg would know of libraries if they were installed there: dpkg-shlibdeps finds in it what packages for arm64 depend on.
known=$folder/var/lib/dpkg
echo 1 >"$known/info/format"
for package in "$folder"/var/cache/apt/archives/*.deb; do
    dpkg-deb -I "$package" shlibs >"$known/shlibs" 2>/dev/null || continue
    name=$known/info/$(dpkg-deb -f "$package" Package)
    [ "$(dpkg-deb -f "$package" Multi-Arch)" != same ] || name+=:arm64
    mv "$known/shlibs" "$name.shlibs"
    dpkg-deb -I "$package" symbols >"$name.symbols" 2>/dev/null || rm "$name.symbols"
    dpkg-deb --fsys-tarfile "$package" | tar -t | sed "s|^\.|$folder|" >"$name.list"
    { dpkg-deb -f "$package" && printf 'Status: install ok installed\n\n'; } >>"$known/status"
done
rm -f "$folder"/var/cache/apt/archives/*.deb
# QEMU takes a folder of that name, and what programs make there, for this system's.
rmdir "$folder/tmp"
# Node.js in QEMU, which also starts others of its kind there.
cat >"$folder/node" <<TEXT
#!/bin/sh
exec qemu-aarch64 -L "$folder" "$folder/usr/bin/node" --import "data:text/javascript,process.execPath='$folder/node'" "\$@"
TEXT
chmod +x "$folder/node"
