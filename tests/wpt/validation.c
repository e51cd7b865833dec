/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs one file of the validation data: builder calls (and a few on contexts, graphs, tensors) with the outcome that the
 * specification demands.  In: a JSON file (format: README.md next to the data).  Out: counts and every case that differs; exit
 * status 1 if one does, 77 if the file is not there.
 */
#include "wpt/validation.h"
#include "support/help.h"
#include "support/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed, disputed_agree, disputed_differ, limit_refused, limit_accepted;

/* ---- expectations ---- */

static bool check_data(const cJSON *expect, const struct outcome *o)
{
    const cJSON *data = member(expect, "data"), *item;
    size_t i = 0;

    cJSON_ArrayForEach(item, data)
    {
        if ((i + 1) * sizeof(float) > o->bytes || ((const float *)o->data)[i] != (float)number_of(item))
            return false;
        i++;
    }
    return !data || i * sizeof(float) == o->bytes;
}

/** Returns whether the outcome is the expected one; else why not. */
static bool agrees(const cJSON *expect, const struct outcome *o, char *why, size_t size)
{
    const cJSON *throws = member(expect, "throws"), *rejects = member(expect, "rejects"),
                *resolves = member(expect, "resolves");
    const cJSON *outputs = member(expect, "outputs"), *item;
    size_t i = 0;

    if (throws || rejects) {
        const char *wanted = (throws ? throws : rejects)->valuestring;

        snprintf(why, size, "expected %s, got %s (%s)", wanted, wnnStatusGetName(o->status), o->message);
        return !strcmp(wnnStatusGetName(o->status), wanted);
    }
    snprintf(why, size, "%s: %s", wnnStatusGetName(o->status), o->message);
    if (o->status)
        return false;
    if (member(expect, "succeeds") || cJSON_IsBool(resolves))
        return true;
    if (resolves) {
        snprintf(why, size, "the values read are not the expected ones");
        return check_data(resolves, o);
    }
    snprintf(why, size, "%zu results instead of %d", o->operand_count, outputs ? cJSON_GetArraySize(outputs) : 1);
    if (o->operand_count != (outputs ? (size_t)cJSON_GetArraySize(outputs) : 1))
        return false;
    snprintf(why, size, "data type or shape differ");
    if (!outputs)
        return matches(expect, wnnOperandGetDataType(o->operands[0]), wnnOperandGetShape(o->operands[0]),
                       wnnOperandGetRank(o->operands[0]));
    cJSON_ArrayForEach(item, outputs)
    {
        if (!matches(item, wnnOperandGetDataType(o->operands[i]), wnnOperandGetShape(o->operands[i]),
                     wnnOperandGetRank(o->operands[i])))
            return false;
        i++;
    }
    return true;
}

/** A refused call's message names the label, if it was given one. */
static bool check_label(const cJSON *call, const struct outcome *o, char *why, size_t size)
{
    const char *label = text_of(member(call, "options"), "label");
    char bracketed[256];

    snprintf(bracketed, sizeof(bracketed), "[%s]", label);
    if (!*label || strstr(o->message, bracketed))
        return true;
    snprintf(why, size, "the message does not name the label %s: %s", bracketed, o->message);
    return false;
}

/** What the last call, or one with an expectation of its own, came to. */
static bool check_outcome(const cJSON *test, const cJSON *call, const cJSON *expect, const struct outcome *o, char *why,
                          size_t size)
{
    bool limit = cJSON_IsTrue(member(test, "limit_dependent"));

    if (limit && !o->status) {
        /* This library's limits are wider than those of the implementation that the data come from. */
        limit_accepted++;
        expect = member(test, "if_accepted");
        if (!expect) {
            snprintf(why, size, "accepted, though not even a dimension is valid");
            return false;
        }
    } else if (limit) {
        limit_refused++;
    }
    if (!agrees(expect, o, why, size))
        return false;
    return o->status != WNNStatus_TypeError || member(test, "idl_conversion") || check_label(call, o, why, size);
}

