/// Tokens that are found in the text before anything else: "<|im_start|>" and the like.
#pragma once

#include "tokens/unicode.hpp"

#include <array>
#include <cstring>
#include <vector>

namespace kvindex::tokens {

struct added_token {
    std::uint32_t id = 0;
    bytes content;
    bool special = false;
    bool normalized = false; ///< looked for after the normaliser
    bool lstrip = false;     ///< takes the white space before it
    bool rstrip = false;     ///< takes the white space behind it
};

/// Finds the leftmost, of those the longest. Immutable, read by any thread.
class added_tokens {
public:
    added_tokens();

    /// False when it is empty or there already.
    bool add(const added_token& token, bytes content);

    bool empty() const {
        return m_first_bytes == 0;
    }

    /// A token in a text, with the white space that it takes.
    struct place {
        const std::uint8_t* begin = nullptr;
        const std::uint8_t* end = nullptr;
        const std::uint8_t* behind = nullptr; ///< of the token alone: where to look for the next
        std::uint32_t id = 0;
    };

    /// The first one that begins at `p` or later; no white space before `done` is taken. Its end is null when
    /// there is none. With `specials` false the special ones are text.
    place find(const std::uint8_t* p, const std::uint8_t* done, const std::uint8_t* end, bool specials) const;

    /// Cuts the text: `gap(begin, end)` for what is no token, `token(id)`. O(n), times the longest token for
    /// texts made to be slow.
    template <typename Gap, typename Token>
    void split(const std::uint8_t* text, const std::uint8_t* end, bool specials, Gap&& gap,
               Token&& token) const;

    /// Some token takes white space behind it.
    bool strips_behind() const {
        return m_strips_behind;
    }

private:
    struct entry {
        std::uint32_t id;
        bool special;
        bool lstrip;
        bool rstrip;
    };

    struct edge {
        std::uint8_t byte;
        std::uint32_t to;
    };

    struct node {
        std::vector<edge> edges; // few
        std::int32_t entry = -1;
    };

    struct found {
        const std::uint8_t* begin = nullptr;
        const std::uint8_t* end = nullptr;
        const added_tokens::entry* token = nullptr;
    };

    static const node* child(const std::vector<node>& nodes, const node& of, std::uint8_t byte) {
        for (const edge& e : of.edges) {
            if (e.byte == byte) {
                return &nodes[e.to];
            }
        }
        return nullptr;
    }

    found next(const std::uint8_t* p, const std::uint8_t* end) const;
    static const std::uint8_t* before_spaces(const std::uint8_t* text, const std::uint8_t* p);
    static const std::uint8_t* behind_spaces(const std::uint8_t* p, const std::uint8_t* end);

    std::vector<node> m_nodes;
    std::vector<entry> m_entries;
    std::array<bool, 256> m_begins{};
    int m_first_bytes = 0;
    bool m_strips_behind = false;
    std::uint8_t m_first_byte = 0; // when there is one only
};

template <typename Gap, typename Token>
void added_tokens::split(const std::uint8_t* text, const std::uint8_t* end, bool specials, Gap&& gap,
                         Token&& token) const {
    const std::uint8_t* done = text;
    const std::uint8_t* p = text;
    for (place t = find(p, done, end, specials); t.end != nullptr; t = find(p, done, end, specials)) {
        if (done < t.begin) {
            gap(done, t.begin);
        }
        token(t.id);
        done = t.end;
        p = t.behind;
    }
    if (done != end) {
        gap(done, end);
    }
}

} // namespace kvindex::tokens
