/// An open_table in parts by hash, so that no insertion moves more than one part: growing to a million entries,
/// the longest step is a fraction of a millisecond where one table would take forty.
///
/// Traits as for open_table; hash() well mixed in its high bits too. Parts give memory back by themselves.
/// Pointers to entries are good until the next insert, erase or reserve. Not thread-safe.
#pragma once

#include "storage/open_table.hpp"

#include <vector>

namespace kvindex::storage {

template <typename Traits>
class split_table {
public:
    using entry = typename Traits::entry;
    using key = typename Traits::key;

    explicit split_table(memory_account& account) {
        m_parts.reserve(parts);
        for (std::size_t i = 0; i < parts; i++) {
            m_parts.emplace_back(account);
        }
    }

    std::size_t size() const {
        return m_size;
    }

    entry* find(const key& k) {
        return m_size == 0 ? nullptr : part_of(k).find(k);
    }

    /// Room for one more entry, which must have this key. The only member that may throw; nothing is changed
    /// then.
    void reserve(const key& k) {
        part_of(k).reserve(1);
    }

    /// Adds an entry whose key is not there. Needs room reserved for its key before.
    entry* insert(const entry& e) noexcept {
        m_size++;
        return part_of(Traits::key_of(e)).insert(e);
    }

    void erase(entry* e) noexcept {
        open_table<Traits>& part = part_of(Traits::key_of(*e));
        part.erase(e);
        part.shrink();
        m_size--;
    }

private:
    static constexpr std::size_t parts = 256;

    open_table<Traits>& part_of(const key& k) {
        return m_parts[Traits::hash(k) >> 56];
    }

    std::vector<open_table<Traits>> m_parts;
    std::size_t m_size = 0;
};

} // namespace kvindex::storage
