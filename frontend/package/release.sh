#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes what a release has, of the last commit: for each system a folder with the Debian packages, the wheel and npm's
# archive, and SHA256SUMS of all.  The same commit and the same packages of Debian give the same bytes, whatever folders they
# are made in.  Another Debian than the one that this runs on is made by mmdebstrap, which needs root; arm64 is
# cross-compiled.
#
# usage: release.sh FOLDER [CODENAME-ARCHITECTURE ...]     bookworm-amd64, trixie-arm64; without any, for what this runs on
set -euo pipefail

source=$(realpath "$(dirname "$0")/../..")
mkdir -p "$1"
out=$(realpath "$1")
shift
[ -z "$(ls -A "$out")" ] || { echo "release.sh: $out is not empty"; exit 1; }
. /etc/os-release
[ $# -ne 0 ] || set -- "$VERSION_CODENAME-$(dpkg --print-architecture)"

# elsewhere CODENAME SYSTEM...: in a new Debian.
elsewhere() (
    . "$source/tests/install/system.sh"
    new_system "$1" git,make
    git clone -q "$source" "$root/work/webnn"
    inside "cd /work/webnn && make release OUT=/work/out FOR='${*:2}'" || fail "make release for ${*:2}"
    rm "$root/work/out/SHA256SUMS"
    cp -r "$root"/work/out/* "$out/"
)

# here ARCHITECTURE FOLDER: in this one.
here() (
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    umask 022
    SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct)
    export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
    git -C "$source" archive --prefix=source/ HEAD | tar -x -C "$work"
    cd "$work/source"
    preset=release
    [ "$1" != arm64 ] || preset=aarch64
    .ci/setup.sh "${preset/release/node}" python3-dev dpkg-dev file $(command -v npm >/dev/null || echo npm)
    # Nothing that is linked or compiled has the folder's name in it.
    flags=-ffile-prefix-map=$work=.
    cmake --preset $preset -DWEBNN_TESTS=OFF -DWEBNN_PYTHON=ON -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_C_FLAGS="$flags" \
        -DCMAKE_CXX_FLAGS="$flags"
    cmake --build --preset $preset --target all webnn-node-pack
    [ "$1" != arm64 ] || export DEB_HOST_ARCH=arm64 DPKG_ADMINDIR=$PWD/build/aarch64-root/var/lib/dpkg
    cpack --config build/$preset/CPackConfig.cmake -B "$work/packages"
    mkdir "$2"
    cp "$work"/packages/*.deb build/$preset/python/*.whl build/$preset/node/*.tgz "$2/"
)

for codename in $(printf '%s\n' "${@%-*}" | sort -u); do
    systems=()
    for system in "$@"; do
        [[ $system != "$codename"-* ]] || systems+=("$system")
    done
    if [ "$codename" != "$VERSION_CODENAME" ]; then
        elsewhere "$codename" "${systems[@]}"
    else
        for system in "${systems[@]}"; do
            here "${system#*-}" "$out/$system"
        done
    fi
done
cd "$out"
sha256sum -- */* >SHA256SUMS
