/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads what serialized programs begin with: the header, and which engine they are for. */

#include "ir/support/text.h"
#include "runtime/program/serialized_format.h"

static bool check_versions(const struct serialized_header *h, struct error *e)
{
    char made_by[sizeof h->library * 8], here[sizeof h->library] = "";

    if (h->format != SERIALIZED_VERSION || h->header_bytes != sizeof *h)
        return error_set(e, WNNStatus_NotSupportedError, "the compiled graph has format %u, this library reads %d", h->format,
                         SERIALIZED_VERSION);
    strncpy(here, wnnGetVersion(), sizeof here - 1);
    if (memcmp(h->library, here, sizeof here) != 0)
        return error_set(e, WNNStatus_NotSupportedError, "the compiled graph was made by version %s of the library, this is %s",
                         escape_text(made_by, sizeof made_by, h->library, strnlen(h->library, sizeof h->library)),
                         wnnGetVersion());
    if (h->kernel_abi != KERNEL_ABI_VERSION)
        return error_set(e, WNNStatus_NotSupportedError, "the compiled graph's kernels have interface %u, this library's %d",
                         h->kernel_abi, KERNEL_ABI_VERSION);
    return true;
}

/* Returns what reads a file that is not a compiled graph, told by its first bytes, for the end of a message, or "". */
static const char *what_reads(const unsigned char *bytes, size_t size)
{
    static const char text[] = "webnn_graph";

    const bool is_onnx = size > 1 && bytes[0] == 0x08; /* a ModelProto begins with its ir_version */

    if (is_onnx || (size > 0 && bytes[0] == '{') || (size >= sizeof text - 1 && !memcmp(bytes, text, sizeof text - 1)))
        return "; it looks like a model (ONNX, .webnn text or JSON), which wnnDynamicModelCreate, webnn.load in Python and "
               "loadModel in JavaScript read, and webnn-run --save compiles";
    return "";
}

bool serialized_read_header(const void *bytes, size_t size, struct serialized_header *h, struct error *e)
{
    if (size < sizeof(struct serialized_header) || memcmp(bytes, SERIALIZED_MAGIC, 8))
        return error_set(e, WNNStatus_DataError, "this is not a compiled graph%s", what_reads(bytes, size));
    memcpy(h, bytes, sizeof *h);
    if (h->byte_order != SERIALIZED_BYTE_ORDER)
        return error_set(e, WNNStatus_NotSupportedError, "the compiled graph has another byte order");
    return check_versions(h, e);
}

WNNEngine serialized_engine_of(const char *triple, size_t length)
{
    const bool device = length == strlen(SERIALIZED_DEVICE) && !memcmp(triple, SERIALIZED_DEVICE, length);

    return device ? WNNEngine_Gpu : WNNEngine_Cpu;
}

bool serialized_is_for_other(const char *what, WNNEngine engine, const struct engine *en, struct error *e)
{
    static const char *const names[] = {"auto", "cpu", "gpu"}; /* as WNNEngine */
    const WNNEngine here = en->kind;

    return error_set(e, WNNStatus_NotSupportedError,
                     "%s is for the engine %s, this context is on %s: create it with engine=%s (webnn-run --engine %s)", what,
                     names[engine], here == WNNEngine_Auto ? en->functions->name : names[here], names[engine], names[engine]);
}

bool serialized_find_engine(const void *bytes, size_t size, WNNEngine *engine, struct error *e)
{
    struct serialized_header h;
    struct stream_reader in;
    size_t length;

    if (!serialized_read_header(bytes, size, &h, e))
        return false;
    if (!serialized_section_fits(&h.program, size, SERIALIZED_ALIGN))
        return error_set(e, WNNStatus_DataError, "the compiled graph is damaged: a section is outside the file");
    const unsigned char *program = (const unsigned char *)bytes + h.program.offset;
    in = (struct stream_reader){.at = program, .end = program + h.program.bytes};

    const char *triple = in_text(&in, SIZE_MAX, &length); /* the first of the facts */
    if (!triple)
        return error_set(e, WNNStatus_DataError, "the compiled graph is damaged: it ends early");
    *engine = serialized_engine_of(triple, length);
    return true;
}
