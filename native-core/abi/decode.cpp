#include "abi/decode.hpp"

#include "base/hashing.hpp"
#include "kvindex.h"

#include <cstring>

namespace kvindex::abi {
namespace {

static_assert(max_slots == KVI_MAX_SLOTS && tier_count == KVI_TIERS);

/// Bytes that a good record of this kind has; 0 when the head cannot be right.
std::uint64_t expected_size(const kvi_event& head) {
    constexpr std::uint64_t word = sizeof(std::uint64_t);
    const std::uint64_t n = head.n;
    if (head.kind == KVI_CLEARED) {
        const bool known_tier = head.tier < KVI_TIERS || head.tier == KVI_ALL_TIERS;
        return n == 0 && head.block_size == 0 && known_tier ? sizeof head : 0;
    }
    if (n == 0 || n > KVI_MAX_BLOCKS || head.tier >= KVI_TIERS) {
        return 0;
    }
    switch (head.kind) {
    case KVI_STORED_TOKENS: {
        if (head.block_size == 0 || head.block_size > KVI_MAX_BLOCK_SIZE) {
            return 0;
        }
        const std::uint64_t tokens = n * head.block_size * sizeof(std::uint32_t); // below 2^43
        return sizeof head + n * word + (tokens + word - 1) / word * word;
    }
    case KVI_STORED_LOCALS:
        return head.block_size == 0 ? sizeof head + 2 * n * word : 0;
    case KVI_REMOVED:
        return head.block_size == 0 ? sizeof head + n * word : 0;
    default:
        return 0;
    }
}

bool well_formed(const kvi_event& head) {
    constexpr std::uint16_t known_flags = KVI_HAS_PARENT;
    return head.reserved == 0 && (head.flags & ~known_flags) == 0 && expected_size(head) == head.size;
}

// The caller's buffer is raw bytes of another language; as the records and hashes that the header says it is.
template <typename T>
const T* as(const std::byte* at) {
    return reinterpret_cast<const T*>(at);
}

/// Calls take(head, payload) for each well-formed record; answers the number of others.
template <typename F>
std::uint64_t for_each_record(std::span<const std::byte> buffer, F&& take) {
    std::uint64_t malformed = 0;
    while (!buffer.empty()) {
        kvi_event head;
        if (buffer.size() < sizeof head) {
            return malformed + 1;
        }
        std::memcpy(&head, buffer.data(), sizeof head);
        if (head.size < sizeof head || head.size % alignof(std::uint64_t) != 0 || head.size > buffer.size()) {
            return malformed + 1; // where the next record begins is not known
        }
        if (well_formed(head)) {
            take(head, buffer.data() + sizeof head);
        } else {
            malformed++;
        }
        buffer = buffer.subspan(head.size);
    }
    return malformed;
}

stored_event stored(const kvi_event& head, const std::byte* payload, std::span<const local_hash> locals) {
    return {.slot = slot_id{head.slot},
            .where = tier{head.tier},
            .has_parent = (head.flags & KVI_HAS_PARENT) != 0,
            .parent = head.parent,
            .names = {as<engine_hash>(payload), head.n},
            .locals = locals};
}

} // namespace

decoded decode(std::span<const std::byte> buffer) {
    decoded out;
    std::size_t records = 0;
    std::size_t hashed = 0;
    out.malformed = for_each_record(buffer, [&](const kvi_event& head, const std::byte*) {
        records++;
        hashed += head.kind == KVI_STORED_TOKENS ? head.n : 0;
    });
    out.events.reserve(records);
    out.locals.resize(hashed);
    std::span<local_hash> room = out.locals;
    for_each_record(buffer, [&](const kvi_event& head, const std::byte* payload) {
        const std::byte* second = payload + std::uint64_t{head.n} * sizeof(engine_hash);
        switch (head.kind) {
        case KVI_STORED_TOKENS: {
            const auto locals = room.first(head.n);
            room = room.subspan(head.n);
            hash_blocks(as<std::uint32_t>(second), head.block_size, head.seed, locals);
            out.events.emplace_back(stored(head, payload, locals));
            break;
        }
        case KVI_STORED_LOCALS:
            out.events.emplace_back(stored(head, payload, {as<local_hash>(second), head.n}));
            break;
        case KVI_REMOVED:
            out.events.emplace_back(
                removed_event{slot_id{head.slot}, tier{head.tier}, {as<engine_hash>(payload), head.n}});
            break;
        default:
            out.events.emplace_back(cleared_event{
                slot_id{head.slot}, head.tier == KVI_ALL_TIERS ? all_tiers : mask_of(tier{head.tier})});
        }
    });
    return out;
}

} // namespace kvindex::abi
