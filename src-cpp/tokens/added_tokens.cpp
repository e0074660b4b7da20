#include "tokens/added_tokens.hpp"

#include "tokens/patterns.hpp"

#include <algorithm>

namespace kvindex::tokens {

added_tokens::added_tokens() : m_nodes(1) {
}

bool added_tokens::add(const added_token& token, bytes content) {
    if (content.empty()) {
        return false;
    }
    std::uint32_t at = 0;
    for (const std::uint8_t byte : content) {
        const node* const known = child(m_nodes, m_nodes[at], byte);
        if (known != nullptr) {
            at = static_cast<std::uint32_t>(known - m_nodes.data());
            continue;
        }
        const auto fresh = static_cast<std::uint32_t>(m_nodes.size());
        m_nodes.emplace_back();
        m_nodes[at].edges.push_back({byte, fresh});
        at = fresh;
    }
    if (m_nodes[at].entry >= 0) {
        return false;
    }
    m_nodes[at].entry = static_cast<std::int32_t>(m_entries.size());
    m_entries.push_back({token.id, token.special, token.lstrip, token.rstrip});
    m_strips_behind = m_strips_behind || token.rstrip;
    if (!m_begins[content[0]]) {
        m_begins[content[0]] = true;
        m_first_byte = content[0];
        m_first_bytes++;
    }
    return true;
}

added_tokens::found added_tokens::next(const std::uint8_t* p, const std::uint8_t* end) const {
    for (; p != end; p++) {
        if (m_first_bytes == 1) {
            p = static_cast<const std::uint8_t*>(
                std::memchr(p, m_first_byte, static_cast<std::size_t>(end - p)));
            if (p == nullptr) {
                return {};
            }
        } else if (!m_begins[*p]) {
            continue;
        }
        found longest;
        const node* at = m_nodes.data();
        for (const std::uint8_t* q = p; q != end; q++) {
            at = child(m_nodes, *at, *q);
            if (at == nullptr) {
                break;
            }
            if (at->entry >= 0) {
                longest = {p, q + 1, &m_entries[static_cast<std::size_t>(at->entry)]};
            }
        }
        if (longest.token != nullptr) {
            return longest;
        }
    }
    return {};
}

added_tokens::place added_tokens::find(const std::uint8_t* p, const std::uint8_t* done, const std::uint8_t* end,
                                       bool specials) const {
    while (!empty()) {
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
            begin = begin > done ? before_spaces(done, begin) : done;
        }
        return {begin, match.token->rstrip ? behind_spaces(match.end, end) : match.end, match.end,
                match.token->id};
    }
    return {};
}

const std::uint8_t* added_tokens::before_spaces(const std::uint8_t* text, const std::uint8_t* p) {
    const scanner scan;
    while (p != text) {
        const std::uint8_t* q = p - 1;
        while ((*q & 0xc0) == 0x80) {
            q--;
        }
        if ((scan.at(q).kind & white) == 0) {
            break;
        }
        p = q;
    }
    return p;
}

const std::uint8_t* added_tokens::behind_spaces(const std::uint8_t* p, const std::uint8_t* end) {
    return scanner{}.while_in(white, p, end);
}

} // namespace kvindex::tokens
