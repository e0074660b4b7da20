/// Unicode normalisation form C, of Unicode 9.0 as the reference has it.
#pragma once

#include "tokens/unicode.hpp"

#include <vector>

namespace kvindex::tokens {

/// Brings a text into form C. One thread at a time.
class nfc_normalizer {
public:
    /// The text itself when it is in form C already, else one that lives until the next call. O(n), and n log n
    /// for a run of n combining marks.
    bytes normalize(bytes text);

    /// Gives back buffers of more than `keep` bytes.
    void trim(std::size_t keep) {
        if (m_out.capacity() > keep || m_characters.capacity() > keep / sizeof(character)) {
            m_out = {};
            m_characters = {};
        }
    }

private:
    struct character {
        char32_t c;
        std::uint16_t order; ///< combining class
    };

    void append_normalized(const std::uint8_t* begin, const std::uint8_t* end);
    void decompose(char32_t c);
    void add(char32_t c);
    void compose();

    const unicode_data& m_data = unicode_data::get();
    std::vector<character> m_characters;
    std::vector<std::uint8_t> m_out;
};

} // namespace kvindex::tokens
