/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes graphs to files: text through the printer of our textual form (ir/text/print.c), weights, and files that are there
 * whole or not.
 */
#include "frontend/readers/text/weights.h"

#include <errno.h>
#include <stdlib.h>

#include "frontend/builder/builder.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/text/write.h"
#include "ir/interpret/interpret.h"
#include "ir/support/new_file.h"

/** Returns the printer's options that the writer's stand for. */
static struct print_options text_print_options(const struct text_options *o)
{
    return (struct print_options){.constants = o->weights == TEXT_WEIGHTS_INLINE,
                                  .legal_names = o->legal_names && !o->json,
                                  .style = o->json    ? PRINT_JSON
                                           : o->marks ? PRINT_IR
                                                      : PRINT_WEBNN,
                                  .clusters = o->marks,
                                  .by_place = true,
                                  .name = o->name && *o->name ? o->name : NULL};
}

bool text_has_loops(const struct graph *g)
{
    graph_for_each (g, n)
        if (n->op == OP_LOOP)
            return true;
    return false;
}

bool text_write_graph(const struct graph *g, const struct text_options *o, FILE *out)
{
    struct print_options options = text_print_options(o);

    if (o->json)
        return json_write_graph(g, &options, out);
    graph_print(g, out, &options);
    return !ferror(out);
}

/* ---- weights ---- */

/** Says which constants go into a file of weights, with the key that the graph's file has for each. */
struct weights_list {
    struct print_options options;
    struct print_names names;
};

static bool list_open(struct weights_list *l, const struct graph *g, const struct text_options *o)
{
    l->options = text_print_options(o);
    print_names_collect(&l->names, g, &l->options);
    return l->names.by_index;
}

static bool is_listed(const struct weights_list *l, const struct value *v)
{
    return print_in_weights(v, &l->options) && print_has_name(&l->names, v);
}

/** Writes NAME.manifest.json, which NAME.weights needs. */
static bool write_manifest(const struct graph *g, const struct text_options *o, FILE *out)
{
    struct weights_list l;
    bool ok = list_open(&l, g, o);
    const char *separator = "\n";
    uint64_t at = 8; /* after magic and version */

    fputs("{\n  \"format\": \"wg-weights-manifest\",\n  \"version\": 1,\n  \"endianness\": \"little\",\n  \"tensors\": {", out);
    for (const struct value *v = g->first_constant; ok && v; v = v->next_constant) {
        if (!is_listed(&l, v))
            continue;
        fprintf(out, "%s    ", separator);
        json_write_string(out, l.names.by_index[v->index].text, l.names.by_index[v->index].length);
        fputs(": {", out);
        json_write_type(out, &v->type);
        fprintf(out, ", \"byteOffset\": %llu, \"byteLength\": %llu, \"layout\": \"row-major\"}", (unsigned long long)at,
                (unsigned long long)type_bytes(&v->type));
        at += (uint64_t)type_bytes(&v->type);
        separator = ",\n";
    }
    fputs("\n  }\n}\n", out);
    print_names_free(&l.names);
    return ok && !ferror(out);
}

/** Writes NAME.weights or NAME.safetensors. */
static bool write_weights(const struct graph *g, const struct text_options *o, FILE *out)
{
    struct weights_list l;
    bool ok = list_open(&l, g, o);

    if (o->weights == TEXT_WEIGHTS_SAFETENSORS) {
        print_names_free(&l.names);
        return ok && print_weights(g, out, &l.options);
    }
    fwrite("WGWT\1\0\0\0", 1, 8, out);
    for (const struct value *v = g->first_constant; ok && v; v = v->next_constant)
        if (is_listed(&l, v))
            ok = fwrite(v->constant->data, 1, v->constant->bytes, out) == v->constant->bytes;
    print_names_free(&l.names);
    return ok && !ferror(out);
}

/* ---- files ---- */

enum { FILES = 3 };

/** Describes one file that is to be. */
struct part {
    char *path;
    struct new_file *file;
    bool (*write)(const struct graph *g, const struct text_options *o, FILE *out);
};

