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

    /// Cuts the text: `gap(begin, end)` for what is no token, `token(id)`. With `specials` false the special
    /// ones are text. O(n), times the longest token for texts made to be slow.
    template <typename Gap, typename Token>
    void split(const std::uint8_t* text, const std::uint8_t* end, bool specials, Gap&& gap,
               Token&& token) const;

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
    std::uint8_t m_first_byte = 0; // when there is one only
};

template <typename Gap, typename Token>
void added_tokens::split(const std::uint8_t* text, const std::uint8_t* end, bool specials, Gap&& gap,
                         Token&& token) const {
    const std::uint8_t* done = text;
    if (!empty()) {
        for (const std::uint8_t* p = text;;) {
            const found match = next(p, end);
            if (match.token == nullptr) {
                break;
            }
            p = match.end;
            if (match.token->special && !specials) {
                continue;
            }
            const std::uint8_t* begin = match.begin;
            if (match.token->lstrip) {
                begin = std::max(before_spaces(text, begin), done);
            }
            if (done < begin) {
                gap(done, begin);
            }
            token(match.token->id);
            done = match.token->rstrip ? behind_spaces(match.end, end) : match.end;
        }
    }
    if (done != end) {
        gap(done, end);
    }
}

} // namespace kvindex::tokens
