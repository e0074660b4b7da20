/// Which bytes are which token, both ways. Immutable, read by any thread.
#pragma once

#include "tokens/unicode.hpp"

#include <optional>
#include <vector>

namespace kvindex::tokens {

/// The first 15 bytes of a word and its length: all of it for most words.
struct short_word {
    static constexpr std::size_t most = 15;

    std::uint64_t low = 0;
    std::uint64_t high = 0; ///< seven bytes, above them the length

    friend bool operator==(const short_word&, const short_word&) = default;

    std::uint64_t hash() const {
        std::uint64_t h = (low ^ high * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
        return h * 0x9e3779b97f4a7c15u;
    }
};

/// A word of at most short_word::most bytes. Reads 16 bytes where the text has them.
short_word pack(const std::uint8_t* p, std::size_t length, const std::uint8_t* text_end);

class vocabulary {
public:
    static constexpr std::uint32_t none = 0xffffffffu;

    /// False when the id is taken.
    bool add(std::uint32_t id, bytes content);

    /// Makes `find` ready for what `wanted` says of an id. False when two of them have the same bytes.
    template <typename F>
    bool index(F&& wanted);

    std::uint32_t find(const short_word& word) const {
        if (m_short.empty()) {
            return none;
        }
        for (std::size_t at = word.hash() >> m_short_shift;; at = (at + 1) & (m_short.size() - 1)) {
            const short_entry& entry = m_short[at];
            if (entry.word == word || entry.id == none) {
                return entry.id;
            }
        }
    }

    /// Words longer than short_word::most.
    std::uint32_t find_long(bytes word) const;

    /// Empty for an id that is not there.
    std::optional<bytes> content_of(std::uint32_t id) const;

    std::uint32_t end_of_ids() const {
        return static_cast<std::uint32_t>(m_places.size());
    }

private:
    struct place {
        std::uint64_t offset = 0;
        std::uint32_t length = 0;
        bool there = false;
    };

    struct short_entry {
        short_word word;
        std::uint32_t id = none;
    };

    bool index_one(std::uint32_t id);

    std::vector<std::uint8_t> m_bytes;
    std::vector<place> m_places; // by id
    std::vector<short_entry> m_short;
    std::vector<std::uint32_t> m_long; // ids
    unsigned m_short_shift = 0;
    std::size_t m_longest = 0;
};

template <typename F>
bool vocabulary::index(F&& wanted) {
    std::size_t short_count = 0;
    std::size_t long_count = 0;
    for (std::uint32_t id = 0; id < end_of_ids(); id++) {
        if (m_places[id].there && wanted(id)) {
            (m_places[id].length <= short_word::most ? short_count : long_count)++;
        }
    }
    const auto room = [](std::size_t count) {
        std::size_t size = 64;
        while (size < count * 2) {
            size *= 2;
        }
        return size;
    };
    m_short.assign(room(short_count), {});
    m_long.assign(room(long_count), none);
    m_longest = 0;
    m_short_shift = 64;
    for (std::size_t size = m_short.size(); size > 1; size /= 2) {
        m_short_shift--;
    }
    for (std::uint32_t id = 0; id < end_of_ids(); id++) {
        if (m_places[id].there && wanted(id) && !index_one(id)) {
            return false;
        }
    }
    return true;
}

} // namespace kvindex::tokens
