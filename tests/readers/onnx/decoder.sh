#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Computes one token and a prompt with a small language model in three formats of weights, and holds the logits and the caches
# against references.  With WEBNN_ENGINE=gpu a device computes, if there is one.
#
#   decoder.sh WEBNN-RUN FOLDER
run=$1
folder=$2
status=0
multiplies=false
if [ "${WEBNN_ENGINE:-}" = gpu ] && "$run" --list-devices | grep "^there are no devices"; then
    echo "skipped: there is no OpenCL device"
    exit 77
fi
case ${WEBNN_DEBUG:-}${WEBNN_ENGINE:-} in
*isa=baseline* | *gpu) ;;
*) # the processor that programs run on, which an emulator may be
    scratch=$(mktemp -d) || exit 1
    if echo 'int main(void) { return !__builtin_cpu_supports("avx2"); }' >"$scratch/has.c" &&
        cc -o "$scratch/has" "$scratch/has.c" 2>"$scratch/why" && "$scratch/has"; then
        multiplies=true
    fi
    rm -rf "$scratch"
    ;;
esac

# compare WEIGHTS CALL REFERENCE [OPTION ...]
compare() {
    weights=$1
    call=$2
    reference=$3
    shift 3
    for input in input_ids attention_mask past_key_values.0.key past_key_values.0.value past_key_values.1.key \
        past_key_values.1.value; do
        set -- "$@" --input "$input=$folder/$call.$input.npy"
    done
    for output in logits present.0.key present.0.value present.1.key present.1.value; do
        set -- "$@" --compare "$output=$folder/$reference.$call.$output.npy"
    done
    "$run" "$folder/decoder_tiny_$weights.onnx" --quiet "$@" --atol 1e-4 --rtol 1e-4
}

for call in decode prompt; do
    for weights in f32 q4 q8; do
        compare $weights $call $weights || status=1
    done
    # With rounded activations the results are those of another implementation which rounds likewise, if the processor
    # multiplies bytes, and as above if not: either may be where that is not known here.  The switch makes weights as small as
    # these stay compact.
    WEBNN_DEBUG=${WEBNN_DEBUG:+$WEBNN_DEBUG,}prefer-compact
    export WEBNN_DEBUG
    for weights in q4 q8; do
        compare $weights $call ${weights}_int8 --precision int8 ||
            { ! $multiplies && compare $weights $call $weights --precision int8; } || status=1
    done
done
exit $status
