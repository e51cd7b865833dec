/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-run runs compiled graphs and shared objects on the engine that they are for, whatever the machine has.
 *
 * The variable WEBNN_ENGINE stands for a machine with a GPU that is expected to be faster: contexts that leave the choice open
 * would get the device.  Options for the processor need no device for that; the rest is skipped where there is none.
 */
#include "tools/tool_support.h"

static void write_model(void)
{
    write_text("double.webnn", "webnn_graph \"double\" v1 { inputs { x: f32[2]; } consts { two: f32[2] @scalar(2); } "
                               "nodes { z = add(x, two); y = mul(z, two); } outputs { y; } }");
}

TEST(what_is_for_the_processor_runs_there)
{
    static const char *const libraries[] = {"onednn", "none"};

    write_model();
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        runs(0, "", "%s double.webnn -o double.so --library %s", WEBNNC, libraries[i]);
        runs(0, "4 4", "WEBNN_ENGINE=gpu %s ./double.so", WEBNN_RUN);
    }
    runs(0, "", "%s double.webnn --engine cpu --save double.wnn", WEBNN_RUN);
    runs(0, "4 4", "WEBNN_ENGINE=gpu %s double.wnn", WEBNN_RUN);
}

/* Whether there is a device that runs graphs. */
static bool has_device(void)
{
#ifdef WEBNN_SANITIZE
    return false; /* the device's library is not built with the sanitizers */
#else
    return run("%s double.webnn --engine gpu", WEBNN_RUN) == 0;
#endif
}

TEST(what_is_for_a_device_runs_there)
{
    write_model();
    if (!has_device()) {
        printf("skipped: there is no OpenCL device\n");
        return;
    }
    runs(0, "", "%s double.webnn --engine gpu --save double.wnn", WEBNN_RUN);
    runs(0, "4 4", "WEBNN_ENGINE=cpu %s double.wnn", WEBNN_RUN);
    runs(1, "the compiled graph is for the engine gpu, this context is on cpu: create it with engine=gpu",
         "%s double.wnn --engine cpu", WEBNN_RUN);
    runs(0, "", "%s double.webnn -o double.so", WEBNNC);
    runs(1, "double.so is for the engine cpu, this context is on gpu: create it with engine=cpu (webnn-run --engine cpu)",
         "%s ./double.so --engine gpu", WEBNN_RUN);
}

TEST_GROUP(enter_folder, leave_folder)
