/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files of the OpenCL engine, over an OpenCL without a device (support/fake_opencl.h): the cache of built programs, and saved
 * graphs.  How often a program is compiled from its source is counted.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>

#include "ir/support/trim_folder.h"
#include "runtime/engine/opencl/internal.h"
#include "runtime/engine/opencl/opencl_support.h"
#include "runtime/program/cache_folder.h"

/* ---- the cache ---- */

struct messages {
    unsigned count;
    const char *wanted;
};

static void note_message(WNNLogLevel level, WNNStringView message, void *user, void *unused)
{
    struct messages *m = user;

    assert_int_equal(level, WNNLogLevel_Warning);
    if (!strstr(message.data, m->wanted))
        fail_msg("\"%s\" is not in: %s", m->wanted, message.data);
    m->count++;
}

/* On a GPU, logging to m if that is there. */
static WNNContext context_with_cache(const char *folder, struct messages *m)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.engine = WNNEngine_Gpu;
    o.ignoreEnvironment = true;
    o.cache = WNN_STR(folder);
    if (m)
        o.log = (WNNLogCallbackInfo){note_message, m, NULL};
    return context_with(&o);
}

/* How many programs are compiled from source by a new context that builds the graph; what it computes is right. */
static unsigned compiled(const char *folder)
{
    const unsigned before = fake->calls("BuildProgram");
    WNNContext context = context_with_cache(folder, NULL);
    WNNGraph graph = new_graph(context, one_step);
    unsigned char x[BYTES], y[BYTES];
    WNNNamedBuffer in = {WNN_STR("x"), x, BYTES}, out = {WNN_STR("y"), y, BYTES};

    fill(x, 5);
    assert_int_equal(wnnGraphCompute(graph, 1, &in, 1, &out), WNNStatus_Success);
    assert_true(is_computed(y, x));
    release_graph(context, graph);
    assert_nothing_is_left("");
    return fake->calls("BuildProgram") - before;
}

/* How many warnings a new context gives of its folder; each has the text in it. */
static unsigned warnings(const char *folder, const char *wanted)
{
    struct messages m = {0, wanted};

    wnnContextRelease(context_with_cache(folder, &m));
    assert_nothing_is_left("");
    return m.count;
}

/* The only file of the folder. */
static void cached_file(const char *folder, char path[PATH_MAX])
{
    DIR *d = opendir(folder);
    unsigned files = 0;

    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        if (entry->d_name[0] != '.') {
            snprintf(path, PATH_MAX, "%s/%s", folder, entry->d_name);
            files++;
        }
    closedir(d);
    assert_int_equal(files, 1);
}

TEST(test_a_second_start_compiles_nothing)
{
    char parent[] = "/tmp/webnn-cache-XXXXXX", folder[64], path[PATH_MAX];
    struct stat s;

    assert_non_null(mkdtemp(parent));
    snprintf(folder, sizeof folder, "%s/deep/er", parent);
    assert_int_equal(compiled(folder), 1);
    assert_int_equal(compiled(folder), 0);
    assert_true(stat(folder, &s) == 0 && (s.st_mode & 0777) == 0700);
    assert_int_equal(compiled("off"), 1);

    /* Every byte of the file counts. */
    cached_file(folder, path);
    assert_int_equal(stat(path, &s), 0);
    for (long at = 0; at < s.st_size; at += at < 48 ? 1 : s.st_size / 8) {
        FILE *f = fopen(path, "r+");
        assert_non_null(f);
        fseek(f, at, SEEK_SET);
        int byte = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc(byte ^ 16, f);
        fclose(f);
        assert_int_equal(compiled(folder), 1); /* and replaces it */
        assert_int_equal(compiled(folder), 0);
    }
    assert_int_equal(truncate(path, s.st_size - 1), 0);
    assert_int_equal(compiled(folder), 1);
    assert_int_equal(compiled(folder), 0);

    /* Another driver's programs are others. */
    fake->set_driver("2.0");
    assert_int_equal(compiled(folder), 1);
    assert_int_equal(compiled(folder), 0);
    fake->set_driver("1.0");
    assert_int_equal(compiled(folder), 0);

    /* What the driver refuses is replaced. */
    fake->fail_next("CreateProgramWithBinary", CL_INVALID_BINARY);
    assert_int_equal(compiled(folder), 1);
    assert_int_equal(compiled(folder), 0);

    /* A folder that others can get into is not used, and the log says so. */
    assert_int_equal(warnings(folder, ""), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(compiled(folder), 1);
    assert_int_equal(compiled(folder), 1);
    assert_int_equal(warnings(folder, "deep/er: other users may access it: its mode is 755, not 700"), 1);
    assert_int_equal(warnings(path, "it is not a folder"), 1);
    snprintf(path + strlen(path), sizeof path - strlen(path), "/more");
    assert_int_equal(warnings(path, "Not a directory"), 1);
    assert_int_equal(warnings("off", ""), 0);
    if (geteuid() == 0) {
        assert_true(chmod(folder, 0700) == 0 && chown(folder, 1, 1) == 0);
        assert_int_equal(warnings(folder, "it belongs to another user"), 1);
    }

    snprintf(path, sizeof path, "rm -r %s", parent);
    assert_int_equal(system(path), 0);
}

/* A context without a folder of its own, which finds the user's by the environment. */
static WNNContext context_of_user(void)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.engine = WNNEngine_Gpu;
    return context_with(&o);
}

