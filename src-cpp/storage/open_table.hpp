/// Hash table of small flat entries: open addressing, linear probing, removal by shifting back, so no
/// tombstones and no memory but the cells.
///
/// Traits say what a cell is:
///   entry                      trivially copyable; entry{} is an empty cell
///   key                        what it is found by
///   static key key_of(const entry&)
///   static bool used(const entry&)
///   static std::uint64_t hash(const key&)      well mixed in its low bits
///
/// Only reserve() allocates; insert() after it cannot fail. Pointers to entries are good until the next
/// insert, erase, reserve or shrink. Not thread-safe; find() alone may run in many threads.
#pragma once

#include "base/memory_account.hpp"
#include "base/mix.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kvindex::storage {

template <typename Traits>
class open_table {
public:
    using entry = typename Traits::entry;
    using key = typename Traits::key;
    static_assert(std::is_trivially_copyable_v<entry>);

    explicit open_table(memory_account& account) : m_cells(tracked_allocator<entry>(account)) {
    }

    std::size_t size() const {
        return m_size;
    }

    bool empty() const {
        return m_size == 0;
    }

    entry* find(const key& k) {
        return const_cast<entry*>(std::as_const(*this).find(k));
    }

    const entry* find(const key& k) const {
        if (m_size == 0) {
            return nullptr;
        }
        for (std::size_t i = home(k);; i = next(i)) {
            const entry& cell = m_cells[i];
            if (!Traits::used(cell)) {
                return nullptr;
            }
            if (Traits::key_of(cell) == k) {
                return &cell;
            }
        }
    }

    void prefetch(const key& k) const {
        if (m_size != 0) {
            __builtin_prefetch(&m_cells[home(k)]);
        }
    }

    /// Room for `extra` more entries. The only member that may throw.
    void reserve(std::size_t extra) {
        if (m_size + extra > limit(m_cells.size())) {
            std::size_t cells = m_cells.empty() ? smallest : m_cells.size();
            while (m_size + extra > limit(cells)) {
                cells *= 2;
            }
            rehash(cells);
        }
    }

    /// Adds an entry whose key is not there. Needs room reserved before.
    entry* insert(const entry& e) noexcept {
        m_size++;
        return put(e);
    }

    void erase(entry* e) noexcept {
        std::size_t hole = static_cast<std::size_t>(e - m_cells.data());
        for (std::size_t i = next(hole); Traits::used(m_cells[i]); i = next(i)) {
            // An entry may fill the hole when the hole lies between its home and itself.
            const std::size_t from_home = (i - home(Traits::key_of(m_cells[i]))) & (m_cells.size() - 1);
            if (from_home >= ((i - hole) & (m_cells.size() - 1))) {
                m_cells[hole] = m_cells[i];
                hole = i;
            }
        }
        m_cells[hole] = entry{};
        m_size--;
    }

    /// Gives memory back when few entries are left. Optional: without memory for the smaller table the
    /// larger one stays.
    void shrink() noexcept {
        if (m_size == 0) {
            clear();
        } else if (m_cells.size() > 64 && m_size < m_cells.size() / 8) {
            try {
                std::size_t cells = smallest;
                while (m_size * 2 > limit(cells)) {
                    cells *= 2;
                }
                rehash(cells);
            } catch (const std::bad_alloc&) {
                return;
            }
        }
    }

    /// Empties the table and frees its memory.
    void clear() noexcept {
        tracked_vector<entry>(m_cells.get_allocator()).swap(m_cells);
        m_size = 0;
    }

    template <typename F>
    void for_each(F&& f) const {
        for (const entry& cell : m_cells) {
            if (Traits::used(cell)) {
                f(cell);
            }
        }
    }

private:
    static constexpr std::size_t smallest = 8;

    // Three quarters full at most: a failed look-up then reads about eight cells.
    static std::size_t limit(std::size_t cells) {
        return cells / 4 * 3;
    }

    std::size_t home(const key& k) const {
        return Traits::hash(k) & (m_cells.size() - 1);
    }

    std::size_t next(std::size_t i) const {
        return (i + 1) & (m_cells.size() - 1);
    }

    entry* put(const entry& e) noexcept {
        std::size_t i = home(Traits::key_of(e));
        while (Traits::used(m_cells[i])) {
            i = next(i);
        }
        m_cells[i] = e;
        return &m_cells[i];
    }

    void rehash(std::size_t cells) {
        tracked_vector<entry> old(cells, entry{}, m_cells.get_allocator());
        old.swap(m_cells);
        for (const entry& cell : old) {
            if (Traits::used(cell)) {
                put(cell);
            }
        }
    }

    tracked_vector<entry> m_cells; // a power of two of them, or none
    std::size_t m_size = 0;
};

} // namespace kvindex::storage
