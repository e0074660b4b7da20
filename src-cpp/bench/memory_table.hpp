/// memory_parts as a table for people.
#pragma once

#include "base/memory_parts.hpp"

#include <cinttypes>
#include <cstdio>

namespace kvindex::bench {

/// Bytes of each part, by residency and by block of the tree; then the counts. Parts of nothing are left out.
inline void print_memory(const memory_parts& parts, std::FILE* to = stdout) {
    const auto each = [](std::uint64_t amount, std::uint64_t of) {
        return of == 0 ? 0.0 : static_cast<double>(amount) / static_cast<double>(of);
    };
    const auto row = [&](const char* name, std::uint64_t bytes) {
        std::fprintf(to, "%-22s %14" PRIu64 " %8.2f %8.2f %6.1f %%\n", name, bytes,
                     each(bytes, parts.residencies), each(bytes, parts.blocks),
                     100 * each(bytes, parts.bytes()));
    };
    std::fprintf(to, "%-22s %14s %8s %8s\n", "part", "bytes", "/res", "/block");
    parts.for_each_part([&](const char* name, std::uint64_t bytes) {
        if (bytes != 0) {
            row(name, bytes);
        }
    });
    row("all", parts.bytes());
    parts.for_each_count([&](const char* name, std::uint64_t count) {
        std::fprintf(to, "%-24s %12" PRIu64 " %8.3f %8.3f\n", name, count, each(count, parts.residencies),
                     each(count, parts.blocks));
    });
    std::fprintf(to, "name map full to %.3f, name lines to %.3f, content to %.3f, line ids to %.3f\n",
                 each(parts.names, parts.map_lines * 10), each(parts.names, parts.lines * 7),
                 each(parts.content_words, parts.content_words + parts.content_empty),
                 each(parts.ids_used, parts.ids_used + parts.ids_empty));
}

} // namespace kvindex::bench
