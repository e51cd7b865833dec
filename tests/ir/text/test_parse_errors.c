/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the parser refuses, where and with which words; and that no text, however mangled, does any harm. */
#include "ir/text/text.h"
#include "support/graphs.h"
#include "support/random.h"

#define GRAPH(body) "webnn_graph \"t\" v1 {\n" body "\n}"

struct wrong_text {
    const char *text, *message;
};

static const struct wrong_text data_errors[] = {
    {"", "1:1: webnn_graph expected, found the end of the text"},
    {"webnn_graph t v1 {}", "1:13: the graph's name in quotes expected, found 't'"},
    {"webnn_graph \"t\" v3 {}", "1:17: version v1 or v2 expected, found 'v3'"},
    {"webnn_graph \"t\" v1 @q {}", "1:21: quantized expected, found 'q'"},
    {"webnn_graph \"t\" v1 { inputs {", "1:30: a name expected, found the end of the text"},
    {"webnn_graph \"t\" v1 { inputs {}", "1:31: '}' expected, found the end of the text"},
    {"webnn_graph \"t\" v1 {} x", "1:23: inputs, consts, nodes, outputs or '}' expected, found 'x'"},
    {GRAPH("inputs { x: f32[2] y: f32[2]; }"), "2:20: ';' expected, found 'y'"},
    {GRAPH("inputs { x: f32[2]; x: f32[2]; }"), "2:21: the name 'x' is defined twice"},
    {GRAPH("inputs { x: f32[2]; } nodes { x = relu(x); }"), "2:31: the name 'x' is defined twice"},
    {GRAPH("inputs { null: f32[2]; }"), "2:10: 'null' is a reserved word: write it in quotes"},
    {GRAPH("inputs { \"\": f32[2]; }"), "2:11: a name must not be empty"},
    {GRAPH("inputs { x: f33[2]; }"), "2:13: 'f33' is not a data type"},
    {GRAPH("inputs { x: i4[2]; }"), "2:13: the specification has no data types int4 and uint4"},
    {GRAPH("inputs { x: f32[0]; }"), "2:13: the type has size 0 in dimension 0, allowed are 1 to 2147483647"},
    {GRAPH("inputs { x: f32[-1]; }"), "2:17: a whole number from 0 to 4294967295 expected"},
    {GRAPH("inputs { x: f32[1.5]; }"), "2:17: a whole number from 0 to 4294967295 expected"},
    {GRAPH("inputs { x: f32[99999999999999999999999]; }"), "2:17: a whole number from 0 to 4294967295 expected"},
    {GRAPH("inputs { x: f32[4294967295]; }"), "2:13: the type has size 4294967295 in dimension 0, allowed are 1 to 2147483647"},
    {GRAPH("inputs { x: f32[65536, 32768]; }"),
     "2:13: the type has too many elements in f32[65536, 32768], the largest count is 2147483647"},
    {GRAPH("inputs { x: f32[1,1,1,1,1,1,1,1,1,1,1,1,1]; }"), "2:13: the type has rank 13, the largest supported is 12"},
    {GRAPH("consts { x: f32[2]; }"), "2:10: a constant without data: @scalar, @values, @bytes or @weights is missing"},
    {GRAPH("consts { x: f32[2] @zeros(1); }"), "2:21: scalar, values, bytes or weights expected, found 'zeros'"},
    {GRAPH("consts { x: f32[2] @bytes([1, 2]); }"), "2:21: 2 bytes, the type has 8"},
    {GRAPH("consts { x: u8[2] @bytes([1, 2, 3]); }"), "2:20: 3 bytes, the type has 2"},
    {GRAPH("consts { x: u8[2] @bytes([1, 256]); }"), "2:30: a whole number from 0 to 255 expected"},
    {GRAPH("consts { x: u8[2] @bytes([1 2]); }"), "2:29: ',' or ']' expected, found '2'"},
    {GRAPH("consts { x: u8[2000000] @bytes([1]); }"), "2:26: 1 bytes, the type has 2000000"},
    {GRAPH("consts { x: f32[2] @values([[1], [2, 3]]); }"), "2:21: 3 elements, the type has 2"},
    {GRAPH("consts { x: f32[1000000000] @scalar(1); }"), "2:30: @scalar fills more than 1073741824 bytes"},
    {GRAPH("consts { x: f32[1] @scalar(0x10); }"), "2:28: numbers are decimal"},
    {GRAPH("consts { x: f32[1] @scalar(-1u); }"), "2:28: an unsigned number with a minus sign"},
    {GRAPH("consts { x: f32[1] @scalar(1.5u); }"), "2:28: 'u' follows whole numbers up to 18446744073709551615 only"},
    {GRAPH("consts { x: f32[1] @scalar(NaN(0x7ff0000000000000)); }"), "2:32: these are not the bits of a NaN"},
    {GRAPH("consts { x: f32[1] @scalar(12abc); }"), "2:28: a number runs into a name"},
    {GRAPH("nodes { y = relu(x); }"), "2:18: 'x' is not defined here; a node may use earlier values only"},
    {GRAPH("nodes { y = relu(y); }"), "2:18: 'y' is not defined here; a node may use earlier values only"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(z); z = relu(x); }"),
     "2:40: 'z' is not defined here; a node may use earlier values only"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = rely(x); }"), "2:35: 'rely' is not an operator"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(x, x); }"), "2:43: relu has 1 positional arguments, here is one more"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(input=x, x); }"), "2:49: a positional argument after one with a name"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(x, input=x); }"), "2:43: argument 'input' is given twice"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(x, alpha=1); }"), "2:43: relu has no argument 'alpha'"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = softmax(x); }"), "2:35: softmax: argument axis is missing"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = softmax(x, x); }"), "2:46: a number expected, found 'x'"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = cast(x, f8); }"), "2:43: 'f8' is not a data type"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = pad(x, [0], [0], mode=\"wrap\"); }"), "2:58: mode has no value 'wrap'"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = split(x, 0); }"), "2:44: splits must not be 0"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = split(x, 2); }"), "2:35: split has 2 results, 1 names are given"},
    {GRAPH("inputs { x: f32[2]; } nodes { [y, z, y] = split(x, 2); }"), "2:43: split has 2 results, 3 names are given"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = concat(1, 0); }"), "2:42: an operand's name expected, found '1'"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(x, label=l); }"), "2:49: a string expected, found 'l'"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(x, label=\"a\\u{0}\"); }"), "2:50: a label with a NUL in it"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(x) @cpu(1); }"),
     "2:44: kernel, library, loop, view or winograd expected, found 'cpu'"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(x) @kernel(1); }"), "2:44: cluster 1 in a graph of 1 nodes"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(x) @kernel(1); z = relu(x) @view(1); }"),
     "2:68: cluster 1 is of kind kernel above"},
    {GRAPH("inputs { x: f32[2]; } outputs { x; x; }"), "2:36: the output 'x' is defined twice"},
    {GRAPH("outputs { x; }"), "2:11: 'x' is not defined here; a node may use earlier values only"},
    {GRAPH("inputs { \"x\n\": f32[1]; }"), "2:10: a string without its closing quote"},
    {GRAPH("inputs { \"x\\q\": f32[1]; }"),
     "2:12: unknown escape in a string (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\xHH \\uHHHH \\u{...} are known)"},
    {GRAPH("inputs { \"\\u{d800}\": f32[1]; }"),
     "2:11: unknown escape in a string (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\xHH \\uHHHH \\u{...} are known)"},
    {GRAPH("inputs { \xC3\xA4\xC3\xB6: f32[1]; }"), "2:10: unexpected character '\xC3\xA4'"},
    {GRAPH("# \xC3\xA4\xC3\xB6\n\xC3\xA4"), "3:1: unexpected character '\xC3\xA4'"},
    {GRAPH("inputs { \"\xC3\xA4\": f33[1]; }"), "2:15: 'f33' is not a data type"},
    {GRAPH("inputs { \xFF: f32[1]; }"), "2:10: unexpected character '\\xff'"},
    {GRAPH("inputs { \x1B[2J: f32[1]; }"), "2:10: unexpected character '\\u{1b}'"},
};

