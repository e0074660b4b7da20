#include "tokens/bpe_tokenizer.hpp"

#include "tokens/scratch.hpp"

#include <algorithm>

namespace kvindex::tokens {

namespace {

constexpr std::size_t max_spare = 32;

/// Ends an encode whose ids do not fit.
struct no_room {};

} // namespace

/// One encode.
class bpe_tokenizer::run {
public:
    run(const bpe_tokenizer& t, scratch& s, std::span<std::uint32_t> ids)
        : m_t(t), m_s(s), m_begin(ids.data()), m_at(ids.data()), m_end(ids.data() + ids.size()) {
    }

    std::size_t encode(bytes text, encode_flags flags) {
        if (flags.add_special) {
            put(m_t.m_before);
        }
        const auto token = [this](std::uint32_t id) { put({&id, 1}); };
        const auto piece = [this](const std::uint8_t* p, const std::uint8_t* end) { cut(0, p, end); };
        const auto gap = [&](const std::uint8_t* p, const std::uint8_t* end) {
            bytes normal{p, end};
            if (m_t.m_nfc) {
                normal = m_s.normalizer.normalize(normal);
            }
            m_t.m_normalized.split(normal.data(), normal.data() + normal.size(), flags.parse_special, piece,
                                   token);
        };
        m_t.m_added.split(text.data(), text.data() + text.size(), flags.parse_special, gap, token);
        if (flags.add_special) {
            put(m_t.m_behind);
        }
        return static_cast<std::size_t>(m_at - m_begin);
    }

private:
    void cut(std::size_t step, const std::uint8_t* p, const std::uint8_t* end) {
        m_text_end = end;
        if (step == m_t.m_steps.size()) {
            word(p, end);
            return;
        }
        with_matcher(m_t.m_steps[step], [&](const auto& matcher) {
            if (step + 1 == m_t.m_steps.size()) {
                split(matcher, p, end, [this](const std::uint8_t* b, const std::uint8_t* e) { word(b, e); });
            } else {
                split(matcher, p, end,
                      [this, step](const std::uint8_t* b, const std::uint8_t* e) { cut(step + 1, b, e); });
            }
        });
    }

    void word(const std::uint8_t* p, const std::uint8_t* end) {
        const auto length = static_cast<std::size_t>(end - p);
        if (length > short_word::most) {
            const std::uint32_t id = m_t.m_vocabulary.find_long({p, end});
            if (id != vocabulary::none) {
                put({&id, 1});
            } else {
                put(merged(p, length));
            }
            return;
        }
        const short_word key = pack(p, length, m_text_end);
        word_cache::entry& known = m_s.cache.at(key);
        if (!(known.word == key)) {
            const std::uint32_t id = m_t.m_vocabulary.find(key);
            if (id != vocabulary::none) {
                known.set(key, {&id, 1});
            } else {
                const std::span<const std::uint32_t> ids = merged(p, length);
                if (ids.size() > word_cache::most_ids) {
                    put(ids);
                    return;
                }
                known.set(key, ids);
            }
        }
        put({known.ids.data(), known.count()});
    }

    /// The ids of a piece by its merges. Valid until the next one.
    std::span<const std::uint32_t> merged(const std::uint8_t* p, std::size_t length) {
        m_s.ids.resize(length);
        for (std::size_t i = 0; i < length; i++) {
            m_s.ids[i] = m_t.m_bytes[p[i]];
        }
        return {m_s.ids.data(), m_s.merging.run(m_t.m_merges, m_s.ids)};
    }

    void put(std::span<const std::uint32_t> ids) {
        if (static_cast<std::size_t>(m_end - m_at) < ids.size()) {
            throw no_room{};
        }
        m_at = std::copy(ids.begin(), ids.end(), m_at);
    }

