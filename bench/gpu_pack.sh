#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gpu_pack.sh BUILD DATA OUT
#
# Makes the folder OUT, which can be carried to a machine with a GPU that has neither this library nor what it needs: run.sh, and one
# archive with programs, test data and shared libraries.  BUILD is a build folder of this repository (preset release), DATA the
# shared data.  On the other machine `OUT/run.sh [OPTION ...]` unpacks the archive into a temporary folder and starts gpu_check.py
# there, whose options it takes; it needs sh and python3.
set -eu

[ $# -eq 3 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
build=$1 data=$2 out=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
top=$scratch/webnn-gpu
mkdir -p "$out" "$top/bin" "$top/libs/gcc" "$top/libs/libc" "$top/data/wpt" "$top/data/models"

programs="webnn-run webnn-bench wpt-conformance random-graphs onnx-models test-opencl-kernels test-opencl-float16 test-opencl-float64
test-frontend-loops test-api-compact-weights"
for name in $programs; do
    [ -x "$build/bin/$name" ] || { echo "gpu_pack.sh: $build/bin/$name is not built" >&2; exit 1; }
    strip -o "$top/bin/$name" "$build/bin/$name"
done
cp "$here/gpu_check.py" "$here/gpu_cases.py" "$here/gpu_reference.py" "$top/"

# What is loaded by its name: the code generator, which lies next to the library or in the folder lib next to a program's, and oneDNN.
cp -L "$build"/lib/libwebnn_codegen.so.* "$top/libs/"
mkdir "$top/lib"
ln -s ../libs/"$(basename "$top"/libs/libwebnn_codegen.so.*)" "$top/lib/"
onednn=$(grep -ao 'libdnnl\.so\.[0-9]*' "$build/lib/libwebnn.so" | head -n 1)
onednn=$(PATH=$PATH:/sbin ldconfig -p | awk -v name="$onednn" '$1 == name { print $NF; exit }')
cp -L "$onednn" "$top/libs/"

# Libraries, by the names that programs ask for.  What every machine has of its own lies apart.  The OpenCL loader is among them,
# because the tests link it.
for file in "$build"/lib/libwebnn_codegen.so.* "$onednn" $(printf "$build/bin/%s " $programs); do ldd "$file"; done |
    awk '$3 ~ /^\// { print $1, $3 } $1 ~ /^\/.*ld-linux/ { print $1, $1 }' |
    sort -u | while read -r name path; do
    case $name in
    libc.so* | libm.so* | libpthread.so* | libdl.so* | librt.so* | *ld-linux*) folder=$top/libs/libc ;;
    libstdc++.so* | libgcc_s.so* | libgomp.so*) folder=$top/libs/gcc ;;
    *) folder=$top/libs ;;
    esac
    cp -L "$path" "$folder/$(basename "$name")"
done
for name in libpthread.so.0 libdl.so.2 librt.so.1; do # for drivers that were linked with an older C library
    path=$(dirname "$(ldd "$build/bin/webnn-run" | awk '$1 == "libc.so.6" { print $3 }')")/$name
    [ ! -e "$path" ] || cp -L "$path" "$top/libs/libc/"
done

[ ! -d "$data/wpt/conformance" ] || cp -R "$data/wpt/conformance" "$top/data/wpt/"
for model in mnist-8 stories260k silero-vad-16k; do
    [ ! -d "$data/models/$model" ] || cp -R "$data/models/$model" "$top/data/models/"
done
chmod -R u+w "$top"

tar -C "$scratch" -cf - --owner=0 --group=0 webnn-gpu | xz -T0 --x86 --lzma2=preset=6,dict=64MiB >"$out/files.tar.xz"
cat >"$out/run.sh" <<'RUN'
#!/bin/sh
# run.sh [OPTION ...]: checks and measures the engine for GPUs on this machine.  The options are those of gpu_check.py (--help).
set -eu
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin} # which a shell has without handing it on, where there is none
export PATH
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -W ignore -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/files.tar.xz" "$work"
top=$work/webnn-gpu

# A loader finds drivers by files that name their libraries; containers have NVIDIA's library often without its file.
mkdir "$top/vendors"
for file in /etc/OpenCL/vendors/*.icd; do
    [ ! -e "$file" ] || cp "$file" "$top/vendors/"
done
[ -e "$top/vendors/nvidia.icd" ] || echo libnvidia-opencl.so.1 >"$top/vendors/nvidia.icd"
OCL_ICD_VENDORS=${OCL_ICD_VENDORS:-$top/vendors/}
export OCL_ICD_VENDORS

status=0
python3 -B "$top/gpu_check.py" --bin "$top/bin" --data "$top/data" --libs "$top/libs" "$@" || status=$?
exit $status
RUN
chmod +x "$out/run.sh"
du -h "$out/files.tar.xz"
