#include "tokens/merges.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace kvindex::tokens {

bool merge_table::build(std::span<const merge> merges) {
    if (merges.size() > max_merges) {
        return false;
    }
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(64, merges.size() * 2));
    m_entries.assign(size, empty);
    m_results.clear();
    m_results.reserve(merges.size());
    m_mask = size - 1;
    m_shift = static_cast<unsigned>(64 - std::countr_zero(size));
    for (const merge& m : merges) {
        if (m.left > max_token_id || m.right > max_token_id || m.result > max_token_id ||
            rank_of(m.left, m.right) != none) {
            return false;
        }
        const std::uint64_t key = std::uint64_t{m.left} << 43 | std::uint64_t{m.right} << 22;
        std::size_t at = slot_of(key);
        while (m_entries[at] != empty) {
            at = (at + 1) & m_mask;
        }
        m_entries[at] = key | m_results.size();
        m_results.push_back(m.result);
    }
    return true;
}

std::size_t merger::run(const merge_table& table, std::span<std::uint32_t> ids) {
    return ids.size() <= short_piece ? run_short(table, ids) : run_long(table, ids);
}

std::size_t merger::run_short(const merge_table& table, std::span<std::uint32_t> ids) {
    std::size_t count = ids.size();
    if (count < 2) {
        return count;
    }
    std::array<std::uint32_t, short_piece> ranks; // of the pair that begins here
    for (std::size_t i = 0; i + 1 < count; i++) {
        ranks[i] = table.rank_of(ids[i], ids[i + 1]);
    }
    for (;;) {
        std::size_t best = 0;
        for (std::size_t i = 1; i + 1 < count; i++) {
            best = ranks[i] < ranks[best] ? i : best;
        }
        if (ranks[best] == merge_table::none) {
            return count;
        }
        ids[best] = table.result_of(ranks[best]);
        count--;
        for (std::size_t i = best + 1; i < count; i++) {
            ids[i] = ids[i + 1];
        }
        for (std::size_t i = best + 1; i + 1 < count; i++) {
            ranks[i] = ranks[i + 1];
        }
        if (count < 2) {
            return count;
        }
        if (best + 1 < count) {
            ranks[best] = table.rank_of(ids[best], ids[best + 1]);
        }
        if (best > 0) {
            ranks[best - 1] = table.rank_of(ids[best - 1], ids[best]);
        }
    }
}

void merger::offer(const merge_table& table, std::span<const std::uint32_t> ids, std::uint32_t at) {
    const std::uint32_t next = m_next[at];
    if (next == ids.size()) {
        return;
    }
    const std::uint32_t rank = table.rank_of(ids[at], ids[next]);
    if (rank != merge_table::none) {
        m_heap.push_back({rank, at});
    }
}

std::size_t merger::run_long(const merge_table& table, std::span<std::uint32_t> ids) {
    const auto later = [](const candidate& a, const candidate& b) {
        return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
    };
    constexpr std::uint32_t gone = max_token_id + 1; // no id
    const auto size = static_cast<std::uint32_t>(ids.size());
    m_next.resize(size);
    m_before.resize(size);
    m_heap.clear();
    for (std::uint32_t i = 0; i < size; i++) {
        m_next[i] = i + 1;
        m_before[i] = i - 1;
    }
    for (std::uint32_t i = 0; i < size; i++) {
        offer(table, ids, i);
    }
    std::make_heap(m_heap.begin(), m_heap.end(), later);
    while (!m_heap.empty()) {
        const candidate c = m_heap.front();
        std::pop_heap(m_heap.begin(), m_heap.end(), later);
        m_heap.pop_back();
        // What was offered may have been merged away since, or into another pair.
        if (ids[c.at] == gone || m_next[c.at] == size ||
            table.rank_of(ids[c.at], ids[m_next[c.at]]) != c.rank) {
            continue;
        }
        const std::uint32_t right = m_next[c.at];
        ids[c.at] = table.result_of(c.rank);
        ids[right] = gone;
        m_next[c.at] = m_next[right];
        if (m_next[right] != size) {
            m_before[m_next[right]] = c.at;
        }
        std::size_t offered = m_heap.size();
        offer(table, ids, c.at);
        if (c.at != 0) {
            offer(table, ids, m_before[c.at]);
        }
        while (offered < m_heap.size()) {
            offered++;
            std::push_heap(m_heap.begin(), m_heap.begin() + static_cast<std::ptrdiff_t>(offered), later);
        }
    }
    const auto end = std::remove(ids.begin(), ids.end(), gone);
    return static_cast<std::size_t>(end - ids.begin());
}

} // namespace kvindex::tokens
