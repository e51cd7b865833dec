/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/program/cache_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/support/environment.h"
#include "ir/support/new_file.h"
#include "ir/support/text.h"
#include "ir/support/trim_folder.h"
#include "runtime/program/serialized.h"

#define CACHE_MAGIC "\x89WNNCLB1"

enum { PATH_BYTES = 4096, FILE_BYTES_MAX = 256 << 20 };

struct cache_header {
    char magic[8];
    uint64_t identity_bytes, content_bytes;
    uint64_t checksum; /* of what follows */
};

/* ---- the folder ---- */

/* Makes the path that a user who says nothing gets.  Returns false if there is no home, which is not made. */
static bool default_folder(char path[PATH_BYTES])
{
    const char *cache = environment_get("XDG_CACHE_HOME"), *home = environment_get("HOME");
    int length = -1;

    if (cache && cache[0] == '/')
        length = snprintf(path, PATH_BYTES, "%s/webnn", cache);
    else if (home && home[0] == '/' && access(home, F_OK) == 0)
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
static bool take_folder(char path[PATH_BYTES], bool named, const char *what, struct error *warning)
{
    const int why = make_folders(path);
    struct stat s;
    char shown[512], mode[64];
    const char *wrong;

    if (why && !named) { /* a home that cannot be written to is no mistake */
        return false;
    } else if (why || lstat(path, &s) != 0) {
        wrong = strerror(why ? why : errno);
    } else if (!S_ISDIR(s.st_mode)) {
        wrong = "it is not a folder, or a link to one";
    } else if (s.st_uid != geteuid()) {
        wrong = "it belongs to another user";
    } else if (s.st_mode & 077) {
        snprintf(mode, sizeof mode, "other users may access it: its mode is %03o, not 700", (unsigned)s.st_mode & 0777);
        wrong = mode;
    } else {
        return true;
    }
    return error_set(warning, WNNStatus_UnknownError, "no %s are kept in the folder %s: %s", what,
                     escape_text(shown, sizeof shown, path, strlen(path)), wrong);
}

char *cache_folder_open(const char *folder, bool ignore_environment, const char *what, bool *named, struct error *warning)
{
    char path[PATH_BYTES];
    const char *wanted = folder && *folder ? folder : ignore_environment ? "off" : environment_get("WEBNN_CACHE");

    *named = wanted && *wanted;
    if (*named) {
        if (!strcmp(wanted, "off") || snprintf(path, sizeof path, "%s", wanted) >= PATH_BYTES)
            return NULL;
    } else if (ignore_environment || environment_is_ignored() || !default_folder(path)) {
        return NULL;
    }
    return take_folder(path, *named, what, warning) ? strdup(path) : NULL;
}

/* ---- files ---- */

static bool path_of(const char *folder, const char *identity, const char *suffix, char path[PATH_BYTES])
{
    const int length = snprintf(path, PATH_BYTES, "%s/%016llx%s", folder,
                                (unsigned long long)serialized_checksum(identity, strlen(identity)), suffix);

    return length > 0 && length < PATH_BYTES;
}

/* Reads a whole file, for free().  Returns NULL if there is none that this user alone writes. */
static unsigned char *read_file(const char *path, size_t *size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat s;
    unsigned char *bytes = NULL;
    size_t done = 0;

    if (file < 0)
        return NULL;
    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && !(s.st_mode & 022) && s.st_size > 0 &&
        s.st_size <= FILE_BYTES_MAX)
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

/* Returns where the content begins in a file, or NULL unless all of it is as it was written. */
static const unsigned char *check_file(const unsigned char *bytes, size_t size, const char *identity, size_t *content_bytes)
{
    const size_t identity_bytes = strlen(identity);
    struct cache_header h;

    if (size < sizeof h + identity_bytes)
        return NULL;
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, CACHE_MAGIC, sizeof h.magic) != 0 || h.identity_bytes != identity_bytes ||
        h.content_bytes != size - sizeof h - identity_bytes || !h.content_bytes ||
        h.checksum != serialized_checksum(bytes + sizeof h, size - sizeof h) ||
        memcmp(bytes + sizeof h, identity, identity_bytes) != 0)
        return NULL;
    *content_bytes = (size_t)h.content_bytes;
    return bytes + sizeof h + identity_bytes;
}

unsigned char *cache_read(const char *folder, const char *identity, const char *suffix, size_t *size)
{
    char path[PATH_BYTES];
    unsigned char *bytes = NULL;

    if (!folder || !path_of(folder, identity, suffix, path) || !(bytes = read_file(path, size)))
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

bool cache_write(const char *folder, const char *identity, const char *suffix, const void *bytes, size_t size)
{
    const size_t identity_bytes = strlen(identity);
    struct cache_header h = {CACHE_MAGIC, identity_bytes, size, 0};
    unsigned char *file = malloc(sizeof h + identity_bytes + size);
    char path[PATH_BYTES];
    bool good = file && folder && path_of(folder, identity, suffix, path);
    int why;

    if (good) {
        memcpy(file + sizeof h, identity, identity_bytes);
        memcpy(file + sizeof h + identity_bytes, bytes, size);
        h.checksum = serialized_checksum(file + sizeof h, identity_bytes + size);
        memcpy(file, &h, sizeof h);
        unlink(path); /* the old file was not fit to be read: a link, or a mode that a new file would keep */
        good = new_file_write(path, NEW_FILE_NO_LINKS | NEW_FILE_PRIVATE, file, sizeof h + identity_bytes + size, &why);
    }
    free(file);
    return good;
}

void cache_trim(const char *folder, const char *suffix, atomic_ullong *written, size_t bytes)
{
    const unsigned long long before = atomic_fetch_add(written, bytes);

    if (!before || before / CACHE_STEP != (before + bytes) / CACHE_STEP)
        trim_folder(folder, 16, suffix, CACHE_BYTES);
}
