/// The C ABI: checks what comes from outside, translates, and does nothing else.
#include "abi/decode.hpp"
#include "abi/guard.hpp"
#include "base/hashing.hpp"
#include "base/page_chain.hpp"

#include <algorithm>
#include <type_traits>

namespace {

using kvindex::hit;
using kvindex::abi::guarded;
using kvindex::abi::readable;
using kvindex::abi::writable;

// Hits are written through the index's own type straight into the caller's array.
static_assert(sizeof(hit) == sizeof(kvi_hit) && alignof(hit) == alignof(kvi_hit));
static_assert(offsetof(hit, slot) == offsetof(kvi_hit, slot) &&
              offsetof(hit, depth) == offsetof(kvi_hit, depth));

// So are the blocks of slots.
static_assert(sizeof(kvindex::tier_blocks) == sizeof(kvi_tier_blocks) &&
              alignof(kvindex::tier_blocks) == alignof(kvi_tier_blocks));

bool good_prompt(const std::uint32_t* tokens, std::uint32_t token_count, std::uint32_t block_size) {
    return block_size != 0 && block_size <= KVI_MAX_BLOCK_SIZE && readable(tokens, token_count) &&
           token_count / block_size <= KVI_MAX_BLOCKS;
}

static_assert(sizeof(kvindex::sha256_digest) == KVI_PAGE_DIGEST && alignof(kvindex::sha256_digest) == 1);

std::span<hit> hits(kvi_hit* out, std::uint32_t capacity) {
    return {reinterpret_cast<hit*>(out), capacity};
}

} // namespace

extern "C" {

const char* kvi_status_text(std::int32_t status) {
    switch (status) {
    case KVI_OK:
        return "ok";
    case KVI_E_ARGUMENT:
        return "bad argument: NULL, zero, out of range or misaligned";
    case KVI_E_MEMORY:
        return "out of memory";
    case KVI_E_FULL:
        return "no free slot";
    case KVI_E_SLOT:
        return "slot is not open";
    case KVI_E_CAPACITY:
        return "out buffer too small";
    case KVI_E_INTERNAL:
        return "internal error";
    case KVI_E_DAMAGED:
        return "damaged snapshot";
    case KVI_E_IO:
        return "file cannot be read or written";
    default:
        return "unknown status";
    }
}

std::int32_t kvi_open(const kvi_config* config, kvi_index** out_index) {
    if (!writable(out_index) || !readable(config, config != nullptr)) {
        return KVI_E_ARGUMENT;
    }
    kvindex::options o;
    if (config != nullptr) {
        constexpr std::uint32_t no_ghosts = 101;
        if (config->size != sizeof *config || config->ghost_percent > no_ghosts ||
            config->max_blocks > std::uint64_t{1} << 31 || config->reserved != 0) {
            return KVI_E_ARGUMENT;
        }
        o.orphan_limit = config->orphan_limit != 0 ? config->orphan_limit : o.orphan_limit;
        o.max_blocks = config->max_blocks != 0 ? config->max_blocks : o.max_blocks;
        o.byte_budget = config->byte_budget;
        o.decision_ttl = config->decision_ttl != 0 ? config->decision_ttl : o.decision_ttl;
        o.decision_capacity = config->decision_capacity != 0 ? config->decision_capacity : o.decision_capacity;
        o.query_budget = config->query_budget != 0 ? config->query_budget : o.query_budget;
        o.ghost_percent = config->ghost_percent != 0 ? config->ghost_percent : o.ghost_percent;
        if (config->ghost_percent == no_ghosts) {
            o.ghost_percent = 0;
            o.ghost_floor = 0;
        }
    }
    return guarded([&] {
        *out_index = new kvi_index{kvindex::prefix_index(o)};
        return KVI_OK;
    });
}

std::int32_t kvi_close(kvi_index* index) {
    return guarded([&] {
        delete index;
        return KVI_OK;
    });
}

std::int32_t kvi_slot_open(kvi_index* index, std::uint32_t domain, std::uint32_t name_space,
                           std::uint32_t* out_slot) {
    if (index == nullptr || domain >= KVI_MAX_DOMAINS || name_space >= KVI_MAX_NAME_SPACES ||
        !writable(out_slot)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const auto slot = index->impl.open_slot(domain, static_cast<std::uint16_t>(name_space));
        if (!slot) {
            return KVI_E_FULL;
        }
        *out_slot = static_cast<std::uint32_t>(*slot);
        return KVI_OK;
    });
}

