/// From text to ids. For tokens/ only.
#pragma once

#include "tokens/scratch.hpp"

namespace kvindex::tokens {

/// One text on its way to ids, which go to a sink as they are made: `put(ids)`, some of them a time.
template <typename Sink>
class bpe_tokenizer::run {
public:
    run(const bpe_tokenizer& t, scratch& s, Sink& sink) : m_t(t), m_s(s), m_sink(sink) {
    }

    /// A text, or what lies between two of its places (prompt_memory.hpp). It is UTF-8.
    void text(bytes all, bool specials) {
        const auto token = [this](std::uint32_t id) { m_sink.put({&id, 1}); };
        const auto piece = [this](const std::uint8_t* p, const std::uint8_t* end) { cut(0, p, end); };
        const auto gap = [&](const std::uint8_t* p, const std::uint8_t* end) {
            bytes normal{p, end};
            if (m_t.m_nfc) {
                normal = m_s.normalizer.normalize(normal);
            }
            m_t.m_normalized.split(normal.data(), normal.data() + normal.size(), specials, piece, token);
        };
        m_t.m_added.split(all.data(), all.data() + all.size(), specials, gap, token);
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
                m_sink.put({&id, 1});
            } else {
                m_sink.put(merged(p, length));
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
                    m_sink.put(ids);
                    return;
                }
                known.set(key, ids);
            }
        }
        m_sink.put({known.ids.data(), known.count()});
    }

    /// The ids of a piece by its merges. Valid until the next one.
    std::span<const std::uint32_t> merged(const std::uint8_t* p, std::size_t length) {
        m_s.ids.resize(length);
        for (std::size_t i = 0; i < length; i++) {
            m_s.ids[i] = m_t.m_bytes[p[i]];
        }
        return {m_s.ids.data(), m_s.merging.run(m_t.m_merges, m_s.ids)};
    }

    const bpe_tokenizer& m_t;
    scratch& m_s;
    Sink& m_sink;
    const std::uint8_t* m_text_end = nullptr; // of what is being cut: readable up to here
};

} // namespace kvindex::tokens
