#include "tokens/bpe_tokenizer.hpp"

#include "tokens/run.hpp"

#include <algorithm>
#include <atomic>

namespace kvindex::tokens {

namespace {

constexpr std::size_t max_spare = 32;

/// Ends an encode whose ids do not fit.
struct no_room {};

/// Ids one behind the other.
class flat_sink {
public:
    explicit flat_sink(std::span<std::uint32_t> ids)
        : m_begin(ids.data()), m_at(ids.data()), m_end(ids.data() + ids.size()) {
    }

    void put(std::span<const std::uint32_t> ids) {
        if (static_cast<std::size_t>(m_end - m_at) < ids.size()) {
            throw no_room{};
        }
        m_at = std::copy(ids.begin(), ids.end(), m_at);
    }

    std::size_t count() const {
        return static_cast<std::size_t>(m_at - m_begin);
    }

private:
    std::uint32_t* const m_begin;
    std::uint32_t* m_at;
    std::uint32_t* const m_end;
};

} // namespace

bpe_tokenizer::~bpe_tokenizer() = default;

std::unique_ptr<bpe_tokenizer> bpe_tokenizer::make(const bpe_parts& parts) {
    std::unique_ptr<bpe_tokenizer> made{new bpe_tokenizer};
    return made->build(parts) ? std::move(made) : nullptr;
}

bool bpe_tokenizer::build(const bpe_parts& parts) {
    static std::atomic<std::uint64_t> made{0};
    m_number = made.fetch_add(1, std::memory_order_relaxed); // only has to be another one
    m_spare.reserve(max_spare);
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
    lent_scratch s(*this);
    flat_sink sink(ids);
    try {
        if (flags.add_special) {
            sink.put(m_before);
        }
        run<flat_sink>(*this, *s, sink).text(text, flags.parse_special);
        if (flags.add_special) {
            sink.put(m_behind);
        }
    } catch (const no_room&) {
        return outcome::no_room;
    }
    count = sink.count();
    return outcome::done;
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

void bpe_tokenizer::give_back(std::unique_ptr<scratch> s) const noexcept {
    s->trim();
    const std::lock_guard<std::mutex> hold(m_lending);
    if (m_spare.size() < max_spare) {
        m_spare.push_back(std::move(s));
    }
}

} // namespace kvindex::tokens
