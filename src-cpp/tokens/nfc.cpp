#include "tokens/nfc.hpp"

#include <algorithm>

namespace kvindex::tokens {

namespace {

// Hangul syllables are computed: leading consonant, vowel, and perhaps a trailing consonant.
constexpr char32_t s_base = 0xac00, l_base = 0x1100, v_base = 0x1161, t_base = 0x11a7;
constexpr char32_t l_count = 19, v_count = 21, t_count = 28, n_count = v_count * t_count;
constexpr char32_t s_count = l_count * n_count;

/// 0 when they are no syllable together.
char32_t hangul(char32_t first, char32_t second) {
    if (first - l_base < l_count && second - v_base < v_count) {
        return s_base + (first - l_base) * n_count + (second - v_base) * t_count;
    }
    if (first - s_base < s_count && (first - s_base) % t_count == 0 && second - t_base - 1 < t_count - 1) {
        return first + (second - t_base);
    }
    return 0;
}

} // namespace

bytes nfc_normalizer::normalize(bytes text) {
    const std::uint8_t* const end = text.data() + text.size();
    const std::uint8_t* copied = text.data();  // up to here the result is in m_out
    const std::uint8_t* starter = text.data(); // where a stretch begins that nothing before can change
    const std::uint8_t* p = text.data();
    std::uint16_t last = 0;
    bool good = true;
    m_out.clear();
    while (p != end) {
        if (good) {
            const std::uint8_t* const behind = skip_ascii(p, end);
            if (behind != p) {
                p = behind;
                starter = p - 1;
                last = 0;
                continue;
            }
        }
        if (*p < 0xcc) { // below U+0300 nothing is changed or joined
            const std::uint8_t* const here = p;
            p += *p < 0x80 ? 1 : 2;
            if (!good) {
                m_out.insert(m_out.end(), copied, starter);
                append_normalized(starter, here);
                copied = here;
                good = true;
            }
            starter = here;
            last = 0;
            continue;
        }
        const decoded at = decode(p);
        const std::uint16_t value = m_data.normal[at.c];
        if (value == 0 && !good) {
            m_out.insert(m_out.end(), copied, starter);
            append_normalized(starter, p);
            copied = p;
            good = true;
        }
        if (value == 0) {
            starter = p;
        } else if (value >= needs_attention || value < last) {
            good = false;
        }
        last = value;
        p += at.length;
    }
    if (!good) {
        m_out.insert(m_out.end(), copied, starter);
        append_normalized(starter, end);
        copied = end;
    }
    if (copied == text.data()) {
        return text;
    }
    m_out.insert(m_out.end(), copied, end);
    return m_out;
}

void nfc_normalizer::append_normalized(const std::uint8_t* begin, const std::uint8_t* end) {
    m_characters.clear();
    while (begin != end) {
        const decoded at = decode(begin);
        decompose(at.c);
        begin += at.length;
    }
    // Marks between two starters, by class; equal ones stay as they are.
    for (auto from = m_characters.begin(); from != m_characters.end();) {
        const auto marked = [](const character& c) { return c.order != 0; };
        from = std::find_if(from, m_characters.end(), marked);
        const auto to = std::find_if_not(from, m_characters.end(), marked);
        std::stable_sort(from, to, [](const character& a, const character& b) { return a.order < b.order; });
        from = to;
    }
    compose();
    for (const character& c : m_characters) {
        append_utf8(c.c, m_out);
    }
}

void nfc_normalizer::decompose(char32_t c) {
    if (c - s_base < s_count) {
        const char32_t s = c - s_base;
        add(l_base + s / n_count);
        add(v_base + s % n_count / t_count);
        if (s % t_count != 0) {
            add(t_base + s % t_count);
        }
        return;
    }
    const auto parts = decomposition_of(c);
    if (parts.empty()) {
        add(c);
    }
    for (const char32_t part : parts) {
        add(part);
    }
}

void nfc_normalizer::add(char32_t c) {
    m_characters.push_back({c, static_cast<std::uint16_t>(m_data.normal[c] & (needs_attention - 1))});
}

void nfc_normalizer::compose() {
    std::size_t kept = 0;
    std::size_t starter = m_characters.size(); // none yet
    for (std::size_t i = 0; i < m_characters.size(); i++) {
        const character c = m_characters[i];
        if (starter < kept) {
            // Blocked when something between them has this class or a higher one.
            const bool adjacent = kept - 1 == starter;
            if (adjacent || m_characters[kept - 1].order < c.order) {
                const char32_t first = m_characters[starter].c;
                const char32_t syllable = hangul(first, c.c);
                const char32_t together = syllable != 0 ? syllable : composition_of(first, c.c);
                if (together != 0) {
                    m_characters[starter].c = together;
                    continue;
                }
            }
        }
        if (c.order == 0) {
            starter = kept;
        }
        m_characters[kept++] = c;
    }
    m_characters.resize(kept);
}

} // namespace kvindex::tokens
