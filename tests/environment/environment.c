/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who may tell the library by environment variables to write files: environment WAY.
 *
 *   own        the user's own program obeys: it shows that the switches below do write files
 *   ignored    a context with ignoreEnvironment obeys none
 *   prepared   the user's own program writes through no link that was prepared for it
 *   setuid     a set-user-ID program obeys none, oneDNN's included; needs root, and a /tmp that allows such programs (else 77)
 *
 * Each runs this program again in a folder as an attacker would prepare it, and looks at what has become of the folder.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "webnn/webnn.h"
#include "../support/help.h"

enum { SKIP = 77, NOBODY = 65534 };

static char folder[] = "/tmp/webnn-environment-XXXXXX";

static int complain(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* ---- the program that is started ---- */

/* A convolution for oneDNN and a kernel. */
static int build_graph(bool ignore)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    static const float ones[8 * 8 * 9];
    const uint32_t shape[4] = {1, 8, 16, 16}, filter[4] = {8, 8, 3, 3};
    WNNContext context;
    WNNGraphBuilder b;
    WNNGraph graph;

    options.ignoreEnvironment = ignore;
    options.threadCount = 1;
    if (wnnCreateContext(&options, &context) || wnnContextCreateGraphBuilder(context, &b))
        return complain(wnnGetLastErrorMessage().data);
    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &(WNNOperandDescriptor){WNNOperandDataType_Float32, 4, shape, NULL});
    WNNOperand w =
        wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 4, filter, NULL}, ones, sizeof ones);
    WNNOperand y = wnnGraphBuilderTanh(b, wnnGraphBuilderConv2d(b, x, w, NULL), NULL);
    if (wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), y}, &graph))
        return complain(wnnGetLastErrorMessage().data);
    wnnGraphRelease(graph);
    wnnGraphBuilderRelease(b);
    wnnContextRelease(context); /* writes the trace */
    return 0;
}

static int run_child(const char *way)
{
    char perf[64];
    struct stat s;

    if (!strcmp(way, "setuid") && !getauxval(AT_SECURE)) {
        fprintf(stderr, "skipped: programs in %s get no privileges by set-user-ID\n", folder);
        return SKIP;
    }
    snprintf(perf, sizeof perf, "/tmp/perf-%ld.map", (long)getpid());
    int status = build_graph(!strcmp(way, "ignored"));
    bool mapped = !lstat(perf, &s);
    if (mapped)
        unlink(perf);
    if (!status && mapped != (!strcmp(way, "own") || !strcmp(way, "prepared")))
        status = complain(mapped ? "a map for perf was written" : "no map for perf was written");
    fflush(NULL);
    _exit(status); /* a program with set-user-ID cannot be searched for leaks */
}

/* ---- the one that starts it ---- */

static bool is_precious(void)
{
    char text[16] = "";
    FILE *f = fopen("precious", "r");

    if (!f)
        return false;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return !strcmp(text, "precious");
}

/* A file that must stay as it is, and links to it wherever a switch writes. */
static bool prepare(bool links)
{
    static const char *const names[] = {"dumps/program-0.txt", "dumps/graph0-19-finish-clusters.webnn", "trace.json"};
    FILE *f = fopen("precious", "w");
    bool ok = f && fputs("precious", f) >= 0;

    ok = f && fclose(f) == 0 && ok && !mkdir("dumps", 0777) && !chmod("dumps", 0777) && !chmod(".", 0777);
    for (size_t i = 0; ok && links && i < sizeof names / sizeof *names; i++)
        ok = !symlink(i < 2 ? "../precious" : "precious", names[i]);
    return ok;
}

static int count_files(const char *path)
{
    DIR *d = opendir(path);
    int count = 0;

    for (struct dirent *e; d && (e = readdir(d));)
        count += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return count;
}

static bool is_link(const char *path)
{
    struct stat s;

    return !lstat(path, &s) && S_ISLNK(s.st_mode);
}

static bool copy_program(const char *self)
{
    char command[4200];

    snprintf(command, sizeof command, "cp '%s' program", self);
    return !system(command) && !chown("program", 0, 0) && !chmod("program", 04755);
}

static void start(const char *program, const char *way)
{
    bool traces = strcmp(way, "prepared") != 0; /* a trace that cannot be written is an error: its own test */

    setenv("WEBNN_DEBUG",
           traces ? "dump=dumps,dump-program,print-after-all,perf,trace=trace.json"
                  : "dump=dumps,dump-program,print-after-all,perf",
           1);
    if (!strcmp(way, "setuid")) {
        setenv("ONEDNN_JIT_DUMP", "1", 1);
        setenv("DNNL_JIT_DUMP", "1", 1);
        if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
            _exit(complain("cannot become nobody"));
    }
    execl(program, program, "--child", way, (char *)NULL);
    _exit(complain(strerror(errno)));
}

/* Returns what has become of the folder. */
static int check_outcome(const char *way, int before)
{
    bool own = !strcmp(way, "own"), prepared = !strcmp(way, "prepared");

    if (!is_precious())
        return complain("a file was written to that a link led to");
    if (own && (count_files("dumps") < 3 || count_files(".") != before + 1))
        return complain("the user's own switches wrote nothing");
    if (prepared && count_files("dumps") <= 2)
        return complain("files next to the links were not written");
    if ((prepared || !strcmp(way, "setuid")) &&
        (!is_link("dumps/program-0.txt") || !is_link("dumps/graph0-19-finish-clusters.webnn") || !is_link("trace.json")))
        return complain("a link was replaced");
    if (!own && !prepared && (count_files(".") != before || count_files("dumps") != (!strcmp(way, "setuid") ? 2 : 0)))
        return complain("the environment's switches were obeyed");
    return 0;
}

static int supervise(const char *self, const char *way)
{
    bool privileged = !strcmp(way, "setuid");
    int status;

    if (privileged && geteuid() != 0) {
        printf("skipped: only root can make a set-user-ID program of root's\n");
        return SKIP;
    }
    if (!prepare(privileged || !strcmp(way, "prepared")) || (privileged && !copy_program(self)))
        return complain("cannot prepare the folder");
    int before = count_files(".");
    pid_t child = fork();
    if (child == 0)
        start(privileged ? "./program" : self, way);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return complain("the program crashed");
    return WEXITSTATUS(status) ? WEXITSTATUS(status) : check_outcome(way, before);
}

PROGRAM_HELP("usage: test-environment own|ignored|prepared|setuid\n")
int main(int argc, char **argv)
{
    char self[4096], command[64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (argc == 3 && !strcmp(argv[1], "--child"))
        return run_child(argv[2]);
    if (argc != 2 || n <= 0 || !mkdtemp(folder) || chdir(folder))
        return WRONG_USAGE;
    self[n] = '\0';
    int status = supervise(self, argv[1]);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command) ? 1 : status;
}
