/// Time and memory of this process. Any thread; every call is a system call but ticks().
#pragma once

#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>
#include <sys/types.h>

namespace kvindex::replay {

inline double seconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

inline double wall_seconds() {
    return seconds_of(CLOCK_MONOTONIC);
}

/// Of all threads, so that a thread which the index may start is not free of charge.
inline double cpu_seconds() {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/// A counter for single calls; tick_nanos() gives its unit.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

/// Nanoseconds of one tick, measured over 20 ms.
inline double tick_nanos() {
    const double begin = wall_seconds();
    const std::uint64_t first = ticks();
    double passed = 0;
    while (passed < 0.02) {
        passed = wall_seconds() - begin;
    }
    return passed * 1e9 / static_cast<double>(ticks() - first);
}

/// Anonymous resident memory in bytes, 0 where the system does not tell. Files that are mapped do not count.
inline std::uint64_t anonymous_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("RssAnon:")) {
            return std::stoull(line.substr(8)) * 1024;
        }
    }
    return 0;
}

} // namespace kvindex::replay
