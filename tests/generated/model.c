/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Models as plain data, and random numbers. */
#include "generated.h"

#include <inttypes.h>
#include <string.h>

static const char magic[8] = "genmod1";

uint64_t gen_next(struct gen_random *r)
{
    uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

void gen_model_init(struct gen_model *m, enum gen_dialect dialect)
{
    memset(m, 0, sizeof *m);
    memcpy(m->magic, magic, sizeof magic);
    m->dialect = (uint8_t)dialect;
}

int64_t gen_bits(double value)
{
    int64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double gen_double(int64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

size_t gen_type_size(unsigned type)
{
    size_t size = type == ONNX_BFLOAT16 ? 2 : type <= ONNX_INT4 ? onnx_type_size((enum onnx_type)type) : 1;

    return size ? size : 1;
}

size_t gen_tensor_written(const struct gen_tensor *t)
{
    int64_t count = 1;

    for (unsigned d = 0; d < t->rank; d++) {
        if (t->dims[d] < 0 || t->dims[d] > GEN_ELEMENTS)
            return t->count;
        count *= t->dims[d];
        if (count > GEN_ELEMENTS)
            return t->count;
    }
    return (size_t)count;
}

void gen_tensor_fill(const struct gen_tensor *t, size_t count, void *data)
{
    size_t size = gen_type_size(t->type);

    for (size_t i = 0; i < count; i++) {
        int64_t value = t->count ? t->values[i % t->count] : 1;

        if (t->type == ONNX_BFLOAT16 || t->type > ONNX_INT4 || !onnx_type_size((enum onnx_type)t->type))
            memcpy((char *)data + i * size, &value, size);
        else if (gen_type_is_float(t->type))
            onnx_store((enum onnx_type)t->type, data, i, gen_double(value));
        else
            onnx_store_int((enum onnx_type)t->type, data, i, value);
    }
}

void gen_model_compact(struct gen_model *m)
{
    int8_t places[GEN_TENSORS];
    uint8_t count = 0;

    memset(places, -1, sizeof places);
    for (unsigned n = 0; n < m->node_count; n++) {
        for (unsigned i = 0; i < m->nodes[n].input_count; i++)
            if (m->nodes[n].inputs[i] >= 0)
                places[m->nodes[n].inputs[i]] = 0;
        for (unsigned i = 0; i < m->nodes[n].output_count; i++)
            if (m->nodes[n].outputs[i] >= 0)
                places[m->nodes[n].outputs[i]] = 0;
    }
    for (unsigned t = 0; t < m->tensor_count; t++)
        if (places[t] == 0) {
            places[t] = (int8_t)count;
            if (count != t)
                m->tensors[count] = m->tensors[t];
            count++;
        }
    m->tensor_count = count;
    for (unsigned n = 0; n < m->node_count; n++) {
        for (unsigned i = 0; i < m->nodes[n].input_count; i++)
            if (m->nodes[n].inputs[i] >= 0)
                m->nodes[n].inputs[i] = places[m->nodes[n].inputs[i]];
        for (unsigned i = 0; i < m->nodes[n].output_count; i++)
            if (m->nodes[n].outputs[i] >= 0)
                m->nodes[n].outputs[i] = places[m->nodes[n].outputs[i]];
    }
}

/* ---- for people ---- */

static void print_values(const int64_t *values, unsigned count, bool is_float, FILE *out)
{
    for (unsigned i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        if (is_float)
            fprintf(out, "%.9g", gen_double(values[i]));
        else
            fprintf(out, "%" PRId64, values[i]);
    }
}

static void print_tensor(const struct gen_tensor *t, FILE *out)
{
    fprintf(out, "%s[", onnx_type_name((enum onnx_type)t->type));
    print_values(t->dims, t->rank, false, out);
    fputs("] of ", out);
    print_values(t->values, t->count, gen_type_is_float(t->type), out);
}

static void print_attribute(const struct gen_attribute *a, FILE *out)
{
    fprintf(out, " %s=", a->name);
    switch ((enum gen_kind)a->kind) {
    case GEN_FLOAT:
    case GEN_INT:
    case GEN_BOOL:
        print_values(a->values, 1, a->kind == GEN_FLOAT, out);
        break;
    case GEN_FLOATS:
    case GEN_INTS:
        fputs("[", out);
        print_values(a->values, a->count < a->length ? a->count : a->length, a->kind == GEN_FLOATS, out);
        fprintf(out, a->length > a->count ? "] repeated to %u items" : "]", a->length);
        break;
    case GEN_STRING:
    case GEN_STRINGS:
        fprintf(out, "\"%s\" (%u items)", a->text, a->length);
        break;
    case GEN_TENSOR:
        print_tensor(&a->tensor, out);
        break;
    case GEN_GRAPH:
        fputs("body(", out);
        print_values(a->values, 8, false, out);
        fputs(")", out);
    }
}

void gen_model_print(const struct gen_model *m, FILE *out)
{
    static const char *const dialects[] = {"ONNX", "calls", "text"};
    static const char *const sources[] = {"input", "constant", "result"};

    fprintf(out, "%s", dialects[m->dialect % GEN_DIALECTS]);
    if (m->dialect == GEN_ONNX)
        fprintf(out, ", operator set %d", m->version);
    fputs("\n", out);
    for (unsigned i = 0; i < m->tensor_count; i++) {
        fprintf(out, "  t%u: %s%s ", i, m->tensors[i].hidden ? "hidden " : "", sources[m->tensors[i].source % 3]);
        if (m->tensors[i].source != GEN_RESULT)
            print_tensor(&m->tensors[i], out);
        fputs("\n", out);
    }
    for (unsigned n = 0; n < m->node_count; n++) {
        const struct gen_node *node = &m->nodes[n];

        fputs("  ", out);
        for (unsigned i = 0; i < node->output_count; i++)
            fprintf(out, node->outputs[i] < 0 ? "- " : "t%d ", node->outputs[i]);
        fprintf(out, "= %s%s%s(", node->domain, *node->domain ? "." : "", node->op);
        for (unsigned i = 0; i < node->input_count; i++)
            fprintf(out, node->inputs[i] < 0 ? "%s-" : "%st%d", i ? ", " : "", node->inputs[i]);
        fputs(")", out);
        for (unsigned i = 0; i < node->attribute_count; i++)
            print_attribute(&node->attributes[i], out);
        fputs("\n", out);
    }
}

bool gen_model_save(const struct gen_model *m, const char *path)
{
    FILE *out = fopen(path, "wb");
    bool good = out && fwrite(m, sizeof *m, 1, out) == 1;

    return out && !fclose(out) && good;
}

/** Returns whether every count and index is one that the structs have: a file may be of another version of the program. */
static bool is_sound(const struct gen_model *m)
{
    bool sound = !memcmp(m->magic, magic, sizeof magic) && m->dialect < GEN_DIALECTS && m->tensor_count <= GEN_TENSORS &&
                 m->node_count <= GEN_NODES;

    for (unsigned i = 0; sound && i < m->tensor_count; i++)
        sound = m->tensors[i].rank <= GEN_RANK && m->tensors[i].count <= GEN_VALUES;
    for (unsigned n = 0; sound && n < m->node_count; n++) {
        const struct gen_node *node = &m->nodes[n];

        sound = node->input_count <= GEN_INPUTS && node->output_count <= GEN_OUTPUTS &&
                node->attribute_count <= GEN_ATTRIBUTES && memchr(node->op, 0, GEN_NAME) && memchr(node->domain, 0, GEN_NAME);
        for (unsigned i = 0; sound && i < node->input_count; i++)
            sound = node->inputs[i] < m->tensor_count;
        for (unsigned i = 0; sound && i < node->output_count; i++)
            sound = node->outputs[i] < m->tensor_count;
        for (unsigned i = 0; sound && i < node->attribute_count; i++) {
            const struct gen_attribute *a = &node->attributes[i];

            sound = a->count <= GEN_VALUES && memchr(a->name, 0, GEN_NAME) && memchr(a->text, 0, GEN_TEXT) &&
                    a->tensor.rank <= GEN_RANK && a->tensor.count <= GEN_VALUES;
        }
    }
    return sound;
}

bool gen_model_load(struct gen_model *m, const char *path)
{
    FILE *in = fopen(path, "rb");
    bool good = in && fread(m, sizeof *m, 1, in) == 1 && is_sound(m);

    if (in)
        fclose(in);
    return good;
}
