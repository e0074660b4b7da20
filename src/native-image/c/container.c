/*
 * libsvm_container: what the control groups of this process allow and count (cgroups(7); v2: memory.max,
 * cpu.max and so on, v1: memory.limit_in_bytes, cpu.cfs_quota_us and so on). A limit holds for everything below
 * it, so the least one on the way from the process's group up to the mount counts. Files are read anew with
 * every call: limits change while a process runs. Any thread.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NONE (-1L)

/* One hierarchy: its mount point, and the process's group in it, from there, without a slash at the end. Empty
 * mount: not there. */
typedef struct {
    char mount[PATH_MAX];
    char group[PATH_MAX];
    bool unified;
} hierarchy_t;

static hierarchy_t memory;
static hierarchy_t processor;

static bool has_word(const char* list, const char* word) {
    size_t length = strlen(word);
    for (const char* at = list; (at = strstr(at, word)) != NULL; at += length) {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* The process's group for a controller, as /proc/self/cgroup names it: N:controllers:path, 0::path for v2. */
static bool group_of(const char* controller, char* path, size_t size) {
    FILE* file = fopen("/proc/self/cgroup", "re");
    if (file == NULL)
        return false;
    char* line = NULL;
    size_t room = 0;
    bool found = false;
    while (!found && getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char* controllers = strchr(line, ':');
        char* group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL)
            continue;
        *group++ = '\0';
        controllers++;
        found = controller == NULL ? *controllers == '\0' : has_word(controllers, controller);
        if (found)
            snprintf(path, size, "%s", group);
    }
    free(line);
    fclose(file);
    return found;
}

/* Finds the mount of a controller (NULL: v2) in /proc/self/mountinfo: ID PARENT DEVICE ROOT MOUNT ... - TYPE
 * SOURCE OPTIONS. */
static bool find_hierarchy(const char* controller, hierarchy_t* h) {
    char group[PATH_MAX];
    if (!group_of(controller, group, sizeof group))
        return false;
    FILE* file = fopen("/proc/self/mountinfo", "re");
    if (file == NULL)
        return false;
    char* line = NULL;
    size_t room = 0;
    bool found = false;
    while (!found && getline(&line, &room, file) > 0) {
        char root[PATH_MAX];
        char mount[PATH_MAX];
        char type[64];
        char options[512];
        const char* behind = strstr(line, " - ");
        if (behind == NULL || sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) != 2 ||
            sscanf(behind, " - %63s %*s %511s", type, options) != 2)
            continue;
        if (controller == NULL ? strcmp(type, "cgroup2") != 0
                               : strcmp(type, "cgroup") != 0 || !has_word(options, controller))
            continue;
        /* Without a namespace of its own, the path of a container's group starts with the group that is mounted
         * here. */
        size_t above = strcmp(root, "/") == 0 ? 0 : strlen(root);
        const char* below = strncmp(group, root, above) == 0 ? group + above : "";
        snprintf(h->mount, sizeof h->mount, "%s", mount);
        snprintf(h->group, sizeof h->group, "%s", strcmp(below, "/") == 0 ? "" : below);
        h->unified = controller == NULL;
        found = true;
    }
    free(line);
    fclose(file);
    return found;
}

static bool read_file(const hierarchy_t* h, const char* group, const char* name, char* text, size_t size) {
    char path[3 * PATH_MAX];
    if (h->mount[0] == '\0')
        return false;
    snprintf(path, sizeof path, "%s%s/%s", h->mount, group, name);
    FILE* file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, size - 1, file);
    fclose(file);
    text[length] = '\0';
    return length > 0;
}

static int64_t number(const hierarchy_t* h, const char* group, const char* name) {
    char text[128];
    char* end;
    if (!read_file(h, group, name, text, sizeof text))
        return NONE;
    long long value = strtoll(text, &end, 10);
    /* v2 says "max", v1 a number near 2^63 for no limit. */
    return end == text || value < 0 || value > (1LL << 60) ? NONE : (int64_t)value;
}

