#include "tokens/vocabulary.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace kvindex::tokens {

short_word pack(const std::uint8_t* p, std::size_t length, const std::uint8_t* text_end) {
    short_word word;
    if (text_end - p >= 16) {
        std::memcpy(&word.low, p, 8);
        std::memcpy(&word.high, p + 8, 8);
        if (length < 8) {
            word.low &= (std::uint64_t{1} << length * 8) - 1;
            word.high = 0;
        } else {
            word.high &= (std::uint64_t{1} << (length - 8) * 8) - 1;
        }
    } else {
        std::memcpy(&word.low, p, std::min<std::size_t>(length, 8));
        if (length > 8) {
            std::memcpy(&word.high, p + 8, length - 8);
        }
    }
    word.high |= std::uint64_t{length} << 56;
    return word;
}

bool vocabulary::add(std::uint32_t id, bytes content) {
    if (id >= m_places.size()) {
        m_places.resize(id + 1);
    }
    if (m_places[id].there) {
        return false;
    }
    m_places[id] = {m_bytes.size(), static_cast<std::uint32_t>(content.size()), true};
    m_bytes.insert(m_bytes.end(), content.begin(), content.end());
    return true;
}

bool vocabulary::index_one(std::uint32_t id) {
    const bytes content = *content_of(id);
    if (content.size() > short_word::most) {
        if (find_long(content) != none) {
            return false;
        }
        std::size_t at = XXH3_64bits(content.data(), content.size()) & (m_long.size() - 1);
        while (m_long[at] != none) {
            at = (at + 1) & (m_long.size() - 1);
        }
        m_long[at] = id;
        m_longest = std::max(m_longest, content.size());
        return true;
    }
    const short_word word = pack(content.data(), content.size(), content.data() + content.size());
    if (find(word) != none) {
        return false;
    }
    std::size_t at = word.hash() >> m_short_shift;
    while (m_short[at].id != none) {
        at = (at + 1) & (m_short.size() - 1);
    }
    m_short[at] = {word, id};
    return true;
}

std::uint32_t vocabulary::find_long(bytes word) const {
    if (word.size() > m_longest) {
        return none;
    }
    for (std::size_t at = XXH3_64bits(word.data(), word.size()) & (m_long.size() - 1);;
         at = (at + 1) & (m_long.size() - 1)) {
        const std::uint32_t id = m_long[at];
        if (id == none) {
            return none;
        }
        const bytes content = *content_of(id);
        if (content.size() == word.size() && std::memcmp(content.data(), word.data(), word.size()) == 0) {
            return id;
        }
    }
}

std::optional<bytes> vocabulary::content_of(std::uint32_t id) const {
    if (id >= m_places.size() || !m_places[id].there) {
        return std::nullopt;
    }
    return bytes{m_bytes.data() + m_places[id].offset, m_places[id].length};
}

} // namespace kvindex::tokens
