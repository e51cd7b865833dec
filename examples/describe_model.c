/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says what a model file declares, without building it: inputs, outputs, the dimensions that it leaves open, and metadata.
 *
 *     describe_model MODEL
 */
#include <stdio.h>

#include "webnn/webnn_model.h"

/** Names come from a file that has not been checked: they are shown escaped. */
static const char *shown(WNNStringView text)
{
    static char buffers[4][200];
    static unsigned next;
    char *buffer = buffers[next++ % 4];

    return wnnModelEscape(text, buffer, sizeof *buffers);
}

static void print_declaration(const char *what, const WNNModelDeclaration *d)
{
    printf("%s %s: %s", what, shown(d->name), d->boolean ? "bool" : wnnOperandDataTypeGetName(d->dataType));
    for (size_t i = 0; d->hasShape && i < d->rank; i++) {
        printf(i ? ", " : " [");
        if (d->dimensions[i].size)
            printf("%u", d->dimensions[i].size);
        else
            printf("%s", d->dimensions[i].name.length ? shown(d->dimensions[i].name) : "?");
    }
    printf(d->hasShape && d->rank ? "]\n" : "\n");
}

static void print_info(WNNModelInfo info)
{
    WNNModelDeclaration declaration;
    WNNModelFreeDimension open;
    WNNModelMetadata metadata;

    printf("%s model %s\n", wnnModelInfoGetFormat(info).data, shown(wnnModelInfoGetName(info)));
    for (size_t i = 0; !wnnModelInfoGetInput(info, i, &declaration); i++)
        print_declaration("input", &declaration);
    for (size_t i = 0; !wnnModelInfoGetOutput(info, i, &declaration); i++)
        print_declaration("output", &declaration);
    for (size_t i = 0; !wnnModelInfoGetFreeDimension(info, i, &open); i++)
        printf("free dimension %s: up to %u\n", shown(open.name), open.largest);
    for (size_t i = 0; !wnnModelInfoGetMetadata(info, i, &metadata); i++)
        printf("%s = %s\n", shown(metadata.key), shown(metadata.value));
}

int main(int argc, char **argv)
{
    WNNModelInfo info;

    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    if (wnnModelDescribe(argv[1], &info)) {
        fprintf(stderr, "%s\n", wnnModelGetLastErrorMessage().data);
        return 1;
    }
    print_info(info);
    wnnModelInfoRelease(info);
    return 0;
}
