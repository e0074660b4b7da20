/// A run record as it lies in the file, checked for itself: every number in it is in range, every list in
/// order.
#pragma once

#include "index/memory.hpp"
#include "snapshot/format.hpp"

#include <span>

namespace kvindex::snapshot {

class run_record {
public:
    /// A record that was checked before.
    explicit run_record(const std::uint64_t* words) : m_words(words) {
    }

    /// Checks the record at the start of `words`, which lie at this byte of the file; throws damaged.
    static run_record checked(std::span<const std::uint64_t> words, std::uint64_t byte);

    std::uint32_t run() const {
        return low(0);
    }

    std::uint32_t words() const {
        return high(0);
    }

    storage::place parent() const {
        return {low(1), high(1) & 0xffff};
    }

    std::uint32_t len() const {
        return high(1) >> 16;
    }

    std::uint32_t planes() const {
        return low(2) & 0xffff;
    }

    std::uint32_t holders() const {
        return low(2) >> 16;
    }

    std::uint32_t spares() const {
        return high(2);
    }

    std::span<const local_hash> locals() const {
        return {m_words + run_head_words, len()};
    }

    std::uint32_t domain(std::uint32_t plane) const {
        return static_cast<std::uint32_t>(*plane_at(plane));
    }

    /// One a block, salted, 0 = none.
    std::span<const std::uint64_t> names(std::uint32_t plane) const {
        return {plane_at(plane) + 1, len()};
    }

    /// Names of the first plane of this domain; empty when there is none.
    std::span<const std::uint64_t> names_of(std::uint32_t wanted) const;

    /// Calls f(slot, residency) for each holder; the residency lives only that long. Answers what follows.
    template <typename F>
    const std::uint64_t* for_each_holder(F&& f) const {
        const std::uint64_t* at = plane_at(planes());
        index::residency held;
        for (std::uint32_t i = holders(); i != 0; i--) {
            const auto slot = static_cast<std::uint32_t>(*at & 0xffff);
            const auto stretches = static_cast<std::uint32_t>(*at >> 16 & 0xffff);
            held.clear();
            if (stretches == 0) {
                held.push_back({0, static_cast<std::uint32_t>(*at >> 32), mask_of(tier::gpu)});
            }
            at++;
            for (std::uint32_t k = 0; k < stretches; k++) {
                held.push_back(stretch_at(*at++));
            }
            f(slot, held);
        }
        return at;
    }

    template <typename F>
    void for_each_spare(F&& f) const {
        const std::uint64_t* at = m_words + words() - std::size_t{spares()} * spare_words;
        for (std::uint32_t i = spares(); i != 0; i--, at += spare_words) {
            f(index::spare_name{static_cast<std::uint32_t>(at[0] & 0xffff),
                                static_cast<std::uint32_t>(at[0] >> 16 & 0xffff), at[1],
                                static_cast<tier_mask>(at[0] >> 32)});
        }
    }

private:
    static index::stretch stretch_at(std::uint64_t word) {
        return {static_cast<std::uint32_t>(word & 0xffff), static_cast<std::uint32_t>(word >> 16 & 0xffff),
                static_cast<tier_mask>(word >> 32)};
    }

    std::uint32_t low(std::uint32_t i) const {
        return static_cast<std::uint32_t>(m_words[i]);
    }

    std::uint32_t high(std::uint32_t i) const {
        return static_cast<std::uint32_t>(m_words[i] >> 32);
    }

    const std::uint64_t* plane_at(std::uint32_t plane) const {
        return m_words + run_head_words + len() + std::size_t{plane} * (1 + len());
    }

    const std::uint64_t* m_words;
};

} // namespace kvindex::snapshot
