/* Lets a folder be one without hard links, whose names cannot be synced, as disks with a file system of another system and shared folders
 * are. Loaded by LD_PRELOAD. LINK is the errno of a hard link, SYNC that of the sync of a folder. When a call fails, the file HIT with the
 * name of the call is made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(const char *call, const char *number) {
    char hit[4096];
    int file;
    snprintf(hit, sizeof hit, "%s.%s", getenv("HIT"), call);
    file = creat(hit, 0600);
    if (file >= 0) close(file);
    errno = atoi(getenv(number));
    return -1;
}

int link(const char *from, const char *to) {
    (void)from, (void)to;
    return failed("link", "LINK");
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    (void)from_folder, (void)from, (void)to_folder, (void)to, (void)flags;
    return failed("link", "LINK");
}

int fsync(int file) {
    struct stat found;
    if (fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) return failed("sync", "SYNC");
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}
