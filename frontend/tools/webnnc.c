/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnnc makes native code of a model file.  frontend/tools/webnnc.h lists the files it is made of.
 *
 *   read      model_read makes builder calls (frontend/readers)
 *   take      the builder gives its graph, after build's checks
 *   compile   passes, lowering and storage make a struct program (runtime/compile/compile.h)
 *   write     the object, the header and the weights are written; or the graph in one of its forms
 *
 * Nothing is written before everything that can fail has been done, and every file appears whole or not at all.
 */
#include <stdlib.h>
#include <unistd.h>

#include "frontend/tools/webnnc.h"
#include "runtime/api/context.h"

/*
 * A compilation takes a while if it has taken so long so far, or has so many kernels, whose machine code is made in one go at
 * the end.
 */
enum { PROGRESS_AFTER_MS = 150, PROGRESS_MANY = 8 };

/* ---- progress ---- */

/* Shows only compilations that take a while, and only changes. */
void progress_show(const struct options *o, const char *what, uint32_t done, uint32_t total)
{
    static char shown[80];
    static double first;
    static bool many;
    char text[80] = "";

    if (o->quiet || o->verbose || o->debug || !isatty(STDERR_FILENO))
        return; /* stderr is not a terminal, or it would come between the lines of something else */
    if (first == 0)
        first = milliseconds_now();
    if (what && total)
        snprintf(text, sizeof text, "webnnc: %s, %u of %u", what, done, total);
    else if (what)
        snprintf(text, sizeof text, "webnnc: %s", what);
    many |= total >= PROGRESS_MANY;
    if (!strcmp(text, shown) || (!*shown && !many && milliseconds_now() - first < PROGRESS_AFTER_MS))
        return;
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
    memcpy(shown, text, sizeof shown);
}

/* ---- the context ---- */

static bool create_context(struct compilation *c)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;

    options.engine = WNNEngine_Cpu; /* objects are for processors */
    options.threadCount = c->options->threads;
    options.precision = c->options->precision;
    options.deterministic = c->options->deterministic;
    options.budget = c->options->model.budget;
    if (c->options->debug)
        options.debug = (WNNStringView){c->options->debug, strlen(c->options->debug)};
    return wnnCreateContext(&options, &c->context) == WNNStatus_Success || complain_last("");
}

/* ---- the target ---- */

/* Makes the target of one level out of what all of them have and what its code is for. */
static bool set_level(struct compilation *c, struct target *level, const struct target *all, const struct target *code)
{
    *level = *all;
    level->triple = code->triple;
    level->cpu = code->cpu;
    level->features = code->features;
    level->isa = code->isa;
    if (c->options->optimize == OPTIMIZE_SIZE) {
        struct target_facts *facts = arena_array(&c->arena, 1, sizeof *facts);

        if (!facts)
            return complain("out of memory");
        *facts = target_facts_for_size(level);
        level->facts = facts;
    }
    level->rounds_operands = target_may_round(level, c->options->precision, c->options->deterministic);
    if (c->options->sizes.count) /* they share code */
        target_vary_sizes(level, c->options->precision);
    if (!level->cache_bytes) /* the target's caches are not known */
        level->cache_bytes = target_facts(level)->cache.l2_bytes;
    if (c->options->verbose)
        fprintf(stderr, "webnnc: for %s %s %s, vectors of %u bits, library %s\n", code->triple, code->cpu, code->features,
                code->isa.vector_bits, c->with_library ? "onednn" : "none");
    return true;
}

static bool choose_target(struct compilation *c)
{
    const struct options *o = c->options;
    const char *names[OBJECT_LEVELS_MAX];
    struct error e = {0};
    struct target codes[OBJECT_LEVELS_MAX] = {{0}}, all;

    c->level_count = object_levels(o->triple, o->cpu, o->features, names, &e);
    for (uint32_t i = 0; i < c->level_count; i++)
        if (!object_target(&codes[i], o->triple, names[i], o->features, &c->arena, &e))
            return complain("%s", e.message);
    if (!c->level_count)
        return complain("%s", e.message);
    bool native = object_target_is_native(&codes[0]);
    if (o->library == LIBRARY_ONEDNN && !native)
        return complain("--library onednn: oneDNN is on this machine only, not on %s", codes[0].triple);
    c->with_library = o->library == LIBRARY_ONEDNN || (o->library == LIBRARY_DEFAULT && native && !o->sizes.count);
    if (!c->with_library && (o->precision == WNNPrecision_Bf16x2 || o->precision == WNNPrecision_Bf16))
        return complain("--precision: code without oneDNN computes nothing in bfloat16; float32 and int8 are what it has");
    if (c->with_library) {
        c->context->engine->keep_weights = true;
        const struct target *t = c->context->engine->functions->target(c->context->engine, &e);
        if (!t)
            return complain("%s", e.message);
        all = *t;
    } else {
        all = (struct target){.thread_count = 1, .prefers_nhwc = true, .compact.unpacks = true};
    }
    for (uint32_t i = 0; i < c->level_count; i++)
        if (!set_level(c, &c->levels[i], &all, &codes[i]))
            return false;
    if (o->precision == WNNPrecision_Int8 && !compilation_target(c)->rounds_operands)
        fprintf(stderr, "webnnc: note: --precision int8 has no effect: %s\n",
                o->deterministic ? "what --deterministic computes is float32" : "code for this processor multiplies no bytes");
    return true;
}

