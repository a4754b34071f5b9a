/* A layer between the binary and the file system, for `LD_PRELOAD`: numbers the calls that change files below one folder,
 * logs them with their bytes, and kills the process at one of them or makes it fail. Calls are numbered over all threads,
 * from 1, in the order in which they begin.
 *
 *   SHIM_UNDER=/folder          calls on paths below it count (others pass)
 *   SHIM_MATCH=text             ... and only those whose path holds this
 *   SHIM_KINDS=write,sync,...   ... and only of these kinds: open write sync rename unlink mkdir truncate link
 *   SHIM_LOG=/file              a record a call: "kind number offset length path\n", and for writes the bytes;
 *                               for syncs one record when they begin and one ("synced") when they end
 *   SHIM_KILL=12                kill -9 before call 12; SHIM_KILL_AFTER=12 after it
 *   SHIM_STOP=12                SIGSTOP before call 12
 *   SHIM_FAIL=12 SHIM_ERRNO=28  call 12 fails with that errno; SHIM_STICKY=1: all later ones, too
 *   SHIM_SHORT=1                a write that is to fail writes half of its bytes first
 *   SHIM_NO_LINKS=1             no file gets a second name, as on a file system that knows none (EPERM)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *under, *match, *kinds;
static long kill_before, kill_after, stop_at, fail_at, fail_errno;
static int sticky, half, no_links, log_fd = -1;
static long count;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static long number_of(const char *name) {
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void) {
    under = getenv("SHIM_UNDER");
    match = getenv("SHIM_MATCH");
    kinds = getenv("SHIM_KINDS");
    kill_before = number_of("SHIM_KILL");
    kill_after = number_of("SHIM_KILL_AFTER");
    stop_at = number_of("SHIM_STOP");
    fail_at = number_of("SHIM_FAIL");
    fail_errno = number_of("SHIM_ERRNO");
    sticky = (int)number_of("SHIM_STICKY");
    half = (int)number_of("SHIM_SHORT");
    no_links = (int)number_of("SHIM_NO_LINKS");
    const char *path = getenv("SHIM_LOG");
    if (path)
        log_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        pause();
}

static int counts(const char *kind, const char *path) {
    if (!under || !path || strncmp(path, under, strlen(under)) != 0)
        return 0;
    /* The shared memory of SQLite's log is nothing that lasts. */
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, "-shm") == 0)
        return 0;
    if (match && !strstr(path, match))
        return 0;
    return !kinds || strstr(kinds, kind) != NULL;
}

/* The path that a call is about, absolute; NULL where it has none. */
static const char *absolute(int folder, const char *path, char *room) {
    char base[PATH_MAX];
    if (!path)
        return NULL;
    if (path[0] == '/')
        return path;
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base))
            return NULL;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, base, sizeof base - 1);
        if (length < 0)
            return NULL;
        base[length] = 0;
    }
    snprintf(room, PATH_MAX, "%.2000s/%.2000s", base, path);
    return room;
}

static const char *path_of(int fd, char *room) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, room, PATH_MAX - 1);
    if (length < 0)
        return NULL;
    room[length] = 0;
    return room;
}

static void put(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t wrote = syscall(SYS_write, log_fd, at, length);
        if (wrote <= 0)
            return;
        at += wrote;
        length -= (size_t)wrote;
    }
}

static void note(const char *kind, long number, long offset, size_t length, const char *path, const void *bytes) {
    char line[PATH_MAX + 128];
    if (log_fd < 0)
        return;
    int size = snprintf(line, sizeof line, "%s %ld %ld %zu %s\n", kind, number, offset, bytes ? length : 0, path);
    put(line, (size_t)size);
    if (bytes)
        put(bytes, length);
}

/* The number of a call that begins; 0 where it does not count. Call with `turn` held. */
static long arrive(const char *kind, const char *path) {
    if (!counts(kind, path))
        return 0;
    long number = ++count;
    if (number == kill_before)
        die();
    if (number == stop_at)
        syscall(SYS_kill, getpid(), SIGSTOP);
    return number;
}