std::int32_t kvi_slot_close(kvi_index* index, std::uint32_t slot) {
    if (index == nullptr) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] { return index->impl.close_slot(kvindex::slot_id{slot}) ? KVI_OK : KVI_E_SLOT; });
}

std::int32_t kvi_apply(kvi_index* index, const void* buffer, std::uint64_t length, kvi_applied* out) {
    const auto* bytes = static_cast<const std::byte*>(buffer);
    const bool aligned = reinterpret_cast<std::uintptr_t>(buffer) % alignof(kvi_event) == 0;
    if (index == nullptr || !writable(out) || (length != 0 && (buffer == nullptr || !aligned))) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const kvindex::abi::decoded decoded = kvindex::abi::decode({bytes, length});
        const kvindex::applied_counts counts = index->impl.apply(decoded.events);
        *out = {.applied = counts.applied,
                .orphans = counts.orphans,
                .unknown_removed = counts.unknown_removed,
                .ignored = counts.ignored,
                .malformed = decoded.malformed};
        return KVI_OK;
    });
}

std::int32_t kvi_seed(const std::uint8_t* lora, std::uint32_t lora_length, const std::uint8_t* salt,
                      std::uint32_t salt_length, std::uint64_t* out_seed) {
    if (!writable(out_seed)) {
        return KVI_E_ARGUMENT;
    }
    const auto text = [](const std::uint8_t* start, std::uint32_t length) {
        return std::span(start, start == nullptr ? 0 : length);
    };
    *out_seed = kvindex::hash_seed(text(lora, lora_length), text(salt, salt_length));
    return KVI_OK;
}

std::int32_t kvi_hash(const std::uint32_t* tokens, std::uint32_t token_count, std::uint32_t block_size,
                      std::uint64_t seed, std::uint64_t* out_locals, std::uint64_t* out_sequence,
                      std::uint32_t capacity, std::uint32_t* out_blocks) {
    if (!good_prompt(tokens, token_count, block_size) || !writable(out_blocks) ||
        !readable(out_locals, out_locals != nullptr) || !readable(out_sequence, out_sequence != nullptr)) {
        return KVI_E_ARGUMENT;
    }
    const std::uint32_t blocks = token_count / block_size;
    if (blocks > capacity && (out_locals != nullptr || out_sequence != nullptr)) {
        return KVI_E_CAPACITY;
    }
    // Either output may be wanted alone; the chain is made in place, over the local hashes.
    std::uint64_t* locals = out_locals != nullptr ? out_locals : out_sequence;
    if (locals != nullptr) {
        kvindex::hash_blocks(tokens, block_size, seed, {locals, blocks});
    }
    if (out_sequence != nullptr) {
        kvindex::chain_hashes({locals, blocks}, {out_sequence, blocks});
    }
    *out_blocks = blocks;
    return KVI_OK;
}

std::int32_t kvi_page_digests(const std::uint32_t* tokens, std::uint32_t token_count, std::uint32_t page_size,
                              std::uint32_t flags, const std::uint8_t* seed, std::uint32_t seed_length,
                              std::uint8_t* out_digests, std::uint32_t capacity, std::uint32_t* out_pages) {
    if (!good_prompt(tokens, token_count, page_size) || (flags & ~KVI_BIGRAMS) != 0 ||
        (seed_length != 0 && seed_length != KVI_PAGE_DIGEST) || !readable(seed, seed_length) ||
        !readable(out_digests, capacity) || !writable(out_pages)) {
        return KVI_E_ARGUMENT;
    }
    const bool bigram = flags == KVI_BIGRAMS;
    const std::uint32_t pages = kvindex::page_count(token_count, page_size, bigram);
    if (pages > capacity) {
        return KVI_E_CAPACITY;
    }
    kvindex::chain_pages(tokens, page_size, bigram, {seed, seed_length},
                         {reinterpret_cast<kvindex::sha256_digest*>(out_digests), pages});
    *out_pages = pages;
    return KVI_OK;
}

