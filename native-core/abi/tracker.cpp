/// The C ABI of the block cache tracker: checks, translates, and does nothing else.
#include "abi/guard.hpp"

#pragma GCC visibility push(default)
#include "kvtracker.h"
#pragma GCC visibility pop

#include "tracker/block_tracker.hpp"

#include <cstddef>

struct kvt_tracker {
    explicit kvt_tracker(const kvindex::tracker::tracker_options& o) : impl(o) {
    }

    kvindex::tracker::block_tracker impl;
};

namespace {

using kvindex::slot_id;
using kvindex::abi::guarded;
using kvindex::abi::readable;
using kvindex::abi::writable;
using kvindex::tracker::tracker_hit;

// Hits are written through the tracker's own type straight into the caller's array.
static_assert(sizeof(tracker_hit) == sizeof(kvt_hit) && alignof(tracker_hit) == alignof(kvt_hit));
static_assert(offsetof(tracker_hit, backend) == offsetof(kvt_hit, backend) &&
              offsetof(tracker_hit, blocks) == offsetof(kvt_hit, blocks));

constexpr std::uint64_t most_max_blocks = std::uint64_t{1} << 30;

/// Complete blocks, or more than allowed.
bool good_prompt(const kvt_tracker* tracker, const std::uint32_t* tokens, std::uint32_t token_count) {
    return readable(tokens, token_count) && token_count / tracker->impl.block_size() <= KVI_MAX_BLOCKS;
}

} // namespace

extern "C" {

std::int32_t kvt_open(const kvt_config* config, kvt_tracker** out_tracker) {
    if (config == nullptr || !readable(config, 1) || !writable(out_tracker) || config->size != sizeof *config ||
        config->block_size == 0 || config->block_size > KVI_MAX_BLOCK_SIZE || config->hashing > KVT_CHAINED ||
        config->reserved != 0 || config->max_blocks > most_max_blocks) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        kvindex::tracker::tracker_options o;
        o.block_size = config->block_size;
        o.how = static_cast<kvindex::tracker::hashing>(config->hashing);
        o.max_blocks = config->max_blocks != 0 ? config->max_blocks : o.max_blocks;
        *out_tracker = new kvt_tracker(o);
        return KVI_OK;
    });
}

std::int32_t kvt_close(kvt_tracker* tracker) {
    return guarded([&] {
        delete tracker;
        return KVI_OK;
    });
}

std::int32_t kvt_join(kvt_tracker* tracker, std::uint32_t backend) {
    if (tracker == nullptr) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        tracker->impl.join(slot_id{backend});
        return KVI_OK;
    });
}

std::int32_t kvt_leave(kvt_tracker* tracker, std::uint32_t backend) {
    if (tracker == nullptr) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] { return tracker->impl.leave(slot_id{backend}) ? KVI_OK : KVI_E_SLOT; });
}

std::int32_t kvt_find(kvt_tracker* tracker, const std::uint32_t* tokens, std::uint32_t token_count,
                      std::uint64_t seed, kvt_hit* out_hits, std::uint32_t hit_capacity,
                      std::uint32_t* out_hit_count) {
    if (tracker == nullptr || !good_prompt(tracker, tokens, token_count) || !readable(out_hits, hit_capacity) ||
        !writable(out_hit_count)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const auto found = tracker->impl.find(tokens, token_count / tracker->impl.block_size(), seed,
                                              {reinterpret_cast<tracker_hit*>(out_hits), hit_capacity});
        if (!found.fits) {
            return KVI_E_CAPACITY;
        }
        *out_hit_count = found.hits;
        return KVI_OK;
    });
}

std::int32_t kvt_record(kvt_tracker* tracker, std::uint32_t backend, const std::uint32_t* tokens,
                        std::uint32_t token_count, std::uint64_t seed, std::uint64_t* out_new_blocks) {
    if (tracker == nullptr || !good_prompt(tracker, tokens, token_count) || !writable(out_new_blocks)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const auto fresh =
            tracker->impl.record(slot_id{backend}, tokens, token_count / tracker->impl.block_size(), seed);
        if (!fresh) {
            return KVI_E_SLOT;
        }
        *out_new_blocks = *fresh;
        return KVI_OK;
    });
}

std::int32_t kvt_evict(kvt_tracker* tracker, std::uint32_t backend, std::uint64_t most,
                       std::uint64_t* out_evicted) {
    if (tracker == nullptr || !writable(out_evicted)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const auto evicted = tracker->impl.evict(slot_id{backend}, most);
        if (!evicted) {
            return KVI_E_SLOT;
        }
        *out_evicted = *evicted;
        return KVI_OK;
    });
}

std::int32_t kvt_evict_all(kvt_tracker* tracker, std::uint64_t* out_evicted) {
    if (tracker == nullptr || !writable(out_evicted)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        *out_evicted = tracker->impl.evict_all();
        return KVI_OK;
    });
}

std::int32_t kvt_stats(const kvt_tracker* tracker, kvt_statistics* out) {
    if (tracker == nullptr || !writable(out)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const kvindex::tracker::tracker_statistics s = tracker->impl.stats();
        *out = {.backends = s.backends, .blocks = s.blocks, .bytes = s.bytes, .evicted = s.evicted};
        return KVI_OK;
    });
}

} // extern "C"