static int fails(long number) {
    if (!number || !fail_at || !(number == fail_at || (sticky && number > fail_at)))
        return 0;
    errno = (int)fail_errno;
    return 1;
}

static void leave(long number) {
    if (number && number == kill_after)
        die();
}

#define REAL(type, name, ...)                                                                                          \
    static type (*real)(__VA_ARGS__);                                                                                  \
    if (!real)                                                                                                         \
        real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define OPENS(name)                                                                                                    \
    int name(const char *path, int flags, ...) {                                                                       \
        REAL(int, #name, const char *, int, ...);                                                                      \
        mode_t mode = 0;                                                                                               \
        if (flags & O_CREAT) {                                                                                         \
            va_list rest;                                                                                              \
            va_start(rest, flags);                                                                                     \
            mode = va_arg(rest, mode_t);                                                                               \
            va_end(rest);                                                                                              \
        } else {                                                                                                       \
            return real(path, flags);                                                                                  \
        }                                                                                                              \
        char room[PATH_MAX];                                                                                           \
        const char *full = absolute(AT_FDCWD, path, room);                                                             \
        pthread_mutex_lock(&turn);                                                                                     \
        int fresh = full && access(full, F_OK) != 0;                                                                   \
        long number = fresh || (flags & O_TRUNC) ? arrive("open", full) : 0;                                           \
        int fd = fails(number) ? -1 : real(path, flags, mode);                                                         \
        if (number && fd >= 0)                                                                                         \
            note(fresh ? "create" : "empty", number, 0, 0, full, NULL);                                                \
        leave(number);                                                                                                 \
        pthread_mutex_unlock(&turn);                                                                                   \
        return fd;                                                                                                     \
    }
OPENS(open)
OPENS(open64)

static ssize_t written(int fd, const void *bytes, size_t length, off_t offset, ssize_t (*work)(int, const void *, size_t, off_t)) {
    char room[PATH_MAX];
    const char *path = path_of(fd, room);
    if (!counts("write", path))
        return work(fd, bytes, length, offset);
    pthread_mutex_lock(&turn);
    long at = offset >= 0 ? (long)offset : (long)lseek(fd, 0, SEEK_CUR);
    long number = arrive("write", path);
    ssize_t wrote;
    if (fails(number)) {
        wrote = -1;
        if (half && length > 1) {
            wrote = work(fd, bytes, length / 2, offset);
            if (wrote > 0)
                note("write", number, at, (size_t)wrote, path, bytes);
            half = 0;
            fail_at = number + 1; /* the rest of it fails */
        }
    } else {
        wrote = work(fd, bytes, length, offset);
        if (wrote > 0)
            note("write", number, at, (size_t)wrote, path, bytes);
    }
    int kept = errno;
    leave(number);
    pthread_mutex_unlock(&turn);
    errno = kept;
    return wrote;
}

static ssize_t do_write(int fd, const void *bytes, size_t length, off_t offset) {
    (void)offset;
    return syscall(SYS_write, fd, bytes, length);
}

static ssize_t do_pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    return syscall(SYS_pwrite64, fd, bytes, length, offset);
}

ssize_t write(int fd, const void *bytes, size_t length) { return written(fd, bytes, length, -1, do_write); }

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    return written(fd, bytes, length, offset, do_pwrite);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    return written(fd, bytes, length, offset, do_pwrite);
}

ssize_t writev(int fd, const struct iovec *parts, int many) {
    ssize_t all = 0;
    for (int place = 0; place < many; place++) {
        ssize_t wrote = written(fd, parts[place].iov_base, parts[place].iov_len, -1, do_write);
        if (wrote < 0)
            return all > 0 ? all : wrote;
        all += wrote;
        if ((size_t)wrote < parts[place].iov_len)
            break;
    }
    return all;
}

/* Who copies within the kernel falls back on reads and writes, whose bytes are seen. */
static int is_seen(int fd) {
    char room[PATH_MAX];
    return counts("write", path_of(fd, room));
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned flags) {
    if (!is_seen(to))
        return syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
    errno = ENOSYS;
    return -1;
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t length) {
    if (!is_seen(to))
        return syscall(SYS_sendfile, to, from, at, length);
    errno = EINVAL;
    return -1;
}

