#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Computes one token and a prompt with a small language model in three formats of weights, and holds the logits and the caches
# against references.
#
#   decoder.sh WEBNN-RUN FOLDER
run=$1
folder=$2
status=0
for weights in f32 q4 q8; do
    for call in decode prompt; do
        set --
        for input in input_ids attention_mask past_key_values.0.key past_key_values.0.value past_key_values.1.key \
            past_key_values.1.value; do
            set -- "$@" --input "$input=$folder/$call.$input.npy"
        done
        for output in logits present.0.key present.0.value present.1.key present.1.value; do
            set -- "$@" --compare "$output=$folder/$weights.$call.$output.npy"
        done
        "$run" "$folder/decoder_tiny_$weights.onnx" --quiet "$@" --atol 1e-4 --rtol 1e-4 || status=1
    done
done
exit $status
