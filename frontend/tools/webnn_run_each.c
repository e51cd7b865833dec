/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-run --each: computes once for each file of folders and lists, and prints a line of JSON for each.
 *
 * The first file that fits the model says which inputs change and their shapes; the graph is built for it.  Files are
 * read while others are computed (frontend/readers/batch/batch.h), so what goes wrong with one is caught as text and printed in
 * its line.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "frontend/readers/files/element.h"
#include "frontend/tools/webnn_run.h"
#include "ir/support/name_map.h"

/* ---- the list ---- */

/* Returns a name as messages have it; no name is an empty one. */
static const char *shown(const char *name, char text[256])
{
    return escape_text(text, 256, name ? name : "", name ? strlen(name) : 0);
}

/* Returns false unless all options name the same input, or none. */
static bool same_name(const struct run_each *each, const char *name)
{
    const struct argument_pairs *pairs[] = {&each->paths, &each->lists};
    char first[256], other[256];

    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < pairs[k]->count; i++)
            if (pairs[k]->items[i].name != name &&
                (!pairs[k]->items[i].name || !name || strcmp(pairs[k]->items[i].name, name) != 0))
                return complain("--each and --each-list name different inputs: '%s' and '%s'", shown(name, first),
                                shown(pairs[k]->items[i].name, other));
    return true;
}

static bool collect(const struct run_each *each, struct batch_list *l)
{
    struct error e = {0};

    for (size_t i = 0; i < each->paths.count; i++)
        if (!batch_list_add(l, each->paths.items[i].value, &e))
            return complain("%s", e.message);
    for (size_t i = 0; i < each->lists.count; i++)
        if (!batch_list_read(l, each->lists.items[i].value, &e))
            return complain("%s", e.message);
    return l->count || complain("--each: there are no files");
}

/* Makes the folder for outputs, unless it is there. */
static bool make_folder(const char *path)
{
    return !path || mkdir(path, 0777) == 0 || batch_is_folder(path) ||
           complain("--save-each: %s is not a folder and cannot be made one: %s", PATH_SHOWN(path), strerror(errno));
}

bool each_open(const struct run_options *o, struct each *e)
{
    *e = (struct each){.name = o->each.paths.count ? o->each.paths.items[0].name : o->each.lists.items[0].name};
    return same_name(&o->each, e->name) && collect(&o->each, &e->list) && make_folder(o->each.save);
}

/* Notes which inputs the sources from number `first` on are for. */
static bool note_names(const struct sources *s, size_t first, struct each *e)
{
    e->count = s->count - first;
    e->names = calloc(e->count + 1, sizeof *e->names);
    for (size_t i = 0; e->names && i < e->count; i++) {
        const char *name = s->items[first + i].name;

        if (!name || !(e->names[i] = strdup(name)))
            return complain("out of memory");
    }
    return e->names || complain("out of memory");
}

bool each_read_model(struct sources *s, struct each *e, bool (*read)(void *user), void *user)
{
    enum { TRIED_MOST = 16 };
    struct error error = {0};
    char first[1024] = "";
    const size_t given = s->count;
    size_t tried = 0;

    for (size_t i = 0; i < e->list.count && tried < TRIED_MOST; i++) {
        const struct argument_pair pair = {(char *)e->name, e->list.paths[i]};

        complain_catch(&error);
        bool good = source_read(s, &pair);
        tried += good;
        good = good && read(user);
        complain_catch(NULL);
        if (good)
            good = note_names(s, given, e);
        sources_shrink(s, given);
        if (good)
            return true;
        if (!*first)
            snprintf(first, sizeof first, "%s", error.message);
    }
    return tried ? complain("no file of %zu that were tried fits the model; the first: %s", tried, first)
                 : complain("none of %zu files can be read; the first: %s", e->list.count, first);
}

void each_close(struct each *e)
{
    batch_list_free(&e->list);
    for (size_t i = 0; i < e->count && e->names; i++)
        free(e->names[i]);
    free(e->names);
    *e = (struct each){0};
}

/* ---- one file ---- */

struct batch {
    const struct run_options *o;
    const struct each *each;
    const struct each_graph *g;
    struct sources slots[BATCH_SLOTS];
    struct name_map saved; /* the names of the files of --save-each */
    size_t name_count;
    char **names; /* their texts */
};

static bool read_file(void *user, size_t slot, const char *path, struct error *e)
{
    struct batch *b = user;
    const struct argument_pair pair = {(char *)b->each->name, (char *)path};

    complain_catch(e);
    const bool good = source_read(&b->slots[slot], &pair);
    complain_catch(NULL);
    if (!good)
        sources_free(&b->slots[slot]);
    return good;
}

static void drop_file(void *user, size_t slot)
{
    sources_free(&((struct batch *)user)->slots[slot]);
}

/* A file without names in it is for the input that the first file was for. */
static bool name_sources(const struct batch *b, struct sources *s)
{
    char text[256];

    for (size_t i = 0; i < s->count; i++) {
        bool known = false;

        if (!s->items[i].name && !(s->items[i].name = strdup(b->each->names[0])))
            return complain("out of memory");
        for (size_t k = 0; k < b->each->count; k++)
            known |= !strcmp(b->each->names[k], s->items[i].name);
        if (!known)
            return complain("the first file has no array '%s'", shown(s->items[i].name, text));
    }
    return s->count == b->each->count ||
           complain("the first file has arrays for %zu inputs, this one for %zu", b->each->count, s->count);
}