/* These are right as texts, but no graphs. */
static const struct wrong_text type_errors[] = {
    {GRAPH("inputs { x: f32[2]; } nodes { y = relu(); }"), "2:35: relu: input is missing"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = concat([], 0); }"), "2:35: concat: inputs has 0 operands, allowed are 1 to 8192"},
    {GRAPH("inputs { x: f32[2]; } nodes { y = concat([null], 0); }"), "2:35: concat: inputs[0] is missing"},
    {GRAPH("inputs { x: i32[2]; } nodes { y = sqrt(x, label=\"l\\u{202e}\"); }"),
     "2:35: sqrt [l\\u{202e}]: input has data type int32, allowed are float32, float16"},
};

static void check_messages(size_t count, const struct wrong_text *rows, WNNStatus status)
{
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        struct error error = {0};
        OWNED(graph) struct graph *g = graph_parse(rows[i].text, strlen(rows[i].text), NULL, NULL, &error);
        if (g || strcmp(error.message, rows[i].message) != 0 || error.status != status) {
            print_error("%s\n  gives    %s: %s\n  expected %s: %s\n", rows[i].text, wnnStatusGetName(error.status),
                        error.message, wnnStatusGetName(status), rows[i].message);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

TEST(errors_say_where_and_why)
{
    check_messages(sizeof data_errors / sizeof *data_errors, data_errors, WNNStatus_DataError);
    check_messages(sizeof type_errors / sizeof *type_errors, type_errors, WNNStatus_TypeError);
}

/* ---- hostile texts ---- */

static void refuse(const char *text, size_t length)
{
    struct error error = {0};
    struct graph *g = graph_parse(text, length, NULL, NULL, &error);

    assert_null(g);
    assert_int_not_equal(error.status, WNNStatus_Success);
    assert_true(strlen(error.message) > 0);
}

static char *repeated(const char *head, const char *piece, size_t count, const char *tail)
{
    size_t size = strlen(head) + count * strlen(piece) + strlen(tail) + 1;
    char *text = malloc(size), *at = text;

    assert_non_null(text);
    at += sprintf(at, "%s", head);
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s", piece);
    sprintf(at, "%s", tail);
    return text;
}

TEST(deep_and_long_texts_do_no_harm)
{
    static const struct {
        const char *head, *piece, *tail;
    } rows[] = {
        {GRAPH("consts { x: f32[2] @values("), "[", ""},
        {"webnn_graph \"t\" v1 { inputs { x: f32[2]; } nodes { y = expand(x, ", "[", ""},
        {"webnn_graph \"t\" v1 { inputs { x: f32[2]; } nodes { y = concat(", "[", ""},
        {"webnn_graph \"t\" v1 ", "{", ""},
        {"webnn_graph \"t\" v1 {", "inputs {", ""},
        {"webnn_graph \"t\" v1 { consts { x: f32[1] @scalar(", "9", ".5.); } }"},
        {"webnn_graph \"t\" v1 { consts { x: f32[1] @scalar(1e", "9", "); } }}"},
        {"webnn_graph \"t\" v1 { inputs { x: f32[2]; } nodes { y = tile(x, [", "1, ", "1]); } }"},
        {"webnn_graph \"", "\\", ""},
        {"", "#", ""},
        {"webnn_graph \"t\" v1 { inputs { ", "a", "@: f32[1]; } }"},
        {"webnn_graph \"t\" v1 { inputs { x: f32[2]; } nodes { y = relu(x, label=\"", "\xF0\x9F\x98\x80\x1B", "\", z=1); } }"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (i == 6)
            continue; /* a number too large is infinity, not an error: below */
        OWNED(memory) char *text = repeated(rows[i].head, rows[i].piece, 100000, rows[i].tail);
        refuse(text, strlen(text));
    }

    char *text = repeated("webnn_graph \"t\" v1 { consts { x: f32[1] @scalar(1e", "9", 500, "); } outputs { x; } }");
    struct graph *g = parse_text(text);
    assert_prints(g, "@scalar(Infinity)");
    graph_free(g);
    free(text);

    /* every decimal digit of the smallest double counts */
    text = repeated("webnn_graph \"t\" v1 { inputs { x: f32[1]; } nodes { y = linear(x, alpha=0.", "0", 45,
                    "7006492321624087); } outputs { y; } }");
    g = parse_text(text);
    assert_true(NODE_OPTIONS(g->first, WNNLinearOptions)->alpha == 0x1p-149);
    graph_free(g);
    free(text);
}

static const char seed_text[] =
    "webnn_graph \"seed\" v1 @quantized { # comment\n"
    " inputs { x: f32[1, 3, 8, 8]; \"b \\u{41}\\\"\": i64[4]; s: f16[]; }\n"
    " consts { w: f32[4, 3, 3, 3] @scalar(0.5); b: f32[4] @values([[1, -2.5e3], NaN(0x7ff8000000000001), -Infinity]);"
    " k: u8[3] @bytes([1, 2, 255]); z: i64[2] @scalar(-9223372036854775808); }\n"
    " nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1], groups=1, inputLayout=\"nchw\", label=\"first\") @library(0);\n"
    " r = clamp(c, minValue=-1.5, maxValue=6u) @library(0); t = transpose(r, permutation=[0, 2, 3, 1]);\n"
    " [p, q] = split(t, 2, axis=1); [p1, p2, p3] = split(p, [1, 5, 2], axis=2); e = cast(q, \"int32\");\n"
    " cc = concat([p1, p2, p3], 2) @kernel(1); f = reshape(cc, [4, 8, 4]) @view(2); g = argMax(f, 1, keepDimensions=true);\n"
    " pd = pad(\"b \\u{41}\\\"\", [1], [2], mode=constant, value=3); sm = softmax(f, 2); rd = reduceMean(sm, axes=[0, 1]);\n"
    " sl = slice(f, [0, 1, 0], [4, 7, 4], strides=[1, 2, 1]); ti = tile(rd, [3]); } \n"
    " outputs { e; g, \"other\" = pd; sl; ti; r; }\n}\n";

/* Texts near a right one: most are refused, those that are not must verify and round-trip. */
TEST(mangled_texts_do_no_harm)
{
    static const char *const pieces[] = {"[",          "]",  "{",           "}",          "(",    ")",         ",",
                                         ";",          "=",  "@",           "\"",         "-",    "null",      "NaN",
                                         "4294967295", "0",  "99999999999", "1e999",      "x",    "f32",       "\\u{",
                                         "#",          "\n", "axis=1",      "label=\"\"", "relu", "split",     "0.5",
                                         "true",       "-1", "2147483647",  "[1, 2]",     "\xFF", "@kernel(2)"};
    const char *rounds_text = getenv("WEBNN_FUZZ_ROUNDS");
    long rounds = rounds_text ? atol(rounds_text) : 4000, accepted = 0;
    const char *seed = getenv("WEBNN_FUZZ_SEED");

    struct error seed_error = {0};
    OWNED(graph) struct graph *whole = graph_parse(seed_text, sizeof seed_text - 1, NULL, NULL, &seed_error);
    assert_works(whole, &seed_error);
    assert_verifies(whole);
    assert_round_trip(whole);

    random_seed(seed ? strtoull(seed, NULL, 10) : 20261121);
    for (long round = 0; round < rounds; round++) {
        char text[sizeof seed_text + 512];
        size_t length = sizeof seed_text - 1;
        memcpy(text, seed_text, length);

        for (uint32_t changes = 1 + random_below(4); changes; changes--) {
            size_t at = random_below((uint32_t)length);
            const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
            size_t piece_length = strlen(piece), gone;
            switch (random_below(5)) {
            case 0: /* a byte changes */
                text[at] = (char)random_below(256);
                break;
            case 1: /* some bytes go */
                gone = random_below(12) < length - at ? random_below(12) : 1;
                gone = gone < length - at ? gone : length - at;
                memmove(text + at, text + at + gone, length - at - gone);
                length -= gone;
                break;
            case 2: /* a piece comes */
            case 3: /* a piece takes the place of a token */
                gone = 0;
                while (piece != pieces[0] && at + gone < length && text[at + gone] >= '0' && text[at + gone] <= 'z' &&
                       gone < 12)
                    gone++;
                if (length - gone + piece_length >= sizeof text)
                    break;
                memmove(text + at + piece_length, text + at + gone, length - at - gone);
                memcpy(text + at, piece, piece_length);
                length = length - gone + piece_length;
                break;
            case 4: /* the end goes */
                if (random_below(8) == 0)
                    length = at;
                break;
            }
            if (length == 0)
                break;
        }

        /* past the text there is nothing to read */
        OWNED(memory) char *exact = malloc(length ? length : 1);
        assert_non_null(exact);
        memcpy(exact, text, length);
        struct error error = {0};
        OWNED(graph) struct graph *g = graph_parse(exact, length, NULL, NULL, &error);
        if (g) {
            accepted++;
            bool data = false; /* printing large constants takes long */
            for (struct value *v = g->first_constant; v; v = v->next_constant)
                data = data || type_bytes(&v->type) > 100000;
            if (!graph_verify(g, stderr))
                fail_msg("round %ld: not valid:\n%.*s", round, (int)length, text);
            if (!data)
                assert_round_trip(g);
        } else {
            assert_int_not_equal(error.status, WNNStatus_Success);
            assert_true(error.message[0] >= '1' && error.message[0] <= '9');
        }
    }
    print_message("%ld of %ld texts accepted\n", accepted, rounds);
    assert_true(accepted > rounds / 50 && accepted < rounds * 9 / 10);
}