static unsigned files_of_user(const char *folder)
{
    WNNContext context = context_of_user();
    unsigned files = 0;

    wnnGraphRelease(new_graph(context, one_step));
    wnnContextRelease(context);
    assert_nothing_is_left("");
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));)
        files += entry->d_name[0] != '.';
    if (d)
        closedir(d);
    return files;
}

/* PoCL keeps its programs itself: they are kept once more only in a folder that somebody names. */
TEST(test_drivers_with_a_cache_have_ours_by_name_only)
{
    char parent[] = "/tmp/webnn-cache-XXXXXX", folder[64], command[80];

    assert_non_null(mkdtemp(parent));
    snprintf(folder, sizeof folder, "%s/webnn", parent);
    unsetenv("WEBNN_CACHE");
    setenv("XDG_CACHE_HOME", parent, 1);
    fake->set_platform("Portable Computing Language");
    assert_int_equal(files_of_user(folder), 0);
    assert_int_equal(compiled(folder), 1);
    assert_int_equal(compiled(folder), 0);
    fake->set_platform(NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(files_of_user(folder), 1);
    snprintf(command, sizeof command, "rm -r %s", parent);
    assert_int_equal(system(command), 0);
}

/* ---- tuned facts ---- */

/* What schedules of a new context go by; it is the first fact that tuners may choose. */
static uint32_t tile_numbers(const char *folder, uint32_t keep)
{
    WNNContext context = context_with_cache(folder, NULL);
    struct engine *en = context->engine;
    const struct engine_tools *tools = en->functions->optional.tools;
    const uint32_t numbers = tools->tuning->device_facts(en)->tile_numbers;
    struct error e = {0};

    if (keep) {
        tools->tuning->device_facts(en)->tile_numbers = keep;
        if (!tools->tuning->keep_facts(en, &e))
            assert_non_null(strstr(e.message, "no folder for tuned facts"));
    }
    wnnContextRelease(context);
    assert_nothing_is_left("");
    return numbers;
}

TEST(test_tuned_facts_are_kept_by_device_and_driver)
{
    const uint32_t given = target_gpu_facts(false)->tile_numbers;
    char folder[] = "/tmp/webnn-tuned-XXXXXX", path[PATH_MAX];
    struct stat s;

    assert_non_null(mkdtemp(folder));
    assert_true(given != 16 && given != 32);
    assert_int_equal(tile_numbers(folder, 0), given);
    assert_int_equal(tile_numbers(folder, 16), given);
    assert_int_equal(tile_numbers(folder, 0), 16);
    assert_int_equal(tile_numbers(folder, 32), 16);
    assert_int_equal(tile_numbers(folder, 0), 32);
    assert_int_equal(tile_numbers("off", 16), given); /* which is said */

    fake->set_driver("2.0");
    assert_int_equal(tile_numbers(folder, 0), given);
    fake->set_driver("1.0");
    const struct fake_device other = {.name = "another", .type = CL_DEVICE_TYPE_GPU, .units = 4, .memory = 1 << 24};
    fake->set_devices(1, &other);
    assert_int_equal(tile_numbers(folder, 0), given);
    fake->set_devices(0, NULL);
    assert_int_equal(tile_numbers(folder, 0), 32);

    /* Every byte counts, and so does the table: a number that it does not have is none. */
    cached_file(folder, path);
    assert_int_equal(stat(path, &s), 0);
    for (long at = 0; at < s.st_size; at += 7) {
        OWNED(file) FILE *f = fopen(path, "r+");
        assert_non_null(f);
        for (int times = 0; times < 2; times++) {
            fseek(f, at, SEEK_SET);
            int byte = fgetc(f);
            fseek(f, at, SEEK_SET);
            fputc(byte ^ 16, f);
            fflush(f);
            assert_int_equal(tile_numbers(folder, 0), times ? 32 : given);
        }
    }
    assert_int_equal(tile_numbers(folder, 33), 32);
    assert_int_equal(tile_numbers(folder, 0), given);
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

/* ---- programs of several kernels ---- */

static unsigned builds_of(WNNContext context, const char *body)
{
    const unsigned before = fake->calls("BuildProgram");

    wnnGraphRelease(new_graph(context, body));
    return fake->calls("BuildProgram") - before;
}

TEST(test_kernels_of_a_graph_are_one_program)
{
    static const char more[] =
        "inputs { x: f32[64]; i: i32[64]; } nodes { y = neg(x); j = neg(i); z = exp(x); } outputs { y; j; z; }";
    WNNContext context = context_with_cache("off", NULL);
    struct error e = {0};
    unsigned kernels = 0;

    assert_int_equal(builds_of(context, three_steps), 1); /* of all its kernels */
    assert_int_equal(builds_of(context, three_steps), 0);
    assert_int_equal(builds_of(context, one_step), 0);
    assert_int_equal(builds_of(context, more), 1); /* of programs not built yet */
    wnnContextRelease(context);

    /* A compiler that refuses all of them together is asked for each, and what it refuses then is named. */
    context = context_with_cache("off", NULL);
    fake->fail_next("BuildProgram", CL_BUILD_PROGRAM_FAILURE);
    const unsigned before = fake->calls("BuildProgram");
    WNNGraph graph = new_graph(context, three_steps);
    for (uint32_t i = 0; i < graph->executable->step_count; i++)
        kernels += graph->executable->steps[i].kind == STEP_KERNEL;
    assert_true(kernels > 1);
    assert_int_equal(fake->calls("BuildProgram") - before, 1 + kernels);
    release_graph(context, graph);
    context = context_with_cache("off", NULL);
    fake->break_compiler(true);
    assert_int_equal(runtime_build(context, parse_body(three_steps), &graph, &e), WNNStatus_OperationError);
    fake->break_compiler(false);
    assert_non_null(strstr(e.message, "does not build the kernel of neg"));
    wnnContextRelease(context);
}

/* A file of the folder with so many bytes, last used so many seconds ago. */
static void put_file(const char *folder, const char *name, off_t bytes, time_t age)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, bytes), 0);
    assert_int_equal(futimens(file, times), 0);
    close(file);
}

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