/* Puts the slot's arrays in the place of the last file's. */
static bool take_inputs(const struct batch *b, struct sources *s)
{
    const struct each_graph *g = b->g;
    char note[512];

    for (size_t i = 0; i < g->input_count; i++) {
        bool changes = false;
        struct npy_array array;

        for (size_t k = 0; k < s->count; k++)
            changes |= !strcmp(s->items[k].name, g->ports[i]->name);
        if (!changes)
            continue;
        if (!sources_take(b->o, s, g->ports[i], &array, note, sizeof note)) {
            npy_free(&array);
            return false;
        }
        memcpy(g->input_buffers[i].data, array.data, array.byteLength);
        npy_free(&array);
    }
    return true;
}

/* ---- a line ---- */

static void print_number(FILE *out, const struct npy_array *a, size_t i)
{
    if (!result_print_whole(out, a, i))
        batch_print_number(out, element_get(a->dataType, a->data, i));
}

/* Prints the K largest of each row, the index and the element of each, and its label. */
static bool print_top(FILE *out, const struct batch *b, const struct result *r)
{
    const struct npy_array *a = &r->array;
    const size_t count = npy_elements(a), length = a->rank ? a->shape[a->rank - 1] : 1;
    size_t *top = malloc((size_t)b->o->top * sizeof *top);

    if (!top)
        return complain("out of memory");
    fputs(", \"top\": [", out);
    for (size_t row = 0; length && row < count / length; row++) {
        const size_t found = result_top(a, row * length, length, b->o->top, top);

        fputs(row ? ", [" : "[", out);
        for (size_t i = 0; i < found; i++) {
            fprintf(out, "%s{\"index\": %zu, \"value\": ", i ? ", " : "", top[i]);
            print_number(out, a, row * length + top[i]);
            if (labels_fit(b->g->labels, r) && top[i] < b->g->labels->count) {
                fputs(", \"label\": ", out);
                batch_print_string(out, b->g->labels->lines[top[i]]);
            }
            fputc('}', out);
        }
        fputc(']', out);
    }
    fputc(']', out);
    free(top);
    return true;
}

static bool print_result(FILE *out, const struct batch *b, const struct result *r)
{
    const struct npy_array *a = &r->array;
    const size_t count = npy_elements(a), first = b->o->first < count ? (size_t)b->o->first : count;

    batch_print_string(out, r->name);
    fprintf(out, ": {\"type\": \"%s\", \"shape\": [", wnnOperandDataTypeGetName(a->dataType));
    for (size_t i = 0; i < a->rank; i++)
        fprintf(out, "%s%u", i ? ", " : "", a->shape[i]);
    fputs("], \"first\": [", out);
    for (size_t i = 0; i < first; i++) {
        fputs(i ? ", " : "", out);
        print_number(out, a, i);
    }
    fputc(']', out);
    if (b->o->top && !print_top(out, b, r))
        return false;
    fputc('}', out);
    return true;
}

/* Copies a name for as long as the map of names needs it. */
static char *keep_name(struct batch *b, const char *name)
{
    char *copy = array_extend(&b->names, b->name_count, sizeof *b->names) ? strdup(name) : NULL;

    if (copy)
        b->names[b->name_count++] = copy;
    return copy;
}

/* Writes the results in g->cut to FOLDER/FILE.npz, FILE being the input's name without its folder. */
static bool save_results(struct batch *b, size_t count, const char *path)
{
    const char *base = file_name(path);
    char *kept = keep_name(b, base), *file = NULL;
    const enum name_map_status added = kept && text_append(&file, "%s/%s.npz", b->o->each.save, base)
                                           ? name_map_add(&b->saved, kept, strlen(kept), b)
                                           : NAME_MAP_OUT_OF_MEMORY;

    if (added != NAME_MAP_ADDED) {
        free(file);
        return added == NAME_MAP_OUT_OF_MEMORY
                   ? complain("out of memory")
                   : complain("an earlier input has the same name, so its outputs are in the same file of %s",
                              PATH_SHOWN(b->o->each.save));
    }
    const bool good = results_save_all(count, b->g->cut, file);
    free(file);
    return good;
}

static bool compute_file(void *user, size_t slot, FILE *members, struct error *e)
{
    struct batch *b = user;
    const struct each_graph *g = b->g;
    struct sources *s = &b->slots[slot];
    char *path = s->count ? strdup(s->items[0].path) : NULL;

    complain_catch(e);
    bool good = path != NULL && name_sources(b, s) && take_inputs(b, s);
    const double start = milliseconds_now();
    if (good && wnnGraphCompute(g->graph, g->input_count, g->input_buffers, g->result_count, g->output_buffers))
        good = complain_last("");
    fprintf(members, "\"ms\": %.3f, \"outputs\": {", milliseconds_now() - start);
    const size_t count = good ? results_cut(g->result_count, g->results, g->cut) : 0;
    for (size_t i = 0; good && i < count; i++) {
        fputs(i ? ", " : "", members);
        good = print_result(members, b, &g->cut[i]);
    }
    fputc('}', members);
    good = good && (!b->o->each.save || save_results(b, count, path));
    complain_catch(NULL);
    free(path);
    sources_free(s);
    return good;
}

bool each_run(const struct run_options *o, const struct each *e, const struct each_graph *g)
{
    struct batch b = {.o = o, .each = e, .g = g};
    const struct batch_work work = {"webnn-run", &b, read_file, compute_file, drop_file};
    size_t failed = 0;

    const bool written = batch_run(&e->list, &work, stdout, !o->quiet, &failed);
    for (size_t i = 0; i < BATCH_SLOTS; i++)
        sources_free(&b.slots[i]);
    name_map_free(&b.saved);
    for (size_t i = 0; i < b.name_count; i++)
        free(b.names[i]);
    free(b.names);
    return written && !failed;
}
