/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps built programs on disk, so that the next process compiles nothing.
 *
 * A program's whole identity (device, driver, options and source) leads to the binary that the driver once made of it.
 *
 * The folder is the user's own: it is used only if it belongs to this user and no other user can get in.  A file has the hash
 * of the identity as its name and the whole identity in it, with a checksum over everything, so that a damaged file, or another
 * program with the same hash, is as good as none and is replaced.  Files are written next to their place and then renamed, so
 * that no process sees half of one.  Drivers check their binaries themselves, and one that a driver refuses is replaced as
 * well. Who uses a file sets its time of modification, by which trim_folder knows what to remove first.
 */
#ifdef WEBNN_OPENCL
#include "runtime/engine/opencl/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/support/environment.h"
#include "ir/support/new_file.h"
#include "ir/support/text.h"
#include "ir/support/trim_folder.h"
#include "runtime/program/serialized.h"

#define CACHE_MAGIC "\x89WNNCLB1"

enum { PATH_BYTES = 4096, FILE_BYTES_MAX = 256 << 20, FACT_BYTES = 256 };

struct cache_header {
    char magic[8];
    uint64_t identity_bytes, binary_bytes;
    uint64_t checksum; /* of what follows */
};

/* ---- the folder ---- */

/* Makes the path that a user who says nothing gets.  Returns false if there is no home. */
static bool default_folder(char path[PATH_BYTES])
{
    const char *cache = environment_get("XDG_CACHE_HOME"), *home = environment_get("HOME");
    int length = -1;

    if (cache && cache[0] == '/')
        length = snprintf(path, PATH_BYTES, "%s/webnn", cache);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_BYTES, "%s/.cache/webnn", home);
    return length > 0 && length < PATH_BYTES;
}

/* Makes the folders of a path that are missing, for this user alone.  Returns an errno, or 0. */
static int make_folders(char path[PATH_BYTES])
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            mkdir(path, 0700);
            *at = '/';
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

/* Makes a folder unless it is there.  Returns false, after a warning for the log, if it is not this user's alone.
 */
static bool take_folder(struct engine_opencl *o, char path[PATH_BYTES])
{
    const int why = make_folders(path);
    struct stat s;
    char shown[512], mode[64];
    const char *wrong;

    if (why || lstat(path, &s) != 0) {
        wrong = strerror(why ? why : errno);
    } else if (!S_ISDIR(s.st_mode)) {
        wrong = "it is no folder, or a link to one";
    } else if (s.st_uid != geteuid()) {
        wrong = "it belongs to another user";
    } else if (s.st_mode & 077) {
        snprintf(mode, sizeof mode, "others may enter it: its mode is %03o, not 700", (unsigned)s.st_mode & 0777);
        wrong = mode;
    } else {
        return true;
    }
    return error_set(&o->base.warning, WNNStatus_UnknownError, "no programs of the device are kept in the folder %s: %s",
                     escape_text(shown, sizeof shown, path, strlen(path)), wrong);
}

void opencl_cache_open(struct engine_opencl *o, const char *folder, bool ignore_environment)
{
    char path[PATH_BYTES];
    const char *wanted = folder && *folder ? folder : ignore_environment ? "off" : environment_get("WEBNN_CACHE");
    const bool named = wanted && *wanted;

    if (named) {
        if (!strcmp(wanted, "off") || snprintf(path, sizeof path, "%s", wanted) >= PATH_BYTES)
            return;
    } else if (ignore_environment || environment_is_ignored() || !default_folder(path)) {
        return;
    }
    if (take_folder(o, path))
        o->folder = strdup(path);
    /* PoCL keeps what it compiles itself.  It makes a binary by compiling every kernel for any index space, and compiles it
     * again for the one that it runs with: asking for binaries takes it as long as everything else. */
    o->keeps_programs = o->folder && (named || !opencl_device_is_pocls(&o->device));
}

/* ---- identities ---- */

void opencl_device_identity(const struct engine_opencl *o, char identity[OPENCL_IDENTITY_BYTES])
{
    static const cl_device_info facts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION};
    size_t length = 0;

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char fact[FACT_BYTES] = "";

        o->api->GetDeviceInfo(o->device.id, facts[i], sizeof fact - 1, fact, NULL);
        length += (size_t)snprintf(identity + length, OPENCL_IDENTITY_BYTES - length, "%.190s\n", fact);
    }
    snprintf(identity + length, OPENCL_IDENTITY_BYTES - length, "%s\n", opencl_options);
}

/* Returns the whole identity of a program, for free(), or NULL if memory runs out. */
static char *identity_of(struct engine_opencl *o, const char *text)
{
    const char *definitions = opencl_definitions_of(o, text);
    char *identity = calloc(1, OPENCL_IDENTITY_BYTES + strlen(definitions) + strlen(opencl_prelude) + strlen(text));

    if (!identity)
        return NULL;
    opencl_device_identity(o, identity);
    return strcat(strcat(strcat(identity, definitions), opencl_prelude), text);
}

static bool path_of(const struct engine_opencl *o, const char *identity, const char *suffix, char path[PATH_BYTES])
{
    const int length = snprintf(path, PATH_BYTES, "%s/%016llx%s", o->folder,
                                (unsigned long long)serialized_checksum(identity, strlen(identity)), suffix);

    return length > 0 && length < PATH_BYTES;
}

/* ---- reading ---- */

