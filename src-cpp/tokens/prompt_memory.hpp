/// The block hashes of prompts' beginnings, found again by their text.
///
/// A prompt is cut at places: behind an added token that is found in the text as it is, at least `least_piece`
/// bytes behind the place before. For each place that was met, the hashes of the blocks that were completed
/// since the place before are kept, and the few ids behind the last of them. A prompt that begins with the same
/// text goes on from its last known place; its ids are not made again, and are nowhere kept.
///
/// Why the ids before a place depend on nothing behind it. Let texts T and U have the same bytes before b, and
/// let b be a place of both, as each was cut by itself. Added tokens are looked for from the left, at each
/// point the longest. Say they agree up to some point p <= b, and the next in T is [x, y), y <= b. If the next
/// in U began later, or were shorter, or the other way round, one text would have passed over a token, all of
/// whose bytes are before b, which both have: against the rule. So both are cut into the same tokens and gaps
/// up to b. An `lstrip` token takes white space before it only. And a gap is all that the rest sees: normal
/// form, the normalised added tokens, the pre-tokenisers and the merges work on one gap at a time, so that no
/// pre-token and no merge crosses a token. That holds for every tokenizer that is understood here, but for
/// those with `rstrip` tokens, whose end depends on what comes: they do not use the memory
/// (bpe_tokenizer::hash). A place at the end of a text is kept under another name than one inside.
///
/// Keys are 128 bits: XXH3 over the key before and the piece's bytes, with a secret of this process, begun with
/// all that the hashes depend on (tokenizer, flags, block size, seed). Texts are not compared. With 10^9 pieces
/// the chance that any two share a key by accident is 10^18 / 2^129, less than 2 in 10^21; who wants to make
/// them meet has to find a collision without the secret and without ever seeing a hash. Were it to happen, a
/// prompt would be sent to a worse worker: hashes decide where, never what is answered.
///
/// Any thread. 16 parts, each with a mutex that is held for a look-up of some ten nanoseconds; the least
/// recently used piece of a part goes first. A piece that goes takes those behind it out of use until it comes
/// again.
#pragma once

#include "base/types.hpp"
#include "tokens/unicode.hpp"

#include <array>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace kvindex::tokens {

class prompt_memory {
public:
    static constexpr std::size_t least_piece = 128;

    struct key {
        std::uint64_t low = 0;
        std::uint64_t high = 0;

        friend bool operator==(const key&, const key&) = default;
    };

    struct piece {
        std::vector<local_hash> blocks;    ///< that were completed since the place before
        std::vector<std::uint32_t> behind; ///< ids behind the last complete block
    };

    struct statistics {
        std::uint64_t pieces = 0;
        std::uint64_t bytes = 0;
        std::uint64_t evicted = 0;
        std::uint64_t found = 0;
        std::uint64_t missed = 0;

        statistics& operator+=(const statistics& other);
    };

    explicit prompt_memory(std::uint64_t max_bytes);

    /// Of the start of a prompt: what its hashes depend on besides the text.
    key origin(std::uint64_t tokenizer, std::uint32_t flags, std::uint32_t block_size,
               std::uint64_t seed) const;

    /// Of the place behind this piece of text.
    key next(const key& before, bytes text, bool end_of_prompt) const;

    /// Null when it is not known.
    std::shared_ptr<const piece> find(const key& place);

    /// A piece of more than half a part's share is not kept.
    void keep(const key& place, piece p);

    statistics stats() const;

private:
    static constexpr std::size_t part_count = 16;
    static constexpr std::size_t secret_size = 192;

    struct entry {
        key place;
        std::shared_ptr<const piece> content;
    };

    struct hash_of {
        std::size_t operator()(const key& k) const {
            return k.low;
        }
    };

    struct alignas(64) part {
        mutable std::mutex mutex; // guards all of the part
        std::list<entry> by_use;  // latest first
        std::unordered_map<key, std::list<entry>::iterator, hash_of> pieces;
        statistics counts;
    };

    static std::uint64_t bytes_of(const piece& p);

    part& part_of(const key& k) {
        return m_parts[k.high % part_count];
    }

    key hash(const void* data, std::size_t size) const;

    const std::uint64_t m_part_bytes;
    alignas(64) std::array<unsigned char, secret_size> m_secret;
    std::array<part, part_count> m_parts;
};

} // namespace kvindex::tokens