std::int32_t kvi_match_tokens(const kvi_index* index, std::uint32_t name_space, const std::uint32_t* tokens,
                              std::uint32_t token_count, std::uint32_t block_size, std::uint64_t seed,
                              std::uint64_t* out_sequence, std::uint32_t sequence_capacity, kvi_hit* out_hits,
                              std::uint32_t hit_capacity, std::uint32_t* out_hit_count) {
    if (index == nullptr || name_space >= KVI_MAX_NAME_SPACES ||
        !good_prompt(tokens, token_count, block_size) || !readable(out_sequence, out_sequence != nullptr) ||
        !readable(out_hits, hit_capacity) || !writable(out_hit_count)) {
        return KVI_E_ARGUMENT;
    }
    const std::uint32_t blocks = token_count / block_size;
    if (out_sequence != nullptr && blocks > sequence_capacity) {
        return KVI_E_CAPACITY;
    }
    const auto space = static_cast<std::uint16_t>(name_space);
    return guarded([&] {
        kvindex::match_result result;
        if (out_sequence == nullptr) {
            result =
                index->impl.match_tokens(space, tokens, blocks, block_size, seed, hits(out_hits, hit_capacity));
        } else {
            result = index->impl.match_tokens(space, tokens, block_size, seed, hits(out_hits, hit_capacity),
                                              {out_sequence, blocks});
        }
        if (!result.fits) {
            return KVI_E_CAPACITY;
        }
        *out_hit_count = result.hits;
        return KVI_OK;
    });
}

std::int32_t kvi_match_locals(const kvi_index* index, std::uint32_t name_space, const std::uint64_t* locals,
                              std::uint32_t count, kvi_hit* out_hits, std::uint32_t hit_capacity,
                              std::uint32_t* out_hit_count) {
    if (index == nullptr || name_space >= KVI_MAX_NAME_SPACES || !readable(locals, count) ||
        count > KVI_MAX_BLOCKS || !readable(out_hits, hit_capacity) || !writable(out_hit_count)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const auto result = index->impl.match(static_cast<std::uint16_t>(name_space), {locals, count},
                                              hits(out_hits, hit_capacity));
        if (!result.fits) {
            return KVI_E_CAPACITY;
        }
        *out_hit_count = result.hits;
        return KVI_OK;
    });
}

std::int32_t kvi_match_dense(const kvi_index* index, std::uint32_t name_space, const std::uint64_t* locals,
                             std::uint32_t count, std::uint32_t tiers, std::uint32_t* out_depths,
                             std::uint32_t stride) {
    if (index == nullptr || name_space >= KVI_MAX_NAME_SPACES || !readable(locals, count) ||
        count > KVI_MAX_BLOCKS || (tiers != 1 && tiers != KVI_TIERS) || stride % 64 != 0 ||
        !readable(out_depths, stride)) {
        return KVI_E_ARGUMENT;
    }
    if (stride < index->impl.slot_bound()) {
        return KVI_E_CAPACITY;
    }
    return guarded([&] {
        index->impl.match_dense(static_cast<std::uint16_t>(name_space), {locals, count}, tiers, out_depths,
                                stride);
        return KVI_OK;
    });
}

std::int32_t kvi_slot_bound(const kvi_index* index, std::uint32_t* out_bound) {
    if (index == nullptr || !writable(out_bound)) {
        return KVI_E_ARGUMENT;
    }
    *out_bound = index->impl.slot_bound();
    return KVI_OK;
}

std::int32_t kvi_slot_blocks(const kvi_index* index, kvi_tier_blocks* out_blocks, std::uint32_t capacity,
                             std::uint32_t* out_count) {
    if (index == nullptr || !readable(out_blocks, capacity) || !writable(out_count)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const std::uint32_t bound =
            index->impl.slot_blocks({reinterpret_cast<kvindex::tier_blocks*>(out_blocks), capacity});
        if (bound > capacity) {
            return KVI_E_CAPACITY;
        }
        *out_count = bound;
        return KVI_OK;
    });
}

std::int32_t kvi_stats(const kvi_index* index, kvi_statistics* out) {
    if (index == nullptr || !writable(out)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const kvindex::statistics s = index->impl.stats();
        *out = {.slots = s.slots,
                .blocks = s.blocks,
                .residencies = s.residencies,
                .runs = s.runs,
                .orphans = s.orphans,
                .bytes = s.bytes,
                .ghosts = s.ghosts,
                .moves = s.moves,
                .conflicts = s.conflicts,
                .orphans_given_up = s.orphans_given_up,
                .refused = s.refused,
                .bytes_in_use = s.bytes_in_use,
                .decisions = s.decisions,
                .decisions_ended_by_time = s.decisions_ended_by_time,
                .decisions_ended_by_capacity = s.decisions_ended_by_capacity};
        return KVI_OK;
    });
}

} // extern "C"
