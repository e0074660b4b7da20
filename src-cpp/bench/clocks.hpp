/// Clocks and percentiles of the benchmarks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace kvindex::bench {

/// CPU time of this thread in ns: what neighbours on the machine take is not in it (but what they cost in cache
/// and memory bandwidth is). A system call.
inline std::uint64_t cpu_nanos() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Wall time in ns: what the machine gave to others meanwhile is in it. Cheap.
inline std::uint64_t wall_nanos() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Pages that this thread touched for the first time.
inline std::uint64_t page_faults() {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return static_cast<std::uint64_t>(used.ru_minflt);
}

/// Anonymous resident memory in bytes, 0 where the system does not tell.
inline std::uint64_t anonymous_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("RssAnon:")) {
            return std::stoull(line.substr(8)) * 1024;
        }
    }
    return 0;
}

/// The value that `share` (0..1) of all are not above; 0 of none. Reorders.
inline std::uint32_t percentile(std::vector<std::uint32_t>& of, double share) {
    if (of.empty()) {
        return 0;
    }
    const auto last = static_cast<double>(of.size() - 1);
    const auto nth = of.begin() + static_cast<std::ptrdiff_t>(share * last + 0.5);
    std::nth_element(of.begin(), nth, of.end());
    return *nth;
}

} // namespace kvindex::bench