static void clean(struct run *r)
{
    for (int i = 0; i < GRAPHS_MAX; i++)
        wnnGraphRelease(r->graphs[i]);
    for (int i = 0; i < TENSORS_MAX; i++)
        wnnTensorRelease(r->tensors[i]);
    for (int i = 0; i < BUILDERS_MAX; i++)
        wnnGraphBuilderRelease(r->builders[i]);
    for (int i = 0; i < CONTEXTS_MAX; i++)
        wnnContextRelease(r->contexts[i]);
    memset(r->graphs, 0, sizeof(r->graphs));
    memset(r->tensors, 0, sizeof(r->tensors));
    memset(r->builders, 0, sizeof(r->builders));
    memset(r->contexts, 0, sizeof(r->contexts));
    memset(r->operands, 0, sizeof(r->operands));
}

/** Runs one case.  False with the reason if it differs. */
static bool run_case(struct run *r, const cJSON *test, char *why, size_t size)
{
    static struct outcome last, pending[PENDING_MAX];
    const cJSON *pending_calls[PENDING_MAX], *call;
    int pending_count = 0;
    bool ok = true;

    cJSON_ArrayForEach(call, member(test, "builder_calls"))
    {
        const cJSON *expect = member(call, "expect");
        struct outcome *o = &last;

        if (!ok)
            break;
        if (expect && pending_count < PENDING_MAX) {
            o = &pending[pending_count];
            pending_calls[pending_count++] = call;
        }
        make_call(r, call, o);
        if (expect)
            continue; /* looked at after the last call */
        await(o);
        take_results(r, call, o);
        if (!call->next) {
            ok = check_outcome(test, call, member(test, "expect"), o, why, size);
        } else if (o->status) {
            ok = false;
            snprintf(why, size, "an earlier call, %s, failed: %s", text_of(call, "method"), o->message);
        }
        free(o->data);
        o->data = NULL;
    }
    for (int i = 0; i < pending_count; i++) {
        await(&pending[i]);
        take_results(r, pending_calls[i], &pending[i]);
        ok = ok && check_outcome(test, pending_calls[i], member(pending_calls[i], "expect"), &pending[i], why, size);
        free(pending[i].data);
    }
    clean(r);
    return ok;
}

PROGRAM_HELP("usage: test-wpt-validation validation/NAME.json\n")
int main(int argc, char **argv)
{
    static struct run r;
    static char why[2048];
    const cJSON *test;

    if (argc != 2)
        return WRONG_USAGE;
    char *text = read_text(argv[1]);
    if (!text)
        return shared_absent(argv[1]);
    cJSON *root = cJSON_Parse(text);
    free(text);
    if (!root || !cJSON_IsArray(member(root, "cases"))) {
        fprintf(stderr, "%s is not JSON of the expected form\n", argv[1]);
        return 1;
    }
    if (wnnCreateContext(NULL, &r.context)) {
        fprintf(stderr, "no context: %s\n", wnnGetLastErrorMessage().data);
        return 1;
    }
    cJSON_ArrayForEach(test, member(root, "cases"))
    {
        if (run_case(&r, test, why, sizeof(why))) {
            passed++;
        } else {
            failed++;
            printf("differs: %s %s: %s\n", text_of(test, "id"), text_of(test, "name"), why);
        }
    }
    cJSON_ArrayForEach(test, member(root, "disputed"))
    {
        if (run_case(&r, test, why, sizeof(why)))
            disputed_agree++;
        else
            disputed_differ++;
    }
    printf("%d passed, %d differ; of those that depend on limits %d refused and %d accepted", passed, failed, limit_refused,
           limit_accepted);
    if (disputed_agree + disputed_differ)
        printf("; disputed: %d as the suite has it, %d as the text has it", disputed_agree, disputed_differ);
    printf("\n");
    wnnContextRelease(r.context);
    cJSON_Delete(root);
    return failed || !passed;
}
