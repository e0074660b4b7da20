/// The merges of a byte-pair encoding: which two tokens become which third one, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvindex::tokens {

struct merge {
    std::uint32_t left;
    std::uint32_t right;
    std::uint32_t result;
};

constexpr std::uint32_t max_token_id = (1u << 21) - 1;
constexpr std::uint32_t max_merges = (1u << 22) - 1;

/// Open addressing, one 64-bit word an entry: left, right, rank. Immutable, read by any thread.
class merge_table {
public:
    static constexpr std::uint32_t none = max_merges;

    /// In rank order. Pairs must differ, ids and count be in range; false answers that they are not.
    bool build(std::span<const merge> merges);

    /// `none` when the two do not merge. About one cache miss.
    std::uint32_t rank_of(std::uint32_t left, std::uint32_t right) const {
        const std::uint64_t key = std::uint64_t{left} << 43 | std::uint64_t{right} << 22;
        for (std::size_t at = slot_of(key);; at = (at + 1) & m_mask) {
            const std::uint64_t entry = m_entries[at];
            if ((entry & ~rank_mask) == key && entry != empty) {
                return static_cast<std::uint32_t>(entry & rank_mask);
            }
            if (entry == empty) {
                return none;
            }
        }
    }

    std::uint32_t result_of(std::uint32_t rank) const {
        return m_results[rank];
    }

private:
    static constexpr std::uint64_t rank_mask = (1u << 22) - 1;
    static constexpr std::uint64_t empty = ~std::uint64_t{0}; // its rank is `none`, which no pair has

    std::size_t slot_of(std::uint64_t key) const {
        return static_cast<std::size_t>((key >> 22) * 0x9e3779b97f4a7c15u >> m_shift);
    }

    std::vector<std::uint64_t> m_entries;
    std::vector<std::uint32_t> m_results;
    std::size_t m_mask = 0;
    unsigned m_shift = 0;
};

/// Merges the tokens of one piece, lowest rank first, of equals the leftmost. One thread at a time.
class merger {
public:
    /// Works in place and answers how many are left. n^2 steps of a few words for a short piece, O(n log n) for
    /// others.
    std::size_t run(const merge_table& table, std::span<std::uint32_t> ids);

private:
    /// Up to here looking through the ranks is quicker than a heap.
    static constexpr std::size_t short_piece = 48;

    struct candidate {
        std::uint32_t rank;
        std::uint32_t at;
    };

    std::size_t run_short(const merge_table& table, std::span<std::uint32_t> ids);
    std::size_t run_long(const merge_table& table, std::span<std::uint32_t> ids);
    void offer(const merge_table& table, std::span<const std::uint32_t> ids, std::uint32_t at);

    std::vector<candidate> m_heap;
    std::vector<std::uint32_t> m_next;
    std::vector<std::uint32_t> m_before;
};

} // namespace kvindex::tokens