    const bpe_tokenizer& m_t;
    scratch& m_s;
    std::uint32_t* const m_begin;
    std::uint32_t* m_at;
    std::uint32_t* const m_end;
    const std::uint8_t* m_text_end = nullptr; // of what is being cut: readable up to here
};

bpe_tokenizer::~bpe_tokenizer() = default;

std::unique_ptr<bpe_tokenizer> bpe_tokenizer::make(const bpe_parts& parts) {
    std::unique_ptr<bpe_tokenizer> made{new bpe_tokenizer};
    return made->build(parts) ? std::move(made) : nullptr;
}

bool bpe_tokenizer::build(const bpe_parts& parts) {
    m_nfc = parts.nfc;
    m_ignore_merges = parts.ignore_merges;
    m_steps.assign(parts.steps.begin(), parts.steps.end());
    m_before.assign(parts.before.begin(), parts.before.end());
    m_behind.assign(parts.behind.begin(), parts.behind.end());
    m_bytes.fill(vocabulary::none);
    for (const vocabulary_entry& entry : parts.vocabulary) {
        if (entry.id > max_token_id || entry.content.empty() || !m_vocabulary.add(entry.id, entry.content)) {
            return false;
        }
        if (entry.content.size() == 1) {
            m_bytes[entry.content[0]] = entry.id;
        }
    }
    const bool all_bytes =
        std::none_of(m_bytes.begin(), m_bytes.end(), [](std::uint32_t id) { return id == vocabulary::none; });
    if (!all_bytes || !m_merges.build(parts.merges)) {
        return false;
    }
    for (const merge& m : parts.merges) {
        for (const std::uint32_t id : {m.left, m.right, m.result}) {
            if (!m_vocabulary.content_of(id)) {
                return false;
            }
        }
    }
    if (!index_reachable()) {
        return false;
    }
    nfc_normalizer normalizer;
    for (const added_token& token : parts.added) {
        const bool normal = token.normalized;
        const bytes content = normal && m_nfc ? normalizer.normalize(token.content) : token.content;
        if (token.id > max_token_id || !well_formed(token.content) ||
            !(normal ? m_normalized : m_added).add(token, content)) {
            return false;
        }
        if (!m_vocabulary.content_of(token.id)) {
            m_vocabulary.add(token.id, token.content);
        }
        m_special.resize(std::max<std::size_t>(m_special.size(), token.id + 1));
        m_special[token.id] = token.special;
    }
    return true;
}

/// A piece that is a token becomes that token if the merges of its bytes end there, which does not depend on
/// the text.
bool bpe_tokenizer::index_reachable() {
    merger merging;
    std::vector<std::uint32_t> ids;
    std::vector<bool> reachable(m_vocabulary.end_of_ids(), m_ignore_merges);
    for (std::uint32_t id = 0; id < m_vocabulary.end_of_ids() && !m_ignore_merges; id++) {
        const auto content = m_vocabulary.content_of(id);
        if (content) {
            ids.resize(content->size());
            std::transform(content->begin(), content->end(), ids.begin(),
                           [this](std::uint8_t byte) { return m_bytes[byte]; });
            reachable[id] = merging.run(m_merges, ids) == 1 && ids[0] == id;
        }
    }
    return m_vocabulary.index([&](std::uint32_t id) { return bool{reachable[id]}; });
}

bpe_tokenizer::outcome bpe_tokenizer::encode(bytes text, encode_flags flags, std::span<std::uint32_t> ids,
                                             std::size_t& count) const {
    if (text.size() > max_text || !well_formed(text)) {
        return outcome::not_text;
    }
    std::unique_ptr<scratch> s = borrow();
    outcome result = outcome::done;
    try {
        count = run(*this, *s, ids).encode(text, flags);
    } catch (const no_room&) {
        result = outcome::no_room;
    }
    give_back(std::move(s));
    return result;
}

std::optional<std::size_t> bpe_tokenizer::decode(std::span<const std::uint32_t> ids, bool skip_special,
                                                 std::span<std::uint8_t> out) const {
    std::size_t length = 0;
    for (const std::uint32_t id : ids) {
        const auto content = m_vocabulary.content_of(id);
        if (content && !(skip_special && id < m_special.size() && m_special[id])) {
            if (out.size() - length < content->size()) {
                return std::nullopt;
            }
            std::copy(content->begin(), content->end(), out.data() + length);
            length += content->size();
        }
    }
    return length;
}

std::unique_ptr<bpe_tokenizer::scratch> bpe_tokenizer::borrow() const {
    {
        const std::lock_guard<std::mutex> hold(m_lending);
        if (!m_spare.empty()) {
            std::unique_ptr<scratch> s = std::move(m_spare.back());
            m_spare.pop_back();
            return s;
        }
    }
    return std::make_unique<scratch>();
}

void bpe_tokenizer::give_back(std::unique_ptr<scratch> s) const {
    s->trim();
    const std::lock_guard<std::mutex> hold(m_lending);
    if (m_spare.size() < max_spare) {
        m_spare.push_back(std::move(s));
    }
}

} // namespace kvindex::tokens
