/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lists ONNX operators that are refused: no static graph of WebNN can express them, or nobody has composed them yet, and the
 * reason says which, in place of "not supported".  The table stands last (operators.c): an importer elsewhere goes before it.
 */
#include "frontend/readers/onnx/operators.h"

/** The note is the reason. */
static bool import_refused(struct onnx_node *n)
{
    return onnx_refuse(n, "%s", n->row->note);
}

#define REFUSED(name, reason) {name, 1, 0, 0, UINT8_MAX, UINT8_MAX, ONNX_REFUSED, import_refused, reason, NULL}
#define SEQUENCE "sequences of tensors are no operands of WebNN"
#define OPTIONAL "optional values are no operands of WebNN"
#define TEXT "WebNN has no strings"
#define RANDOM "WebNN has no random numbers"
#define BITS "WebNN has no operations on bits"

#define NO_FORM "WebNN has no such operator, and the reader no composition for it"
#define TRAINING "losses belong to training"

static const struct onnx_operator rows[] = {
    REFUSED("AffineGrid", NO_FORM),
    REFUSED("Bernoulli", RANDOM),
    REFUSED("BitCast", BITS),
    REFUSED("BitwiseAnd", BITS),
    REFUSED("BitwiseOr", BITS),
    REFUSED("BitwiseXor", BITS),
    REFUSED("Col2Im", NO_FORM),
    REFUSED("ConcatFromSequence", SEQUENCE),
    REFUSED("CumProd", NO_FORM),
    REFUSED("DeformConv", NO_FORM),
    REFUSED("Det", NO_FORM),
    REFUSED("ImageDecoder", "the size of the result depends on the data"),
    REFUSED("MaxRoiPool", NO_FORM),
    REFUSED("MaxUnpool", NO_FORM),
    REFUSED("Multinomial", RANDOM),
    REFUSED("NegativeLogLikelihoodLoss", TRAINING),
    REFUSED("NonMaxSuppression", "the number of boxes kept depends on the data"),
    REFUSED("Optional", OPTIONAL),
    REFUSED("OptionalGetElement", OPTIONAL),
    REFUSED("OptionalHasElement", OPTIONAL),
    REFUSED("RandomNormal", RANDOM),
    REFUSED("RandomNormalLike", RANDOM),
    REFUSED("RandomUniform", RANDOM),
    REFUSED("RandomUniformLike", RANDOM),
    REFUSED("RegexFullMatch", TEXT),
    REFUSED("RoiAlign", NO_FORM),
    REFUSED("SequenceAt", SEQUENCE),
    REFUSED("SequenceConstruct", SEQUENCE),
    REFUSED("SequenceEmpty", SEQUENCE),
    REFUSED("SequenceErase", SEQUENCE),
    REFUSED("SequenceInsert", SEQUENCE),
    REFUSED("SequenceLength", SEQUENCE),
    REFUSED("SequenceMap", SEQUENCE),
    REFUSED("SoftmaxCrossEntropyLoss", TRAINING),
    REFUSED("SplitToSequence", SEQUENCE),
    REFUSED("StringConcat", TEXT),
    REFUSED("StringNormalizer", TEXT),
    REFUSED("StringSplit", TEXT),
    REFUSED("TfIdfVectorizer", "WebNN does not count n-grams"),
    REFUSED("Unique", "the number of results depends on the data"),
    {"DecoderMaskedMultiHeadAttention", 1, 0, 0, UINT8_MAX, UINT8_MAX, ONNX_REFUSED, import_refused,
     "its cache belongs to beams that are searched; MultiHeadAttention and GroupQueryAttention are read", "com.microsoft"},
};

ONNX_TABLE(onnx_refused_operators, rows);