ssize_t sendfile(int to, int from, off_t *at, size_t length) { return sendfile64(to, from, at, length); }

static int synced(int fd, long call) {
    char room[PATH_MAX];
    const char *path = path_of(fd, room);
    pthread_mutex_lock(&turn);
    long number = arrive("sync", path);
    int fail = fails(number);
    if (number && !fail)
        note("sync", number, 0, 0, path, NULL);
    pthread_mutex_unlock(&turn);
    if (fail)
        return -1;
    int done = (int)syscall(call, fd);
    if (number) {
        pthread_mutex_lock(&turn);
        if (done == 0)
            note("synced", number, 0, 0, path, NULL);
        leave(number);
        pthread_mutex_unlock(&turn);
    }
    return done;
}

int fsync(int fd) { return synced(fd, SYS_fsync); }

int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

/* A file gets another name: beside the one that it has, or in its place. */
static int named(const char *call, int old_folder, const char *from, int folder, const char *to, int flags) {
    char old_room[PATH_MAX], room[PATH_MAX], both[2 * PATH_MAX];
    const char *old = absolute(old_folder, from, old_room), *path = absolute(folder, to, room);
    int beside = strcmp(call, "link") == 0;
    if (beside && no_links && path && under && strncmp(path, under, strlen(under)) == 0) {
        /* A name that is taken comes first, as the kernel has it. */
        errno = access(path, F_OK) == 0 ? EEXIST : access(old, F_OK) == 0 ? EPERM : ENOENT;
        return -1;
    }
    pthread_mutex_lock(&turn);
    long number = arrive(call, path);
    int done = -1;
    if (!fails(number))
        done = (int)(beside ? syscall(SYS_linkat, old_folder, from, folder, to, flags)
                            : syscall(SYS_renameat, old_folder, from, folder, to));
    if (number && done == 0) {
        snprintf(both, sizeof both, "%s\t%s", old, path);
        note(call, number, 0, 0, both, NULL);
    }
    int kept = errno;
    leave(number);
    pthread_mutex_unlock(&turn);
    errno = kept;
    return done;
}

int rename(const char *from, const char *to) { return named("rename", AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int old_folder, const char *from, int folder, const char *to, int flags) {
    return named("link", old_folder, from, folder, to, flags);
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

static int removed(int folder, const char *name, int flags) {
    char room[PATH_MAX];
    const char *path = absolute(folder, name, room);
    pthread_mutex_lock(&turn);
    long number = arrive("unlink", path);
    int done = fails(number) ? -1 : (int)syscall(SYS_unlinkat, folder, name, flags);
    if (number && done == 0)
        note("unlink", number, 0, 0, path, NULL);
    int kept = errno;
    leave(number);
    pthread_mutex_unlock(&turn);
    errno = kept;
    return done;
}

int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }

int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }

int unlinkat(int folder, const char *path, int flags) { return removed(folder, path, flags); }

int mkdir(const char *name, mode_t mode) {
    char room[PATH_MAX];
    const char *path = absolute(AT_FDCWD, name, room);
    pthread_mutex_lock(&turn);
    /* One that is there already is no change. */
    long number = path && access(path, F_OK) != 0 ? arrive("mkdir", path) : 0;
    int done = fails(number) ? -1 : (int)syscall(SYS_mkdir, name, mode);
    if (number && done == 0)
        note("mkdir", number, 0, 0, path, NULL);
    int kept = errno;
    leave(number);
    pthread_mutex_unlock(&turn);
    errno = kept;
    return done;
}

static int shortened(int fd, off_t length) {
    char room[PATH_MAX];
    const char *path = path_of(fd, room);
    pthread_mutex_lock(&turn);
    long number = arrive("truncate", path);
    int done = fails(number) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
    if (number && done == 0)
        note("truncate", number, (long)length, 0, path, NULL);
    int kept = errno;
    leave(number);
    pthread_mutex_unlock(&turn);
    errno = kept;
    return done;
}

int ftruncate(int fd, off_t length) { return shortened(fd, length); }

int ftruncate64(int fd, off64_t length) { return shortened(fd, length); }