/* Cuts the last part off; false at the mount. */
static bool to_parent(char* group) {
    char* slash = strrchr(group, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return true;
}

static int64_t least(const hierarchy_t* h, const char* name) {
    char group[PATH_MAX];
    int64_t lowest = NONE;
    snprintf(group, sizeof group, "%s", h->group);
    do {
        int64_t value = number(h, group, name);
        if (value >= 0 && (lowest < 0 || value < lowest))
            lowest = value;
    } while (to_parent(group));
    return lowest;
}

static int64_t statistic(const char* wanted) {
    char text[8192];
    if (!read_file(&memory, memory.group, "memory.stat", text, sizeof text))
        return NONE;
    size_t length = strlen(wanted);
    for (char* line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strncmp(line, wanted, length) == 0 && line[length] == ' ')
            return strtoll(line + length, NULL, 10);
    }
    return NONE;
}

/* Processors' worth of time that the groups allow, rounded up; INT_MAX without a limit. */
static int quota(void) {
    char group[PATH_MAX];
    int lowest = INT_MAX;
    snprintf(group, sizeof group, "%s", processor.group);
    do {
        char text[128];
        long long time = -1;
        long long period = 0;
        if (processor.unified) {
            if (!read_file(&processor, group, "cpu.max", text, sizeof text) ||
                sscanf(text, "%lld %lld", &time, &period) != 2)
                continue;
        } else {
            time = number(&processor, group, "cpu.cfs_quota_us");
            period = number(&processor, group, "cpu.cfs_period_us");
        }
        if (time > 0 && period > 0 && (time + period - 1) / period < lowest)
            lowest = (int)((time + period - 1) / period);
    } while (to_parent(group));
    return lowest;
}

int64_t svm_container_memory_limit_in_bytes(void) {
    int64_t limit = least(&memory, memory.unified ? "memory.max" : "memory.limit_in_bytes");
    int64_t physical = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return limit >= physical ? NONE : limit;
}

int64_t svm_container_memory_and_swap_limit_in_bytes(void) {
    if (!memory.unified)
        return least(&memory, "memory.memsw.limit_in_bytes");
    int64_t limit = svm_container_memory_limit_in_bytes();
    int64_t swap = least(&memory, "memory.swap.max");
    return limit < 0 || swap < 0 ? NONE : limit + swap;
}

int64_t svm_container_memory_soft_limit_in_bytes(void) {
    return least(&memory, memory.unified ? "memory.high" : "memory.soft_limit_in_bytes");
}

int64_t svm_container_memory_usage_in_bytes(void) {
    return number(&memory, memory.group, memory.unified ? "memory.current" : "memory.usage_in_bytes");
}

int64_t svm_container_memory_max_usage_in_bytes(void) {
    return number(&memory, memory.group, memory.unified ? "memory.peak" : "memory.max_usage_in_bytes");
}

int64_t svm_container_rss_usage_in_bytes(void) {
    return statistic(memory.unified ? "anon" : "rss");
}

int64_t svm_container_cache_usage_in_bytes(void) {
    return statistic(memory.unified ? "file" : "cache");
}

/* Bytes of memory of the machine, or what the groups allow where that is less. */
uint64_t svm_container_physical_memory(void) {
    int64_t limit = svm_container_memory_limit_in_bytes();
    return limit > 0 ? (uint64_t)limit : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Processors that this process may run on, or the time it may use where that is less; at least 1. */
int svm_container_active_processor_count(void) {
    cpu_set_t set;
    int count =
        sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    int allowed = quota();
    if (allowed < count)
        count = allowed;
    return count < 1 ? 1 : count;
}

/* Called once, first. 1 when groups limit memory or processor time, so that the functions above are to be
 * asked; 0 when not. The version of the interface that the caller was built for is checked by whoever assembled
 * the builder. */
int svm_container_initialize(int version) {
    (void)version;
    if (!find_hierarchy("memory", &memory))
        find_hierarchy(NULL, &memory);
    if (!find_hierarchy("cpu", &processor))
        find_hierarchy(NULL, &processor);
    return svm_container_memory_limit_in_bytes() > 0 || quota() != INT_MAX;
}