/* Reads a whole file, for free().  Returns NULL if there is none that this user has written. */
static unsigned char *read_file(const char *path, size_t *size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat s;
    unsigned char *bytes = NULL;
    size_t done = 0;

    if (file < 0)
        return NULL;
    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && s.st_size > 0 && s.st_size <= FILE_BYTES_MAX)
        bytes = malloc((size_t)s.st_size);
    while (bytes && done < (size_t)s.st_size) {
        const ssize_t got = read(file, bytes + done, (size_t)s.st_size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            free(bytes);
            bytes = NULL;
        } else {
            done += (size_t)got;
        }
    }
    close(file);
    *size = done;
    return bytes;
}

/* Returns where the binary begins in a file, or NULL unless all of it is as it was written. */
static const unsigned char *check_file(const unsigned char *bytes, size_t size, const char *identity, size_t *binary_bytes)
{
    const size_t identity_bytes = strlen(identity);
    struct cache_header h;

    if (size < sizeof h + identity_bytes)
        return NULL;
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, CACHE_MAGIC, sizeof h.magic) != 0 || h.identity_bytes != identity_bytes ||
        h.binary_bytes != size - sizeof h - identity_bytes || !h.binary_bytes ||
        h.checksum != serialized_checksum(bytes + sizeof h, size - sizeof h) ||
        memcmp(bytes + sizeof h, identity, identity_bytes) != 0)
        return NULL;
    *binary_bytes = (size_t)h.binary_bytes;
    return bytes + sizeof h + identity_bytes;
}

cl_program opencl_program_of_binary(struct engine_opencl *o, const unsigned char *binary, size_t bytes)
{
    cl_int status = CL_SUCCESS, code = CL_SUCCESS;
    cl_program program = o->api->CreateProgramWithBinary(o->context, 1, &o->device.id, &bytes, &binary, &status, &code);

    if (code == CL_SUCCESS && status == CL_SUCCESS)
        code = o->api->BuildProgram(program, 1, &o->device.id, opencl_options, NULL, NULL);
    if (code == CL_SUCCESS && status == CL_SUCCESS)
        return program;
    if (program)
        o->api->ReleaseProgram(program);
    return NULL;
}

unsigned char *opencl_file_read(const struct engine_opencl *o, const char *identity, const char *suffix, size_t *size)
{
    char path[PATH_BYTES];
    unsigned char *bytes = NULL;

    if (!o->folder || !path_of(o, identity, suffix, path) || !(bytes = read_file(path, size)))
        return NULL;
    const unsigned char *content = check_file(bytes, *size, identity, size);
    if (!content) {
        free(bytes);
        return NULL;
    }
    memmove(bytes, content, *size);
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* or it seems older than it is */
    return bytes;
}

cl_program opencl_cache_load(struct engine_opencl *o, const char *text)
{
    char *identity = o->keeps_programs ? identity_of(o, text) : NULL;
    size_t size = 0;
    unsigned char *binary = identity ? opencl_file_read(o, identity, ".cl", &size) : NULL;
    cl_program program = binary ? opencl_program_of_binary(o, binary, size) : NULL;

    free(binary);
    free(identity);
    return program;
}

/* ---- writing ---- */

unsigned char *opencl_program_binary(struct engine_opencl *o, cl_program program, size_t *bytes)
{
    unsigned char *binary = NULL;

    *bytes = 0;
    if (o->api->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *bytes, bytes, NULL) != CL_SUCCESS || !*bytes ||
        !(binary = malloc(*bytes)))
        return NULL;
    if (o->api->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        return binary;
    free(binary);
    return NULL;
}

bool opencl_file_write(const struct engine_opencl *o, const char *identity, const char *suffix, const void *bytes, size_t size)
{
    const size_t identity_bytes = strlen(identity);
    struct cache_header h = {CACHE_MAGIC, identity_bytes, size, 0};
    unsigned char *file = malloc(sizeof h + identity_bytes + size);
    char path[PATH_BYTES];
    bool good = file && o->folder && path_of(o, identity, suffix, path);
    int why;

    if (good) {
        memcpy(file + sizeof h, identity, identity_bytes);
        memcpy(file + sizeof h + identity_bytes, bytes, size);
        h.checksum = serialized_checksum(file + sizeof h, identity_bytes + size);
        memcpy(file, &h, sizeof h);
        good = new_file_write(path, NEW_FILE_NO_LINKS, file, sizeof h + identity_bytes + size, &why);
    }
    free(file);
    return good;
}

/* At the first program of an engine, and then from time to time. */
static void trim(struct engine_opencl *o, size_t bytes)
{
    const unsigned long long before = atomic_fetch_add(&o->cached, bytes);

    if (!before || before / OPENCL_CACHE_STEP != (before + bytes) / OPENCL_CACHE_STEP)
        trim_folder(o->folder, 16, ".cl", OPENCL_CACHE_BYTES);
}

void opencl_cache_store(struct engine_opencl *o, const char *text, cl_program program)
{
    char *identity = o->keeps_programs ? identity_of(o, text) : NULL;
    size_t size = 0;
    unsigned char *binary = identity ? opencl_program_binary(o, program, &size) : NULL;

    if (binary && opencl_file_write(o, identity, ".cl", binary, size)) /* or not: it is a cache */
        trim(o, sizeof(struct cache_header) + strlen(identity) + size);
    free(binary);
    free(identity);
}
#endif
