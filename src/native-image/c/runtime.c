/*
 * libchelper: what an executable asks of its system at run time: environment, threads, memory, files, time
 * zone, locale.
 *
 * The builder links these names; their signatures are those of the native methods in its classes LibCHelper,
 * LinuxLibCHelper, Fcntl and LocaleCHelper. All of them may be called by any thread, and none keeps a pointer
 * that it was given.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "svm_locale.h"

extern char** environ;

char** getEnviron(void) {
    return environ;
}

/* Ends the process with `status` after `message` on standard error. */
void exitWithMessage(int status, const char* message) {
    fprintf(stderr, "%s\n", message);
    exit(status);
}

/* fprintf(3) for a format with %s and %d. */
int fprintfSD(FILE* file, const char* format, const char* text, int number) {
    return fprintf(file, format, text, number);
}

int getThreadId(void) {
    return (int)syscall(SYS_gettid);
}

/* Nanoseconds that thread `tid` of this process has run in user mode; -1 when the kernel does not tell
 * (proc(5): field 14). */
int64_t getThreadUserTimeSlow(int tid) {
    char path[64];
    char line[1024];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE* file = fopen(path, "re");
    if (file == NULL)
        return -1;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    /* The name in parentheses may hold anything, so fields are counted behind the last one: state is the third.
     */
    const char* behind = strrchr(line, ')');
    unsigned long ticks;
    if (behind == NULL || sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &ticks) != 1)
        return -1;
    long per_second = sysconf(_SC_CLK_TCK);
    return per_second <= 0 ? -1 : (int64_t)ticks * (1000000000L / per_second);
}

/* mremap(2) with all five arguments. */
void* mremapP(void* old, size_t old_size, size_t new_size, int flags, void* new_address) {
    return mremap(old, old_size, new_size, flags, new_address);
}

/* open(2) and openat(2), whose third and fourth argument are variable ones in C. */
int openSII(const char* path, int flags, int mode) {
    return open(path, flags, mode);
}

int openatISII(int directory, const char* path, int flags, int mode) {
    return openat(directory, path, flags, mode);
}

void sys_select_FD_SET(int descriptor, fd_set* set) {
    FD_SET(descriptor, set);
}

void sys_select_FD_ZERO(fd_set* set) {
    FD_ZERO(set);
}

/* Java code that was written is code that is read: needs a barrier on processors whose instruction cache does
 * not follow. */
void codeSynchronization_clearCache(char* begin, char* end) {
    __builtin___clear_cache(begin, end);
}

static char* zone_below(const char* path) {
    const char* folder = strstr(path, "zoneinfo/");
    if (folder == NULL)
        return NULL;
    const char* name = folder + strlen("zoneinfo/");
    if (strncmp(name, "posix/", 6) == 0 || strncmp(name, "right/", 6) == 0)
        name += 6;
    return *name == '\0' ? NULL : strdup(name);
}

/*
 * Name of the time zone, such as Europe/Paris: from TZ, /etc/timezone, or where /etc/localtime leads; else the
 * offset, such as GMT+02:00. The caller frees it; NULL when memory is short. The table of zones in the Java
 * home is for other systems.
 */
char* SVM_FindJavaTZmd(const char* mappings, int length) {
    (void)mappings;
    (void)length;
    const char* wanted = getenv("TZ");
    if (wanted != NULL && *wanted == ':')
        wanted++;
    if (wanted != NULL && *wanted != '\0') {
        if (*wanted != '/')
            return strdup(wanted);
        char* zone = zone_below(wanted);
        if (zone != NULL)
            return zone;
    }
    if (wanted == NULL) {
        char line[256];
        FILE* file = fopen("/etc/timezone", "re");
        if (file != NULL) {
            char* read = fgets(line, sizeof line, file);
            fclose(file);
            if (read != NULL) {
                line[strcspn(line, " \t\r\n")] = '\0';
                if (*line != '\0')
                    return strdup(line);
            }
        }
        char* real = realpath("/etc/localtime", NULL);
        if (real != NULL) {
            char* zone = zone_below(real);
            free(real);
            if (zone != NULL)
                return zone;
        }
    }
    time_t now = time(NULL);
    struct tm local;
    char offset[32];
    if (localtime_r(&now, &local) == NULL || local.tm_gmtoff == 0)
        return strdup("GMT");
    long minutes = labs(local.tm_gmtoff) / 60;
    snprintf(offset, sizeof offset, "GMT%c%02ld:%02ld", local.tm_gmtoff < 0 ? '-' : '+', minutes / 60,
             minutes % 60);
    return strdup(offset);
}

static svm_locale_props_t locale_props;

/* language[_COUNTRY][.encoding][@variant], as setlocale(3) returns it; parts stay NULL where the name has none.
 */
static int read_locale(int category, const char** language, const char** country, const char** variant) {
    const char* name = setlocale(category, NULL);
    *language = "en";
    if (name == NULL || strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0 || strncmp(name, "C.", 2) == 0)
        return 1;
    char* copy = strdup(name);
    if (copy == NULL)
        return 0;
    char* at = strchr(copy, '@');
    if (at != NULL) {
        *at = '\0';
        *variant = at + 1;
    }
    char* dot = strchr(copy, '.');
    if (dot != NULL)
        *dot = '\0';
    char* below = strchr(copy, '_');
    if (below != NULL) {
        *below = '\0';
        *country = below + 1;
    }
    *language = copy; /* kept for the life of the process, with the parts that point into it */
    return 1;
}

/* Reads the locale of messages (display) and of formats from the environment. Called once, before
 * svm_get_locale. */
int svm_initialize_locale(void) {
    setlocale(LC_ALL, "");
    int read = read_locale(LC_MESSAGES, &locale_props.display_language, &locale_props.display_country,
                           &locale_props.display_variant) &&
               read_locale(LC_CTYPE, &locale_props.format_language, &locale_props.format_country,
                           &locale_props.format_variant);
    return read ? SVM_LOCALE_INITIALIZATION_SUCCEEDED : SVM_LOCALE_INITIALIZATION_OUT_OF_MEMORY;
}

const svm_locale_props_t* svm_get_locale(void) {
    return &locale_props;
}
