/// Where the bytes of the index go after an op-log: one table, part by part. Beside the C ABI, not through it:
/// the parts are not the ABI's business.
///
///   kvindex-memory OPLOG
///
/// All events between two queries are one apply(), as kvindex-batch does. Exit code: 0 done, 2 bad arguments or
/// files.
#include "clock.hpp"
#include "oplog.hpp"

#include "bench/memory_table.hpp"
#include "kvindex/prefix_index.hpp"

#include <exception>
#include <malloc.h>

namespace {

using namespace kvindex;
using namespace kvindex::replay;

event event_of(const operation& o, slot_id slot) {
    const std::span<const std::uint64_t> words(o.payload, payload_words(o.head));
    switch (o.head.kind) {
    case op_kind::store:
        return stored_event{.slot = slot,
                            .where = tier::gpu,
                            .has_parent = o.head.has_parent != 0,
                            .parent = o.head.parent,
                            .names = words.first(o.head.blocks),
                            .locals = words.subspan(o.head.blocks)};
    case op_kind::remove:
        return removed_event{slot, tier::gpu, words};
    default:
        return cleared_event{slot, all_tiers};
    }
}

void run(const std::string& path) {
    const oplog log(path);
    std::vector<event> events;
    events.reserve(log.operations().size()); // before the index: memory left free by growth would hide its own
    malloc_trim(0);
    const std::uint64_t before = anonymous_bytes();
    prefix_index index;
    std::vector<slot_id> slots;
    for (std::uint32_t w = 0; w < log.header().workers; w++) {
        slots.push_back(*index.open_slot());
    }
    std::uint64_t touched = 0; // of `events`
    for (const operation& o : log.operations()) {
        if (o.head.kind != op_kind::query) {
            events.push_back(event_of(o, slots[o.head.worker]));
            continue;
        }
        index.apply(events);
        touched = std::max<std::uint64_t>(touched, events.size());
        events.clear();
    }
    index.apply(events);
    touched = std::max<std::uint64_t>(touched, events.size());
    const std::uint64_t grown = anonymous_bytes() - before - touched * sizeof(event);
    const memory_parts parts = index.memory();
    std::printf("%s: %u workers, %u tokens a block\n", path.c_str(), log.header().workers,
                log.header().block_tokens);
    bench::print_memory(parts);
    std::printf(
        "statistics: %.2f bytes a residency; resident set grew by %.2f; the op-log counts %llu residencies\n",
        static_cast<double>(index.stats().bytes) / static_cast<double>(parts.residencies),
        static_cast<double>(grown) / static_cast<double>(parts.residencies),
        static_cast<unsigned long long>(log.header().resident));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: kvindex-memory OPLOG\n");
        return 2;
    }
    try {
        run(argv[1]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "kvindex-memory: %s\n", e.what());
        return 2;
    }
    return 0;
}
