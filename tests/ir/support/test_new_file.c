/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Output files: what they replace, what they follow, what they refuse, and which files are left when something fails. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/support/new_file.h"
#include "support/folder.h"

static void holds(const char *path, const char *text)
{
    char buf[64] = "";
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    buf[fread(buf, 1, sizeof buf - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(buf, text);
}

static int entries(void)
{
    DIR *d = opendir(".");
    int count = 0;

    assert_non_null(d);
    while (readdir(d))
        count++;
    closedir(d);
    return count;
}

static void writes(const char *path, unsigned flags, const char *text)
{
    int why = -1;

    if (!new_file_write(path, flags, text, strlen(text), &why))
        fail_msg("%s: %s", path, strerror(why));
}

/* Refuses to open the path, and changes nothing. */
static void refuses(const char *path, unsigned flags, int expected)
{
    int why = 0, before = entries();

    assert_null(new_file_open(path, flags, &why));
    assert_int_equal(why, expected);
    assert_false(new_file_may_open(path, flags, &why));
    assert_int_equal(why, expected);
    assert_int_equal(entries(), before);
}

TEST(files_are_replaced_when_they_are_complete)
{
    int why, before = entries();
    struct stat s;

    writes("plain", 0, "one");
    holds("plain", "one");
    int old = open("plain", O_RDONLY);
    struct new_file *f = new_file_open("plain", 0, &why);
    assert_non_null(f);
    fputs("two", new_file_stream(f));
    fflush(new_file_stream(f));
    holds("plain", "one");
    assert_true(new_file_commit(f, &why));
    holds("plain", "two");
    char text[4] = "";
    assert_int_equal(read(old, text, 3), 3); /* who has the older file open keeps it */
    assert_string_equal(text, "one");
    close(old);
    f = new_file_open("plain", 0, &why);
    fputs("three", new_file_stream(f));
    new_file_abandon(f);
    holds("plain", "two");
    assert_int_equal(entries(), before + 1);

    assert_int_equal(chmod("plain", 0600), 0); /* stays unreadable for others */
    writes("plain", 0, "four");
    assert_int_equal(stat("plain", &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    umask(022);
    writes("program", NEW_FILE_EXECUTABLE, "five");
    assert_int_equal(stat("program", &s), 0);
    assert_int_equal(s.st_mode & 0777, 0755);
    unlink("plain");
    unlink("program");
}

TEST(links_stand_for_what_they_lead_to)
{
    struct stat s;

    assert_int_equal(mkdir("sub", 0700), 0);
    assert_int_equal(symlink("sub/second", "first"), 0);
    assert_int_equal(symlink("../third", "sub/second"), 0);
    write_text("third", "old");
    writes("first", 0, "new");
    holds("third", "new");
    assert_true(lstat("first", &s) == 0 && S_ISLNK(s.st_mode));
    assert_true(lstat("sub/second", &s) == 0 && S_ISLNK(s.st_mode));
    unlink("third");
    writes("first", 0, "again"); /* the last of them leads to nothing */
    holds("third", "again");
    assert_int_equal(symlink("round", "round"), 0);
    refuses("round", 0, ELOOP);
    refuses("first", NEW_FILE_NO_LINKS, ELOOP);
    holds("third", "again");
    unlink("round");
    unlink("first");
    unlink("sub/second");
    unlink("third");
    rmdir("sub");
}

TEST(strangers_links_in_shared_folders_are_refused)
{
    if (geteuid() != 0) {
        print_message("only root can make a link of somebody else's\n");
        skip();
    }
    assert_int_equal(mkdir("shared", 0777), 0);
    assert_int_equal(chmod("shared", 01777), 0);
    write_text("precious", "precious");
    assert_int_equal(symlink("../precious", "shared/mine"), 0);
    assert_int_equal(symlink("../precious", "shared/his"), 0);
    assert_int_equal(lchown("shared/his", 65534, 65534), 0);
    refuses("shared/his", 0, EACCES);
    holds("precious", "precious");
    writes("shared/mine", 0, "mine");
    holds("precious", "mine");
    assert_int_equal(chmod("shared", 0777), 0); /* not sticky: the folder's users trust each other */
    writes("shared/his", 0, "his");
    holds("precious", "his");
    assert_int_equal(chown("shared", 65534, 65534) | chmod("shared", 01777), 0); /* his own folder */
    writes("shared/his", 0, "own");
    holds("precious", "own");
    assert_int_equal(system("rm -r shared precious"), 0);
}

TEST(folders_and_absent_folders_are_refused)
{
    assert_int_equal(mkdir("sub", 0700), 0);
    refuses("sub", 0, EISDIR);
    refuses("sub/", 0, EISDIR);
    refuses(".", 0, EISDIR);
    refuses("", 0, ENOENT);
    refuses("none/file", 0, ENOENT);
    write_text("file", "");
    refuses("file/below", 0, ENOTDIR);
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    refuses(longest, 0, ENAMETOOLONG);
    longest[255] = '\0'; /* the longest name; that of the temporary file is shortened */
    writes(longest, 0, "long");
    holds(longest, "long");
    unlink(longest);
    if (geteuid() != 0) {
        assert_int_equal(chmod("file", 0400), 0);
        refuses("file", 0, EACCES);
    }
    unlink("file");
    rmdir("sub");
}

TEST(devices_and_pipes_are_written_to_as_they_are)
{
    struct stat s;
    int why, status, before;

    writes("/dev/null", 0, "nothing");
    assert_true(stat("/dev/null", &s) == 0 && S_ISCHR(s.st_mode));
    assert_false(new_file_write("/dev/full", 0, "much", 4, &why));
    assert_int_equal(why, ENOSPC);
    assert_true(stat("/dev/full", &s) == 0 && S_ISCHR(s.st_mode));
    assert_int_equal(symlink("/dev/null", "sink"), 0);
    writes("sink", 0, "nothing");
    refuses("sink", NEW_FILE_NO_LINKS, ELOOP);
    unlink("sink");

    assert_int_equal(mkfifo("pipe", 0600), 0);
    before = entries();
    pid_t child = fork();
    if (child == 0) {
        writes("pipe", 0, "through");
        _exit(0);
    }
    holds("pipe", "through");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(lstat("pipe", &s) == 0 && S_ISFIFO(s.st_mode));
    assert_int_equal(entries(), before);
    unlink("pipe");
}

TEST(failed_writes_leave_the_older_file)
{
    static const char much[100000];
    struct rlimit limit, less;
    int why, before;

    write_text("file", "precious");
    before = entries();
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    less = limit;
    less.rlim_cur = 5000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    bool ok = new_file_write("file", 0, much, sizeof much, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_false(ok);
    assert_int_equal(why, EFBIG);
    holds("file", "precious");
    assert_int_equal(entries(), before);
    unlink("file");
}

static void append(const char *path, const char *text, int expected)
{
    int why;
    FILE *f = own_file_append(path, &why);

    assert_int_equal(why, expected);
    assert_true((f != NULL) == (expected == 0));
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

TEST(only_own_files_are_appended_to)
{
    struct stat s;

    umask(022);
    append("map", "one ", 0);
    append("map", "two", 0);
    holds("map", "one two");
    assert_int_equal(stat("map", &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_int_equal(chmod("map", 0602), 0);
    append("map", "", EEXIST);
    assert_int_equal(chmod("map", 0600), 0);
    assert_int_equal(link("map", "other"), 0);
    append("map", "", EEXIST);
    unlink("map");
    assert_int_equal(symlink("other", "map"), 0);
    append("map", "", ELOOP);
    unlink("map");
    assert_int_equal(mkfifo("map", 0600), 0);
    append("map", "", ENXIO);
    unlink("map");
    if (geteuid() == 0) {
        write_text("map", "");
        assert_int_equal(chown("map", 65534, 65534), 0);
        append("map", "", EEXIST);
        unlink("map");
    }
    holds("other", "one two");
    unlink("other");
}

TEST_GROUP(enter_folder, leave_folder)
