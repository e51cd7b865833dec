/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernels that are kept on disk: what one process has compiled another one takes, without a code generator, unless anything is
 * wrong with the folder or a file.  Every build here is one of a new process.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/api.h"
#include "support/maps.h"

enum { N = 64, FILES_MAX = 16 };

static char folder[] = "/tmp/webnn-kernels-XXXXXX";

/* Two kernels of different structures, one of them twice. */
static WNNGraph make(WNNContext c)
{
    const uint32_t shape[2] = {N, N};
    const WNNOperandDescriptor square = {WNNOperandDataType_Float32, 2, shape, NULL};
    WNNGraphBuilder b = builder_of(c);
    WNNOperand x = wnnGraphBuilderSoftmax(b, wnnGraphBuilderInput(b, WNN_STR("x"), &square), 1, NULL);

    x = wnnGraphBuilderCumulativeSum(b, x, 0, NULL);
    return build_y(b, wnnGraphBuilderSoftmax(b, x, 1, NULL));
}

static void compute(WNNGraph g)
{
    static float x[N * N], y[N * N];
    double sum = 0;

    for (int i = 0; i < N * N; i++)
        x[i] = (float)(i % 13) / 8;
    compute_y(g, x, sizeof x, y, sizeof y);
    for (int i = 0; i < N * N; i++)
        sum += y[i];
    assert_true(sum > N - 0.01 && sum < N + 0.01);
    assert_true(y[0] > 0.01f && y[0] < 0.02f);
}

static WNNContext context_of(const char *cache)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.engine = WNNEngine_Cpu;
    o.cache = WNN_STR(cache);
    return context_with(&o);
}

/* Builds and computes in a new process.  Returns whether that needed the code generator. */
static bool compiles(const char *cache, const char *saved)
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        umask(002); /* as where users have groups of their own */
        WNNContext c = context_of(cache);
        WNNGraph g = make(c);

        compute(g);
        if (saved) {
            assert_success(wnnGraphSave(g, saved));
            wnnGraphRelease(g);
            assert_success(wnnContextLoadGraph(c, saved, &g));
            compute(g);
        }
        const bool compiled = is_mapped("libwebnn_codegen");
        release_graph(c, g);
        _exit(compiled ? 10 : 11);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 10 || WEXITSTATUS(status) == 11));
    return WEXITSTATUS(status) == 10;
}

/* Calls change() for every file with its path.  Returns how many there are. */
static int each_file(void (*change)(const char *path))
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    char names[FILES_MAX][256], path[8192];
    int count = 0;

    assert_non_null(d);
    while ((entry = readdir(d)) && count < FILES_MAX)
        if (entry->d_name[0] != '.')
            snprintf(names[count++], sizeof *names, "%s", entry->d_name);
    closedir(d);
    for (int i = 0; change && i < count; i++) {
        assert_non_null(strstr(names[i], ".kernel"));
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        change(path);
    }
    return count;
}

static void drop(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

static void flip(const char *path)
{
    const int file = open(path, O_RDWR);
    unsigned char byte;

    assert_int_equal(pread(file, &byte, 1, lseek(file, 0, SEEK_END) - 5), 1);
    byte ^= 1;
    assert_int_equal(pwrite(file, &byte, 1, lseek(file, 0, SEEK_END) - 5), 1);
    close(file);
}

static void cut(const char *path)
{
    struct stat s;

    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(truncate(path, s.st_size - 1), 0);
}

static void empty(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void open_to_others(const char *path)
{
    assert_int_equal(chmod(path, 0666), 0);
}

/* The file is elsewhere, and a link is in its place. */
static void link_away(const char *path)
{
    char other[600];

    snprintf(other, sizeof other, "%s.away", folder);
    rename(path, other);
    assert_int_equal(symlink(other, path), 0);
}

static int create_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char other[600];

    each_file(drop);
    snprintf(other, sizeof other, "%s.away", folder);
    unlink(other);
    snprintf(other, sizeof other, "%s.saved", folder);
    unlink(other);
    return rmdir(folder);
}

TEST(what_one_process_compiles_the_next_one_takes)
{
    char saved[600];

    snprintf(saved, sizeof saved, "%s.saved", folder);
    each_file(drop);
    assert_true(compiles(folder, NULL));
    const int count = each_file(NULL);
    assert_true(count >= 2);
    assert_false(compiles(folder, NULL));
    assert_false(compiles(folder, saved));
    assert_int_equal(each_file(NULL), count);

    /* Missing kernels are compiled, and the rest taken. */
    DIR *d = opendir(folder);
    struct dirent *entry;
    char path[512];
    while ((entry = readdir(d)) && entry->d_name[0] == '.')
        ;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    closedir(d);
    drop(path);
    assert_true(compiles(folder, saved));
    assert_int_equal(each_file(NULL), count);
    assert_false(compiles(folder, saved));
}

TEST(what_is_damaged_or_not_the_users_alone_is_replaced)
{
    static void (*const changes[])(const char *path) = {flip, cut, empty, open_to_others};

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        compiles(folder, NULL);
        assert_false(compiles(folder, NULL));
        each_file(changes[i]);
        assert_true(compiles(folder, NULL));
        assert_false(compiles(folder, NULL));
    }
    each_file(link_away);
    assert_true(compiles(folder, NULL));
    assert_false(compiles(folder, NULL));
}

static void note(WNNLogLevel level, WNNStringView message, void *told, void *unused)
{
    snprintf(told, 512, "%.*s", (int)message.length, message.data);
}

TEST(a_folder_of_others_is_not_used)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    char told[512] = "";

    each_file(drop);
    assert_int_equal(chmod(folder, 0755), 0);
    o.engine = WNNEngine_Cpu;
    o.cache = WNN_STR(folder);
    o.log = (WNNLogCallbackInfo){note, told, NULL};
    wnnContextRelease(context_with(&o));
    assert_non_null(strstr(told, "no kernels are kept in the folder"));
    assert_non_null(strstr(told, "755"));
    assert_true(compiles(folder, NULL));
    assert_int_equal(each_file(NULL), 0);
    assert_int_equal(chmod(folder, 0700), 0);
}

TEST(off_means_none)
{
    each_file(drop);
    assert_true(compiles("off", NULL));
    assert_int_equal(each_file(NULL), 0);
}

TEST_GROUP(create_folder, remove_folder)