static bool write_part(const struct graph *g, const struct text_options *o, struct part *p, struct error *e)
{
    int why;

    if (!p->path)
        return file_error(e, "out of memory");
    p->file = new_file_open(p->path, 0, &why);
    if (!p->file)
        return file_error(e, "%s: %s", PATH_SHOWN(p->path), strerror(why));
    errno = 0;
    return p->write(g, o, new_file_stream(p->file)) ||
           file_error(e, "%s: %s", PATH_SHOWN(p->path), errno ? strerror(errno) : "could not be written");
}

static bool commit_part(struct part *p, struct error *e)
{
    int why;
    bool ok = new_file_commit(p->file, &why) || file_error(e, "%s: %s", PATH_SHOWN(p->path), strerror(why));

    p->file = NULL;
    return ok;
}

bool text_write_files(const struct graph *g, const struct text_options *o, const char *path, struct error *e)
{
    const struct print_options options = text_print_options(o);
    bool has = print_has_weights(g, &options), container = o->weights == TEXT_WEIGHTS_CONTAINER, ok = true;
    struct part parts[FILES] = {{strdup(path), NULL, text_write_graph}};
    size_t count = 1;

    if (text_has_loops(g))
        ok = file_error(e, "%s", TEXT_NO_LOOPS);
    if (has)
        parts[count++] = (struct part){path_with_ending(path, container ? ".weights" : ".safetensors"), NULL, write_weights};
    if (has && container)
        parts[count++] = (struct part){path_with_ending(path, ".manifest.json"), NULL, write_manifest};
    for (size_t i = 1; ok && i < count; i++)
        if (parts[i].path && !strcmp(parts[i].path, path))
            ok = file_error(e, "%s is the name of the file for its weights", PATH_SHOWN(path));
    for (size_t i = 0; ok && i < count; i++)
        ok = write_part(g, o, &parts[i], e);
    /* The graph's file comes last: who finds it finds its weights. */
    for (size_t i = count; ok && i-- > 0;)
        ok = commit_part(&parts[i], e);
    for (size_t i = 0; i < count; i++) {
        new_file_abandon(parts[i].file);
        free(parts[i].path);
    }
    return ok;
}

bool text_write(const struct graph *g, const struct text_options *o, const char *path, struct error *e)
{
    struct text_options options = *o;

    if (strcmp(path, "-"))
        return text_write_files(g, o, path, e);
    if (text_has_loops(g))
        return file_error(e, "%s", TEXT_NO_LOOPS);
    options.weights = TEXT_WEIGHTS_INLINE;
    bool ok = text_write_graph(g, &options, stdout);
    return (fflush(stdout) == 0 && ok) || file_error(e, "cannot write standard output");
}

/** Returns what n, a cast of a constant, computes, or NULL after an error in *e. */
static struct value *computed(struct graph *g, const struct node *n, struct error *e)
{
    const struct tensor_type *type = &n->results[0]->type;
    const void *in = n->inputs[0].value->constant->data;
    struct constant *c = constant_create(NULL, (size_t)type_bytes(type));
    void *out = c ? (void *)(uintptr_t)c->data : NULL; /* ours alone so far */

    if (c && !node_interpret(n, &in, &out, e)) {
        constant_release(c);
        return NULL;
    }
    struct value *v = c ? graph_add_constant(g, type, c) : NULL;
    if (!v)
        error_out_of_memory(e);
    return v;
}

bool text_widen_constants(struct graph *g, struct error *e)
{
    graph_for_each_safe (g, n) {
        struct value *narrow = n->op == OP_CAST ? n->inputs[0].value : NULL, *v;
        struct node *identity;

        if (!narrow || narrow->kind != VALUE_CONSTANT || !dtype_packed_bits(narrow->type.type))
            continue;
        if (!(v = computed(g, n, e)))
            return false;
        if (n->results[0]->output_uses) { /* an output is a node's result */
            identity = node_create(g, n, OP_IDENTITY, n->label, 1, &v, NULL, NULL, e);
            if (!identity)
                return false;
            v = identity->results[0];
        }
        value_replace_uses(n->results[0], v);
        node_remove(n);
    }
    return true;
}

struct graph *model_take_graph(const struct model *model, struct error *e)
{
    WNNNamedOperand *outputs = model_outputs(model);
    struct graph *g = outputs ? builder_take_graph(model->builder, model->output_count, outputs, e) : NULL;

    if (!outputs)
        error_out_of_memory(e);
    free(outputs);
    return g;
}