TEST(test_what_was_not_used_for_long_goes_first)
{
    char folder[] = "/tmp/webnn-cache-XXXXXX", path[PATH_MAX];
    struct stat s;

    assert_non_null(mkdtemp(folder));
    put_file(folder, "000000000000000a.cl", 1000, 100);
    put_file(folder, "000000000000000b.cl", 1000, 300);
    put_file(folder, "000000000000000c.cl", 1000, 200);
    put_file(folder, "somebody's.cl", 100000, 1000);
    put_file(folder, "000000000000000d.cl.abcdefgh.tmp", 9000, 100000); /* of a process that ended */
    put_file(folder, "000000000000000d.cl.bcdefghi.tmp", 9000, 1000);
    trim_folder(folder, 16, ".cl", 3000);
    assert_true(is_there(folder, "000000000000000b.cl") && is_there(folder, "000000000000000d.cl.bcdefghi.tmp") &&
                !is_there(folder, "000000000000000d.cl.abcdefgh.tmp"));
    trim_folder(folder, 16, ".cl", 2500);
    assert_false(is_there(folder, "000000000000000b.cl"));
    assert_true(is_there(folder, "000000000000000c.cl"));
    trim_folder(folder, 16, ".cl", 1500);
    assert_false(is_there(folder, "000000000000000c.cl"));
    assert_true(is_there(folder, "000000000000000a.cl"));
    assert_true(is_there(folder, "somebody's.cl"));
    trim_folder("/tmp/webnn-no-such-folder", 16, ".cl", 0);

    /* An engine trims what it adds to, and what it loads has been used. */
    put_file(folder, "000000000000000b.cl", CACHE_BYTES, 300);
    assert_int_equal(compiled(folder), 1);
    assert_false(is_there(folder, "000000000000000b.cl"));
    snprintf(path, sizeof path, "rm %s/somebody* %s/000*", folder, folder);
    assert_int_equal(system(path), 0);
    cached_file(folder, path);
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    assert_int_equal(compiled(folder), 0);
    assert_true(stat(path, &s) == 0 && s.st_mtime > 1000);
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

/* ---- saved graphs ---- */

/* Loads the file, computes, and says how many programs were compiled for it. */
static unsigned compiled_for_file(const char *path, bool save_again)
{
    WNNContext context = context_with_cache("off", NULL);
    const unsigned before = fake->calls("BuildProgram");
    unsigned char x[BYTES], i[BYTES], y[BYTES], j[BYTES];
    float k[4];
    struct error e;
    WNNNamedBuffer in[] = {{WNN_STR("x"), x, BYTES}, {WNN_STR("i"), i, BYTES}};
    WNNNamedBuffer out[] = {{WNN_STR("y"), y, BYTES}, {WNN_STR("j"), j, BYTES}, {WNN_STR("k"), k, 16}};
    WNNGraph graph = load_graph(context, path, &e);

    assert_works(graph, &e);
    if (save_again)
        assert_int_equal(wnnGraphSave(graph, path), WNNStatus_Success);
    fill(x, 11);
    fill(i, 12);
    assert_int_equal(wnnGraphCompute(graph, 2, in, 3, out), WNNStatus_Success);
    assert_true(is_computed(y, x) && is_computed(j, i));
    release_graph(context, graph);
    assert_nothing_is_left("");
    return fake->calls("BuildProgram") - before;
}

static WNNEngine engine_of_file(const char *path)
{
    struct error e = {.status = WNNStatus_Success};
    WNNEngine engine = WNNEngine_Auto;
    int file = open(path, O_RDONLY);

    assert_works(runtime_find_engine(path, file, &engine, &e), &e);
    close(file);
    return engine;
}

/* A processor's graph is refused by a context on a device, with the way out. */
TEST(test_a_processors_graph_is_no_devices)
{
    char path[] = "/tmp/webnn-saved-XXXXXX";
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext processor, device = context_with_cache("off", NULL);
    struct error e;

    make_file(path);
    o.engine = WNNEngine_Cpu;
    assert_int_equal(wnnCreateContext(&o, &processor), WNNStatus_Success);
    WNNGraph graph = new_graph(processor, one_step);
    assert_int_equal(wnnGraphSave(graph, path), WNNStatus_Success);
    assert_int_equal(engine_of_file(path), WNNEngine_Cpu);
    assert_null(load_graph(device, path, &e));
    assert_int_equal(e.status, WNNStatus_NotSupportedError);
    assert_non_null(strstr(e.message, "the compiled graph is for the engine cpu, this context is on gpu: create it with "
                                      "engine=cpu (webnn-run --engine cpu)"));
    unlink(path);
    release_graph(processor, graph);
    wnnContextRelease(device);
}

TEST(test_saved_graphs_bring_their_programs)
{
    char path[] = "/tmp/webnn-saved-XXXXXX";
    OWNED(context) WNNContext context = context_with_cache("off", NULL), processor = NULL;
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNGraph graph = new_graph(context, three_steps);
    struct error e;

    make_file(path);
    assert_success(wnnGraphSave(graph, path));
    release_graph(context, graph);
    assert_int_equal(compiled_for_file(path, false), 0);
    assert_int_equal(compiled_for_file(path, true), 0); /* which saves what was loaded */
    assert_int_equal(compiled_for_file(path, false), 0);

    /* Another driver compiles the sources that came along. */
    fake->set_driver("2.0");
    assert_true(compiled_for_file(path, false) > 0);
    fake->set_driver("1.0");

    /* It is not a processor's, and one that is damaged is refused. */
    assert_int_equal(engine_of_file(path), WNNEngine_Gpu);
    o.engine = WNNEngine_Cpu;
    assert_int_equal(wnnCreateContext(&o, &processor), WNNStatus_Success);
    assert_null(load_graph(processor, path, &e));
    assert_int_equal(e.status, WNNStatus_NotSupportedError);
    assert_non_null(strstr(e.message, "the compiled graph is for the engine gpu, this context is on cpu: create it with "
                                      "engine=gpu (webnn-run --engine gpu)"));
    context = context_with_cache("off", NULL);
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    fseek(f, -9, SEEK_END);
    fputc(77, f);
    fclose(f);
    assert_null(load_graph(context, path, &e));
    assert_int_equal(e.status, WNNStatus_DataError);
    unlink(path);
}

TEST_EACH(NULL, nothing_is_left)
TEST_GROUP(start, NULL)
