/* Lets calls that write files fail. Loaded into a service by LD_PRELOAD.
 *
 * The file that FAULTS names holds four numbers: a round, an errno, the first call of the round that fails, and how many do. Counting
 * begins anew with each round. When a call fails, the file FAULTS with ".hit" is made. SQLite writes by these calls, and nothing else of
 * the service does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long last_round = -1, calls = 0;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

/* Returns the errno that this call fails with, or 0. */
static int fault(int only) {
    const char *path = getenv("FAULTS");
    char text[128], hit[4096];
    long round, number, first, count;
    int (*open_file)(const char *, int, ...) = next("open");
    int file, found = 0;
    ssize_t length;
    if (!path || (file = open_file(path, O_RDONLY | O_CLOEXEC)) < 0) return 0;
    length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return 0;
    text[length] = 0;
    if (sscanf(text, "%ld %ld %ld %ld", &round, &number, &first, &count) != 4) return 0;
    if (only && number != only) return 0;
    pthread_mutex_lock(&lock);
    if (round != last_round) { last_round = round; calls = 0; }
    calls++;
    if (calls >= first && calls - first < count) found = (int)number;
    pthread_mutex_unlock(&lock);
    if (found) {
        snprintf(hit, sizeof hit, "%s.hit", path);
        file = open_file(hit, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0) close(file);
    }
    return found;
}

#define FAIL(only) do { int found = fault(only); if (found) { errno = found; return -1; } } while (0)

ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
    FAIL(0);
    return ((ssize_t (*)(int, const void *, size_t, off_t))next("pwrite"))(file, bytes, length, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
    FAIL(0);
    return ((ssize_t (*)(int, const void *, size_t, off64_t))next("pwrite64"))(file, bytes, length, at);
}

int fdatasync(int file) {
    FAIL(0);
    return ((int (*)(int))next("fdatasync"))(file);
}

int fsync(int file) {
    FAIL(0);
    return ((int (*)(int))next("fsync"))(file);
}

int ftruncate(int file, off_t length) {
    FAIL(0);
    return ((int (*)(int, off_t))next("ftruncate"))(file, length);
}

int ftruncate64(int file, off64_t length) {
    FAIL(0);
    return ((int (*)(int, off64_t))next("ftruncate64"))(file, length);
}

/* A read-only file system opens no file for writing. */
#define OPEN(name)                                                                                       \
    int name(const char *path, int flags, ...) {                                                         \
        mode_t mode = 0;                                                                                 \
        if (flags & O_CREAT) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); } \
        if ((flags & O_ACCMODE) == O_RDWR && strstr(path, ".db")) FAIL(EROFS);                            \
        return ((int (*)(const char *, int, ...))next(#name))(path, flags, mode);                        \
    }

OPEN(open)
OPEN(open64)
