/// What one encode works with. One thread at a time.
#pragma once

#include "tokens/bpe_tokenizer.hpp"

namespace kvindex::tokens {

/// Ids of words that were seen lately, one place for each hash: 256 KB, never more.
class word_cache {
public:
    static constexpr std::size_t most_ids = 4;

    struct entry {
        short_word word; // length 0 is no word: an empty place
        std::array<std::uint32_t, most_ids> ids;

        void set(const short_word& key, std::span<const std::uint32_t> of) {
            word = key;
            ids.fill(vocabulary::none);
            std::copy(of.begin(), of.end(), ids.begin());
        }

        std::size_t count() const {
            std::size_t n = 1;
            while (n < most_ids && ids[n] != vocabulary::none) {
                n++;
            }
            return n;
        }
    };

    word_cache() : m_entries(std::size_t{1} << bits) {
    }

    entry& at(const short_word& word) {
        return m_entries[word.hash() >> (64 - bits)];
    }

private:
    static constexpr unsigned bits = 13;

    std::vector<entry> m_entries;
};

class bpe_tokenizer::scratch {
public:
    word_cache cache;
    merger merging;
    nfc_normalizer normalizer;
    std::vector<std::uint32_t> ids;
    std::vector<std::uint32_t> block; // ids that are not hashed yet

    /// Gives back what one long text needed.
    void trim() {
        constexpr std::size_t keep = std::size_t{1} << 18;
        if (ids.capacity() > keep) {
            ids = {};
            merging = {};
        }
        if (block.capacity() > keep) {
            block = {};
        }
        normalizer.trim(keep);
    }
};

/// One that is given back at the end of a call.
class bpe_tokenizer::lent_scratch {
public:
    explicit lent_scratch(const bpe_tokenizer& from) : m_from(from), m_scratch(from.borrow()) {
    }

    ~lent_scratch() {
        m_from.give_back(std::move(m_scratch));
    }

    lent_scratch(const lent_scratch&) = delete;
    lent_scratch& operator=(const lent_scratch&) = delete;

    scratch& operator*() const {
        return *m_scratch;
    }

    scratch* operator->() const {
        return m_scratch.get();
    }

private:
    const bpe_tokenizer& m_from;
    std::unique_ptr<scratch> m_scratch;
};

} // namespace kvindex::tokens
