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

    /// Gives back what one long text needed.
    void trim() {
        constexpr std::size_t keep = std::size_t{1} << 18;
        if (ids.capacity() > keep) {
            ids = {};
            merging = {};
        }
        normalizer.trim(keep);
    }
};

} // namespace kvindex::tokens