/* ---- writing ---- */

/* Writes the compiler's IR or the exchange form, with its weights next to it.  To standard output everything goes at once. */
static bool write_text(struct compilation *c)
{
    const struct options *o = c->options;
    struct text_options options = o->text;
    struct error e = {0};

    options.name = *c->model.name ? c->model.name : c->prefix;
    options.json = o->emit == EMIT_JSON;
    options.marks = o->emit == EMIT_IR;
    return ((options.marks || text_widen_constants(c->graph, &e)) && text_write(c->graph, &options, o->output, &e)) ||
           complain("%s", e.message);
}

static bool write_dot(struct compilation *c)
{
    char *text = NULL;
    size_t length = 0;
    bool ok = dot_create(c, &text, &length) && output_file(c->options->output, text, length, false);

    free(text);
    return ok;
}

static bool write_code(struct compilation *c)
{
    const struct options *o = c->options;
    struct object_files f = {0};
    size_t header_length, script_length;
    struct output *outputs[4] = {NULL};
    char *header = NULL, *script = NULL;
    struct error e = {0};

    bool ok = names_create(c) && (c->size_count || compile_program(c, c->graph, &e) || complain("%s", e.message)) &&
              object_files_create(c, &f) && header_create(c, &header, &header_length) &&
              (!o->script || script_create(c, &script, &script_length));
    /* All of them are written or none: the linker may fail, a disk may be full. */
    ok = ok && (outputs[0] = is_linked(o->emit) ? link_output(c, f.bytes, f.length)
                                                : output_prepare(o->output, f.bytes, f.length, false));
    ok = ok && (!o->header || (outputs[1] = output_prepare(o->header, header, header_length, false)));
    ok = ok && (!f.weights || (outputs[2] = output_prepare(o->weights, f.weights, f.weights_length, false)));
    ok = ok && (!script || (outputs[3] = output_prepare(o->script, script, script_length, false)));
    for (int i = 0; i < 4; i++)
        if (!ok)
            output_abandon(outputs[i]);
        else if (outputs[i])
            ok = output_commit(outputs[i]);
    free(f.bytes);
    free(f.weights);
    free(header);
    free(script);
    return ok;
}

static bool run(struct compilation *c)
{
    if (!create_context(c))
        return false;
    if (c->options->sizes.count)
        return choose_target(c) && compile_sizes(c) && write_code(c);
    if (!read_model(c, &c->options->model))
        return false;
    switch (c->options->emit) {
    case EMIT_WEBNN:
    case EMIT_JSON:
    case EMIT_IR:
        if (c->options->quantize)
            return complain("--quantize-weights: texts have the model's weights as they are; give it when you compile code");
        return take_graph(c) && write_text(c);
    case EMIT_DOT:
        return choose_target(c) && take_graph(c) && write_dot(c);
    default:
        return choose_target(c) && take_graph(c) && write_code(c);
    }
}

int main(int argc, char **argv)
{
    struct options o;
    struct compilation c = {.options = &o};
    int status;

    if (!options_parse(argc, argv, &o, &status)) {
        options_free(&o);
        return output_arrived() || status ? status : 1;
    }
    output_handle_signals();
    c.prefix = o.name ? strdup(o.name) : name_from_path(o.output && strcmp(o.output, "-") ? o.output : o.input);
    bool ok = c.prefix ? run(&c) : complain("out of memory");
    if (ok && o.default_output && !o.quiet) /* whose name only webnnc knows */
        fprintf(stderr, "webnnc: wrote %s%s%s\n", NAME_SHOWN(o.output), o.script ? " and " : "",
                o.script ? NAME_SHOWN(o.script) : "");
    folder_remove();
    program_free(&c.program);
    names_free(&c);
    if (c.graph)
        graph_free(c.graph);
    standalone_free(&c);
    model_free(&c.model);
    if (c.context)
        wnnContextRelease(c.context);
    arena_free(&c.arena);
    free(c.prefix);
    options_free(&o);
    return output_arrived() && ok ? 0 : 1;
}
