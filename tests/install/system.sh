# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# For chroot.sh and checkout.sh, and frontend/package/release.sh, which source it: a new Debian system in a folder, and
# commands in it.  That needs root, mmdebstrap, the network, where Debian's packages come from, some minutes, and 3 GB in
# TMPDIR, with tests 12 GB.
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CC CXX CFLAGS CXXFLAGS # what they name is not in the new system

skip() { echo "skipped: $*"; exit 77; }
needs() {
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "there is no $program (Debian: mmdebstrap dpkg-dev file)"
    done
}
[ "$(id -u)" -eq 0 ] || skip "a chroot needs root"
needs mmdebstrap chroot unshare
. /etc/os-release
[ "${ID:-}" = debian ] || skip "Debian systems are made on Debian, and this is ${ID:-another system}"

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root

fail() {
    tail -n 40 "$work/log"
    echo "FAIL: $*"
    exit 1
}

# new_system CODENAME PACKAGE,...: from where this system's packages come from.
new_system() {
    local mirror
    mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" "Codename: $VERSION_CODENAME" | head -n 1)
    echo "a new Debian system: $1"
    mmdebstrap --variant=minbase --skip=cleanup/apt/lists --include="ca-certificates,$2" "$1" "$root" $mirror >"$work/log" 2>&1 ||
        { tail -n 5 "$work/log"; skip "no Debian system could be made; is there a network?"; }
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    mkdir -p "$root/work/shared"
}

# inside COMMAND: in the new system, with devices, with what the kernel tells, and with the shared data, which go with the command.
inside() {
    unshare --mount sh -c '{ for folder in proc sys dev; do mount --rbind "/$folder" "$0/$folder"; done
        mount --bind -o ro "$2" "$0/work/shared"; } 2>/dev/null
        exec env -u WEBNN_SHARED -u TMPDIR chroot "$0" /bin/sh -ec "$1"' "$root" "$1" "${WEBNN_SHARED:-}" >"$work/log" 2>&1
}

install() {
    inside "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $*"
}
