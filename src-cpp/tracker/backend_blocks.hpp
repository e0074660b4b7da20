/// The blocks that one back end is taken to hold, in the order in which they were last used.
///
/// A use lays the blocks of a prompt at the young end, the deepest first, so that the order is "older use
/// first, and within one use the deeper block first". Eviction takes from the old end. With chained hashes that
/// keeps every prompt's blocks contiguous: a block that is still there was used at least as late by every block
/// before it, which therefore lies younger. Keep both halves of this order: without them the binary search of
/// block_tracker::find() would step over holes of our own making.
///
/// Not thread-safe. Memory: 48 to 60 bytes a block. A call that throws std::bad_alloc has changed nothing.
#pragma once

#include "base/memory_account.hpp"
#include "base/mix.hpp"
#include "storage/open_table.hpp"

#include <cstdint>
#include <span>

namespace kvindex::tracker {

class backend_blocks {
public:
    backend_blocks();
    backend_blocks(const backend_blocks&) = delete;
    backend_blocks& operator=(const backend_blocks&) = delete;

    std::uint64_t size() const {
        return m_table.size();
    }

    std::uint64_t bytes() const {
        return m_account.bytes();
    }

    bool holds(std::uint64_t hash) const {
        return m_table.find(hash) != nullptr;
    }

    /// Fetches the line in which holds(hash) will begin to look.
    void prefetch(std::uint64_t hash) const {
        m_table.prefetch(hash);
    }

    /// A prompt of these blocks goes to the back end; answers how many it did not hold. O(blocks).
    std::uint64_t record(std::span<const std::uint64_t> hashes);

    /// Uses those of the blocks that are held. O(blocks), never throws.
    void touch(std::span<const std::uint64_t> hashes) noexcept;

    /// Drops the oldest blocks until `most` are left, at most `limit` of them; answers how many. O(dropped).
    std::uint64_t evict(std::uint64_t most, std::uint64_t limit) noexcept;

    /// Empty, or what is wrong. O(blocks); for tests.
    const char* first_broken_invariant() const;

private:
    static constexpr std::uint32_t none = 0xffffffff;

    struct node {
        std::uint64_t hash;
        std::uint32_t older; // of the free nodes: the next free one
        std::uint32_t younger;
    };

    struct traits {
        struct entry {
            std::uint64_t hash = 0;
            std::uint32_t node = none; // none: an empty cell
        };
        using key = std::uint64_t;
        static key key_of(const entry& e) {
            return e.hash;
        }
        static bool used(const entry& e) {
            return e.node != none;
        }
        static std::uint64_t hash(key k) {
            return mix(k);
        }
    };

    std::uint32_t take_node() noexcept;
    void unlink(std::uint32_t n) noexcept;
    void make_youngest(std::uint32_t n) noexcept;

    memory_account m_account;
    storage::open_table<traits> m_table;
    tracked_vector<node> m_nodes;
    std::uint32_t m_free = none;
    std::uint32_t m_oldest = none;
    std::uint32_t m_youngest = none;
};

} // namespace kvindex::tracker
