/// The three hash tables of the index.
///
/// name_table    one per slot: engine hash -> where the block lies and in which tiers. One domain per slot,
///               so two engines may call different content by one hash, or one content by two.
/// child_table   (block, local hash) -> the run that continues there
/// twin_table    one per slot: places that the slot knows under several names, almost always empty
#pragma once

#include "storage/open_table.hpp"
#include "storage/run.hpp"

#include <array>

namespace kvindex::storage {

struct name_entry {
    engine_hash name = 0;
    run_id run = run_id::none;
    std::uint32_t offset_and_tiers = 0; // offset << 4 | tiers; tiers != 0 in every used cell

    static name_entry of(engine_hash name, place where, tier_mask tiers) {
        return {name, where.run, where.offset << tier_count | tiers};
    }

    place where() const {
        return {run, offset_and_tiers >> tier_count};
    }

    tier_mask tiers() const {
        return static_cast<tier_mask>(offset_and_tiers & all_tiers);
    }

    void set_tiers(tier_mask tiers) {
        offset_and_tiers = (offset_and_tiers & ~std::uint32_t{all_tiers}) | tiers;
    }
};

static_assert(sizeof(name_entry) == 16);
static_assert(max_run_blocks <= 1u << (32 - tier_count), "name_entry::offset_and_tiers");

struct name_traits {
    using entry = name_entry;
    using key = engine_hash;

    static key key_of(const entry& e) {
        return e.name;
    }

    static bool used(const entry& e) {
        return e.offset_and_tiers != 0;
    }

    static std::uint64_t hash(key k) {
        return mix(k);
    }
};

using name_table = open_table<name_traits>;

struct child_entry {
    local_hash local = 0;
    place parent;
    run_id child = run_id::none;
};

struct child_key {
    place parent;
    local_hash local = 0;

    bool operator==(const child_key&) const = default;
};

struct child_traits {
    using entry = child_entry;
    using key = child_key;

    static key key_of(const entry& e) {
        return {e.parent, e.local};
    }

    static bool used(const entry& e) {
        return e.child != run_id::none;
    }

    static std::uint64_t hash(const key& k) {
        return mix(mix(pack(k.parent)) ^ k.local);
    }
};

using child_table = open_table<child_traits>;

/// A place with two names or more: how many, and how many of them lie in each tier.
struct twin_entry {
    place where;
    std::uint32_t names = 0;
    std::array<std::uint32_t, tier_count> in_tier{};
};

struct twin_traits {
    using entry = twin_entry;
    using key = place;

    static key key_of(const entry& e) {
        return e.where;
    }

    static bool used(const entry& e) {
        return e.names != 0;
    }

    static std::uint64_t hash(const key& k) {
        return mix(pack(k));
    }
};

using twin_table = open_table<twin_traits>;

} // namespace kvindex::storage
